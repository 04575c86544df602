// Gaussian sums over terms of whole numbers of 16 bits, packed once: distances are exact.
//
// Rows that are whole multiples of one number, such as pixels / 255 or values of three digits, take
// half the memory of float32, and an instruction multiplies and adds two features of a lane at
// once. Squared norms are below 2^29, so that no sum of 32 bits overflows:
// |x'z| <= ||x|| ||z|| < 2^29, and every partial sum of it is one of shorter rows. Two features of
// a point that are both zero are skipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/term_coefficients.hpp"

namespace hinge {

inline constexpr std::int64_t kMostWholeSquare = std::int64_t{1} << 29;

using WholeLanes = IntegerRegister<float>;  // 32 bits a lane, or two numbers of 16 bits

// Products of the two numbers of 16 bits in every lane, added up.
inline WholeLanes pair_products(WholeLanes a, WholeLanes b) noexcept {
#if defined(__AVX2__)
    return (WholeLanes)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    WholeLanes sums;
    for (std::int64_t k = 0; k < kLanes<float>; ++k) {
        const std::int32_t low = static_cast<std::int16_t>(a[k]) * static_cast<std::int16_t>(b[k]);
        sums[k] = low + (a[k] >> 16) * (b[k] >> 16);
    }
    return sums;
#endif
}

// The squared norm of a row.
inline std::int64_t whole_square(const std::int16_t* row, std::int64_t width) noexcept {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < width; ++k) {
        sum += static_cast<std::int64_t>(row[k]) * row[k];
    }
    return sum;
}

class WholeTerms {
  public:
    // values has `width` numbers for every term, of squared norms below kMostWholeSquare.
    WholeTerms(const std::int16_t* values, std::int64_t count, std::int64_t width,
               TermCoefficients coef)
        : coef_(std::move(coef)), width_(width), pairs_((width + 1) / 2) {
        values_.assign(static_cast<std::size_t>(coef_.length() * pairs_), 0);
        selfs_.assign(static_cast<std::size_t>(coef_.length()), 0);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int16_t* row = values + i * width;
            selfs_[static_cast<std::size_t>(i)] =
                static_cast<std::int32_t>(whole_square(row, width));
            std::int32_t* lane = values_.data() + i / kRows * kRows * pairs_ + i % kRows;
            for (std::int64_t k = 0; k < pairs_; ++k) {
                lane[k * kRows] = pair_at(row, k);
            }
        }
    }

    std::int64_t functions() const noexcept { return coef_.functions(); }
    std::int64_t width() const noexcept { return width_; }

    // out[point, c] = f_c, then g and h; gamma is that of the whole numbers.
    void sums(float gamma, const std::int16_t* points, std::int64_t count, double* out) const {
        const std::int64_t columns = functions() + 2;
        std::fill_n(out, count * columns, 0.0);
        std::vector<Pair> row(static_cast<std::size_t>(pairs_) + 1);
        for (std::int64_t first = 0; first < count; ++first) {
            const std::int16_t* point = points + first * width_;
            const std::int64_t filled = read_pairs(point, row.data());
            const auto self = static_cast<std::int32_t>(whole_square(point, width_));
            const auto panels = static_cast<std::size_t>(coef_.length() / kRows);
            for (std::size_t p = 0; p < panels; ++p) {
                coef_.add<float>(gamma, p, out + first * columns,
                                 [&](std::int64_t at, Register<float>* squares) {
                                     square_distances(p, at, row.data(), filled, self, squares);
                                 });
            }
        }
    }

  private:
    static constexpr std::int64_t kRows = TermCoefficients::kRows;
    static constexpr std::int64_t kRegisters = TermCoefficients::kRegistersAtATime;

    struct Pair {
        std::int64_t place;
        std::int32_t value;
    };

    // Writes the pairs of features of a point that are not both zero; returns how many they are.
    std::int64_t read_pairs(const std::int16_t* point, Pair* row) const noexcept {
        std::int64_t filled = 0;
        for (std::int64_t k = 0; k < pairs_; ++k) {
            row[filled] = {k * kRows, pair_at(point, k)};
            filled += row[filled].value != 0 ? 1 : 0;
        }
        return filled;
    }

    // Two neighbouring features in 32 bits, the second 0 beyond the last.
    std::int32_t pair_at(const std::int16_t* row, std::int64_t k) const noexcept {
        const auto low = static_cast<std::uint16_t>(row[2 * k]);
        const std::int16_t next = 2 * k + 1 < width_ ? row[2 * k + 1] : std::int16_t{0};
        const auto high = static_cast<std::uint32_t>(static_cast<std::uint16_t>(next)) << 16;
        return static_cast<std::int32_t>(high | low);
    }

    static WholeLanes load_lanes(const std::int32_t* at) noexcept {
        WholeLanes lanes;
        std::memcpy(&lanes, at, sizeof(lanes));
        return lanes;
    }

    void square_distances(std::size_t p, std::int64_t at, const Pair* row, std::int64_t filled,
                          std::int32_t self, Register<float>* squares) const noexcept {
        constexpr std::int64_t kLane = kLanes<float>;
        const auto first = static_cast<std::int64_t>(p) * kRows;
        const std::int32_t* lanes = values_.data() + first * pairs_ + at;
        WholeLanes sums[kRegisters] = {};
        for (const Pair* pair = row; pair != row + filled; ++pair) {
            const WholeLanes value = WholeLanes{} + pair->value;
            const std::int32_t* of_pair = lanes + pair->place;
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kRegisters; ++u) {
                sums[u] += pair_products(value, load_lanes(of_pair + u * kLane));
            }
        }
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kRegisters; ++u) {
            const WholeLanes own = load_lanes(selfs_.data() + first + at + u * kLane);
            squares[u] =
                __builtin_convertvector((own + self) - (sums[u] + sums[u]), Register<float>);
        }
    }

    TermCoefficients coef_;
    std::int64_t width_;
    std::int64_t pairs_;
    AlignedVector<std::int32_t> values_;  // two features a lane
    AlignedVector<std::int32_t> selfs_;
};

}  // namespace hinge
