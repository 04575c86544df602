// Rows of the kernel matrix that are kept: sums of them, and pieces of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hinge {

inline constexpr std::int64_t kColumnsAtOnce = 2048;  // their sums stay in the first-level cache

// out[j] += sum over s of coef[s] rows[slots[s], j], for columns first <= j < last; in float64, the
// rows in the order given. Value is float, or double where float32 is not exact enough.
template <class Value>
void add_cached(const Value* rows, std::int64_t stride, const std::int64_t* slots,
                const double* coef, std::int64_t count, std::int64_t first, std::int64_t last,
                double* out) noexcept {
    for (std::int64_t begin = first; begin < last; begin += kColumnsAtOnce) {
        const std::int64_t end = std::min(begin + kColumnsAtOnce, last);
        for (std::int64_t s = 0; s < count; ++s) {
            const Value* row = rows + slots[s] * stride;
            const double scale = coef[s];
#pragma omp simd
            for (std::int64_t j = begin; j < end; ++j) {
                out[j] += scale * static_cast<double>(row[j]);
            }
        }
    }
}

// out[a, b] = rows[slots[a], columns[b]]
template <class Value>
void pick_cached(const Value* rows, std::int64_t stride, const std::int64_t* slots,
                 std::int64_t count, const std::int64_t* columns, std::int64_t n_columns,
                 Value* out, std::int64_t out_stride) noexcept {
    for (std::int64_t a = 0; a < count; ++a) {
        const Value* row = rows + slots[a] * stride;
        for (std::int64_t b = 0; b < n_columns; ++b) {
            out[a * out_stride + b] = row[columns[b]];
        }
    }
}

}  // namespace hinge
