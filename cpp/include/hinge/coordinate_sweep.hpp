// Coordinate descent on the dual program of a kernel machine without an intercept.
//
//   min  1/2 b'(K + diag(d)) b - p'b   subject to  lower <= b <= upper
//
// Given the gradient e. The variables are visited in an order; variable k moves to the minimum
// along its axis, b_k - e_k / (K_kk + d_k), or to a bound, and row k of the matrix is added to the
// gradient of all. One that would move for a violation of no more than the tolerance is passed by:
// that spares its row. (Hsieh et al. 2008, Algorithm 1, with the gradient kept instead of w.)
//
// Cost: a pass over the variables for each that moves, next to nothing for the others.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hinge {

struct Coordinates {
    std::int64_t count;
    const double* diagonal;  // d
    const double* lower;
    const double* upper;
    double* beta;
    double* gradient;
};

struct SweepEnd {
    std::int64_t position;  // in the order, of the variable that would be next
    std::int64_t steps;     // variables moved
    std::int64_t missing;   // the variable whose row is not there; -1 if that did not end the sweep
};

// By how much variable k violates its optimality condition.
inline double coordinate_violation(const Coordinates& set, std::int64_t k) noexcept {
    const double e = set.gradient[k];
    return e < 0.0 ? (set.beta[k] < set.upper[k] ? -e : 0.0)
                   : (set.beta[k] > set.lower[k] ? e : 0.0);
}

// Visits order[position], ..., order[length - 1], until so many variables have moved or a row is
// missing.
template <class Matrix>
SweepEnd sweep_coordinates(const Coordinates& set, Matrix& matrix, const std::int64_t* order,
                           std::int64_t position, std::int64_t length, double tolerance,
                           std::int64_t most_steps) noexcept {
    constexpr double kFlat = 1e-12;  // curvature of a direction that has none
    std::int64_t steps = 0;
    for (; position < length && steps < most_steps; ++position) {
        const std::int64_t k = order[position];
        if (!(coordinate_violation(set, k) > tolerance)) {
            continue;
        }
        const auto* row = matrix.row(k, 0);
        if (row == nullptr) {
            return {position, steps, k};
        }
        const double curved = std::max(matrix.own(k) + set.diagonal[k], kFlat);
        const double before = set.beta[k];
        set.beta[k] = std::clamp(before - set.gradient[k] / curved, set.lower[k], set.upper[k]);
        const double change = set.beta[k] - before;
        double* e = set.gradient;
#pragma omp simd
        for (std::int64_t j = 0; j < set.count; ++j) {
            e[j] += change * static_cast<double>(row[j]);
        }
        e[k] += change * set.diagonal[k];
        steps += change != 0.0 ? 1 : 0;
    }
    return {position, steps, -1};
}

}  // namespace hinge
