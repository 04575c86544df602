// exp(x) for x <= 0, in every lane of a register, with a bound on its error.
//
//   x = n log 2 + r, |r| <= 0.35,   exp(x) = 2^n (1 + r + r^2/2! + ... + r^k/k!)
//
// n log 2 is subtracted in two parts, the first of which has so few digits that its product with n
// is exact. The series ends where its remainder is below a tenth of the last digit (k = 7 for
// float, 13 for double); the rounding of r, of Horner's scheme and of the last addition adds less
// than two units. Hence the relative error is at most 2.5 units in the last place, which
// test_exponential confirms against a reference, on grids of floats and doubles. Where the result
// would be below the normal numbers it is 0: an error of at most the smallest normal number. NaN
// stays NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "hinge/registers.hpp"

namespace hinge {

template <class Real>
struct ExponentialConstants;

template <>
struct ExponentialConstants<float> {
    static constexpr float kSmallest = -87.33654f;  // below it the result is not normal
    static constexpr float kRound = 12582912.0f;    // 1.5 * 2^23: adding it rounds to an integer
    static constexpr float kLog2 = 1.44269504f;
    static constexpr float kHigh = 0.693359375f;
    static constexpr float kLow = -2.12194440e-4f;
    static constexpr int kMantissa = 23;
    static constexpr std::uint32_t kBias = 127;
    static constexpr int kTerms = 7;
};

template <>
struct ExponentialConstants<double> {
    static constexpr double kSmallest = -708.39641853226408;
    static constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double kLog2 = 1.4426950408889634;
    static constexpr double kHigh = 6.93147180369123816490e-01;
    static constexpr double kLow = 1.90821492927058770002e-10;
    static constexpr int kMantissa = 52;
    static constexpr std::uint64_t kBias = 1023;
    static constexpr int kTerms = 13;
};

// 1/k!, rounded once.
template <class Real>
constexpr Real inverse_factorial(int k) noexcept {
    double product = 1.0;
    for (int i = 2; i <= k; ++i) {
        product *= i;
    }
    return static_cast<Real>(1.0 / product);
}

template <class Real>
inline Register<Real> exp_not_positive(Register<Real> x) noexcept {
    using Constants = ExponentialConstants<Real>;
    using Integers = IntegerRegister<Real>;
    const auto of = [](Real value) { return broadcast<Real>(value); };
    const Integers vanishes = x < of(Constants::kSmallest);
    x = vanishes ? of(Constants::kSmallest) : x;
    const Register<Real> shifted = fused(x, of(Constants::kLog2), of(Constants::kRound));
    const Register<Real> n = shifted - of(Constants::kRound);
    Register<Real> r = fused(n, of(-Constants::kHigh), x);
    r = fused(n, of(-Constants::kLow), r);
    Register<Real> series = of(inverse_factorial<Real>(Constants::kTerms));
#pragma GCC unroll 16
    for (int k = Constants::kTerms - 1; k >= 0; --k) {
        series = fused(series, r, of(inverse_factorial<Real>(k)));
    }
    // The low digits of n + kRound are those of the integer n.
    const BitRegister<Real> power = (std::bit_cast<BitRegister<Real>>(shifted) + Constants::kBias)
                                    << Constants::kMantissa;
    const Register<Real> result = series * std::bit_cast<Register<Real>>(power);
    return vanishes ? Register<Real>{} : result;
}

}  // namespace hinge
