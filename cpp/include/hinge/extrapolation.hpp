// Extrapolation of coordinate descent along the drift of its last sweeps.
//
// With p = alpha - alpha' the change since the last snapshot, the dual along alpha + t p is a
// parabola whose coefficients are known without touching a row:
//
//     slope = sum_i p_i (p - y_i b_k - D_i alpha_i) - w'(w - w'),   bend = ||w - w'||^2 + sum D_i
//     p_i^2.
//
// The step t = scale * slope / bend, cut off at the box row by row, needs the rows that were cut
// (to repair w), no others. It is kept only if the dual has risen; its scale doubles after a
// success (up to 1) and falls after a failure, which also makes the next tries rarer. The snapshot
// is the point before the step, so that successive steps build up momentum.
//
// The parabola is that of the intercept's present centre, which moves before the next sweep; long
// steps can ruin the balance y'alpha and set the centre swinging (unscaled iris at C = 100 never
// came to rest). Where checks have long not halved the violation, a step that more than doubles the
// imbalance is a failure too.
//
// Steps beyond 1 also build up rounding errors: an error e in w - w' becomes t (e + 1 rounding) in
// the next one. The run keeps count, and forms w(alpha) anew before the errors matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "hinge/dual_run.hpp"

namespace hinge {

inline constexpr double kFailedScale = 0.3;
inline constexpr double kLeastScale = 1e-3;
inline constexpr std::int64_t kLongestBackoff = 8;
inline constexpr double kLongestStep = 100.0;
inline constexpr double kMoreImbalance = 2.0;        // that a step may leave, where a run swings
inline constexpr std::int64_t kSwingingChecks = 24;  // without a halved violation: it does
inline constexpr double kLeastChange = 1e-10;  // of w, relative: what is not worth extrapolating
inline constexpr double kNoiseShare = 1e-2;    // of the change of w that may be rounding error
inline constexpr double kMostNoise = 1e6;      // in roundings
inline constexpr double kRounding = std::numeric_limits<double>::epsilon();
inline constexpr double kLeastGain = 16.0 * kRounding;  // of the dual, relative
inline constexpr std::int64_t kExtrapolateAhead = 16;   // rows to prefetch

// Sets the step and the trial w, and the rows follow in extrapolate(); or enters the phase that
// forms w(alpha) anew.
template <class Run>
void begin_extrapolate(Run& run) noexcept {
    auto& x = run.x;
    const double* const w = run.at.w;
    const double* const from = run.at.w_previous;
    double* const trial = run.at.w_trial;
    const std::int64_t length = run.vector_length();
    double norm = 0.0;
    double along = 0.0;
    double change = 0.0;
#pragma omp simd reduction(+ : norm, along, change)
    for (std::int64_t k = 0; k < length; ++k) {
        const double difference = w[k] - from[k];
        norm += w[k] * w[k];
        along += w[k] * difference;
        change += difference * difference;
    }
    const double size = std::sqrt(norm);
    const double moved = std::sqrt(change);
    const bool is_signal = moved > kLeastChange * size;
    if (is_signal && (x.noise > kMostNoise || kRounding * x.noise * size > kNoiseShare * moved)) {
        run.enter(Phase::form);
        return;
    }
    const double slope = x.drift_slope - along;
    const double bend = x.drift_bend + change;
    x.norm = norm;
    x.step = slope > 0.0 && is_signal ? std::min(x.step_scale * slope / bend, kLongestStep) : 0.0;
    x.gain = 0.0;
    const double step = x.step;
#pragma omp simd
    for (std::int64_t k = 0; k < length; ++k) {
        trial[k] = w[k] + step * (w[k] - from[k]);
    }
    run.enter(Phase::extrapolate);
}

template <class Run>
std::int64_t extrapolate(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    std::int64_t done = 0;
    for (; c.position < c.active && done < work; ++c.position) {
        if (c.position + kExtrapolateAhead < c.active) {
            __builtin_prefetch(at.rows + at.order[c.position + kExtrapolateAhead]);
        }
        const std::int64_t i = at.order[c.position];
        RowState& row = at.rows[i];
        const double before = row.alpha;
        const double drift = before - row.previous;
        ++done;
        if (drift == 0.0) {
            continue;
        }
        const double sign = std::copysign(1.0, row.signed_norm);
        const double aim = before + x.step * drift;
        const double after = std::clamp(aim, 0.0, run.upper(i));
        if (after != aim) {
            run.add(i, (after - aim) * sign, at.w_trial);
            done += rows.stored(i);
        }
        const double mean = 0.5 * (after + before);
        x.gain += (after - before) * (program.linear - sign * x.offset - run.bend(i) * mean);
        row.previous = before;
        row.alpha = after;
    }
    return done;
}

// By how much the trial point changes y'alpha, after the snapshot has been taken.
template <class Run>
double imbalance_change(const Run& run) noexcept {
    const double constant = run.program.constant;
    const std::int64_t last = run.rows.width;
    return constant > 0.0 ? (run.at.w_trial[last] - run.at.w_previous[last]) / constant : 0.0;
}

// Keeps the trial point if the dual has risen; returns whether it did.
template <class Run>
bool end_extrapolate(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t length = run.vector_length();
    const double imbalance =
        std::max(std::abs(at.w[rows.width]), std::abs(at.w_previous[rows.width]));
    std::copy(at.w, at.w + length, at.w_previous);
    if (x.step == 0.0) {
        x.noise_change = 0.0;
        return true;
    }
    // A step may ruin the balance, and the intercept's centre would swing after it.
    const bool swings = program.has_centre() && c.idle_checks >= kSwingingChecks;
    const bool is_balanced =
        !swings || std::abs(at.w_trial[rows.width]) <= kMoreImbalance * imbalance;
    const double trial_norm = dot(at.w_trial, at.w_trial, length);
    const double gain = x.gain - 0.5 * (trial_norm - x.norm);
    // A rise within rounding would let the run wander about its optimum. A NaN is no rise.
    const bool risen = is_balanced && gain > kLeastGain * (x.norm + std::abs(x.dual_linear));
    if (risen) {
        std::copy(at.w_trial, at.w_trial + length, at.w);
        x.step_scale = std::min(1.0, 2.0 * x.step_scale);
        // The gain is that of the present centre, which the dual itself does not know.
        x.dual_linear += x.gain + x.offset * imbalance_change(run);
        x.noise_change = x.step * (x.noise_change + 1.0);
        x.noise += x.noise_change;
        c.backoff = 1;
    } else {
        x.noise_change = 0.0;
        x.step_scale = std::max(kFailedScale * x.step_scale, kLeastScale);
        c.skip = c.backoff;
        c.backoff = std::min(2 * c.backoff, kLongestBackoff);
    }
    return risen;
}

// The part of the order whose coefficients are on trial; their snapshots hold what they were.
inline std::pair<std::int64_t, std::int64_t> on_trial(const Counters& c) noexcept {
    switch (c.phase) {
        case Phase::extrapolate:
            return {0, c.position};
        case Phase::revert:
            return {c.position, c.active};
        default:
            return {0, 0};
    }
}

// Goes back to the snapshot.
template <class Run>
std::int64_t revert(Run& run, std::int64_t work) noexcept {
    auto& c = run.c;
    const std::int64_t begin = c.position;
    const std::int64_t end = std::min(c.active, begin + work);
    for (; c.position < end; ++c.position) {
        RowState& row = run.at.rows[run.at.order[c.position]];
        row.alpha = row.previous;
    }
    return end - begin;
}

// Forms w(alpha) anew, row by row, and takes a snapshot of it.
template <class Run>
std::int64_t form(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    std::int64_t done = 0;
    if (c.position == 0) {
        std::fill(at.w, at.w + run.vector_length(), 0.0);
    }
    for (; c.position < rows.count && done < work; ++c.position) {
        RowState& row = at.rows[c.position];
        ++done;
        if (!row.is_settled()) {
            row.previous = row.alpha;
        }
        if (row.alpha > 0.0) {
            run.add(c.position, std::copysign(row.alpha, row.signed_norm), at.w);
            done += rows.stored(c.position);
        }
    }
    return done;
}

template <class Run>
void end_form(Run& run) noexcept {
    std::copy(run.at.w, run.at.w + run.vector_length(), run.at.w_previous);
    run.x.noise = 0.0;
    run.x.noise_change = 0.0;
}

}  // namespace hinge
