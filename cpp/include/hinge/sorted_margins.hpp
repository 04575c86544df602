// Which rows can have changed their side of a loss's window since their margins were stored.
//
// Positions hold rows cell by cell; a cell has one label. For the row at a position, `key` is its
// margin when stored, as float32. Its margin now lies within `reach` of
//     centre = key + shift + along * slope
// where shift and along belong to the weights now, slope is what the row's margin changed by
// between the two last stores (zero without them), and reach is the smaller of the cell's spread
// and length * distance + rounding. A row is quiet if it was, and surely still is, on one side of
// the window [low, high); otherwise it is open and its margin must be computed.
//
// Where the positions of a cell are sorted by key, only those are looked at that the extremes of
// the cell leave in doubt.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace hinge {

struct Positions {
    const std::uint32_t* order;  // the row at each position
    const float* keys;           // its margin when stored, rounded to nearest
    const float* slopes;         // null where there is no direction
    const float* distances;      // null where only the cell's spread counts; rounded up
    const std::int64_t* starts;  // where each cell begins, and the end of the last
    std::int64_t cells;
    bool sorted;
};

// What the weights now mean for each cell.
struct CellChanges {
    const double* shift;
    const double* spread;    // rounding included
    const double* rounding;  // beside length * distance
    const double* steepest;  // the largest |slope| of the cell
    double length;
    double along;
    double slope_error;  // of along * slope, relative to |slope|, and
    double store_error;  // absolute: rounding of margins then and now
};

inline constexpr double kFloatError = 0x1.0p-23;  // of a key or slope as float32, generously
inline constexpr std::int64_t kBatch = 64;

struct Interval {
    double low;
    double high;
};

// Bounds on the margins at one position, its margin when stored included.
struct PositionBound {
    double lowest;
    double highest;
    double least;     // of then and now
    double greatest;  // of then and now
};

inline PositionBound bound_at(const Positions& at, const CellChanges& change, std::int64_t cell,
                              std::int64_t position) noexcept {
    const double key = static_cast<double>(at.keys[position]);
    const double blur = kFloatError * std::abs(key) + change.store_error;
    double centre = key + change.shift[cell];
    double reach = change.spread[cell];
    if (at.distances != nullptr) {
        const double own =
            change.length * static_cast<double>(at.distances[position]) + change.rounding[cell];
        reach = std::min(reach, own);
    }
    if (at.slopes != nullptr) {
        const double move = change.along * static_cast<double>(at.slopes[position]);
        centre += move;
        reach += kFloatError * std::abs(move) + change.slope_error;
    }
    reach += blur + kFloatError * 0x1.0p-20 * (std::abs(centre) + std::abs(change.shift[cell]));
    const double lowest = centre - reach;
    const double highest = centre + reach;
    return {lowest, highest, std::min(lowest, key - blur), std::max(highest, key + blur)};
}

inline bool is_quiet(const PositionBound& bound, const Interval& window) noexcept {
    return bound.greatest < window.low || bound.least > window.high;
}

// The part of a sorted cell that its extremes leave in doubt; all of it where it is not sorted.
inline std::pair<std::int64_t, std::int64_t> doubtful(const Positions& at,
                                                      const CellChanges& change,
                                                      const Interval& window,
                                                      std::int64_t cell) noexcept {
    const std::int64_t begin = at.starts[cell];
    const std::int64_t end = at.starts[cell + 1];
    if (!at.sorted || begin == end) {
        return {begin, end};
    }
    const double move = at.slopes == nullptr ? 0.0 : std::abs(change.along) * change.steepest[cell];
    const double extent =
        2.0 * kFloatError *
        (std::abs(static_cast<double>(at.keys[begin])) +
         std::abs(static_cast<double>(at.keys[end - 1])) + std::abs(change.shift[cell]) + move);
    const double reach =
        (move + change.spread[cell] + change.store_error + change.slope_error + extent) *
        (1.0 + 0x1.0p-40);
    const double low = window.low - std::max(0.0, change.shift[cell] + reach);
    const double high = window.high + std::max(0.0, reach - change.shift[cell]);
    const auto less = [](float key, double value) { return static_cast<double>(key) < value; };
    const auto more = [](double value, float key) { return value < static_cast<double>(key); };
    const float* const first = std::lower_bound(at.keys + begin, at.keys + end, low, less);
    const float* const last = std::upper_bound(first, at.keys + end, high, more);
    return {first - at.keys, last - at.keys};
}

// Writes the open rows to `open`, which has a place for every row; returns how many there are.
inline std::int64_t open_rows(const Positions& at, const CellChanges& change,
                              const Interval& window, std::uint32_t* open) noexcept {
    std::int64_t count = 0;
    std::uint8_t flags[kBatch];
    for (std::int64_t cell = 0; cell < at.cells; ++cell) {
        const auto [begin, end] = doubtful(at, change, window, cell);
        for (std::int64_t base = begin; base < end; base += kBatch) {
            const std::int64_t size = std::min(kBatch, end - base);
            for (std::int64_t k = 0; k < size; ++k) {
                flags[k] = is_quiet(bound_at(at, change, cell, base + k), window) ? 0 : 1;
            }
            for (std::int64_t k = 0; k < size; ++k) {
                open[count] = at.order[base + k];
                count += flags[k];
            }
        }
    }
    return count;
}

// Lower bounds on the margins at every position.
inline void lower_bounds(const Positions& at, const CellChanges& change, double* lowest) noexcept {
    for (std::int64_t cell = 0; cell < at.cells; ++cell) {
        for (std::int64_t k = at.starts[cell]; k < at.starts[cell + 1]; ++k) {
            lowest[k] = bound_at(at, change, cell, k).lowest;
        }
    }
}

// A float as an integer of the same order.
inline std::uint32_t ordered_bits(float value) noexcept {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = 0x80000000U;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

// Sorts positions `begin` to `end` of `places` by key: three passes of eleven bits, stable.
inline void sort_by_key(const float* keys, std::uint32_t* places, std::uint32_t* scratch,
                        std::int64_t begin, std::int64_t end) {
    constexpr int kBits = 11;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    std::vector<std::int64_t> counts(kBuckets);
    std::uint32_t* from = places;
    std::uint32_t* to = scratch;
    for (int pass = 0; pass < 3; ++pass) {
        const auto bucket = [&](std::uint32_t place) {
            return (ordered_bits(keys[place]) >> (pass * kBits)) & (kBuckets - 1);
        };
        std::fill(counts.begin(), counts.end(), 0);
        for (std::int64_t k = begin; k < end; ++k) {
            ++counts[bucket(from[k])];
        }
        std::int64_t next = begin;
        for (std::int64_t& count : counts) {
            next += std::exchange(count, next);
        }
        for (std::int64_t k = begin; k < end; ++k) {
            to[counts[bucket(from[k])]++] = from[k];
        }
        std::swap(from, to);
    }
    std::copy(from + begin, from + end, places + begin);
}

}  // namespace hinge
