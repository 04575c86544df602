// The check pass: the exact primal and dual values at w = w(alpha), and a better primal point.
//
// The primal objective jumps about from sweep to sweep while the dual only rises, so the best point
// of the run is kept apart and moved towards each checked w by an exact line search,
//
//     min over t of  1/2 ||u + t (w - u)||^2 + sum_i c_i loss(z_i + t (m_i - z_i)),
//
// where z_i and m_i are the margins of the best point u and of w. Both are stored, so the search
// touches no row. The derivative in t is non-decreasing; each round evaluates it at kProbes places
// in one pass over the margins and keeps the interval where it changes its sign. The step goes to
// the lower end of the last interval, where the objective is still falling: it never rises.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "hinge/dual_run.hpp"
#include "hinge/linalg.hpp"
#include "hinge/settling.hpp"

namespace hinge {

inline constexpr int kRounds = 4;
inline constexpr double kFarthest = 1.5;  // of the line search, in units of w - u

template <class Run>
void begin_check(Run& run) noexcept {
    run.enter(Phase::check);
    run.x.loss = 0.0;
    run.x.dual_sum = 0.0;
}

// Computes every margin under w and sums up the objective values.
template <class Run>
std::int64_t check(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    std::int64_t done = 0;
    double loss = x.loss;
    double dual_sum = x.dual_sum;
    for (; c.position < rows.count && done < work; ++c.position) {
        const std::int64_t i = c.position;
        RowState& row = at.rows[i];
        if (row.is_settled()) {
            ++done;
            continue;
        }
        const double upper = run.upper(i);
        const double bend = run.bend(i);
        row.margin = std::copysign(1.0, row.signed_norm) * run.score(i, at.w);
        const double slack = program.linear - row.margin;
        loss += run.loss(slack, bend, upper);
        dual_sum += row.alpha * (program.linear - 0.5 * bend * row.alpha);
        done += rows.stored(i) + Run::kRowWork;
    }
    x.loss = loss;
    x.dual_sum = dual_sum;
    return done;
}

template <class Run>
void begin_probe(Run& run) noexcept {
    run.enter(Phase::probe);
    run.x.slopes.fill(0.0);
}

template <class Run>
void end_check(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const double intercept = run.intercept();
    const double norm = run.product(at.w, intercept, at.w, intercept);
    x.primal_here = 0.5 * norm + x.loss + x.settled_sum - run.settled_score(at.w, intercept);
    x.dual_linear = x.dual_sum + x.settled_sum;
    x.dual = x.dual_linear - 0.5 * run.dual_norm();
    x.dual_below = x.dual;
    if (program.free_intercept()) {
        // The Lagrangian at an optimal intercept, of which only the interval is known.
        const double balance = run.imbalance();
        x.dual_below -= std::max(balance * x.lowest_intercept, balance * x.highest_intercept);
        // What is lost, roughly, when the heavier class is scaled down until y'alpha = 0.
        x.dual -= std::abs(run.imbalance()) * (program.linear + std::abs(intercept));
    }
    // Everything in the derivative along the line but the losses of single rows.
    const double best = at.w_best[rows.width];
    const double best_norm = run.product(at.w_best, best, at.w_best, best);
    const double product = run.product(at.w_best, best, at.w, intercept);
    const double settled = run.settled_score(at.w, intercept) - run.settled_score(at.w_best, best);
    x.line_slope = (product - best_norm) - settled;
    x.line_bend = best_norm - 2.0 * product + norm;
    c.round = 0;
    x.low = 0.0;
    x.high = kFarthest;
    begin_probe(run);
}

inline double probe_place(const Numbers& x, int k) noexcept {
    return x.low + (x.high - x.low) * (k + 1) / (kProbes + 1);
}

// A number for each of the places at once, in as many registers as that takes.
using Probes = std::array<Pack, kProbes / kPackWidth>;

template <class Run>
std::int64_t probe(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t begin = c.position;
    const std::int64_t end = std::min(rows.count, begin + work);
    Probes places;
    Probes slopes;
    for (int k = 0; k < kProbes; ++k) {
        places[k / kPackWidth][k % kPackWidth] = probe_place(x, k);
        slopes[k / kPackWidth][k % kPackWidth] = x.slopes[k];
    }
    for (std::int64_t i = begin; i < end; ++i) {
        const RowState& row = at.rows[i];
        const double best = at.best_margins[i];
        // That of a settled row counts elsewhere. Which rows those are nobody can predict.
        const double change = row.is_settled() ? 0.0 : row.margin - best;
        const double slack = program.linear - best;
        const double bend = run.bend(i);
        const double upper = run.upper(i);
        for (std::size_t k = 0; k < places.size(); ++k) {
            slopes[k] -= change * run.best_responses(slack - places[k] * change, bend, upper);
        }
    }
    for (int k = 0; k < kProbes; ++k) {
        x.slopes[k] = slopes[k / kPackWidth][k % kPackWidth];
    }
    c.position = end;
    return end - begin;
}

// Narrows the interval; returns whether the search is over.
template <class Run>
bool end_probe(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    double low = x.low;
    double high = x.high;
    for (int k = 0; k < kProbes; ++k) {
        const double place = probe_place(x, k);
        const double slope = x.slopes[k] + x.line_slope + place * x.line_bend;
        if (!(slope < 0.0)) {
            high = place;
            break;
        }
        low = place;
    }
    x.low = low;
    x.high = high;
    ++c.round;
    if (c.round < kRounds) {
        begin_probe(run);
        return false;
    }
    x.place = low;
    x.loss = 0.0;
    run.enter(Phase::move);
    return true;
}

// Moves the best margins, and then the best point itself.
template <class Run>
std::int64_t move(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t begin = c.position;
    const std::int64_t end = std::min(rows.count, begin + work);
    const double place = x.place;
    double loss = x.loss;
    for (std::int64_t i = begin; i < end; ++i) {
        const RowState& row = at.rows[i];
        const double best = at.best_margins[i];
        const double moved = place == 1.0 ? row.margin : best + place * (row.margin - best);
        const double moved_loss = run.loss(program.linear - moved, run.bend(i), run.upper(i));
        at.best_margins[i] = row.is_settled() ? best : moved;
        loss += row.is_settled() ? 0.0 : moved_loss;
    }
    x.loss = loss;
    c.position = end;
    return end - begin;
}

// Where the last interval of the search was too coarse to find it, w itself may be the better
// point.
template <class Run>
void end_move(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const bool whole = x.place == 1.0;
    for (std::int64_t k = 0; k < rows.width; ++k) {
        at.w_best[k] = whole ? at.w[k] : at.w_best[k] + x.place * (at.w[k] - at.w_best[k]);
    }
    double& last = at.w_best[rows.width];
    last = whole ? run.intercept() : last + x.place * (run.intercept() - last);
    x.primal = x.loss + x.settled_sum - run.settled_score(at.w_best, last) +
               0.5 * run.product(at.w_best, last, at.w_best, last);
    if (!whole && !(x.primal <= x.primal_here)) {  // also where the best value is no number
        x.place = 1.0;
        x.loss = 0.0;
        run.enter(Phase::move);
        return;
    }
    begin_select(run);
}

}  // namespace hinge
