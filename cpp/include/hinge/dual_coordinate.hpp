// Dual coordinate descent for linear support vector machines.
//
//     min over alpha of  1/2 ||w(alpha)||^2 + 1/2 sum_i D_i alpha_i^2 - sum_i (p - y_i b_k) alpha_i
//     subject to         0 <= alpha_i <= U_i,      w(alpha) = sum_i y_i alpha_i x_i
//
//   x_i    row i, with a constant feature of value t appended (t = 0: no intercept)
//   y_i    its label, -1 or +1;  c_i = C times its weight;  z its margin y_i (w'x_i + b_k)
//   hinge            c_i max(0, 1 - z):    p = 1,      D_i = 0,          U_i = c_i
//   squared hinge    c_i max(0, 1 - z)^2:  p = 1,      D_i = 1 / (2 c_i), U_i = infinity
//   Huber, width h   quadratic near 1:     p = 1 + h,  D_i = 2 h / c_i,  U_i = c_i
//   b_k    0, or the centre of a proximal step in the intercept, see below
//
// Given the rows (dense or CSR, float32 or float64), labels, costs and a start; advances alpha and
// w = w(alpha) by a bounded amount of work and returns how much that was. Every number lives in the
// caller's arrays: a run cut into calls of any size has the same bits as an uncut one.
//
// A step takes row i and solves for alpha_i alone,
//
//     alpha_i <- clip(alpha_i + (p - z_i - D_i alpha_i) / (||x_i||^2 + D_i), 0, U_i),
//
// at the cost of one inner product and, if alpha_i moves, one addition of x_i to w. A row without
// non-zeros (and t = 0) steps straight to its bound, or to p / D_i.
//
// Reference: Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, Algorithm 1 (the step) and
// Algorithm 3 (random permutations, shrinking). What differs here:
//
//   1. The first sweeps go over a growing part of the rows (1/16, 1/8, ... of them, beginning with
//      64 for a feature at most): w is worth something before most rows are met, and most of these
//      can be left out at once. While the part grows, rows come in runs as they are stored, and the
//      runs in random order: memory is read faster so. Short rows and later sweeps are permuted row
//      by row: neighbours are often alike, and runs of them cost more visits than they save time.
//   2. Shrinking leaves out a row at a bound if its slope exceeds the typical (root mean square)
//      change of a margin in the last sweep, not the largest violation. Check passes over all rows
//      bring back what was left out too soon.
//   3. After a sweep alpha is extrapolated along its drift (extrapolation.hpp).
//   4. A check pass computes the exact primal and dual values, improves the primal point by a line
//      search (primal_search.hpp), and settles rows for good (settling.hpp). It is due when the gap
//      that the sweeps see has fallen far enough: below `aim`, or by the factor `decline`.
//   5. A constant feature that is large beside the rows couples all coefficients, and a free
//      intercept is an infinite one. Sweeps are given a small one, of value t, about a centre:
//
//          b = b_k + t w_t,   b_{k+1} = (1 - t^2 / s^2) b   after every other sweep,
//
//      which are proximal steps in b for the penalty b^2 / 2 s^2 of a constant feature of value s:
//      at rest b = s^2 y'alpha. With s = infinity it is the method of multipliers for y'alpha = 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "hinge/dual_run.hpp"
#include "hinge/linalg.hpp"
#include "hinge/primal_search.hpp"
#include "hinge/random.hpp"

namespace hinge {

inline constexpr std::int64_t kDrawAhead = 24;   // rows whose state is prefetched
inline constexpr std::int64_t kReadAhead = 16;   // rows whose first values are prefetched
inline constexpr std::int64_t kAskAhead = 8;     // rows whose other values are asked for
inline constexpr double kTiny = 1e-300;          // stands for the diagonal of a row of zeros
inline constexpr std::int64_t kLongRow = 32;     // values of a row that is worth reading in runs
inline constexpr std::int64_t kLongestRun = 32;  // such rows met one after the other, as stored
inline constexpr std::int64_t kLeastRuns = 512;  // that all rows make, or rows are met one by one

// Brings a run of rows to the front of those that are left, at random; what is left at the end and
// shorter than a run stays there.
inline void draw_run(std::uint32_t* order, std::int64_t left, std::int64_t length,
                     Random& random) noexcept {
    const std::int64_t runs = left / length;
    if (runs > 0) {
        std::uint32_t* const drawn =
            order + length * random.below(static_cast<std::uint32_t>(runs));
        if (drawn != order) {
            std::swap_ranges(order, order + length, drawn);
        }
    }
}

// Draws the next row of the sweep's order and asks for its state. Inlined, so that the generator's
// words stay in registers from row to row.
template <class Run>
[[gnu::always_inline]] inline void draw(Run& run, Random& random) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t k = c.prepared;
    if (schedule.order == Order::permuted && c.run_length > 1) {
        if (k % c.run_length == 0) {
            draw_run(at.order + k, c.active - k, c.run_length, random);
        }
    } else if (schedule.order == Order::permuted) {
        const auto left = static_cast<std::uint32_t>(c.active - k);
        std::swap(at.order[k], at.order[k + random.below(left)]);
    }
    __builtin_prefetch(at.rows + at.order[k]);
    rows.prefetch_extent(at.order[k]);
    ++c.prepared;
}

// Copies the sums of a sweep into registers: the compiler cannot know that w does not overlap them.
struct SweepSums {
    double moved;
    double gap;
    double drift_slope;
    double drift_bend;
    double dual_linear;
    std::int64_t revisited;

    SweepSums(const Counters& c, const Numbers& x) noexcept
        : moved(x.moved),
          gap(x.sweep_gap),
          drift_slope(x.drift_slope),
          drift_bend(x.drift_bend),
          dual_linear(x.dual_linear),
          revisited(c.revisited) {}

    void store(Counters& c, Numbers& x) const noexcept {
        x.moved = moved;
        x.sweep_gap = gap;
        x.drift_slope = drift_slope;
        x.drift_bend = drift_bend;
        x.dual_linear = dual_linear;
        c.revisited = revisited;
    }
};

// One coordinate step on row i, which asks for row `next`; returns whether row i stays active.
//
// Whether alpha moves is known at the end of a long chain of operations, and a wrong guess there
// throws away what the processor has begun of the next row. So a row whose last margin says that it
// will move is added to w at once, be it by 0.
template <class Run>
[[gnu::always_inline]] inline bool visit(Run& run, std::int64_t i, std::int64_t next, bool snapshot,
                                         SweepSums& sums) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    RowState& row = at.rows[i];
    const double sign = std::copysign(1.0, row.signed_norm);
    const double bend = run.bend(i);
    const double upper = run.upper(i);
    // Taken before the inner product, so that the division does not wait for it.
    const double inverse = 1.0 / std::max(run.squared_norm(row) + bend, kTiny);
    const double before = row.alpha;
    const double last_slope = program.linear - row.margin - bend * before;
    const bool will_move = (row.margin != 0.0) & !is_held(before, last_slope, upper, 0.0);
    const double threshold = x.threshold;
    const double margin = sign * run.score_asking(i, at.w, next);
    const double slack = program.linear - margin;
    const double slope = slack - bend * before;
    const double after = std::min(std::max(before + slope * inverse, 0.0), upper);
    const double change = after - before;
    const double drift = after - row.previous;
    const double moved = row.margin == 0.0 ? 0.0 : margin - row.margin;
    sums.moved += moved * moved;
    sums.revisited += row.margin == 0.0 ? 0 : 1;
    sums.gap += run.loss(slack, bend, upper) - before * (slack - 0.5 * bend * before);
    sums.drift_slope += drift * (program.linear - sign * x.offset - bend * after);
    sums.drift_bend += bend * drift * drift;
    row.margin = margin;
    if (snapshot) {
        row.previous = after;
    }
    row.alpha = after;
    sums.dual_linear += change * (program.linear - 0.5 * bend * (after + before));
    if (will_move || change != 0.0) {
        run.add(i, change * sign, at.w);
    }
    return (change != 0.0) | (drift != 0.0) | !is_held(before, slope, upper, threshold);
}

template <class Run>
std::int64_t sweep(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    Random random(at.random);
    const bool replaces = schedule.order == Order::random;
    const bool snapshot = c.snapshot != 0;
    const std::int64_t typical = rows.typical();
    SweepSums sums(c, x);
    std::int64_t done = 0;
    while (c.prepared < std::min(c.active, kDrawAhead)) {
        draw(run, random);
    }
    for (; c.position < c.active && done < work; ++c.position) {
        if (c.prepared < c.active) {
            draw(run, random);
        }
        if (c.position + 1 < c.active) {
            rows.touch(at.order[c.position + 1]);
        }
        if (c.position + kReadAhead < c.active) {
            rows.prefetch(at.order[c.position + kReadAhead], typical);
        }
        const std::int64_t next = at.order[std::min(c.position + kAskAhead, c.active - 1)];
        if (replaces) {
            const auto active = static_cast<std::uint32_t>(c.active);
            const std::int64_t i = at.order[random.below(active)];
            visit(run, i, next, snapshot, sums);
            done += rows.stored(i) + Run::kRowWork;
            continue;
        }
        const std::int64_t i = at.order[c.position];
        const bool stays = visit(run, i, next, snapshot, sums);
        at.order[c.kept] = static_cast<std::uint32_t>(i);
        c.kept += stays ? 1 : 0;
        done += rows.stored(i) + Run::kRowWork;
    }
    sums.store(c, x);
    c.late_work += c.sweeps < kWholeSweeps ? 0 : done;
    return done;
}

}  // namespace hinge
