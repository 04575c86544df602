// What a run of dual coordinate descent is made of: the program, the caller's arrays, and the
// numbers that carry it from one bounded call to the next. dual_coordinate.hpp has the mathematics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/linalg.hpp"

namespace hinge {

// One quadratic program for every loss: row i has cost c_i > 0, the bound U_i = reach * c_i and the
// diagonal term D_i = curvature / c_i.
struct DualProgram {
    const double* costs;
    std::int64_t cost_stride;  // 0 where one cost serves every row
    double linear;             // p
    double curvature;          // 0 for the hinge; for losses without a corner D_i > 0
    double reach;              // infinite where the loss grows faster than any line
    double constant;           // value of the constant feature in the sweeps, 0 for none
    double scale;              // and in the problem; infinite for an intercept that is free

    bool free_intercept() const noexcept { return std::isinf(scale); }
    // Whether the constant feature is smaller than the problem's, about a centre that moves.
    bool has_centre() const noexcept { return scale > constant; }
    // What a weight of the intercept is in the norm of the objective, 0 where it is in none.
    double inverse_scale() const noexcept { return scale > 0.0 ? 1.0 / scale : 0.0; }
    // The problem's constant feature in units of the one in the sweeps, where it is finite.
    double stretch() const noexcept { return constant > 0.0 ? scale / constant : 0.0; }
};

// What is known of a row, together in half a cache line because rows are visited at random.
struct RowState {
    double alpha;
    double previous;     // alpha at the last snapshot; NaN where alpha is settled for good
    double margin;       // as last computed
    double signed_norm;  // squared norm of the row, with the sign of its label

    bool is_settled() const noexcept { return std::isnan(previous); }
    void settle() noexcept { previous = std::numeric_limits<double>::quiet_NaN(); }
};

enum class Order : std::int64_t { cyclic, permuted, random };

// When to do what. The values change how fast a run is, never where it goes.
struct Schedule {
    Order order = Order::permuted;
    bool shrinking = true;
    bool screening = true;
    bool extrapolation = true;
    double aim = 1e-3;           // relative gap that the first check passes are timed for
    double calm = 1.0;           // rows at a bound this many typical moves away are left out
    double decline = 0.03;       // a check is due when the estimated gap has fallen by this factor,
    double patience = 8.0;       // or after this many passes' worth of work
    std::int64_t portions = 16;  // a run starts on one part in so many, and doubles it,
    std::int64_t portion_rows = 64;  // but on no more rows for a feature than these

    // Rows that are drawn with replacement are all needed.
    bool shrinks() const noexcept { return shrinking && order != Order::random; }
};

// Sweeps that count as a step each. Later ones may go over a hundredth of the rows, and thousands
// of them be worth a few passes: they count by their work.
inline constexpr std::int64_t kWholeSweeps = 100;

enum class Phase : std::int64_t {
    load,
    sweep,
    extrapolate,
    revert,
    form,
    check,
    probe,
    move,
    select,
    fit
};

struct Counters {
    Phase phase;
    std::int64_t warm;       // what the run starts from: nothing, alpha, or alpha and weights
    std::int64_t position;   // in the loop of the phase
    std::int64_t kept;       // rows that stay active, so far
    std::int64_t active;     // rows in the order
    std::int64_t prepared;   // how far the order of this sweep has been drawn
    std::int64_t met;        // rows taken into the order so far, at the start of a run
    std::int64_t present;    // rows of positive cost
    std::int64_t revisited;  // rows of this sweep that had been visited before
    std::int64_t sweeps;
    std::int64_t checks;
    std::int64_t inner_sweeps;  // since the last check
    std::int64_t inner_work;
    std::int64_t pass_work;   // stored values, and what a row costs beside them
    std::int64_t drift_work;  // since the last snapshot
    std::int64_t skip;        // extrapolations to leave out
    std::int64_t backoff;
    std::int64_t round;        // of the primal search
    std::int64_t snapshot;     // whether this sweep takes the snapshot as it goes
    std::int64_t settled;      // rows screened for good
    std::int64_t idle_checks;  // since the gap was last halved
    std::int64_t confirms;     // whether w is formed anew to confirm that the run is at rest
    std::int64_t at_rest;
    std::int64_t run_length;  // rows that follow each other in memory and in this sweep; 0 as 1
    std::int64_t late_work;   // of sweeps beyond the first kWholeSweeps
    std::int64_t steps;  // those sweeps, and the passes over all rows that later ones are worth
};

inline constexpr int kProbes = 4;

struct Numbers {
    double threshold;    // of shrinking
    double moved;        // sum of squared changes of the margins
    double sweep_gap;    // sum of the rows' gap terms when they were visited
    double first_gap;    // the same for the first sweep since the last check
    double drift_slope;  // derivative of the dual along the drift, without the part of w
    double drift_bend;
    double violation;     // largest slope at the last check that the box does not hold up
    double largest_norm;  // of a row
    double offset;        // centre b_k of the intercept
    double step;
    double step_scale;
    double gain;
    double noise;         // error of w against w(alpha), in roundings of ||w||
    double noise_change;  // the part of it in w - w_previous
    double norm;          // ||w||^2
    double dual_linear;   // the dual without -||w||^2 / 2, kept up to date
    double loss;
    double dual_sum;
    double line_slope, line_bend;  // of the line search, but for the losses
    double low, high, place;
    std::array<double, kProbes> slopes;
    double settled_sum;       // what the rows settled at their upper bounds add to the dual
    double primal_here;       // objective at w(alpha)
    double primal;            // at the best point
    double halved_violation;  // the violation when it was last halved
    double dual;
    double lowest_intercept;   // every optimal free intercept is proven
    double highest_intercept;  // to lie between these two
    double dual_below;         // a lower bound on the optimum, by that interval
};

struct DualArrays {
    RowState* rows;
    double* best_margins;
    std::uint32_t* order;
    double* w;           // as the others of width + 1 entries, the last for the constant feature
    double* w_previous;  // at the last snapshot
    double* w_trial;
    double* w_best;     // its last entry is the intercept itself
    double* w_settled;  // sum over rows settled at their upper bounds
    std::uint64_t* random;
};

template <class RowsView, bool kSmoothLoss>
struct DualRun {
    using Rows = RowsView;
    static constexpr bool kSmooth = kSmoothLoss;
    static constexpr std::int64_t kRowWork = 8;  // what a visit costs beside its stored values

    Rows rows;
    DualProgram program;
    Schedule schedule;
    DualArrays at;
    Counters& c;
    Numbers& x;

    double cost(std::int64_t i) const noexcept { return program.costs[i * program.cost_stride]; }
    double upper(std::int64_t i) const noexcept { return program.reach * cost(i); }
    double bend(std::int64_t i) const noexcept {
        return kSmooth ? program.curvature / cost(i) : 0.0;
    }
    double squared_norm(const RowState& row) const noexcept {
        return std::abs(row.signed_norm) + program.constant * program.constant;
    }
    double intercept() const noexcept { return program.constant * at.w[rows.width] + x.offset; }
    // y'alpha, where there is a constant feature
    double imbalance() const noexcept { return at.w[rows.width] / program.constant; }
    double score(std::int64_t i, const double* w) const noexcept {
        return rows.dot(i, w) + constant_score(w);
    }
    // Asks meanwhile for a row that comes soon.
    double score_asking(std::int64_t i, const double* w, std::int64_t next) const noexcept {
        return rows.dot_asking(i, w, next) + constant_score(w);
    }
    double constant_score(const double* w) const noexcept {
        return program.constant * w[rows.width] + x.offset;
    }
    void add(std::int64_t i, double scale, double* w) const noexcept {
        rows.add(i, scale, w);
        w[rows.width] += scale * program.constant;
    }
    // The score that the rows settled at their upper bounds have together under w and its
    // intercept.
    double settled_score(const double* w, double intercept) const noexcept {
        const double score = dot(w, at.w_settled, rows.width);
        return program.constant > 0.0
                   ? score + intercept * (at.w_settled[rows.width] / program.constant)
                   : score;
    }
    std::int64_t vector_length() const noexcept { return rows.width + 1; }
    // The product of two points in the norm of the objective, in which a free intercept is not.
    double product(const double* v, double v_intercept, const double* w,
                   double w_intercept) const noexcept {
        const double inverse = program.inverse_scale();
        return dot(v, w, rows.width) + (v_intercept * inverse) * (w_intercept * inverse);
    }
    // Twice what alpha costs in the dual, but for the imbalance of a free intercept.
    double dual_norm() const noexcept {
        const double last = program.free_intercept() ? 0.0 : program.stretch() * at.w[rows.width];
        return dot(at.w, at.w, rows.width) + last * last;
    }
    // How far the intercept is from the one that alpha stands for, in the norm of the objective.
    double intercept_distance() const noexcept {
        if (!program.has_centre() || program.free_intercept()) {
            return 0.0;
        }
        return intercept() * program.inverse_scale() - program.stretch() * at.w[rows.width];
    }

    // The a in [0, upper] that is largest in a * slack - bend a^2 / 2.
    static double best_response(double slack, double bend, double upper) noexcept {
        if constexpr (kSmooth) {
            return std::clamp(slack / bend, 0.0, upper);
        } else {
            return slack > 0.0 ? upper : 0.0;
        }
    }
    // The same for several slacks at once.
    static Pack best_responses(Pack slack, double bend, double upper) noexcept {
        if constexpr (kSmooth) {
            const Pack steps = slack / bend;
            const Pack raised = steps < 0.0 ? Pack{} : steps;
            return raised > upper ? Pack{} + upper : raised;
        } else {
            return slack > 0.0 ? Pack{} + upper : Pack{};
        }
    }
    // c_i loss(margin), as the value of that maximum, for slack = p - margin.
    static double loss(double slack, double bend, double upper) noexcept {
        if constexpr (kSmooth) {
            const double a = best_response(slack, bend, upper);
            return a * (slack - 0.5 * bend * a);
        } else {
            return upper * std::max(slack, 0.0);
        }
    }

    void enter(Phase phase) noexcept {
        c.phase = phase;
        c.position = 0;
        c.kept = 0;
    }
};

}  // namespace hinge
