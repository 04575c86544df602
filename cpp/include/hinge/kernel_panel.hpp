// Rows side by side: panels of rows turned into columns, tiles of rows read one after the other,
// and the sums over features of every pair of the two.
//
// A panel holds as many rows as fill eight registers, feature by feature, so that one number of a
// tile's row meets the same feature of all the panel's rows in eight instructions. A tile keeps the
// non-zero entries of its rows as lists, whatever the storage they came from: 4 of 5 entries of an
// image are often zero, and skipping them beats the densest matrix product. Where most entries are
// there, six rows at a time are multiplied by two registers of the panel.
//
// Features are taken in chunks whose part of a panel fits the first-level cache; the sums of a tile
// wait in memory meanwhile. A pair's sum runs over the features in their order, in both forms and
// in any place of a panel: its bits depend on the two rows alone, and for products not on which of
// them is in the panel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/kernel.hpp"
#include "hinge/registers.hpp"
#include "hinge/rows.hpp"
#include "hinge/transpose.hpp"

namespace hinge {

inline constexpr std::int64_t kPanelRegisters = 8;
inline constexpr std::int64_t kTileRows = 96;
inline constexpr std::int64_t kRowsAtOnce = 6;
inline constexpr std::int64_t kRegistersAtOnce = 2;
inline constexpr std::int64_t kChunkFeatures = 128;  // 32 KB of a panel
// Beyond this many features a panel keeps only those that its rows have, or it leaves the cache.
inline constexpr std::int64_t kMostDirectFeatures = 4096;
// Lists of entries cost more per entry than full rows; they pay below this share of entries.
inline constexpr double kFullShare = 0.75;

template <class Real>
inline constexpr std::int64_t kPanelRows = kPanelRegisters * kLanes<Real>;

// What to subtract from every row, if anything: distances keep their digits far from the origin.
template <class Real>
struct Centre {
    const double* values = nullptr;

    template <class Value>
    Real moved(Value value, std::int64_t feature) const noexcept {
        return static_cast<Real>(values == nullptr ? static_cast<double>(value)
                                                   : static_cast<double>(value) - values[feature]);
    }
};

// Calls visit(feature, value) for the entries of a row, in the order of the features.
template <class Real, class Value, class Visit>
void for_entries(const DenseRows<Value>& rows, std::int64_t i, const Centre<Real>& centre,
                 Visit&& visit) {
    const Value* row = rows.row(i);
    for (std::int64_t k = 0; k < rows.width; ++k) {
        const Real value = centre.moved(row[k], k);
        if (value != Real{0}) {
            visit(k, value);
        }
    }
}

template <class Real, class Value, class Index, class Visit>
void for_entries(const CsrRows<Value, Index>& rows, std::int64_t i, const Centre<Real>&,
                 Visit&& visit) {
    const std::int64_t end = rows.begin(i + 1);
    for (std::int64_t at = rows.begin(i); at < end; ++at) {
        visit(static_cast<std::int64_t>(rows.columns[at]), static_cast<Real>(rows.values[at]));
    }
}

// Writes the entries of a row that are not zero, as float32, and their features; returns how many.
// Every number is written, and the next one takes its place if it was zero, which spares a jump
// that nobody can foresee.
template <class Value>
std::int64_t list_entries(const DenseRows<Value>& rows, std::int64_t i, float* values,
                          std::int32_t* features) noexcept {
    const Value* row = rows.row(i);
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < rows.width; ++k) {
        const auto value = static_cast<float>(row[k]);
        values[count] = value;
        features[count] = static_cast<std::int32_t>(k);
        count += value != 0.0F ? 1 : 0;
    }
    return count;
}

// A row's sum with itself, as the panels would take it.
template <class Pairing, class Real, class Rows>
Real self_sum(const Rows& rows, std::int64_t i, const Centre<Real>& centre) {
    Real sum{0};
    for_entries(rows, i, centre, [&](std::int64_t, Real value) {
        sum = Pairing::template add_self<Real>(value, sum);
    });
    return sum;
}

// The same for rows from `first` on. Each sum waits for its last addition: those of several dense
// rows are under way at a time. A zero adds nothing.
template <class Pairing, class Real, class Value>
void self_sums(const DenseRows<Value>& rows, std::int64_t first, std::int64_t count,
               const Centre<Real>& centre, Real* out) {
    constexpr std::int64_t kTogether = 8;
    std::int64_t i = 0;
    for (; i + kTogether <= count; i += kTogether) {
        const Value* some[kTogether];
        Real sums[kTogether] = {};
        for (std::int64_t r = 0; r < kTogether; ++r) {
            some[r] = rows.row(first + i + r);
        }
        for (std::int64_t k = 0; k < rows.width; ++k) {
#pragma GCC unroll 8
            for (std::int64_t r = 0; r < kTogether; ++r) {
                sums[r] = Pairing::template add_self<Real>(centre.moved(some[r][k], k), sums[r]);
            }
        }
        std::copy_n(sums, kTogether, out + i);
    }
    for (; i < count; ++i) {
        out[i] = self_sum<Pairing, Real>(rows, first + i, centre);
    }
}

template <class Pairing, class Real, class Value, class Index>
void self_sums(const CsrRows<Value, Index>& rows, std::int64_t first, std::int64_t count,
               const Centre<Real>& centre, Real* out) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = self_sum<Pairing, Real>(rows, first + i, centre);
    }
}

template <class Real>
class Panel {
  public:
    template <class Rows>
    Panel(const Rows& rows, const std::int64_t* numbers, std::int64_t count,
          const Centre<Real>& centre)
        : registers_(registers_for(count)) {
        if (rows.width > kMostDirectFeatures) {
            find_places(rows, numbers, count, centre);
        }
        const std::int64_t features = places_.empty() ? rows.width : features_;
        values_.assign(static_cast<std::size_t>(features * kPanelRows<Real>), Real{0});
        for (std::int64_t lane = turn_over(rows, numbers, count, centre); lane < count; ++lane) {
            for_entries(rows, numbers[lane], centre, [&](std::int64_t feature, Real value) {
                values_[static_cast<std::size_t>(place(feature) * kPanelRows<Real> + lane)] = value;
            });
        }
    }

    // Where the panel has a feature, -1 where none of its rows has it.
    std::int64_t place(std::int64_t feature) const noexcept {
        return places_.empty() ? feature : places_[static_cast<std::size_t>(feature)];
    }
    // How many registers its rows fill, in steps of kRegistersAtOnce; a full panel has all eight.
    std::int64_t registers() const noexcept { return registers_; }
    bool is_direct() const noexcept { return places_.empty(); }
    const Real* at(std::int64_t place) const noexcept {
        return values_.data() + place * kPanelRows<Real>;
    }

  private:
    static std::int64_t registers_for(std::int64_t count) noexcept {
        constexpr std::int64_t kStep = kRegistersAtOnce * kLanes<Real>;
        return (count + kStep - 1) / kStep * kRegistersAtOnce;
    }

    // Rows that lie in memory as the panel has them are taken in squares, as far as these go;
    // returns how many rows that were.
    std::int64_t turn_over(const DenseRows<Real>& rows, const std::int64_t* numbers,
                           std::int64_t count, const Centre<Real>& centre) {
        constexpr std::int64_t kSide = kLanes<float>;
        std::int64_t lane = 0;
        if constexpr (sizeof(Real) == sizeof(float)) {
            if (centre.values != nullptr || !places_.empty()) {
                return 0;
            }
            for (; lane + kSide <= count; lane += kSide) {
                const Real* some[kSide];
                for (std::int64_t r = 0; r < kSide; ++r) {
                    some[r] = rows.row(numbers[lane + r]);
                }
                std::int64_t k = 0;
                for (; k + kSide <= rows.width; k += kSide) {
                    transpose_rows(some, k, values_.data() + k * kPanelRows<Real> + lane,
                                   kPanelRows<Real>);
                }
                for (; k < rows.width; ++k) {
                    for (std::int64_t r = 0; r < kSide; ++r) {
                        values_[static_cast<std::size_t>(k * kPanelRows<Real> + lane + r)] =
                            some[r][k];
                    }
                }
            }
        }
        return lane;
    }
    template <class Rows>
    std::int64_t turn_over(const Rows&, const std::int64_t*, std::int64_t, const Centre<Real>&) {
        return 0;
    }

    template <class Rows>
    void find_places(const Rows& rows, const std::int64_t* numbers, std::int64_t count,
                     const Centre<Real>& centre) {
        places_.assign(static_cast<std::size_t>(rows.width), -1);
        for (std::int64_t lane = 0; lane < count; ++lane) {
            for_entries(rows, numbers[lane], centre, [&](std::int64_t feature, Real) {
                std::int32_t& place = places_[static_cast<std::size_t>(feature)];
                if (place < 0) {
                    place = static_cast<std::int32_t>(features_++);
                }
            });
        }
    }

    AlignedVector<Real> values_;
    std::vector<std::int32_t> places_;
    std::int64_t features_ = 0;
    std::int64_t registers_;
};

}  // namespace hinge
