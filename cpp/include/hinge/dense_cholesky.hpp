// The Cholesky factor of a small dense matrix, and what it solves; only the lower triangle is read.
//
// Features may be of any size, so that the matrix is scaled to a unit diagonal first; a little is
// added to that diagonal (kRidge), which rounding could otherwise take below zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/linalg.hpp"

namespace hinge {

inline constexpr double kRidge = 1e-14;

// Replaces the lower triangle of A, of n rows that begin `stride` values apart, by the factor of
// D A D, where D are the inverse roots of its diagonal, which go into `scale`.
inline void factorise_scaled(double* matrix, std::int64_t stride, double* scale,
                             std::int64_t n) noexcept {
    for (std::int64_t j = 0; j < n; ++j) {
        const double own = std::max(matrix[j * stride + j], std::numeric_limits<double>::min());
        scale[j] = 1.0 / std::sqrt(own);
    }
    for (std::int64_t j = 0; j < n; ++j) {
        double* const row = matrix + j * stride;
        for (std::int64_t k = 0; k < j; ++k) {
            const double* const above = matrix + k * stride;
            row[k] = (row[k] * scale[j] * scale[k] - dot(row, above, k)) / above[k];
        }
        const double pivot = row[j] * scale[j] * scale[j] + kRidge - dot(row, row, j);
        row[j] = std::sqrt(std::max(pivot, kRidge));
    }
}

// Replaces b by the solution x of A x = b.
inline void solve_scaled(const double* factor, std::int64_t stride, const double* scale, double* b,
                         std::int64_t n) noexcept {
    for (std::int64_t j = 0; j < n; ++j) {
        const double* const row = factor + j * stride;
        b[j] = (scale[j] * b[j] - dot(row, b, j)) / row[j];
    }
    for (std::int64_t j = n - 1; j >= 0; --j) {
        const double* const row = factor + j * stride;
        b[j] /= row[j];
        for (std::int64_t k = 0; k < j; ++k) {
            b[k] -= b[j] * row[k];
        }
    }
    for (std::int64_t j = 0; j < n; ++j) {
        b[j] *= scale[j];
    }
}

}  // namespace hinge
