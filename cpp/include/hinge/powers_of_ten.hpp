// The powers of ten that a decimal number can be multiplied with, to 128 bits, rounded down.
//
// 10^q = 5^q 2^q, so only the powers of five need digits. They are made once, exactly, by short
// multiplications and divisions of a long natural number.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hinge {

// 10^q = (significand + d) * 2^exponent with 0 <= d < 1; the significand has its top bit set.
struct PowerOfTen {
    std::uint64_t high;
    std::uint64_t low;
    std::int64_t exponent;
};

// A natural number of 1024 bits, least significant part first.
class LongNatural {
  public:
    explicit LongNatural(int power_of_two) {
        parts_[static_cast<std::size_t>(power_of_two / kPartBits)] = 1U
                                                                     << (power_of_two % kPartBits);
    }

    void multiply(std::uint32_t factor) noexcept {
        std::uint64_t carry = 0;
        for (std::uint32_t& part : parts_) {
            carry += std::uint64_t{part} * factor;
            part = static_cast<std::uint32_t>(carry);
            carry >>= kPartBits;
        }
    }

    // Rounds down; repeated, it is the same as one division by the product of the divisors.
    void divide(std::uint32_t divisor) noexcept {
        std::uint64_t rest = 0;
        for (std::size_t k = parts_.size(); k-- > 0;) {
            rest = (rest << kPartBits) | parts_[k];
            parts_[k] = static_cast<std::uint32_t>(rest / divisor);
            rest %= divisor;
        }
    }

    int bit_length() const noexcept {
        for (std::size_t k = parts_.size(); k-- > 0;) {
            if (parts_[k] != 0) {
                return static_cast<int>(k) * kPartBits + std::bit_width(parts_[k]);
            }
        }
        return 0;
    }

    // The 64 bits whose lowest has the weight 2^position; below zero there are only zeros.
    std::uint64_t bits_from(int position) const noexcept {
        std::uint64_t bits = 0;
        for (int k = 63; k >= 0; --k) {
            bits = (bits << 1) | bit(position + k);
        }
        return bits;
    }

  private:
    static constexpr int kPartBits = 32;

    std::uint64_t bit(int position) const noexcept {
        if (position < 0) {
            return 0;
        }
        return (parts_[static_cast<std::size_t>(position / kPartBits)] >> (position % kPartBits)) &
               1U;
    }

    std::array<std::uint32_t, 32> parts_{};
};

class PowersOfTen {
  public:
    // Beyond these, 19 digits make zero or infinity of a double.
    static constexpr std::int64_t kLowest = -342;
    static constexpr std::int64_t kHighest = 308;

    PowersOfTen() {
        LongNatural power(0);
        for (std::int64_t q = 0; q <= kHighest; ++q) {
            set(q, power, q);
            power.multiply(5);
        }
        // 2^1023 / 5^342 still has 229 bits, and rounding down loses less than its last one.
        constexpr int numerator = 1023;
        LongNatural reciprocal(numerator);
        for (std::int64_t q = -1; q >= kLowest; --q) {
            reciprocal.divide(5);
            set(q, reciprocal, q - numerator);
        }
    }

    const PowerOfTen& operator[](std::int64_t q) const noexcept {
        return powers_[static_cast<std::size_t>(q - kLowest)];
    }

  private:
    void set(std::int64_t q, const LongNatural& digits, std::int64_t scale) {
        const int dropped = digits.bit_length() - 128;
        powers_[static_cast<std::size_t>(q - kLowest)] = {
            digits.bits_from(dropped + 64), digits.bits_from(dropped), dropped + scale};
    }

    std::array<PowerOfTen, kHighest - kLowest + 1> powers_;
};

inline const PowersOfTen& powers_of_ten() {
    static const PowersOfTen powers;
    return powers;
}

}  // namespace hinge
