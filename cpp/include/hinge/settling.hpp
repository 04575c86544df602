// Rows whose coefficients are known for good, and the rows that are left.
//
// A row is settled for good (gap-safe screening) if it is at a bound and stays there for every
// weight vector that can still matter. With gap = primal - dual, w = w(alpha) and w* the optimum:
//
//     ||w - w*||^2 <= min(primal(w) - dual, 2 gap),  and ||v - w*||^2 <= 2 gap for every later v,
//
// best points and checked ones alike, since neither primal nor dual ever gets worse. So a slack
// beyond ||x_i|| times the sum of the two radii is settled, and on every later v the loss of a
// settled row is the same straight line (or zero) that it is at w*: later checks leave it out, with
// w_settled and settled_sum in its place.
//
// Where the intercept has a centre that moves, the dual may fall for a while, and a row is settled
// by w* alone. Later values are those of the problem in which settled rows have the straight lines
// of their losses at the optimum: it has the same optimum, its objective is as strongly convex, and
// the fixed coefficients are its dual, so that its gaps settle rows of the true problem. The
// present point v = (w, b / s) differs from w(alpha) in the intercept, by a distance e. Half way
// between them ||. - w*||^2 <= primal(v) - dual - e^2 / 4, and w(alpha) is within sqrt(2 gap).
//
// A free intercept is not in the norm, and no radius bounds it. There the reach of a margin is
// ||x_i|| times the radius of w, without the constant feature, plus how far the intercept may be
// from the present one, and gap = primal - dual_below. The interval of optimal intercepts is the
// caller's (hinge.solvers.linear.intercept_interval), infinite until it is known, and holds for
// good.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/dual_run.hpp"
#include "hinge/extrapolation.hpp"

namespace hinge {

inline constexpr double kSettleMargin = 1e-10;  // covers the rounding of the numbers compared
inline constexpr double kSettleNoise = 1e4;     // and that of w itself, in roundings

// Whether a row at a bound is held there by a slope of the dual beyond the threshold. Without
// jumps: which of the cases a row is nobody can predict.
inline bool is_held(double alpha, double slope, double upper, double threshold) noexcept {
    const bool is_below = (alpha <= 0.0) & (slope < -threshold);
    const bool is_above = (alpha >= upper) & (slope > threshold);
    return is_below | is_above;
}

// By how much a slope asks for a step that the box allows. From a table, without jumps, as above.
inline double violation(double alpha, double slope, double upper) noexcept {
    constexpr std::array<double, 2> most{0.0, std::numeric_limits<double>::infinity()};
    const double up = std::min(slope, most[alpha < upper ? 1 : 0]);
    const double down = std::min(-slope, most[alpha > 0.0 ? 1 : 0]);
    return std::max(std::max(up, down), 0.0);
}

template <class Run>
void begin_select(Run& run) noexcept {
    run.enter(Phase::select);
    run.x.violation = 0.0;
}

// How far, in units of ||x_i||, the margin of a row can still differ from the checked one.
template <class Run>
double settling_radius(const Run& run) noexcept {
    const auto& x = run.x;
    if (!run.schedule.screening || !std::isfinite(x.dual_below)) {
        return std::numeric_limits<double>::infinity();
    }
    const double norm = dot(run.at.w, run.at.w, run.vector_length());
    const double size = std::sqrt(norm);
    // The sums over all rows behind the three values are rounded; so is the small difference left.
    const double terms = std::abs(x.primal) + std::abs(x.primal_here) + std::abs(x.dual) + norm;
    const double rounding = kRounding * static_cast<double>(run.c.present + 8) * terms;
    const double later = std::sqrt(2.0 * (std::max(x.primal - x.dual_below, 0.0) + rounding));
    const double here = std::sqrt(std::max(x.primal_here - x.dual_below, 0.0) + rounding);
    const double noise = kRounding * (x.noise + kSettleNoise) * size;
    const double apart = std::abs(run.intercept_distance());
    const double radius = std::min(here + 0.5 * apart, later + apart);
    return radius + (run.program.has_centre() ? 0.0 : later) + noise;
}

// Whether a row that its slope holds at a bound stays there on the whole way to the optimum: no
// margin within reach is on the other side of its kink. What the weights can do is compared by
// squares, which spares a root for every row of every check.
template <class Run>
bool stays_held(const Run& run, const RowState& row, double slope, double squared_radius) noexcept {
    const double rounding = kSettleMargin * (1.0 + std::abs(row.margin));
    double squared_norm = std::abs(row.signed_norm);
    double room = std::abs(slope) - rounding;
    if (run.program.free_intercept()) {
        // A row at its upper bound is lost if its margin rises, any other if it falls.
        const bool is_left = (row.alpha > 0.0) != (row.signed_norm > 0.0);
        room -= is_left ? run.intercept() - run.x.lowest_intercept
                        : run.x.highest_intercept - run.intercept();
    } else {
        squared_norm += run.program.scale * run.program.scale;
    }
    return (room > 0.0) & (room * room > squared_radius * squared_norm);
}

// Takes a row out of all that follows, but for what it adds to the sums.
template <class Run>
void settle_for_good(Run& run, std::int64_t i) noexcept {
    RowState& row = run.at.rows[i];
    row.settle();
    ++run.c.settled;
    if (row.alpha > 0.0) {
        const double upper = run.upper(i);
        run.add(i, std::copysign(upper, row.signed_norm), run.at.w_settled);
        run.x.settled_sum += upper * (run.program.linear - 0.5 * run.bend(i) * upper);
    }
}

// Settles the rows that the gap proves to stay at their bounds, and lists the active ones anew.
template <class Run>
std::int64_t select(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const double radius = settling_radius(run) * (1.0 + kSettleMargin);
    const double squared_radius = radius * radius;
    double worst = x.violation;
    std::int64_t done = 0;
    for (; c.position < rows.count && done < work; ++c.position) {
        const std::int64_t i = c.position;
        RowState& row = at.rows[i];
        ++done;
        if (row.is_settled()) {
            continue;
        }
        const double upper = run.upper(i);
        const double slope = program.linear - row.margin - run.bend(i) * row.alpha;
        worst = std::max(worst, violation(row.alpha, slope, upper));
        const bool rests = row.previous == row.alpha;
        at.order[c.kept] = static_cast<std::uint32_t>(i);
        const bool is_held_now = is_held(row.alpha, slope, upper, 0.0);
        if (rests & is_held_now & stays_held(run, row, slope, squared_radius)) {
            settle_for_good(run, i);
            done += row.alpha > 0.0 ? rows.stored(i) : 0;
        } else {
            c.kept += rests & is_held(row.alpha, slope, upper, x.threshold) ? 0 : 1;
        }
    }
    x.violation = worst;
    return done;
}

}  // namespace hinge
