// The losses as the core computes them, from (p, kappa, u) alone, against their formulas, at the
// kink and around it. At a kink the slope taken is the one on the right: zero for the hinge.
#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "hinge/dual_run.hpp"
#include "hinge/rows.hpp"

namespace {

using hinge::testing::check_close;
using hinge::testing::check_equal;
using Cornered = hinge::DualRun<hinge::DenseRows<double>, false>;
using Smooth = hinge::DualRun<hinge::DenseRows<double>, true>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kCosts[] = {1e-3, 1.0, 7.0};
constexpr double kMargins[] = {-3.0, 0.0, 0.5, 0.75, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 1.25, 1.5, 4.0};

void test_hinge() {
    for (const double cost : kCosts) {
        for (const double z : kMargins) {
            check_equal(Cornered::loss(1.0 - z, 0.0, cost), cost * std::max(0.0, 1.0 - z), "hinge");
            check_equal(Cornered::best_response(1.0 - z, 0.0, cost), z < 1.0 ? cost : 0.0,
                        "slope of the hinge, which is 0 at its kink");
        }
    }
}

void test_squared_hinge() {
    for (const double cost : kCosts) {
        const double bend = 0.5 / cost;
        for (const double z : kMargins) {
            const double violation = std::max(0.0, 1.0 - z);
            check_close(Smooth::loss(1.0 - z, bend, kInfinity), cost * violation * violation,
                        8.0 * kEpsilon * cost * violation * violation, "squared hinge");
            check_close(Smooth::best_response(1.0 - z, bend, kInfinity), 2.0 * cost * violation,
                        8.0 * kEpsilon * cost * violation, "slope of the squared hinge");
        }
    }
}

void test_huber() {
    const double h = 0.25;
    for (const double cost : kCosts) {
        const double bend = 2.0 * h / cost;
        for (const double z : kMargins) {
            const double reach = std::max(0.0, 1.0 + h - z);
            const double value = z <= 1.0 - h ? 1.0 - z : reach * reach / (4.0 * h);
            check_close(Smooth::loss(1.0 + h - z, bend, cost), cost * value,
                        16.0 * kEpsilon * cost * (1.0 + std::abs(z)), "Huber");
            check_close(Smooth::best_response(1.0 + h - z, bend, cost),
                        cost * std::min(1.0, reach / (2.0 * h)), 8.0 * kEpsilon * cost,
                        "slope of Huber");
        }
    }
}

}  // namespace

int main() {
    test_hinge();
    test_squared_hinge();
    test_huber();
    return hinge::testing::finish();
}
