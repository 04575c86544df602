// The exponential of a register against the library's in higher precision: its error in units of
// the last place, where it vanishes, and what it does with what is not a number.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "check.hpp"
#include "hinge/exponential.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr double kMostUnits = 2.5;

template <class Real>
Real exp_of(Real x) {
    const hinge::Register<Real> result = hinge::exp_not_positive<Real>(hinge::broadcast(x));
    for (std::int64_t lane = 1; lane < hinge::kLanes<Real>; ++lane) {
        check(std::bit_cast<typename hinge::RegisterOf<Real>::Bits>(result)[lane] ==
                  std::bit_cast<typename hinge::RegisterOf<Real>::Bits>(result)[0],
              "every lane is the same");
    }
    return result[0];
}

template <class Real, class Wide>
void check_value(Real x) {
    const Wide want = std::exp(static_cast<Wide>(x));
    const Wide unit = want * static_cast<Wide>(std::numeric_limits<Real>::epsilon());
    const Wide error = (static_cast<Wide>(exp_of(x)) - want) / unit;
    check_close(static_cast<double>(error), 0.0, kMostUnits, "units of exp " + std::to_string(x));
}

void test_floats() {
    // Every 4099th float from the smallest argument of a normal result to -2^-30.
    constexpr std::uint32_t kStep = 4099;
    const auto last = std::bit_cast<std::uint32_t>(hinge::ExponentialConstants<float>::kSmallest);
    for (auto bits = std::bit_cast<std::uint32_t>(-0x1.0p-30f); bits <= last; bits += kStep) {
        check_value<float, double>(std::bit_cast<float>(bits));
    }
}

void test_doubles() {
    for (double x = -1e-12; x > hinge::ExponentialConstants<double>::kSmallest; x *= 1.0007) {
        check_value<double, long double>(x);
    }
}

template <class Real>
void test_edges() {
    constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
    check_equal(exp_of(Real{0}), Real{1}, "exp of 0");
    check_equal(exp_of(-Real{0}), Real{1}, "exp of -0");
    check_equal(exp_of(-kInfinity), Real{0}, "exp of minus infinity");
    check_equal(exp_of(std::numeric_limits<Real>::lowest()), Real{0}, "exp of the lowest number");
    check_equal(exp_of(Real{-800}), Real{0}, "exp below the normal numbers");
    check(std::isnan(exp_of(std::numeric_limits<Real>::quiet_NaN())), "exp of NaN");
}

}  // namespace

int main() {
    test_floats();
    test_doubles();
    test_edges<float>();
    test_edges<double>();
    return hinge::testing::finish();
}
