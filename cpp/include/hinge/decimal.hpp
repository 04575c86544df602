// Decimal numbers in text, rounded correctly to double or float.
//
// The digits are read eight at a time. Up to 19 of them make an integer w, and w 10^q is known from
// two multiplications up to an interval of a 2^-126th; unless a point halfway between two floating
// point numbers lies in it, the nearest one is known too (after Lemire, Number parsing at a
// gigabyte per second, 2021, with an interval instead of its case distinctions). What is left,
// about one number in 10^15 that is not made for it, goes to the standard library.
//
// Text must be readable for kTextPadding bytes beyond the last byte of a number.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "hinge/powers_of_ten.hpp"

namespace hinge {

inline constexpr std::int64_t kTextPadding = 8;
inline constexpr int kMostDigits = 19;  // as many as a 64-bit integer holds whatever they are

__extension__ using uint128 = unsigned __int128;

inline std::uint64_t eight_bytes(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap64(word);
    }
    return word;
}

// How many of eight bytes, from the first, are digits.
inline int leading_digits(std::uint64_t word) noexcept {
    // A digit becomes 0 to 9, to which 0x76 may be added without reaching the top bit. A carry
    // from another byte only reaches bytes after it.
    const std::uint64_t zero_based = word ^ 0x3030303030303030U;
    const std::uint64_t others =
        (zero_based | (zero_based + 0x7676767676767676U)) & 0x8080808080808080U;
    return std::countr_zero(others) / 8;
}

// The number that the first `count` of eight bytes spell, one to eight digits.
inline std::uint64_t digits_value(std::uint64_t word, int count) noexcept {
    word = (word & 0x0f0f0f0f0f0f0f0fU) << (64 - 8 * count);  // zeros before the first digit
    word = (word * (10 * 0x100U + 1)) >> 8 & 0x00ff00ff00ff00ffU;
    word = (word * (100 * 0x10000U + 1)) >> 16 & 0x0000ffff0000ffffU;
    return (word * (10000 * 0x100000000U + 1)) >> 32;
}

inline bool is_digit(char byte) noexcept {
    return static_cast<unsigned char>(byte - '0') < 10;
}

// What the text says: significand * 10^exponent, more or less if digits were left out.
struct Decimal {
    std::uint64_t significand = 0;
    std::int64_t exponent = 0;
    std::int64_t written_exponent = 0;  // the number behind the letter e
    bool negative = false;
    bool truncated = false;  // digits other than 0 are missing from the significand
};

namespace detail {

inline constexpr std::uint64_t kPowers[] = {1,      10,      100,      1000,     10000,
                                            100000, 1000000, 10000000, 100000000};

// Appends a run of digits; returns its end. The caller counts: beyond 19 digits the sum is wrong.
inline const char* append_digits(const char* at, std::uint64_t& significand) noexcept {
    for (;;) {
        const std::uint64_t word = eight_bytes(at);
        const int count = leading_digits(word);
        if (count == 0) {
            return at;
        }
        significand = significand * kPowers[count] + digits_value(word, count);
        at += count;
        if (count < 8) {
            return at;
        }
    }
}

// Reads the digits of a number again that has too many of them for one integer.
inline void read_long(const char* at, Decimal& number) noexcept {
    int kept = 0;
    bool after_point = false;
    number.significand = 0;
    number.exponent = 0;
    for (; is_digit(*at) || *at == '.'; ++at) {
        if (*at == '.') {
            after_point = true;
            continue;
        }
        const bool keep = kept < kMostDigits;
        if (keep) {
            number.significand = number.significand * 10 + static_cast<unsigned>(*at - '0');
            kept += number.significand != 0;
        } else {
            number.truncated |= *at != '0';
        }
        number.exponent += (keep ? 0 : 1) - (after_point ? 1 : 0);
    }
}

// Reads what follows an e; nullptr if that is no integer. Larger than any text could be long is
// as good as infinite.
inline const char* read_exponent(const char* at, Decimal& number) noexcept {
    constexpr std::int64_t enough = 1'000'000'000'000'000'000;
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (!is_digit(*at)) {
        return nullptr;
    }
    std::int64_t exponent = 0;
    for (; is_digit(*at); ++at) {
        exponent = exponent >= enough ? enough : exponent * 10 + (*at - '0');
    }
    number.written_exponent = negative ? -exponent : exponent;
    return at;
}

}  // namespace detail

// Reads [+-]digits[.digits][e[+-]digits], with digits on at least one side of the point; returns
// the end of it, or nullptr if there is no such number.
inline const char* read_decimal(const char* at, Decimal& number) noexcept {
    number = {};
    number.negative = *at == '-';
    at += *at == '-' || *at == '+';
    const char* const first = at;
    at = detail::append_digits(at, number.significand);
    std::int64_t digits = at - first;
    if (*at == '.') {
        const char* const point = at++;
        if (digits <= kMostDigits && number.significand == 0) {
            digits = 0;
            while (*at == '0') {
                ++at;
            }
        }
        const char* const significant = at;
        at = detail::append_digits(at, number.significand);
        digits += at - significant;
        number.exponent = point + 1 - at;
        if (at - first == 1) {
            return nullptr;
        }
    } else if (digits == 0) {
        return nullptr;
    }
    if (digits > kMostDigits) {
        detail::read_long(first, number);
    }
    if ((*at | 0x20) == 'e') {
        at = detail::read_exponent(at + 1, number);
        number.exponent += number.written_exponent;
    }
    return at;
}

// Sets `rounded` to the number nearest to significand * 10^q, without sign; returns false where an
// interval of 2^-126 does not decide, and where the result is not finite.
template <class Float>
bool round_product(std::uint64_t significand, const PowerOfTen& power, Float& rounded) noexcept {
    using Limits = std::numeric_limits<Float>;
    using Bits = std::conditional_t<sizeof(Float) == 8, std::uint64_t, std::uint32_t>;
    constexpr std::int64_t precision = Limits::digits;
    constexpr std::int64_t lowest = Limits::min_exponent - 1;  // of normal numbers, as 1.x 2^lowest
    const int shift = std::countl_zero(significand);
    const std::uint64_t left = significand << shift;
    // The product lies in [product, product + 2) * 2^scale: one for what is cut off here, one for
    // what the power lacks.
    const uint128 product =
        uint128{left} * power.high + static_cast<std::uint64_t>((uint128{left} * power.low) >> 64);
    const std::int64_t scale = 64 + power.exponent - shift;
    const std::int64_t length = 127 + static_cast<std::int64_t>(product >> 127);
    const std::int64_t exponent = length - 1 + scale;
    const bool is_normal = exponent >= lowest;
    const std::int64_t dropped = length - precision + (is_normal ? 0 : lowest - exponent);
    if (dropped > 126 || exponent >= Limits::max_exponent) {
        return false;
    }
    const uint128 rest = product & ((uint128{1} << dropped) - 1);
    const uint128 half = uint128{1} << (dropped - 1);
    if (rest <= half && rest + 2 > half) {
        return false;
    }
    // The leading bit of a normal number adds one to the exponent's field, as does a carry.
    auto bits = static_cast<std::uint64_t>(product >> dropped) + (rest > half ? 1U : 0U);
    if (is_normal) {
        bits += static_cast<std::uint64_t>(exponent - lowest) << (precision - 1);
    }
    rounded = std::bit_cast<Float>(static_cast<Bits>(bits));
    return rounded <= Limits::max();
}

namespace detail {

// The standard library's answer, for the digits of the number from `at` on; infinite if too large.
// Digits beyond the 800th only matter in that they are there: no halfway point has more than 767.
template <class Float>
Float round_slowly(const char* at, const Decimal& number) noexcept {
    constexpr int most = 800;
    char text[most + 32];
    char* end = text;
    std::int64_t exponent = number.written_exponent;
    bool after_point = false;
    bool more = false;
    for (; is_digit(*at) || *at == '.'; ++at) {
        if (*at == '.') {
            after_point = true;
            continue;
        }
        const bool leading_zero = end == text && *at == '0';
        const bool keep = end - text < most;
        if (keep && !leading_zero) {
            *end++ = *at;
        }
        more |= !keep && *at != '0';
        exponent += (keep ? 0 : 1) - (after_point ? 1 : 0);
    }
    const std::int64_t magnitude = exponent + (end - text);
    if (end == text || magnitude < -400) {
        return 0;
    }
    if (magnitude > 400) {
        return std::numeric_limits<Float>::infinity();
    }
    if (more) {
        *end++ = '1';
        --exponent;
    }
    *end++ = 'e';
    end = std::to_chars(end, text + sizeof text, exponent).ptr;
    Float rounded = 0;
    const auto result = std::from_chars(text, end, rounded);
    if (result.ec == std::errc::result_out_of_range) {
        return magnitude > 0 ? std::numeric_limits<Float>::infinity() : Float{0};
    }
    return rounded;
}

}  // namespace detail

// The number nearest to what the text from `at` on says, which read_decimal has read as `number`;
// infinite if it is too large.
template <class Float>
Float round_decimal(const char* at, const Decimal& number, const PowersOfTen& powers) noexcept {
    constexpr std::uint64_t exact = std::uint64_t{1} << 53;
    const std::int64_t q = number.exponent;
    Float rounded = 0;
    bool is_known = false;
    if (q == 0 && number.significand <= exact && !number.truncated) {
        rounded = static_cast<Float>(static_cast<std::int64_t>(number.significand));
        is_known = true;
    } else if (number.significand != 0 && q >= PowersOfTen::kLowest && q <= PowersOfTen::kHighest) {
        is_known = round_product(number.significand, powers[q], rounded);
        if (is_known && number.truncated) {
            Float above = 0;
            is_known = round_product(number.significand + 1, powers[q], above) && above == rounded;
        }
    } else if (number.significand == 0) {
        is_known = true;
    }
    if (!is_known) {
        at += *at == '-' || *at == '+';
        rounded = detail::round_slowly<Float>(at, number);
    }
    return number.negative ? -rounded : rounded;
}

}  // namespace hinge
