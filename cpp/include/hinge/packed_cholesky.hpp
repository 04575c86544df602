// The Cholesky factor L of a matrix, its rows one after the other: row i has i + 1 values.
//
// A matrix grows by a row at its end in two triangular solves, which BLAS does (to it, this is an
// upper factor in columns). Here it loses a row: without row k of L, the rows below reach one
// column too far, and a rotation of each two neighbouring columns takes them back (Givens).
// Rotations keep lengths, so that nothing is lost to rounding however often this is done.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace hinge {

inline std::int64_t packed_size(std::int64_t count) noexcept {
    return count * (count + 1) / 2;
}

// Removes row and column k of the factored matrix, of `count` rows; the last row of L is free then.
inline void drop_packed_row(double* packed, std::int64_t count, std::int64_t k) {
    std::vector<double> cosines(static_cast<std::size_t>(count - k));
    std::vector<double> sines(cosines.size());
    for (std::int64_t i = k; i + 1 < count; ++i) {
        double* to = packed + packed_size(i);
        const double* from = packed + packed_size(i + 1);
        for (std::int64_t j = 0; j < k; ++j) {
            to[j] = from[j];
        }
        double carried = from[k];
        for (std::int64_t j = k; j < i; ++j) {
            const auto at = static_cast<std::size_t>(j - k);
            const double next = from[j + 1];
            to[j] = cosines[at] * carried + sines[at] * next;
            carried = cosines[at] * next - sines[at] * carried;
        }
        const double last = from[i + 1];
        const double length = std::hypot(carried, last);
        const auto at = static_cast<std::size_t>(i - k);
        cosines[at] = length > 0.0 ? carried / length : 1.0;
        sines[at] = length > 0.0 ? last / length : 0.0;
        to[i] = length;
    }
}

}  // namespace hinge
