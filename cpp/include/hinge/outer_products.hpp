// Sums of outer products of rows, f_i x_i x_i', into the lower triangle of a dense matrix.
//
// Dense rows are gathered and added four at a time, to two rows of the matrix at once: numbers are
// then used for several products each time that they are read. Of sparse rows each pair of values
// goes where it belongs. Rows of the matrix are as long as whole registers make them; what lies
// above its diagonal is nobody's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hinge/linalg.hpp"
#include "hinge/rows.hpp"

namespace hinge {

// How far apart the rows of a matrix of so many columns begin.
inline std::int64_t padded(std::int64_t size) noexcept {
    return (size + kPackWidth - 1) / kPackWidth * kPackWidth;
}

class OuterProducts {
  public:
    // A constant feature, if there is one, comes last of the `size` features.
    OuterProducts(std::int64_t size, double constant)
        : size_(size),
          stride_(padded(size)),
          constant_(constant),
          rows_(static_cast<std::size_t>(kTogether * stride_)) {}

    template <class Value>
    void add(const DenseRows<Value>& rows, std::int64_t i, double factor, double* matrix) noexcept {
        double* const to = rows_.data() + gathered_ * stride_;
        const Value* const row = rows.row(i);
        for (std::int64_t k = 0; k < rows.width; ++k) {
            to[k] = static_cast<double>(row[k]);
        }
        if (constant_ != 0.0) {
            to[rows.width] = constant_;
        }
        factors_[static_cast<std::size_t>(gathered_)] = factor;
        ++gathered_;
        if (gathered_ == kTogether) {
            finish(matrix);
        }
    }

    template <class Value, class Index>
    void add(const CsrRows<Value, Index>& rows, std::int64_t i, double factor,
             double* matrix) noexcept {
        const std::int64_t begin = rows.begin(i);
        const std::int64_t end = rows.begin(i + 1);
        double* const last = matrix + (size_ - 1) * stride_;
        for (std::int64_t a = begin; a < end; ++a) {
            const double scaled = factor * static_cast<double>(rows.values[a]);
            double* const to = matrix + static_cast<std::int64_t>(rows.columns[a]) * stride_;
            for (std::int64_t b = begin; b <= a; ++b) {
                to[rows.columns[b]] += scaled * static_cast<double>(rows.values[b]);
            }
            if (constant_ != 0.0) {
                last[rows.columns[a]] += scaled * constant_;
            }
        }
        if (constant_ != 0.0) {
            last[size_ - 1] += factor * constant_ * constant_;
        }
    }

    // Adds what has been gathered.
    void finish(double* matrix) noexcept {
        if (gathered_ == 0) {
            return;
        }
        std::fill(factors_.begin() + gathered_, factors_.end(), 0.0);
        std::int64_t j = 0;
        for (; j + 2 <= size_; j += 2) {
            add_gathered<2>(j, matrix);
        }
        if (j < size_) {
            add_gathered<1>(j, matrix);
        }
        gathered_ = 0;
    }

  private:
    static constexpr std::int64_t kTogether = 4;

    // Adds to rows j, ... of the matrix, up to the diagonal and on to the end of a register.
    template <std::int64_t kRows>
    void add_gathered(std::int64_t j, double* matrix) const noexcept {
        std::array<std::array<Pack, kTogether>, kRows> own;
        for (std::int64_t r = 0; r < kRows; ++r) {
            for (std::int64_t t = 0; t < kTogether; ++t) {
                own[r][t] = Pack{} + factors_[t] * rows_[t * stride_ + j + r];
            }
        }
        for (std::int64_t k = 0; k < j + kRows; k += kPackWidth) {
            std::array<Pack, kTogether> other;
            for (std::int64_t t = 0; t < kTogether; ++t) {
                other[t] = load_pack(rows_.data() + t * stride_ + k);
            }
            for (std::int64_t r = 0; r < kRows; ++r) {
                double* const to = matrix + (j + r) * stride_ + k;
                Pack sum = load_pack(to);
                for (std::int64_t t = 0; t < kTogether; ++t) {
                    sum = multiply_add(own[r][t], other[t], sum);
                }
                std::memcpy(to, &sum, sizeof(sum));
            }
        }
    }

    std::int64_t size_;
    std::int64_t stride_;
    double constant_;
    std::int64_t gathered_ = 0;
    std::vector<double> rows_;
    std::array<double, kTogether> factors_{};
};

}  // namespace hinge
