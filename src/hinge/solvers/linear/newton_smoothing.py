"""How far Newton's method smooths a corner: how wide a parabola, and when a narrower one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.newton_state import FIRST_SMOOTHING, NewtonState

Floats = NDArray[np.float64]

NARROWING = 0.25  # what a parabola's width is multiplied with: a power of two, which is exact
LEAST_SMOOTHING = 2.0**-30  # a narrower one would magnify the rounding of margins too much
_MOSTLY = 0.3  # share of a smoothing's gap up to which the rest of a gap does not matter
_ROUNDING = 1e-15  # relative gap at which nothing but rounding is left


def known_smoothing(state: NewtonState, pulled: Floats) -> float:
    """Return the widest parabola that makes no larger gap than a known pair of points has.

    Parameters
    ----------
    state : NewtonState
        A run at known weights, with its margins measured.
    pulled : ndarray of shape (n_weights,)
        The sum of rows that the known dual coefficients make.

    Returns
    -------
    float
        Its half-width.
    """
    problem, ridge = state.problem, state.ridge
    loss, costs = problem.loss, problem.costs
    losses = float(np.sum(costs * loss.value(state.margin)))
    primal = 0.5 * float(state.weights @ (ridge * state.weights)) + losses
    dual = loss.dual_linear * float(np.sum(state.known_dual))
    dual -= 0.5 * float(pulled @ (ridge * pulled))
    if state.is_free:
        dual -= 2.0 * (loss.dual_linear + abs(float(state.weights[-1]))) * abs(float(pulled[-1]))
    gap = max(primal - dual, _ROUNDING * primal)
    away = np.abs(loss.dual_linear - state.margin)
    near = np.flatnonzero(away < FIRST_SMOOTHING)
    away, costs = away[near], costs[near]
    width = FIRST_SMOOTHING
    while width * NARROWING >= LEAST_SMOOTHING:
        # On the average over where a margin may lie, it makes a twelfth of its half-width.
        if float(np.sum(costs[away < width])) * width <= 12.0 * gap:
            break
        width *= NARROWING
    return width


def is_smoothing_all(state: NewtonState, gap: float) -> bool:
    """Return whether most of a gap is due to the parabola at the corner.

    Parameters
    ----------
    state : NewtonState
        A run with its gradient.
    gap : float
        The gap of the loss with its corner.

    Returns
    -------
    bool
        Whether a narrower parabola is due.
    """
    own = 0.5 * float(state.gradient @ (state.ridge * state.gradient))
    return own <= _MOSTLY * max(gap - own, 0.0)
