// Sums of consecutive rows, and the non-zero values of one.
#pragma once

#include <cstdint>

#include "hinge/linalg.hpp"
#include "hinge/rows.hpp"

namespace hinge {

struct Extent {
    std::int64_t start;
    std::int64_t stop;
};

// sums += weights[0] row(i) + weights[1] row(i + 1) + ..., four rows for one visit of the sums.
template <class Value>
void add_rows(const DenseRows<Value>& rows, Extent which, const double* weights,
              double* __restrict sums) noexcept {
    std::int64_t i = which.start;
    for (; i + 4 <= which.stop; i += 4) {
        const double* const q = weights + (i - which.start);
        const Value* __restrict const a = rows.row(i);
        const Value* __restrict const b = rows.row(i + 1);
        const Value* __restrict const c = rows.row(i + 2);
        const Value* __restrict const d = rows.row(i + 3);
#pragma omp simd
        for (std::int64_t k = 0; k < rows.width; ++k) {
            double sum = multiply_add(static_cast<double>(a[k]), q[0], sums[k]);
            sum = multiply_add(static_cast<double>(b[k]), q[1], sum);
            sum = multiply_add(static_cast<double>(c[k]), q[2], sum);
            sums[k] = multiply_add(static_cast<double>(d[k]), q[3], sum);
        }
    }
    for (; i < which.stop; ++i) {
        rows.add(i, weights[i - which.start], sums);
    }
}

template <class Value, class Index>
void add_rows(const CsrRows<Value, Index>& rows, Extent which, const double* weights,
              double* sums) noexcept {
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        rows.add(i, weights[i - which.start], sums);
    }
}

// The non-zero values of a row and their columns; returns how many.
template <class Value>
std::int64_t non_zeros(const DenseRows<Value>& rows, std::int64_t i, std::int64_t* columns,
                       double* values) noexcept {
    const Value* const row = rows.row(i);
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < rows.width; ++k) {
        columns[count] = k;
        values[count] = static_cast<double>(row[k]);
        count += row[k] != Value{0} ? 1 : 0;
    }
    return count;
}

template <class Value, class Index>
std::int64_t non_zeros(const CsrRows<Value, Index>& rows, std::int64_t i, std::int64_t* columns,
                       double* values) noexcept {
    const std::int64_t begin = rows.begin(i);
    const std::int64_t count = rows.stored(i);
    for (std::int64_t k = 0; k < count; ++k) {
        columns[k] = static_cast<std::int64_t>(rows.columns[begin + k]);
        values[k] = static_cast<double>(rows.values[begin + k]);
    }
    return count;
}

}  // namespace hinge
