// Decimal numbers in text, eight digits at a time.
//
// Text must be readable for kTextPadding bytes beyond the last byte of a number.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace hinge {

inline constexpr std::int64_t kTextPadding = 8;
inline constexpr int kMostDigits = 19;  // as many as a 64-bit integer holds whatever they are

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
    constexpr std::int64_t enough = 100'000'000'000'000'000;
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (!is_digit(*at)) {
        return nullptr;
    }
    std::int64_t exponent = 0;
    for (; is_digit(*at); ++at) {
        exponent = exponent >= enough ? exponent : exponent * 10 + (*at - '0');
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

}  // namespace hinge
