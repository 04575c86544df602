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
// Where the positions of a cell are sorted by key, run by run, only those are looked at that the
// extremes of the cell leave in doubt. A run has a bounded length, so that sorting it does.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "hinge/linalg.hpp"
#include "hinge/row_order.hpp"

namespace hinge {

struct Positions {
    const std::uint32_t* order;  // the row at each position
    const float* keys;           // its margin when stored, rounded to nearest
    const float* slopes;         // null where there is no direction
    const float* distances;      // null where only the cell's spread counts; rounded up
    const std::int64_t* starts;  // where each cell begins, and the end of the last
    std::int64_t cells;
    bool sorted;  // by key, within each run of a cell
};

// A cell is sorted in runs of so many positions: the work of a call is bounded, the cache holds it,
// and one search more for each run costs nothing.
inline constexpr std::int64_t kSortedRun = std::int64_t{1} << 18;

using Range = std::pair<std::int64_t, std::int64_t>;  // from a position to before another

// What the weights now mean for each cell.
struct CellChanges {
    const double* shift;
    const double* spread;    // rounding included
    const double* rounding;  // beside length * distance
    const double* steepest;  // the largest |slope| of the cell
    double length;
    double along;
    double slope_error;  // of along * slope
    double store_error;  // rounding of margins then and now
};

inline constexpr double kFloatError = 0x1.0p-23;  // of a key or slope as float32, generously
inline constexpr double kDoubleError = 0x1.0p-48;

struct Interval {
    double low;
    double high;
};

// The same formulas serve one position (double) and a register full of them (Pack).
template <class Number>
Number load_number(const float* at) noexcept {
    if constexpr (std::is_same_v<Number, double>) {
        return static_cast<double>(*at);
    } else {
        return load_pack(at);
    }
}

template <class Number>
Number smaller(Number a, Number b) noexcept {
    return b < a ? b : a;
}

inline double magnitude(double a) noexcept {
    return std::abs(a);
}

inline Pack magnitude(Pack a) noexcept {
    typedef std::int64_t Bits __attribute__((vector_size(sizeof(Pack))));
    return std::bit_cast<Pack>(std::bit_cast<Bits>(a) & std::numeric_limits<std::int64_t>::max());
}

// The margin at a position: within `reach` of `centre` now, within `blur` of `key` then.
template <class Number>
struct PositionBound {
    Number centre;
    Number reach;
    Number key;
    Number blur;
};

// Which arrays a scan reads is known before it, so that its loop has no branch.
template <class Number, bool kSlopes, bool kDistances>
PositionBound<Number> bound_at(const Positions& at, const CellChanges& change, std::int64_t cell,
                               std::int64_t position) noexcept {
    const Number key = load_number<Number>(at.keys + position);
    const Number blur = kFloatError * magnitude(key) + change.store_error;
    Number centre = key + change.shift[cell];
    Number reach = Number{} + change.spread[cell];
    if constexpr (kDistances) {
        const Number distance = load_number<Number>(at.distances + position);
        reach = smaller(reach, change.length * distance + change.rounding[cell]);
    }
    if constexpr (kSlopes) {
        const Number move = change.along * load_number<Number>(at.slopes + position);
        centre = centre + move;
        reach = reach + kFloatError * magnitude(move) + change.slope_error;
    }
    // What double arithmetic itself rounds away here is far below the error of a float32.
    const double shift = std::abs(change.shift[cell]);
    reach = reach + blur + kDoubleError * (magnitude(centre) + reach + shift);
    return {centre, reach, key, blur};
}

template <class Flags>
bool any(const Flags& flags) noexcept {
    auto joined = flags[0];
    for (std::int64_t lane = 1; lane < kPackWidth; ++lane) {
        joined |= flags[lane];
    }
    return joined != 0;
}

// Not the opposite comparisons: a bound that is not a number leaves its row open.
inline bool is_open(const PositionBound<double>& at, const Interval& window) noexcept {
    const bool below = at.centre + at.reach < window.low && at.key + at.blur < window.low;
    const bool above = at.centre - at.reach > window.high && at.key - at.blur > window.high;
    return !(below || above);
}

inline auto is_open(const PositionBound<Pack>& at, const Interval& window) noexcept {
    const auto below = (at.centre + at.reach < window.low) & (at.key + at.blur < window.low);
    const auto above = (at.centre - at.reach > window.high) & (at.key - at.blur > window.high);
    return ~(below | above);
}

// What the extremes of a cell leave in doubt of a part of one of its runs; all of it where it is
// not sorted.
inline Range doubtful(const Positions& at, const CellChanges& change, const Interval& window,
                      std::int64_t cell, Range part) noexcept {
    const auto [begin, end] = part;
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
    // A bound that overflows decides nothing.
    if (!(reach < std::numeric_limits<double>::infinity())) {
        return {begin, end};
    }
    // However far a cell moves away from the window, a key is only within this of what it rounds.
    const double blur = extent + change.store_error;
    const double low = window.low - std::max(blur, change.shift[cell] + reach);
    const double high = window.high + std::max(blur, reach - change.shift[cell]);
    const auto less = [](float key, double value) { return static_cast<double>(key) < value; };
    const auto more = [](double value, float key) { return value < static_cast<double>(key); };
    const float* const first = std::lower_bound(at.keys + begin, at.keys + end, low, less);
    const float* const last = std::upper_bound(first, at.keys + end, high, more);
    return {first - at.keys, last - at.keys};
}

template <bool kSlopes, bool kDistances>
std::int64_t open_in_range(const Positions& at, const CellChanges& change, const Interval& window,
                           std::int64_t cell, Range range, std::uint32_t* open) noexcept {
    std::int64_t count = 0;
    std::int64_t k = range.first;
    for (; k + kPackWidth <= range.second; k += kPackWidth) {
        const auto flags =
            is_open(bound_at<Pack, kSlopes, kDistances>(at, change, cell, k), window);
        if (!any(flags)) {
            continue;
        }
        for (std::int64_t lane = 0; lane < kPackWidth; ++lane) {
            open[count] = at.order[k + lane];
            count -= flags[lane];  // all bits set, which is -1, where open
        }
    }
    for (; k < range.second; ++k) {
        open[count] = at.order[k];
        count +=
            is_open(bound_at<double, kSlopes, kDistances>(at, change, cell, k), window) ? 1 : 0;
    }
    return count;
}

// Calls a function with what the positions have as constants: slopes, distances.
template <class Function>
auto with_arrays(const Positions& at, Function&& function) {
    using Yes = std::true_type;
    using No = std::false_type;
    if (at.slopes != nullptr) {
        return at.distances != nullptr ? function(Yes{}, Yes{}) : function(Yes{}, No{});
    }
    return at.distances != nullptr ? function(No{}, Yes{}) : function(No{}, No{});
}

// Writes the open rows of a span of positions to `open`, which has a place for each and one more;
// returns how many there are.
inline std::int64_t open_rows(const Positions& at, const CellChanges& change,
                              const Interval& window, Range span, std::uint32_t* open) {
    return with_arrays(at, [&](auto slopes, auto distances) {
        std::int64_t count = 0;
        for (std::int64_t cell = 0; cell < at.cells; ++cell) {
            const std::int64_t last = std::min(at.starts[cell + 1], span.second);
            for (std::int64_t run = at.starts[cell]; run < last; run += kSortedRun) {
                const Range part{std::max(run, span.first), std::min(run + kSortedRun, last)};
                if (part.first < part.second) {
                    const Range range = doubtful(at, change, window, cell, part);
                    count += open_in_range<slopes.value, distances.value>(at, change, window, cell,
                                                                          range, open + count);
                }
            }
        }
        put_in_order(open, count);
        return count;
    });
}

// Lower bounds on the margins at every position.
inline void lower_bounds(const Positions& at, const CellChanges& change, double* lowest) noexcept {
    with_arrays(at, [&](auto slopes, auto distances) {
        for (std::int64_t cell = 0; cell < at.cells; ++cell) {
            for (std::int64_t k = at.starts[cell]; k < at.starts[cell + 1]; ++k) {
                const auto bound =
                    bound_at<double, slopes.value, distances.value>(at, change, cell, k);
                lowest[k] = bound.centre - bound.reach;
            }
        }
    });
}

// A dual with one equality constraint moves pairs of variables: one whose label times coefficient
// rises, one where it falls. The best to rise has the largest y (1 - margin), the best to fall the
// smallest; rows that cannot move that way do not count.
enum PairSide : std::uint8_t { kRises = 1, kFalls = 2 };

struct PairLimits {
    double rising;   // a row already known to rise has this much
    double falling;  // and one known to fall this much
};

// Writes to `rows` all that may be better than the limits, and are allowed to; returns how many.
inline std::int64_t violators(const Positions& at, const CellChanges& change,
                              const std::int8_t* signs, const std::uint8_t* allowed,
                              const PairLimits& limits, std::uint32_t* rows) {
    return with_arrays(at, [&](auto slopes, auto distances) {
        std::int64_t count = 0;
        for (std::int64_t cell = 0; cell < at.cells; ++cell) {
            for (std::int64_t k = at.starts[cell]; k < at.starts[cell + 1]; ++k) {
                const auto bound =
                    bound_at<double, slopes.value, distances.value>(at, change, cell, k);
                const std::uint32_t row = at.order[k];
                const double middle = (1.0 - bound.centre) * static_cast<double>(signs[row]);
                // Not the opposite comparisons: a bound that is not a number decides nothing.
                const bool rises =
                    (allowed[row] & kRises) != 0 && !(middle + bound.reach < limits.rising);
                const bool falls =
                    (allowed[row] & kFalls) != 0 && !(middle - bound.reach > limits.falling);
                rows[count] = row;
                count += rises || falls ? 1 : 0;
            }
        }
        put_in_order(rows, count);
        return count;
    });
}

// Margins then, and how they had changed before that, put where a scan reads them.
struct MarginHistory {
    const double* margins;
    const double* before;  // null where there is none
    const std::int8_t* signs;
    double intercept_step;
};

// Fills the arrays of the positions of one cell; returns the largest |slope|.
inline double fill_positions(const MarginHistory& history, const std::uint32_t* order,
                             std::int64_t begin, std::int64_t end, float* keys,
                             float* slopes) noexcept {
    double steepest = 0.0;
    for (std::int64_t k = begin; k < end; ++k) {
        const std::uint32_t row = order[k];
        const double margin = history.margins[row];
        keys[k] = static_cast<float>(margin);
        if (history.before != nullptr) {
            const double step = static_cast<double>(history.signs[row]) * history.intercept_step;
            slopes[k] = static_cast<float>(margin - history.before[row] - step);
            steepest = std::max(steepest, std::abs(static_cast<double>(slopes[k])));
        }
    }
    return steepest;
}

}  // namespace hinge
