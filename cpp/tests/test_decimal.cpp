// Decimal numbers against the C library, and digits eight at a time against digits one by one.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/decimal.hpp"
#include "hinge/decimal_rounding.hpp"
#include "hinge/libsvm_format.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_equal;

const std::string kPadding(hinge::kTextPadding, 'x');

std::string random_digits(hinge::Random& random, std::uint64_t most) {
    std::string digits;
    for (std::uint64_t count = random.below(most + 1); count > 0; --count) {
        digits += static_cast<char>('0' + random.below(10));
    }
    return digits;
}

std::string random_decimal(hinge::Random& random) {
    const char* const signs[] = {"", "-", "+"};
    std::string text = signs[random.below(3)];
    text += random_digits(random, 22);
    if (random.below(2) == 0) {
        text += '.';
        text += std::string(random.below(8) == 0 ? 30 : 0, '0');
        text += random_digits(random, 25);
    }
    if (text.find_first_of("0123456789") == std::string::npos) {
        text += "7";
    }
    if (random.below(2) == 0) {
        text += random.below(2) == 0 ? "e-" : "E";
        text += std::to_string(random.below(random.below(2) == 0 ? 30 : 400));
    }
    return text;
}

template <class Float>
std::uint64_t bits_of(Float value) {
    if constexpr (sizeof(Float) == 8) {
        return std::bit_cast<std::uint64_t>(value);
    } else {
        return std::bit_cast<std::uint32_t>(value);
    }
}

template <class Float>
Float rounded(const std::string& text) {
    const std::string padded = text + kPadding;
    hinge::Decimal number;
    const char* const end = hinge::read_decimal(padded.data(), number);
    check(end == padded.data() + text.size(), "the end of " + text);
    return hinge::round_decimal<Float>(padded.data(), number, hinge::powers_of_ten());
}

void test_against_the_c_library(hinge::Random& random) {
    for (int k = 0; k < 300000; ++k) {
        const std::string text = random_decimal(random);
        check_equal(bits_of(rounded<double>(text)), bits_of(std::strtod(text.c_str(), nullptr)),
                    "double of " + text);
        check_equal(bits_of(rounded<float>(text)), bits_of(std::strtof(text.c_str(), nullptr)),
                    "float of " + text);
    }
}

// What the writer makes of any number is read back with the same bits.
template <class Float>
void test_shortest_decimals(hinge::Random& random) {
    for (int k = 0; k < 200000; ++k) {
        Float value;
        if constexpr (sizeof(Float) == 8) {
            value = std::bit_cast<double>(random.next());
        } else {
            value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
        }
        if (!std::isfinite(value)) {
            continue;
        }
        char text[hinge::kValueBytes];
        const std::string shortest(text, hinge::format_number(text, value));
        check_equal(bits_of(rounded<Float>(shortest)), bits_of(value), "back from " + shortest);
    }
}

// The fast path may say that it does not know, but must not be wrong; and it must know mostly.
template <class Float>
void test_fast_path(hinge::Random& random) {
    int known = 0;
    constexpr int count = 200000;
    for (int k = 0; k < count; ++k) {
        const std::uint64_t significand = (random.next() >> random.below(64)) | 1;
        const auto q = static_cast<std::int64_t>(random.below(60)) - 45;
        Float got = 0;
        if (hinge::round_product(significand, hinge::powers_of_ten()[q], got)) {
            ++known;
            const std::string text = std::to_string(significand) + "e" + std::to_string(q);
            const Float want = sizeof(Float) == 8
                                   ? static_cast<Float>(std::strtod(text.c_str(), nullptr))
                                   : static_cast<Float>(std::strtof(text.c_str(), nullptr));
            check_equal(bits_of(got), bits_of(want), "fast path for " + text);
        }
    }
    check(known > count - count / 100, "the fast path knows nearly all");
}

void test_malformed() {
    for (const std::string text :
         {"", "+", "-", ".", "e5", "1e", "1e+", ".e1", "x", "+-1", "nan"}) {
        const std::string padded = text + "  " + kPadding;
        hinge::Decimal number;
        check(hinge::read_decimal(padded.data(), number) == nullptr, "no number: " + text);
    }
}

// Every byte at every place of eight: the count of digits and their value, one by one.
void test_digits(hinge::Random& random) {
    for (int k = 0; k < 20000; ++k) {
        std::string text = random_digits(random, 8);
        const auto before = static_cast<int>(text.size());
        text.resize(8, static_cast<char>(random.next()));
        int count = 0;
        std::uint64_t value = 0;
        for (; count < 8 && hinge::is_digit(text[static_cast<std::size_t>(count)]); ++count) {
            value = value * 10 + static_cast<unsigned>(text[static_cast<std::size_t>(count)] - '0');
        }
        const std::uint64_t word = hinge::eight_bytes(text.data());
        check(count >= before, "the digits are there");
        check_equal(hinge::leading_digits(word), count, "digits in " + text);
        if (count > 0) {
            check_equal(hinge::digits_value(word, count), value, "value of " + text);
        }
    }
}

void test_powers() {
    const auto& powers = hinge::powers_of_ten();
    for (std::int64_t q = hinge::PowersOfTen::kLowest; q <= hinge::PowersOfTen::kHighest; ++q) {
        check(powers[q].high >> 63 == 1, "the top bit is set");
        const double got = std::ldexp(static_cast<double>(powers[q].high),
                                      static_cast<int>(powers[q].exponent) + 64);
        const double want = std::strtod(("1e" + std::to_string(q)).c_str(), nullptr);
        check(std::abs(got - want) <= want * 0x1p-52 + 5e-324, "10^" + std::to_string(q));
    }
    check_equal(powers[0].high, std::uint64_t{1} << 63, "1");
    check_equal(powers[27].low, std::uint64_t{0}, "5^27 has 63 bits");
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(7);
    hinge::Random random(words.data());
    test_digits(random);
    test_powers();
    test_malformed();
    test_against_the_c_library(random);
    test_shortest_decimals<double>(random);
    test_shortest_decimals<float>(random);
    test_fast_path<double>(random);
    test_fast_path<float>(random);
    return hinge::testing::finish();
}
