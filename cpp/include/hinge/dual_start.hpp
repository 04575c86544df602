// How a run of dual coordinate descent begins: from nothing, from given coefficients, or from given
// coefficients and weights.
//
// Weights u that come with the coefficients are the first best point, and tell which rows matter
// before any has been visited: those whose margin under u does not hold their coefficient at its
// bound. The first sweeps go over these alone. The first check pass then sees how far margins are
// from those under u, and what lies further from its kink than that is left out from there on.
//
// Coefficients of a problem with another C come times the ratio of the two. Those at a bound are at
// the new bound; whether the others grow as well depends on what the bounded ones make of w. With
// w_B and w_F the parts of w of the rows at a bound and of the others, the best multiple of these
//
//     t = (sum over F of (p - y_i b_k) alpha_i - w_B'w_F) / (||w_F||^2 + sum over F of D_i
//     alpha_i^2)
//
// is known without touching a row again (with the problem's own constant feature in the products,
// and b_k = 0, unless the intercept is free); it is cut off at 1, where the box still holds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/dual_run.hpp"
#include "hinge/linalg.hpp"
#include "hinge/settling.hpp"

namespace hinge {

inline constexpr std::int64_t kFromCoefficients = 1;
inline constexpr std::int64_t kFromPoint = 2;  // coefficients and weights

// Prepares the arrays of a run, which are zero but for alpha and signed_norm of every row, the
// generator's words and, with a free intercept, its first centre; and w_best, if it holds weights
// to start from.
template <class Run>
void start(Run& run, bool warm, bool weights = false) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    c.warm = !warm ? 0 : weights ? kFromPoint : kFromCoefficients;
    c.backoff = 1;
    x.step_scale = 1.0;
    x.threshold = std::numeric_limits<double>::infinity();
    x.primal = x.primal_here = x.dual = std::numeric_limits<double>::quiet_NaN();
    x.lowest_intercept = -std::numeric_limits<double>::infinity();
    x.highest_intercept = std::numeric_limits<double>::infinity();
    run.enter(Phase::load);
}

// Forms w(alpha) and the order of all rows of positive cost. From weights it computes the margins
// under these, and keeps the part of w that the rows at their bounds make apart, in w_trial.
template <class Run>
std::int64_t load(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const bool has_weights = c.warm == kFromPoint;
    const double intercept = at.w_best[rows.width];
    std::int64_t done = 0;
    for (; c.position < rows.count && done < work; ++c.position) {
        const std::int64_t i = c.position;
        RowState& row = at.rows[i];
        ++done;
        if (!(run.cost(i) > 0.0)) {
            row.alpha = 0.0;
            row.settle();
            continue;
        }
        const double sign = std::copysign(1.0, row.signed_norm);
        const double upper = run.upper(i);
        at.order[c.present++] = static_cast<std::uint32_t>(i);
        c.pass_work += rows.stored(i) + Run::kRowWork;
        x.largest_norm = std::max(x.largest_norm, std::sqrt(run.squared_norm(row)));
        row.alpha = row.alpha > 0.0 ? std::min(row.alpha, upper) : 0.0;
        row.previous = row.alpha;
        if (has_weights) {
            row.margin = at.best_margins[i] = sign * (rows.dot(i, at.w_best) + intercept);
            done += rows.stored(i);
        }
        if (row.alpha > 0.0) {
            const double bent = run.bend(i) * row.alpha * row.alpha;
            if (has_weights && row.alpha < upper) {
                run.add(i, sign * row.alpha, at.w);
                x.drift_slope += row.alpha;
                x.drift_bend += bent;
            } else {
                run.add(i, sign * row.alpha, has_weights ? at.w_trial : at.w);
                x.dual_linear += program.linear * row.alpha - 0.5 * bent;
            }
            done += rows.stored(i);
        }
    }
    return done;
}

// Joins the two parts of w, at the best multiple of the one that may grow and shrink.
template <class Run>
void end_load_of_point(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t length = run.vector_length();
    const bool is_free = program.free_intercept();
    const double centred = is_free ? x.offset * run.imbalance() : 0.0;
    const double stretch = is_free ? 1.0 : program.stretch();
    const auto product = [&](const double* v) {
        return dot(at.w, v, rows.width) + (stretch * at.w[rows.width]) * (stretch * v[rows.width]);
    };
    const double slope = program.linear * x.drift_slope - centred - product(at.w_trial);
    const double bend = x.drift_bend + product(at.w);
    x.step = bend > 0.0 ? std::clamp(slope / bend, 0.0, 1.0) : 1.0;
    for (std::int64_t k = 0; k < length; ++k) {
        at.w[k] = at.w_trial[k] + x.step * at.w[k];
    }
    x.dual_linear += x.step * (program.linear * x.drift_slope - 0.5 * x.step * x.drift_bend);
    std::copy(at.w, at.w + length, at.w_previous);
    if (program.has_centre() && !is_free) {
        x.offset = at.w_best[rows.width] - program.constant * at.w[rows.width];
    }
    run.enter(Phase::fit);
}

// Multiplies the coefficients between their bounds, and lists the rows that are not held at one.
template <class Run>
std::int64_t fit(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t begin = c.position;
    const std::int64_t end = std::min(rows.count, begin + work);
    for (std::int64_t i = begin; i < end; ++i) {
        RowState& row = at.rows[i];
        if (row.is_settled()) {
            continue;
        }
        const double upper = run.upper(i);
        if (row.alpha < upper) {
            row.alpha *= x.step;
            row.previous = row.alpha;
        }
        const double slope = program.linear - row.margin - run.bend(i) * row.alpha;
        at.order[c.kept] = static_cast<std::uint32_t>(i);
        c.kept += schedule.shrinks() && is_held(row.alpha, slope, upper, 0.0) ? 0 : 1;
    }
    c.position = end;
    return end - begin;
}

// Whether the check pass at work is the first one after a start from weights.
template <class Run>
bool is_first_check(const Run& run) noexcept {
    return run.c.warm == kFromPoint && run.c.checks == 0 && run.schedule.shrinks();
}

// Adds up how far the margins of a check pass are from those under the weights of the start, for
// the rows that the next probe(run, work) goes over.
template <class Run>
void note_travel(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t begin = c.position;
    const std::int64_t end = std::min(rows.count, begin + work);
    double moved = begin == 0 ? 0.0 : x.moved;
    for (std::int64_t i = begin; i < end; ++i) {
        const double travel = at.rows[i].margin - at.best_margins[i];
        moved += travel * travel;
    }
    x.moved = moved;
    if (end == rows.count) {
        x.threshold = schedule.calm * std::sqrt(moved / static_cast<double>(c.present));
    }
}

}  // namespace hinge
