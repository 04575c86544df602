// Rows of the kernel matrix that are kept: sums of them, pieces of them, and the matrix that they
// are of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hinge/aligned.hpp"

namespace hinge {

inline constexpr std::int64_t kColumnsAtOnce = 2048;  // their sums stay in the first-level cache

inline constexpr std::int64_t kKeptAtOnce = 8;  // rows that one visit of the sums adds

// out[j] += sum over s < kRows of coef[s] rows[s][j] for begin <= j < end, one row after the other.
template <std::int64_t kRows, class Value>
void add_kept(const Value* const* rows, const double* coef, std::int64_t begin, std::int64_t end,
              double* out) noexcept {
    const Value* of[kRows];
    double scales[kRows];
    std::copy_n(rows, kRows, of);
    std::copy_n(coef, kRows, scales);
#pragma omp simd
    for (std::int64_t j = begin; j < end; ++j) {
        double sum = out[j];
#pragma GCC unroll 8
        for (std::int64_t s = 0; s < kRows; ++s) {
            sum += scales[s] * static_cast<double>(of[s][j]);
        }
        out[j] = sum;
    }
}

// out[j] += sum over s of coef[s] row_at(s)[j], for columns first <= j < last; in float64, the rows
// in the order given. Rows come from memory, so that several streams of them are read at a time.
template <class RowAt>
void add_in_order(const RowAt& row_at, const double* coef, std::int64_t count, std::int64_t first,
                  std::int64_t last, double* out) noexcept {
    for (std::int64_t begin = first; begin < last; begin += kColumnsAtOnce) {
        const std::int64_t end = std::min(begin + kColumnsAtOnce, last);
        decltype(row_at(0)) some[kKeptAtOnce];
        std::int64_t s = 0;
        for (; s + kKeptAtOnce <= count; s += kKeptAtOnce) {
            for (std::int64_t k = 0; k < kKeptAtOnce; ++k) {
                some[k] = row_at(s + k);
            }
            add_kept<kKeptAtOnce>(some, coef + s, begin, end, out);
        }
        for (; s < count; ++s) {
            some[0] = row_at(s);
            add_kept<1>(some, coef + s, begin, end, out);
        }
    }
}

// The rows are those of the slots. Value is float, or double where float32 is not exact enough.
template <class Value>
void add_cached(const Value* rows, std::int64_t stride, const std::int64_t* slots,
                const double* coef, std::int64_t count, std::int64_t first, std::int64_t last,
                double* out) noexcept {
    const auto row_at = [=](std::int64_t s) { return rows + slots[s] * stride; };
    add_in_order(row_at, coef, count, first, last, out);
}

// The rows are anywhere; all of their columns.
inline void add_rows(const float* const* rows, const double* coef, std::int64_t n_rows,
                     std::int64_t count, double* out) noexcept {
    const auto row_at = [=](std::int64_t s) { return rows[s]; };
    add_in_order(row_at, coef, n_rows, 0, count, out);
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
