// Rows of the kernel matrix that are kept: sums of them, pieces of them, and the matrix that they
// are of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hinge/aligned.hpp"

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

// Where rows are kept, and when each was used last.
struct KeptRows {
    const float* rows;
    std::int64_t stride;
    const std::int64_t* slot_of;  // of every row of the matrix; negative where it is not kept
    std::int64_t* used;           // of every slot
    std::int64_t clock;
};

// The kernel matrix of some variables, as far as its rows are kept.
class KeptMatrix {
  public:
    using Value = float;

    // The variables are the rows `numbers` of the whole matrix, or all of them where that is null;
    // own has K_kk of each.
    KeptMatrix(const KeptRows& kept, const std::int64_t* numbers, const double* own,
               std::int64_t count)
        : kept_(kept), numbers_(numbers), own_(own), count_(count) {
        if (numbers_ != nullptr) {
            places_[0].resize(static_cast<std::size_t>(count));
            places_[1].resize(static_cast<std::size_t>(count));
        }
    }

    double own(std::int64_t k) const noexcept { return own_[k]; }
    std::int64_t clock() const noexcept { return kept_.clock; }

    // Row k at the columns of the variables, null if it is not kept. Rows that are asked for in
    // place 0 begin another round: what is used in the same one must not make room.
    const float* row(std::int64_t k, int place) noexcept {
        kept_.clock += place == 0 ? 1 : 0;
        const std::int64_t slot = kept_.slot_of[numbers_ == nullptr ? k : numbers_[k]];
        if (slot < 0) {
            return nullptr;
        }
        kept_.used[slot] = kept_.clock;
        const float* whole = kept_.rows + slot * kept_.stride;
        if (numbers_ == nullptr) {
            return whole;
        }
        float* some = places_[place].data();
        for (std::int64_t j = 0; j < count_; ++j) {
            some[j] = whole[numbers_[j]];
        }
        return some;
    }

  private:
    KeptRows kept_;
    const std::int64_t* numbers_;
    const double* own_;
    std::int64_t count_;
    AlignedVector<float> places_[2];  // parts of rows, where not all columns are wanted
};

}  // namespace hinge
