"""What Newton's method decides between two passes.

    measure [-> shift ...] -> gradient -> product ... or matrix -> trial -> search ...
                                                    [-> shift ...] -> gradient ...

A system is solved by conjugate gradients (product) or with the matrix; a free intercept moves to
its optimum (shift) before every gradient, so that the dual point is balanced. Where steps zigzag or
a narrower parabola would hold too few rows, coefficients are held (newton_held); whenever they are
held anew, that begins with measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.solvers.linear.newton_held import (
    begin_to_hold,
    count_short,
    finds_no_end,
    has_arrived,
    hold_anew,
    holds_enough_rows,
    keep_best,
    may_hold,
)
from hinge.solvers.linear.newton_smoothing import (
    LEAST_SMOOTHING,
    NARROWING,
    is_smoothing_all,
    known_smoothing,
)
from hinge.solvers.linear.newton_state import (
    DAMPING,
    FIRST_SMOOTHING,
    SUMS,
    NewtonState,
)
from hinge.solvers.linear.newton_system import (
    begin_matrix,
    begin_system,
    force_of,
    forget_matrix,
    matrix_in_products,
    restart_system,
)
from hinge.solvers.linear.pilot import represents

Floats = NDArray[np.float64]

_PILOT_GAP = 1e-2  # relative gap at which a sample has told what it can
_CORNER_GAP = 3e-3  # the same where a corner is smoothed
_EASED_GAP = 0.1  # the same for costs that are eased
_HARDER = 10.0  # what these are multiplied with then
_SETTLED = 3e-3  # part of the objective that a step on a sample must gain
_FAR = 1e-3  # relative gap from which the dual point is scaled
_TENTH = 0.1  # what the gap that is aimed at becomes of when it has been reached
_FLAT = 1e-2  # share of the slope that may be left at the end of a line search
_BALANCED = 1e-12  # of the sum of coefficients: what a free intercept's slope may be
_LONGEST = 2.0  # length of a step in units of the direction
_LONGEST_STIFF = 1e3  # the same where rows resist that are not in the window yet
_MOST_SEARCHES = 40
_MOST_PRODUCTS = 1000
_JITTER = 1e-14  # of a unit diagonal
_NARROWER = 0.9  # what a gap is to become of before it counts as smaller
_LESS = 1e-13  # what an objective is to lose before it counts as smaller
_MOST_IDLE = 5
_STOPPED = 0.2  # length of a step that single rows have stopped
_ROUNDING = 1e-15  # relative gap at which nothing but rounding is left
_FINE = 1e-9  # relative gap up to which there is no more to be had from holding coefficients
_TINY = float(np.finfo(np.float64).tiny)


def after_measure(state: NewtonState, sums: Floats) -> None:
    """Begin with the rows of a level."""
    if not state.is_final_level and not represents(state.sample):
        state.to_level(state.level + 1)
        return
    if state.smoothing and state.is_warm:
        state.smoothing = known_smoothing(state, sums)
        state.__dict__.pop("_passes", None)
    state.room, state.length = math.inf, 0.0
    _settle(state)


def after_shift(state: NewtonState, sums: Floats) -> None:
    """Move a free intercept on towards its optimum, or be content with it."""
    slope, curvature, size = (float(value) for value in sums)
    state.searches += 1
    if abs(slope) <= _BALANCED * size or state.searches >= _MOST_SEARCHES:
        state.stage = "gradient"
        return
    before = state.shift
    if slope < 0.0:
        state.low = before
    else:
        state.high = before
    state.shift = _next_place(state, before, slope, curvature)
    if state.shift == before:
        state.stage = "gradient"


def after_gradient(state: NewtonState, sums: Floats) -> None:
    """Take the step; judge the point; go to more rows, rest, or begin the next system."""
    width = len(state.weights)
    state.weights += state.length * state.direction
    if state.is_free:
        state.weights[-1] += state.shift
    ridge = state.ridge
    state.gradient[:] = sums[:width] + ridge * state.weights
    state.diagonal[:] = sums[width : 2 * width] + ridge
    state.foreseen[:] = sums[2 * width : 3 * width]
    _set_values(state, sums[-SUMS:])
    if state.length:
        state.damping = DAMPING if state.length > _STOPPED else 1.0
    state.curved, state.changed = int(sums[-2]), int(sums[-1])
    state.steps += 1 if state.length else 0
    state.sample_steps += 1 if state.length and not state.is_final_level else 0
    count_short(state)
    if state.spread:
        _go_on_holding(state)
        return
    gap = state.primal - state.dual
    if state.is_warm and state.primal > state.value_at_zero:
        state.is_warm = False
        state.smoothing = FIRST_SMOOTHING if state.smoothing else 0.0
        state.__dict__.pop("_passes", None)
        state.weights[...] = 0.0
        state.to_level(0)
        return
    if finds_no_end(state) and may_hold(state):
        if state.is_final_level:
            begin_to_hold(state)
        else:
            state.to_level(state.level + 1)
        return
    if not state.is_final and _has_told(state, gap):
        _rest(state)
        return
    is_less = state.primal < (1.0 - _LESS) * state.smallest_primal
    is_less |= gap < _NARROWER * state.smallest_gap
    state.idle = 0 if is_less else state.idle + 1
    state.smallest_primal = min(state.primal, state.smallest_primal)
    state.smallest_gap = min(gap, state.smallest_gap)
    if state.smoothing and state.ease == 1.0 and is_smoothing_all(state, gap):
        if state.is_final and gap <= state.aim * state.primal:
            state.aim *= _TENTH  # this point is news; whoever wants more gets it from the next
        elif state.is_final and not holds_enough_rows(state) and may_hold(state):
            begin_to_hold(state)
            return
        else:
            _smooth_less(state)
            return
    if state.idle >= _MOST_IDLE or gap <= _ROUNDING * state.primal:
        _rest(state)
        return
    begin_system(state)


def _go_on_holding(state: NewtonState) -> None:
    """Hold coefficients near the present ones if these have been found, or take another step."""
    keep_best(state)
    if not has_arrived(state):
        begin_system(state)
        return
    helps = hold_anew(state)
    if not helps or state.best_primal - state.held_dual <= _ROUNDING * state.best_primal:
        state.at_rest = True


def after_product(state: NewtonState, sums: Floats) -> None:
    """Do one step of the conjugate gradient method."""
    product = sums + state.ridge * state.conjugate
    before = float(state.residual @ (state.residual / state.diagonal))
    curvature = float(state.conjugate @ product)
    state.products += 1
    state.products_in_all += 1
    if curvature <= 0.0:
        _end_system(state)
        return
    state.direction += before / curvature * state.conjugate
    state.residual -= before / curvature * product
    # Where the step stays on the present pieces of the losses, this is the gap that it leaves.
    left = 0.5 * float(state.residual @ state.residual)
    if left <= state.decrease or state.products >= _MOST_PRODUCTS:
        _end_system(state)
    elif state.has_matrix and state.products_in_all >= matrix_in_products(state):
        begin_matrix(state)
    else:
        scaled = state.residual / state.diagonal
        after = float(state.residual @ scaled)
        state.conjugate[:] = scaled + after / before * state.conjugate


def after_matrix(state: NewtonState, sums: Floats) -> None:
    """Add the change to the matrix, and solve the system with it."""
    state.matrix += sums.reshape(state.matrix.shape)
    force = force_of(state)
    full = state.matrix + np.diag(state.ridge)
    if state.smoothing and not state.spread:
        full += state.damping * state.wider
    scale = 1.0 / np.sqrt(np.maximum(np.diag(full), _TINY))
    scaled = full * np.outer(scale, scale)
    scaled[np.diag_indices_from(scaled)] += _JITTER
    factor, failed = scipy.linalg.lapack.dpotrf(scaled, lower=1, clean=0)
    if failed:
        forget_matrix(state)
        _rest(state)
        return
    solved, _ = scipy.linalg.lapack.dpotrs(factor, scale * force, lower=1)
    state.direction[:] = -scale * solved
    _end_system(state)


def after_trial(state: NewtonState, _: Floats) -> None:
    """Begin the line search."""
    state.length, state.low, state.high = 1.0, 0.0, state.longest
    state.shift = 0.0
    state.searches = 0
    state.stage = "search"


def after_search(state: NewtonState, sums: Floats) -> None:
    """Accept a length or try another one."""
    step, ridge = state.direction, state.ridge
    slope = float(step @ (ridge * (state.weights + state.length * step))) + float(sums[0])
    curvature = float(step @ (ridge * step)) + float(sums[1])
    state.searches += 1
    before = state.length
    if abs(slope) <= _FLAT * abs(state.slope) or state.searches >= _MOST_SEARCHES:
        _settle(state)
        return
    if slope < 0.0:
        state.low = before
    else:
        state.high = before
    state.length = _next_place(state, before, slope, curvature)
    if state.length == before:
        _settle(state)


AFTER: dict[str, Callable[[NewtonState, Floats], None]] = {
    "measure": after_measure,
    "shift": after_shift,
    "gradient": after_gradient,
    "product": after_product,
    "matrix": after_matrix,
    "trial": after_trial,
    "search": after_search,
}


def _set_values(state: NewtonState, sums: Floats) -> None:
    """Set the objective values; what balancing the dual point will take is taken already.

    The dual point is made of slopes at the primal one, so that the gap is half the squared
    gradient (Fenchel and Young). Far from the optimum the slopes are much too large: a multiple of
    them is a better point.
    """
    ridge, window, linear = state.ridge, state.window, state.problem.loss.dual_linear
    losses, slopes, squares, cornered = (float(value) for value in sums[:4])
    norm = float(state.weights @ (ridge * state.weights))
    pulled = state.gradient - ridge * state.weights
    gap = 0.5 * float(state.gradient @ (ridge * state.gradient))
    if state.spread:
        state.away = cornered
        squares *= 1.0 - state.spread * window.bend
    elif state.smoothing:
        losses, squares = cornered, 0.0
    squares += float(pulled @ (ridge * pulled))
    state.primal = 0.5 * norm + losses
    if state.smoothing or state.spread:
        gap = max(gap, state.primal - (linear * slopes - 0.5 * squares))
    state.scale = 1.0
    if gap > _FAR * state.primal and squares > 0.0:
        best = linear * slopes / squares
        state.scale = best if math.isinf(window.width) else min(best, 1.0)
        dual = state.scale * (linear * slopes - 0.5 * state.scale * squares)
        gap = state.primal - dual
    if state.is_free:
        price = 2.0 * (window.top + abs(float(state.weights[-1])))
        gap += price * state.scale * abs(float(state.gradient[-1]))
    state.dual = state.primal - gap


def _smooth_less(state: NewtonState) -> None:
    """Narrow the parabola and look at the same point again; a free intercept may move a little."""
    before = state.smoothing
    if before * NARROWING < LEAST_SMOOTHING:
        _rest(state)
        return
    state.smooth_less(NARROWING)
    state.length = 0.0
    # Rows that only have a bound are above the window that was, by at least as much.
    state.room = before - state.smoothing
    _settle(state)


def _ease_less(state: NewtonState) -> None:
    """Go on to costs that are nearer to those of the problem."""
    before = state.ease
    state.ease = min(1.0, _HARDER * before)
    state.tried = state.short = 0
    state.matrix *= state.ease / before
    state.in_matrix[...] *= state.ease / before
    state.smallest_primal = state.smallest_gap = math.inf
    state.length = state.shift = 0.0
    state.stage = "gradient"


def _has_told(state: NewtonState, gap: float) -> bool:
    """Return whether a problem that only prepares the next one has told what it can."""
    if state.ease < 1.0:
        return gap <= _EASED_GAP * state.primal
    if state.smoothing:
        return gap <= _CORNER_GAP * state.primal
    has_settled = state.primal > (1.0 - _SETTLED) * state.smallest_primal
    return has_settled or gap <= _PILOT_GAP * state.primal


def _rest(state: NewtonState) -> None:
    """Go on to the problem's own costs, to more rows, to coefficients that are held, to rest."""
    if state.ease < 1.0:
        _ease_less(state)
    elif not state.is_final_level:
        state.to_level(state.level + 1)
    elif may_hold(state) and state.primal - state.dual > _FINE * state.primal:
        begin_to_hold(state)
    else:
        state.at_rest = True


def _end_system(state: NewtonState) -> None:
    """Begin a step along the direction that has been found, if it leads down."""
    if state.is_free and np.array_equal(state.gradient[:-1], state.weights[:-1]):
        # No row pulls: weights shrink until one does. Without the intercept a row of one class
        # would soon stop them, the intercept would move off to the other, and so on.
        state.direction[-1] = -state.weights[-1]
    state.slope = float(state.direction @ state.gradient)
    if not state.slope < 0.0 and state.foreseen.any():
        state.foreseen[...] = 0.0
        restart_system(state)
        return
    if not state.slope < 0.0:
        _rest(state)
        return
    n = state.problem.n_features
    state.longest = _LONGEST_STIFF if state.foreseen.any() else _LONGEST
    if state.is_free:
        typical = math.sqrt(float(np.mean(state.sample.rows.squared_norms)))
        state.room = state.longest * typical * float(np.linalg.norm(state.direction[:n]))
    else:
        state.room = 0.0
    state.stage = "trial"


def _settle(state: NewtonState) -> None:
    """Go on to the gradient; a free intercept finds its place first."""
    state.shift, state.searches = 0.0, 0
    state.low, state.high = -state.room, state.room
    state.stage = "shift" if state.is_free else "gradient"


def _next_place(state: NewtonState, place: float, slope: float, curvature: float) -> float:
    """Return where a piecewise linear function is to be looked at next: Newton, or bisection."""
    target = place - slope / curvature if curvature > 0.0 else math.copysign(math.inf, -slope)
    if state.low < target < state.high:
        return target
    if math.isinf(state.low) or math.isinf(state.high):
        return place + math.copysign(max(1.0, abs(place)), -slope)
    # The end of what is allowed is a place to be looked at as well.
    end = state.high if slope < 0.0 else state.low
    return end if target == end or state.searches == 1 else 0.5 * (state.low + state.high)
