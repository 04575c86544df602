// Sums over consecutive rows with a weight for each of them: what a method that needs only passes
// over the data is made of. Rows of weight zero are not read, unless reading on is sooner done than
// finding the next row.
//
// Vectors have an entry for every feature and, where the rows end in a constant feature (constant
// is not 0), one more for it. The sums are added to what their target holds, row by row in order.
#pragma once

#include <cstdint>

#include "hinge/linalg.hpp"
#include "hinge/rows.hpp"

namespace hinge {

// The rows from first to first + count, and the value of their constant feature.
template <class Rows>
struct RowRange {
    Rows rows;
    std::int64_t first;
    std::int64_t count;
    double constant;

    double score(std::int64_t k, const double* v) const noexcept {
        const double score = rows.dot(first + k, v);
        return constant == 0.0 ? score : multiply_add(constant, v[rows.width], score);
    }
    void add(std::int64_t k, double scale, double* v) const noexcept {
        rows.add(first + k, scale, v);
        if (constant != 0.0) {
            v[rows.width] = multiply_add(constant, scale, v[rows.width]);
        }
    }
};

// A row by itself takes as long as so many bytes more of a run, which memory delivers unasked.
inline constexpr std::int64_t kBytesToFindRow = 2048;

// Whether all rows of a run are sooner read than the wanted ones among them.
template <class Value>
bool reads_all(const DenseRows<Value>& rows, std::int64_t wanted, std::int64_t count) noexcept {
    const auto bytes = rows.width * static_cast<std::int64_t>(sizeof(Value));
    return wanted * (bytes + kBytesToFindRow) >= count * bytes;
}
template <class Value, class Index>
bool reads_all(const CsrRows<Value, Index>&, std::int64_t, std::int64_t) noexcept {
    return false;
}

// out += sum of weights[k] x_k
template <class Rows>
void weighted_sum(const RowRange<Rows>& range, const double* weights, double* out) noexcept {
    std::int64_t wanted = 0;
    for (std::int64_t k = 0; k < range.count; ++k) {
        wanted += weights[k] != 0.0 ? 1 : 0;
    }
    const bool all = wanted > 0 && reads_all(range.rows, wanted, range.count);
    for (std::int64_t k = 0; k < range.count; ++k) {
        if (all || weights[k] != 0.0) {
            range.add(k, weights[k], out);
        }
    }
}

// out += sum of weights[k] (x_k' v) x_k
template <class Rows>
void curvature_product(const RowRange<Rows>& range, const double* weights, const double* v,
                       double* out) noexcept {
    for (std::int64_t k = 0; k < range.count; ++k) {
        if (weights[k] != 0.0) {
            range.add(k, weights[k] * range.score(k, v), out);
        }
    }
}

template <class Value>
void add_squares(const DenseRows<Value>& rows, std::int64_t i, double scale, double* out) noexcept {
    const Value* const row = rows.row(i);
#pragma omp simd
    for (std::int64_t k = 0; k < rows.width; ++k) {
        const double value = static_cast<double>(row[k]);
        out[k] = multiply_add(scale * value, value, out[k]);
    }
}

template <class Value, class Index>
void add_squares(const CsrRows<Value, Index>& rows, std::int64_t i, double scale,
                 double* out) noexcept {
    const std::int64_t end = rows.begin(i + 1);
    for (std::int64_t k = rows.begin(i); k < end; ++k) {
        const double value = static_cast<double>(rows.values[k]);
        double& target = out[rows.columns[k]];
        target = multiply_add(scale * value, value, target);
    }
}

// out += sum of weights[k] times the squares of the entries of x_k
template <class Rows>
void weighted_squares(const RowRange<Rows>& range, const double* weights, double* out) noexcept {
    for (std::int64_t k = 0; k < range.count; ++k) {
        if (weights[k] != 0.0) {
            add_squares(range.rows, range.first + k, weights[k], out);
            if (range.constant != 0.0) {
                double& last = out[range.rows.width];
                last = multiply_add(weights[k] * range.constant, range.constant, last);
            }
        }
    }
}

// Lower triangle of scale x x' added to a matrix of so many columns; the columns of a row rise.
template <class Value, class Index>
void add_outer(const CsrRows<Value, Index>& rows, std::int64_t i, double scale, double* out,
               std::int64_t columns) noexcept {
    const std::int64_t begin = rows.begin(i);
    const std::int64_t end = rows.begin(i + 1);
    for (std::int64_t k = begin; k < end; ++k) {
        double* const target = out + rows.columns[k] * columns;
        sparse_add(rows.values + begin, rows.columns + begin,
                   scale * static_cast<double>(rows.values[k]), target, k - begin + 1);
    }
}

// Lower triangle of the sum of weights[k] x_k x_k', added to a matrix in rows.
template <class Value, class Index>
void weighted_outer(const RowRange<CsrRows<Value, Index>>& range, const double* weights,
                    double* out) noexcept {
    const std::int64_t columns = range.rows.width + (range.constant == 0.0 ? 0 : 1);
    double* const last = out + range.rows.width * columns;
    for (std::int64_t k = 0; k < range.count; ++k) {
        if (weights[k] != 0.0) {
            add_outer(range.rows, range.first + k, weights[k], out, columns);
            if (range.constant != 0.0) {
                range.add(k, weights[k] * range.constant, last);
            }
        }
    }
}

}  // namespace hinge
