// Sums of a loss of margins over rows: over all of them in one read, or over a few.
//
// A loss of the margin z = y (w'x + b) is level - slope z + bend (high - z)^2 below `low`,
// curvature (high - z)^2 from there to `high`, and 0 beyond. Each function works on a range and
// adds to sums of the caller's, so that the caller bounds the work of a call and fixes the order in
// which ranges are joined.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hinge/rows.hpp"

namespace hinge {

struct LossPieces {
    double low;
    double high;
    double level;
    double slope;
    double curvature;
    bool tie_errs;      // a positive row exactly at `low` is on the piece below it
    double bend = 0.0;  // only for lists: sums over all rows keep no second moments

    bool linear(double margin, double sign) const noexcept {
        return margin < low || (tie_errs && margin == low && sign > 0.0);
    }
};

struct RowLabels {
    const std::int8_t* signs;
    const double* weights;       // one for every row, or one for all
    std::int64_t weight_stride;  // 1 or 0

    double sign(std::int64_t i) const noexcept { return static_cast<double>(signs[i]); }
    double weight(std::int64_t i) const noexcept { return weights[i * weight_stride]; }
};

struct MarginPoint {
    const double* w;
    double b;
};

// What a pass adds up beside vectors: the value of the loss, minus its derivative by b, and of the
// rows on the linear piece the weights, and the weights times labels.
struct PassSums {
    double value;
    double descent;
    double linear_weight;
    double linear_labels;
};

template <class Rows>
double row_margin(const Rows& rows, const RowLabels& labels, const MarginPoint& at,
                  std::int64_t i) noexcept {
    return labels.sign(i) * (rows.dot(i, at.w) + at.b);
}

// Asks for every line of some values that are needed soon, or of what lies so far ahead of them.
template <class Item>
void prefetch_lines(const Item* items, std::int64_t count, std::int64_t ahead = 0) noexcept {
    const char* const begin = reinterpret_cast<const char*>(items) + ahead;
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(Item));
    for (std::int64_t at = 0; at < size; at += kCacheLine) {
        __builtin_prefetch(begin + at, 0, 3);
    }
}

template <class Value>
void prefetch_whole(const DenseRows<Value>& rows, std::int64_t i) noexcept {
    prefetch_lines(rows.row(i), rows.width);
}

template <class Value, class Index>
void prefetch_whole(const CsrRows<Value, Index>& rows, std::int64_t i) noexcept {
    prefetch_lines(rows.values + rows.begin(i), rows.stored(i));
    prefetch_lines(rows.columns + rows.begin(i), rows.stored(i));
}

// How far ahead a row is asked for: enough bytes to cover the latency of memory, few enough that
// the cache still holds them when their turn comes.
inline constexpr std::int64_t kBytesAhead = 8192;
inline constexpr std::int64_t kMostRowsAhead = 24;
inline constexpr std::int64_t kFewestRowsAhead = 2;

template <class Rows>
std::int64_t rows_ahead(const Rows& rows) noexcept {
    if (rows.count == 0) {
        return kFewestRowsAhead;
    }
    const std::int64_t bytes =
        std::max<std::int64_t>(1, rows.stored(0) * static_cast<std::int64_t>(sizeof(*rows.values)));
    return std::clamp(kBytesAhead / bytes, kFewestRowsAhead, kMostRowsAhead);
}

// A row of a pass in order, and a request for what the pass comes to next. Rows follow one another,
// and each asks line by line for what lies a page or half of one ahead of it: the hardware stops
// following at the end of a page. With 512 bytes instead a pass over dense rows is a fifth (784
// values) to a third (676 of float32) slower. Asking for whole rows at once makes rows that the
// cache holds a seventh (54 values) to a quarter (784) slower.
inline constexpr std::int64_t kBytesAheadInOrder = 4096;

// Sparse rows in memory gain a tenth to a sixth by asking; those that the cache holds lose a third.
inline constexpr std::int64_t kSparseBytesAhead = 2048;
inline constexpr std::int64_t kCachedBytes = std::int64_t{1} << 24;

template <class Value>
std::int64_t ahead_in_order(const DenseRows<Value>&) noexcept {
    return kBytesAheadInOrder;
}

template <class Value, class Index>
std::int64_t ahead_in_order(const CsrRows<Value, Index>& rows) noexcept {
    const std::int64_t size = sizeof(Value) + sizeof(Index);
    return rows.begin(rows.count) * size > kCachedBytes ? kSparseBytesAhead : 0;
}

template <class Value>
double next_dot(const DenseRows<Value>& rows, std::int64_t i, std::int64_t,
                const double* w) noexcept {
    return dot_in_order<kBytesAheadInOrder>(rows, i, w);
}

template <class Value, class Index>
double next_dot(const CsrRows<Value, Index>& rows, std::int64_t i, std::int64_t ahead,
                const double* w) noexcept {
    if (ahead > 0) {
        const std::int64_t begin = rows.begin(i);
        const std::int64_t size = rows.stored(i);
        prefetch_lines(rows.values + begin, size, ahead);
        prefetch_lines(rows.columns + begin, size, ahead / 2);
    }
    return rows.dot(i, w);
}

// Rows from `begin` to `end`: their margins, the sum of y x over the linear piece in `linear`, and
// over the quadratic piece, times minus the derivative, in `curved`. A row is added while the cache
// still holds it from its dot product, so that the data is read once.
template <class Rows>
void pass_over_range(const Rows& rows, const RowLabels& labels, const MarginPoint& at,
                     const LossPieces& loss, std::int64_t begin, std::int64_t end, double* margins,
                     double* linear, double* curved, PassSums& sums) noexcept {
    const std::int64_t ahead = ahead_in_order(rows);
    for (std::int64_t i = begin; i < end; ++i) {
        const double sign = labels.sign(i);
        const double margin = sign * (next_dot(rows, i, ahead, at.w) + at.b);
        margins[i] = margin;
        if (loss.linear(margin, sign)) {
            const double weight = labels.weight(i);
            sums.value += weight * (loss.level - loss.slope * margin);
            sums.linear_weight += weight;
            sums.linear_labels += weight * sign;
            if (loss.slope != 0.0) {
                rows.add(i, weight * sign, linear);
            }
        } else if (margin < loss.high) {
            const double reach = loss.high - margin;
            const double scale = labels.weight(i) * loss.curvature * reach;
            sums.value += scale * reach;
            sums.descent += 2.0 * scale * sign;
            rows.add(i, 2.0 * scale * sign, curved);
        }
    }
    // The linear rows' share of the derivative by b is known from their labels.
}

// Listed rows, corrected: the caller's sums count those that `stored` has on the linear piece as
// still being there. Adds to `sums` the changes, to `descent.vector` minus the change of the
// gradient, times a factor of the caller's: the vector may be any multiple of the gradient.
struct ScaledDescent {
    double* vector;
    double factor;
};

template <class Rows>
void pass_over_list(const Rows& rows, const RowLabels& labels, const MarginPoint& at,
                    const LossPieces& loss, const std::uint32_t* list, std::int64_t begin,
                    std::int64_t end, std::int64_t length, const double* stored,
                    const ScaledDescent& descent, PassSums& sums) noexcept {
    const std::int64_t ahead = rows_ahead(rows);
    for (std::int64_t k = begin; k < end; ++k) {
        if (k + 2 * ahead < length) {
            rows.prefetch_extent(list[k + 2 * ahead]);
        }
        if (k + ahead < length) {
            prefetch_whole(rows, list[k + ahead]);
        }
        const std::int64_t i = list[k];
        const double sign = labels.sign(i);
        const double weight = labels.weight(i);
        const double margin = row_margin(rows, labels, at, i);
        const bool was_linear = loss.linear(stored[i], sign);
        const bool is_linear = loss.linear(margin, sign);
        const double away = loss.high - margin;
        const double line = loss.level - loss.slope * margin + loss.bend * away * away;
        const double incline = loss.slope + 2.0 * loss.bend * away;
        const double reach = std::max(0.0, away);
        const double bend = loss.curvature * reach;
        const double value = (is_linear ? line : bend * reach) - (was_linear ? line : 0.0);
        const double slope = (is_linear ? incline : 2.0 * bend) - (was_linear ? incline : 0.0);
        sums.value += weight * value;
        const double scale = weight * sign * slope;
        if (scale != 0.0) {
            sums.descent += scale;
            rows.add(i, descent.factor * scale, descent.vector);
        }
    }
}

// Margins of listed rows, in the order of the list.
template <class Rows>
void margins_of_list(const Rows& rows, const RowLabels& labels, const MarginPoint& at,
                     const std::uint32_t* list, std::int64_t length, double* margins) noexcept {
    const std::int64_t ahead = rows_ahead(rows);
    for (std::int64_t k = 0; k < length; ++k) {
        if (k + ahead < length) {
            prefetch_whole(rows, list[k + ahead]);
        }
        margins[k] = row_margin(rows, labels, at, list[k]);
    }
}

// The sum of listed rows, each times its weight and label.
template <class Rows>
void sum_of_list(const Rows& rows, const RowLabels& labels, const std::uint32_t* list,
                 std::int64_t length, double* total) noexcept {
    const std::int64_t ahead = rows_ahead(rows);
    for (std::int64_t k = 0; k < length; ++k) {
        if (k + ahead < length) {
            prefetch_whole(rows, list[k + ahead]);
        }
        const std::int64_t i = list[k];
        rows.add(i, labels.weight(i) * labels.sign(i), total);
    }
}

}  // namespace hinge
