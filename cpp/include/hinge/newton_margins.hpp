// What Newton's method makes of the margins of consecutive rows, without reading the rows.
//
// A loss is flat from `top` on, a parabola over `width` below it, and a line further down. Loops
// are written so that compilers turn them into vector instructions: what a row may or may not add
// is masked, and whether rows have costs of their own is asked before the loop. Sums may be split
// into partial ones, by a rule of the CPU level.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hinge/row_panels.hpp"

namespace hinge {

// All bits set if a statement holds, else none.
using Mask = std::uint64_t;
inline Mask mask_of(bool holds) noexcept {
    return -static_cast<Mask>(holds);
}
// The number, or zero where the mask has no bits: no branch, and infinities stay out of sums.
inline double only(Mask mask, double number) noexcept {
    return std::bit_cast<double>(std::bit_cast<Mask>(number) & mask);
}

// A loss as it is where the window is one of coefficients that are held near known ones: flat from
// `top` on, a parabola over `width` below it, which may be none, and a line further down.
struct HeldLoss {
    double spread = 0.0;  // how much wider holding makes the window; zero where nothing is held
    double top = 0.0;
    double width = 0.0;
    double bend = 0.0;   // second derivative of the parabola
    double slope = 0.0;  // of the line; zero where there is none

    double value(double margin) const noexcept {
        const double below = top - margin;
        const double inside = only(mask_of(below > 0.0), below > width ? width : below);
        return 0.5 * bend * inside * inside + slope * only(mask_of(below > width), below - width);
    }
};

struct LossWindow {
    double top;
    double width;          // may be infinite
    double bend;           // second derivative of the parabola
    bool foresees = true;  // whether rows count that a short step was stopped by
    HeldLoss held = {};

    // How deep below its top a margin is in the window: between zero and the width; NaN stays.
    double depth(double margin) const noexcept {
        const double below = top - margin;
        const double inside = below > width ? width : below;
        return only(mask_of(!(inside <= 0.0)), inside);
    }
    Mask inside(double margin) const noexcept {
        const double below = top - margin;
        return mask_of(below > 0.0) & mask_of(below < width);
    }
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
    const double* offset;  // what is taken from margins where coefficients are held

    double sign(std::int64_t i) const noexcept { return static_cast<double>(signs[i]); }
    template <bool kEach>
    double row_cost(std::int64_t i) const noexcept {
        return kEach ? costs[i] : cost;
    }
    double moved(std::int64_t i, const NewtonPlace& at) const noexcept {
        return margin[i] + at.length * change[i] + at.shift * sign(i);
    }
};

struct GradientSums {
    double losses = 0.0;
    // The losses that these are smoothed from. Where coefficients are held the losses are not
    // smoothed, and this is how far coefficients are from those: costs times spread times squares.
    double cornered = 0.0;
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

// Calls a function with whether rows have costs of their own.
template <class Function>
auto with_costs(const NewtonVariables& v, Function function) noexcept {
    return v.costs != nullptr ? function(std::true_type{}) : function(std::false_type{});
}

// Derivatives of the losses: by the shift, or along the direction.
template <bool kByShift, bool kEachCost>
DerivativeSums derivatives(LossWindow window, NewtonVariables v, Extent which,
                           NewtonPlace at) noexcept {
    double slope = 0.0;
    double curvature = 0.0;
    double size = 0.0;
#pragma omp simd reduction(+ : slope, curvature, size)
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        const double rate = kByShift ? v.sign(i) : v.change[i];
        const double margin = v.moved(i, at);
        const double depth = window.depth(margin);
        const double cost = at.ease * v.row_cost<kEachCost>(i);
        const double pull = cost * depth * rate;
        slope -= pull;
        size += std::abs(pull);
        curvature += only(window.inside(margin), cost * rate * rate);
    }
    return {window.bend * slope, window.bend * curvature, window.bend * size};
}

template <bool kByShift>
void add_derivatives(const LossWindow& window, const NewtonVariables& v, Extent which,
                     const NewtonPlace& at, DerivativeSums& sums) noexcept {
    const DerivativeSums found = with_costs(v, [&](auto own) {
        return derivatives<kByShift, decltype(own)::value>(window, v, which, at);
    });
    sums.slope += found.slope;
    sums.curvature += found.curvature;
    sums.size += found.size;
}

// What a pass over margins sets for each row of a chunk: by how much it pulls at the weights, and
// by how much more if it were in the window already.
struct RowPulls {
    double* pull;
    double* beyond;
};

// Moves the margins and sets the curvature there; `foresees` says whether rows count that a whole
// step would have carried into the window. Returns whether there are any.
template <bool kEachCost, bool kHeld>
Mask move_margins_of(LossWindow window, NewtonVariables v, Extent which, NewtonPlace at,
                     Mask foresees, RowPulls out, GradientSums& sums) noexcept {
    const double line = window.line();
    const double corner = window.corner();
    const double bend = window.bend * at.ease;
    const HeldLoss held = window.held;
    double losses = 0.0;
    double cornered = 0.0;
    double slopes = 0.0;
    double squares = 0.0;
    Mask any = 0;
#pragma omp simd reduction(+ : losses, cornered, slopes, squares) reduction(| : any)
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        const double cost = bend * v.row_cost<kEachCost>(i);
        const double whole_step = v.margin[i] + v.change[i];
        const double margin = v.moved(i, at);
        const double depth = window.depth(margin);
        const double slope = cost * depth;
        const Mask inside = window.inside(margin);
        const Mask foreseen = foresees & ~inside & window.inside(whole_step);
        const double reach = window.top - margin;
        v.margin[i] = margin;
        v.curvature[i] = only(inside | foreseen, cost);
        out.pull[i - which.start] = -slope * v.sign(i);
        out.beyond[i - which.start] = only(foreseen, (slope - cost * reach) * v.sign(i));
        if constexpr (kHeld) {
            const double own = at.ease * v.row_cost<kEachCost>(i);
            const double away = held.spread * window.bend * depth - v.offset[i];
            losses += own * held.value(margin + v.offset[i]);
            cornered += own * away * away / held.spread;
        } else {
            losses += slope * (reach - 0.5 * depth);
            cornered += only(mask_of(margin < corner), cost * line * (corner - margin));
        }
        slopes += slope;
        squares += slope * depth;
        any |= foreseen;
    }
    sums.losses += losses;
    sums.cornered += cornered;
    sums.slopes += slopes;
    sums.squares += squares;
    return any;
}

// The same, and counts rows. Rows that a whole step would have carried into the window are what
// made a short one short; returns whether there are any of these.
inline bool move_margins(const LossWindow& window, const NewtonVariables& v, Extent which,
                         const NewtonPlace& at, RowPulls out, GradientSums& sums) noexcept {
    const bool foresees = window.foresees && 0.0 < at.length && at.length < kShortStep;
    const Mask any = with_costs(v, [&](auto own) {
        constexpr bool kEach = decltype(own)::value;
        const Mask mask = mask_of(foresees);
        return window.held.spread > 0.0
                   ? move_margins_of<kEach, true>(window, v, which, at, mask, out, sums)
                   : move_margins_of<kEach, false>(window, v, which, at, mask, out, sums);
    });
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        sums.curved += v.curvature[i] != 0.0 ? 1 : 0;
        sums.changed += v.curvature[i] != v.in_matrix[i] ? 1 : 0;
    }
    return any != 0;
}

}  // namespace hinge
