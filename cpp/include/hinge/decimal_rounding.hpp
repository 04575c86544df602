// Decimal numbers, rounded correctly to double or float.
//
// Up to 19 digits make an integer w, and w 10^q is known from two multiplications up to an interval
// of a 2^-126th; unless a point halfway between two floating-point numbers lies in it, the nearest
// one is known too (after Lemire, Number parsing at a gigabyte per second, 2021, with an interval
// in the place of its distinction of cases). What is left goes to the standard library: numbers at
// or next to a halfway point, and those that overflow.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#include <type_traits>

#include "hinge/decimal.hpp"
#include "hinge/powers_of_ten.hpp"

namespace hinge {

__extension__ using uint128 = unsigned __int128;

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
