// What Newton's method makes of the margins of consecutive rows, without reading the rows.
//
// A loss is flat from `top` on, a parabola over `width` below it, and a line further down. Loops
// are written so that compilers turn them into vector instructions; sums may be split into partial
// ones, by a rule of the CPU level.
#pragma once

#include <cmath>
#include <cstdint>

#include "hinge/row_panels.hpp"

namespace hinge {

struct LossWindow {
    double top;
    double width;          // may be infinite
    double bend;           // second derivative of the parabola
    bool foresees = true;  // whether rows count that a short step was stopped by

    double depth(double margin) const noexcept {
        const double below = top - margin;
        const double inside = below < 0.0 ? 0.0 : below;  // NaN stays
        return inside > width ? width : inside;
    }
    bool is_inside(double depth) const noexcept { return depth > 0.0 && depth < width; }
    // How far down the line begins, and how steep it is over the second derivative; where there is
    // none it begins nowhere.
    double line() const noexcept { return width < HUGE_VAL ? width : 0.0; }
    double corner() const noexcept { return top - 0.5 * line(); }
};

// Where the margins are looked at: so far along the direction, with so much added to the scores.
struct NewtonPlace {
    double length;
    double shift;
    double ease;  // what costs are multiplied with
};

// What is known of the rows, and what the method makes of them.
struct NewtonVariables {
    const std::int8_t* signs;
    const double* costs;  // null if all are the same
    double cost;          // that one
    const double* squared_norms;
    double* margin;
    double* change;     // of the margin, along the direction
    double* curvature;  // cost times second derivative of the loss
    double* in_matrix;  // the curvature that the matrix has been formed with
    std::uint8_t* is_exact;

    double sign(std::int64_t i) const noexcept { return static_cast<double>(signs[i]); }
    double row_cost(std::int64_t i) const noexcept { return costs == nullptr ? cost : costs[i]; }
    double moved(std::int64_t i, const NewtonPlace& at) const noexcept {
        return margin[i] + at.length * change[i] + at.shift * sign(i);
    }
};

struct GradientSums {
    double losses = 0.0;
    double cornered = 0.0;  // the losses that these are smoothed from
    double slopes = 0.0;
    double squares = 0.0;
    std::int64_t curved = 0;
    std::int64_t changed = 0;
};

struct DerivativeSums {
    double slope = 0.0;
    double curvature = 0.0;
    double size = 0.0;  // of what the slope is the sum of
};

inline constexpr double kShortStep = 0.5;  // one that rows have stopped that came into the window

// Derivatives of the losses: by the shift, or along the direction.
template <bool kByShift>
void add_derivatives(const LossWindow& window, const NewtonVariables& v, Extent which,
                     const NewtonPlace& at, DerivativeSums& sums) noexcept {
    double slope = 0.0;
    double curvature = 0.0;
    double size = 0.0;
#pragma omp simd reduction(+ : slope, curvature, size)
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        const double rate = kByShift ? v.sign(i) : v.change[i];
        const double depth = window.depth(v.moved(i, at));
        const double cost = at.ease * v.row_cost(i);
        const double pull = cost * depth * rate;
        slope -= pull;
        size += std::abs(pull);
        curvature += window.is_inside(depth) ? cost * rate * rate : 0.0;
    }
    sums.slope += window.bend * slope;
    sums.curvature += window.bend * curvature;
    sums.size += window.bend * size;
}

// Moves the margins and sets the curvature there. Sets by how much each row pulls at the weights,
// and, in `beyond`, by how much more if it were in the window already: rows that a whole step would
// have carried into it are what made a short one short. Returns whether there are any of these.
inline bool move_margins(const LossWindow& window, const NewtonVariables& v, Extent which,
                         const NewtonPlace& at, double* __restrict pull, double* __restrict beyond,
                         GradientSums& sums) noexcept {
    const bool foresees = window.foresees && 0.0 < at.length && at.length < kShortStep;
    const double line = window.line();
    const double corner = window.corner();
    double losses = 0.0;
    double cornered = 0.0;
    double slopes = 0.0;
    double squares = 0.0;
    double any = 0.0;
#pragma omp simd reduction(+ : losses, cornered, slopes, squares, any)
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        const double cost = window.bend * at.ease * v.row_cost(i);
        const double whole_step = window.depth(v.margin[i] + v.change[i]);
        const double margin = v.moved(i, at);
        const double depth = window.depth(margin);
        const double slope = cost * depth;
        const bool inside = window.is_inside(depth);
        const bool foreseen = foresees && !inside && window.is_inside(whole_step);
        const double reach = window.top - margin;
        v.margin[i] = margin;
        v.curvature[i] = inside || foreseen ? cost : 0.0;
        pull[i - which.start] = -slope * v.sign(i);
        beyond[i - which.start] = foreseen ? (slope - cost * reach) * v.sign(i) : 0.0;
        losses += slope * (reach - 0.5 * depth);
        cornered += margin < corner ? cost * line * (corner - margin) : 0.0;
        slopes += slope;
        squares += slope * depth;
        any += foreseen ? 1.0 : 0.0;
    }
    sums.losses += losses;
    sums.cornered += cornered;
    sums.slopes += slopes;
    sums.squares += squares;
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        sums.curved += v.curvature[i] != 0.0 ? 1 : 0;
        sums.changed += v.curvature[i] != v.in_matrix[i] ? 1 : 0;
    }
    return any > 0.0;
}

}  // namespace hinge
