// Second moments of rows: what a sum of squared margins needs of them.
#pragma once

#include <cstdint>

#include "hinge/margin_pass.hpp"

namespace hinge {

// Adds scale times weight times (x, 1)(x, 1)' of listed rows to the lower half of a square matrix,
// and scale times weight times label times (x, 1) to a vector. Both have one more entry than rows.
template <class Value>
void add_moments(const DenseRows<Value>& rows, std::int64_t i, double weight,
                 double* moments) noexcept {
    const Value* const row = rows.row(i);
    const std::int64_t side = rows.width + 1;
    for (std::int64_t k = 0; k < rows.width; ++k) {
        if (row[k] != Value{0}) {
            dense_add(row, weight * static_cast<double>(row[k]), moments + k * side, k + 1);
        }
    }
}

template <class Value, class Index>
void add_moments(const CsrRows<Value, Index>& rows, std::int64_t i, double weight,
                 double* moments) noexcept {
    const std::int64_t begin = rows.begin(i);
    const std::int64_t side = rows.width + 1;
    for (std::int64_t k = 0; k < rows.stored(i); ++k) {
        // Columns increase along a row, so that those up to this one make the lower half.
        sparse_add(rows.values + begin, rows.columns + begin,
                   weight * static_cast<double>(rows.values[begin + k]),
                   moments + static_cast<std::int64_t>(rows.columns[begin + k]) * side, k + 1);
    }
}

template <class Rows>
void moments_of_list(const Rows& rows, const RowLabels& labels, const std::uint32_t* list,
                     std::int64_t length, double scale, double* moments, double* sums) noexcept {
    const std::int64_t ahead = rows_ahead(rows);
    double* const last = moments + rows.width * (rows.width + 1);
    for (std::int64_t k = 0; k < length; ++k) {
        if (k + ahead < length) {
            prefetch_whole(rows, list[k + ahead]);
        }
        const std::int64_t i = list[k];
        const double weight = scale * labels.weight(i);
        add_moments(rows, i, weight, moments);
        rows.add(i, weight, last);
        last[rows.width] += weight;
        rows.add(i, weight * labels.sign(i), sums);
        sums[rows.width] += weight * labels.sign(i);
    }
}

}  // namespace hinge
