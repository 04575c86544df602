// In which order a run of dual coordinate descent sweeps, extrapolates, checks and searches.
//
//     load (-> fit) -> sweep -> (extrapolate (-> revert), or form) -> sweep ...
//          -> check -> probe -> move -> select -> (as above; or form -> check) -> sweep ...
//
// Everything here is decided by counts of work and by the run's own numbers, never by a clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "hinge/dual_coordinate.hpp"
#include "hinge/dual_run.hpp"
#include "hinge/dual_start.hpp"
#include "hinge/extrapolation.hpp"
#include "hinge/linalg.hpp"
#include "hinge/primal_search.hpp"
#include "hinge/random.hpp"

namespace hinge {

inline constexpr std::int64_t kVectorShare = 4;  // an extrapolation may cost 1/4 of its sweeps
inline constexpr double kLeastAim = 1e-14;
inline constexpr std::int64_t kCentreSweeps = 2;  // between two steps of the intercept's centre
inline constexpr double kWorthChecking = 0.5;     // a check for the aim needs at least this decline
// With a gap this small, relative, a violation that so many checks do not halve is at rest.
inline constexpr double kIdleGap = 1e-10;
inline constexpr std::int64_t kIdleChecks = 64;
inline constexpr double kRest = 256.0 * std::numeric_limits<double>::epsilon();

// Takes more rows into the order: as many again as there have been, drawn at random.
template <class Run>
void grow(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    Random random(at.random);
    const std::int64_t left = c.present - c.met;
    const std::int64_t part = c.present / std::max<std::int64_t>(schedule.portions, 1);
    const std::int64_t portion = std::min(part, schedule.portion_rows * run.vector_length()) + 1;
    const std::int64_t more = std::min(left, std::max(c.met, portion));
    for (std::int64_t k = 0; k < more; ++k) {
        const std::int64_t from = c.met + k;
        if (schedule.order != Order::cyclic && k % c.run_length == 0) {
            draw_run(at.order + from, left - k, c.run_length, random);
        }
        // What lies between the active rows and the new ones has been left out until a check.
        std::swap(at.order[c.active + k], at.order[from]);
    }
    c.met += more;
    c.active += more;
}

// Moves the centre of the intercept by a proximal step, to the intercept itself if that is free.
// After every other sweep: after each of them extrapolation follows the centre, and both may swing
// for long (three to eight times the sweeps to a gap of 1e-6 on text and on overlapping classes
// with large C).
template <class Run>
void move_centre(Run& run) noexcept {
    const DualProgram& program = run.program;
    if (run.c.sweeps % kCentreSweeps != 0) {
        return;
    }
    if (program.free_intercept()) {
        run.x.offset = run.intercept();
    } else if (program.has_centre()) {
        const double stretch = program.stretch();
        run.x.offset = run.intercept() * (1.0 - 1.0 / (stretch * stretch));
    }
}

template <class Run>
void begin_sweep(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    c.run_length = 1;
    if (c.met < c.present) {
        if (c.pass_work >= kLongRow * c.present) {
            c.run_length = std::clamp<std::int64_t>(c.present / kLeastRuns, 1, kLongestRun);
        }
        grow(run);
    }
    const bool may_extrapolate =
        schedule.extrapolation && schedule.order != Order::random && c.met == c.present;
    c.snapshot = !may_extrapolate || c.skip > 0 ? 1 : 0;
    c.skip = std::max<std::int64_t>(c.skip - 1, 0);
    move_centre(run);
    c.prepared = 0;
    c.revisited = 0;
    x.moved = x.sweep_gap = x.drift_slope = x.drift_bend = 0.0;
    run.enter(Phase::sweep);
}

// The relative gap that the next check is timed for: the aim, or the first of its tenths that the
// last check has not shown to be reached.
template <class Run>
double next_aim(const Run& run) noexcept {
    const Numbers& x = run.x;
    double aim = run.schedule.aim;
    if (run.c.checks > 0) {
        const double reached = (x.primal - x.dual) / std::abs(x.dual);
        while (aim > kLeastAim && reached < aim) {
            aim *= 0.1;
        }
    }
    return aim;
}

// Whether the gap that the last sweep saw calls for a check pass.
template <class Run>
bool check_is_due(const Run& run) noexcept {
    const auto& [rows, program, schedule, at, c, x] = run;
    if (c.met < c.present) {
        return false;
    }
    if (c.active == 0 || x.sweep_gap <= schedule.decline * x.first_gap) {
        return true;
    }
    if (static_cast<double>(c.inner_work) >= schedule.patience * static_cast<double>(c.pass_work)) {
        return true;
    }
    const double aim = next_aim(run);
    if (!(x.sweep_gap <= kWorthChecking * x.first_gap && x.sweep_gap <= aim * x.dual_linear)) {
        return false;
    }
    const double dual = x.dual_linear - 0.5 * run.dual_norm();
    return x.sweep_gap <= aim * dual;
}

// Goes on after a sweep and, if one was due, after its check.
template <class Run>
void continue_sweeping(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    const std::int64_t length = run.vector_length();
    if (c.snapshot != 0) {
        std::copy(at.w, at.w + length, at.w_previous);
        c.drift_work = 0;
        x.noise_change = 0.0;
        begin_sweep(run);
    } else if (c.drift_work >= kVectorShare * length) {
        c.drift_work = 0;
        begin_extrapolate(run);
    } else {
        begin_sweep(run);
    }
}

// Whether, by the last check, nothing moves beyond rounding; or so slowly, at a gap this small,
// that more work is in vain.
template <class Run>
bool is_at_rest(const Run& run) noexcept {
    const auto& [rows, program, schedule, at, c, x] = run;
    if (c.idle_checks >= kIdleChecks && x.primal - x.dual <= kIdleGap * std::abs(x.dual)) {
        return true;
    }
    const double size = std::sqrt(dot(at.w, at.w, run.vector_length())) * x.largest_norm;
    const bool is_still = x.violation <= kRest * (program.linear + size);
    const bool is_balanced =
        program.free_intercept()
            ? std::abs(run.imbalance()) <= kRest * x.dual_linear
            : std::abs(run.intercept_distance()) * program.scale <= kRest * (program.linear + size);
    return is_still && is_balanced;
}

template <class Run>
void end_select(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    c.active = c.kept;
    c.inner_sweeps = 0;
    c.inner_work = 0;
    ++c.checks;
    ++c.idle_checks;
    if (c.checks == 1 || x.violation <= 0.5 * x.halved_violation) {
        x.halved_violation = x.violation;
        c.idle_checks = 0;
    }
    const bool rests = is_at_rest(run);
    // Rest counts only with a w that is free of the errors of extrapolation.
    c.at_rest = rests && x.noise == 0.0 ? 1 : 0;
    c.confirms = rests && x.noise > 0.0 ? 1 : 0;
    if (c.confirms != 0) {
        run.enter(Phase::form);
    } else {
        continue_sweeping(run);
    }
}

template <class Run>
void end_sweep(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    if (schedule.order != Order::random) {
        c.active = c.kept;
    }
    if (schedule.shrinks() && c.revisited > 0) {
        x.threshold = schedule.calm * std::sqrt(x.moved / static_cast<double>(c.revisited));
    }
    const double apart = run.intercept_distance();
    x.sweep_gap += 0.5 * apart * apart;
    if (c.inner_sweeps == 0 || c.met < c.present) {
        x.first_gap = x.sweep_gap;
    }
    ++c.sweeps;
    ++c.inner_sweeps;
    c.steps =
        std::min(c.sweeps, kWholeSweeps + c.late_work / std::max<std::int64_t>(c.pass_work, 1));
    if (check_is_due(run)) {
        begin_check(run);
    } else {
        continue_sweeping(run);
    }
}

template <class Run>
void end_load(Run& run) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    if (c.warm == kFromPoint) {
        end_load_of_point(run);
        return;
    }
    std::copy(at.w, at.w + run.vector_length(), at.w_previous);
    if (c.warm != 0) {
        if (program.has_centre() && !program.free_intercept()) {
            const double stretch = program.stretch();
            x.offset = (stretch * stretch - 1.0) * program.constant * at.w[rows.width];
        }
        c.met = c.present;
        c.snapshot = 1;
        begin_check(run);
    } else {
        begin_sweep(run);
    }
}

template <class Run>
void end_fit(Run& run) noexcept {
    run.c.met = run.c.present;
    run.c.active = run.c.kept;
    begin_sweep(run);
}

// Works on the present phase.
template <class Run>
std::int64_t work_on_phase(Run& run, std::int64_t work) noexcept {
    switch (run.c.phase) {
        case Phase::load:
            return load(run, work);
        case Phase::sweep:
            return sweep(run, work);
        case Phase::extrapolate:
            return extrapolate(run, work);
        case Phase::revert:
            return revert(run, work);
        case Phase::form:
            return form(run, work);
        case Phase::check:
            return check(run, work);
        case Phase::probe:
            if (run.c.round == 0 && is_first_check(run)) {
                note_travel(run, work);
            }
            return probe(run, work);
        case Phase::move:
            return move(run, work);
        case Phase::fit:
            return fit(run, work);
        case Phase::select:
            break;
    }
    return select(run, work);
}

// Ends the present phase and enters the next.
template <class Run>
void end_phase(Run& run) noexcept {
    switch (run.c.phase) {
        case Phase::load:
            end_load(run);
            break;
        case Phase::sweep:
            end_sweep(run);
            break;
        case Phase::extrapolate:
            if (end_extrapolate(run)) {
                begin_sweep(run);
            } else {
                run.enter(Phase::revert);
            }
            break;
        case Phase::form:
            end_form(run);
            if (run.c.confirms != 0) {
                begin_check(run);
            } else {
                begin_sweep(run);
            }
            break;
        case Phase::revert:
            begin_sweep(run);
            break;
        case Phase::check:
            end_check(run);
            break;
        case Phase::probe:
            end_probe(run);
            break;
        case Phase::move:
            end_move(run);
            break;
        case Phase::select:
            end_select(run);
            break;
        case Phase::fit:
            end_fit(run);
            break;
    }
}

// Whether the loop of a phase goes over the active rows only.
inline bool is_over_active(Phase phase) noexcept {
    return phase == Phase::sweep || phase == Phase::extrapolate || phase == Phase::revert;
}

// Does about `work` units, or less: it stops after a check, so that the caller can look at its
// result, and when `steps` of them have been done in all. Returns how many units were done.
template <class Run>
std::int64_t advance(Run& run, std::int64_t work,
                     std::int64_t steps = std::numeric_limits<std::int64_t>::max()) noexcept {
    Counters& c = run.c;
    std::int64_t done = 0;
    while (done < work && c.steps < steps) {
        const Phase phase = c.phase;
        const std::int64_t piece = work_on_phase(run, work - done);
        done += piece + 1;  // so that phases without rows are work, too
        if (is_over_active(phase)) {
            c.inner_work += piece;
            c.drift_work += piece;
        }
        if (c.position >= (is_over_active(phase) ? c.active : run.rows.count)) {
            end_phase(run);
            if (phase == Phase::select) {
                break;
            }
        }
    }
    return done;
}

}  // namespace hinge
