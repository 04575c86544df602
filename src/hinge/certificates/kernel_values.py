r"""Objective values of a kernel machine, with bounds on what rounding has done to them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_scores import Scores, lowest_margins
from hinge.certificates.kernel_sums import correct_sum
from hinge.inequality import UNIT_ROUNDOFF
from hinge.problem import Intercept, Problem
from hinge.result import Point

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_FEW_ROUNDINGS = 8.0 * UNIT_ROUNDOFF  # of a term of a sum, and of the sum itself
_NOT_PSD = (
    "no gap certificate: the kernel is not (known to be) positive semidefinite; the violation "
    "of the optimality conditions is all that is confirmed"
)
OUTSIDE = "the dual point leaves its box (a coefficient is negative, above its cost, or NaN)"


def square(pulls: Floats, scores: Scores) -> tuple[float, float]:
    """Return ``b'Kb`` and an upper bound on it, from the scores of rows with coefficients b.

    Parameters
    ----------
    pulls : ndarray of shape (n,)
        The coefficients.
    scores : Scores
        ``Kb`` at the same rows.
    """
    quadratic = correct_sum(pulls * scores.values)
    spread = correct_sum(np.abs(pulls) * (scores.error + _FEW_ROUNDINGS * np.abs(scores.values)))
    return quadratic, (quadratic + spread) + _FEW_ROUNDINGS * (abs(quadratic) + spread)


def primal_value(
    problem: Problem, point: Point, pulls: Floats, scores: Scores
) -> tuple[float, float, tuple[float, float]]:
    """Return the primal value, an upper bound on it, and b'Kb with an upper bound on it.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    point : Point
        A point with an intercept.
    pulls : ndarray of shape (n_samples,)
        Coefficients b of the function.
    scores : Scores
        Its values at the rows, without intercept.
    """
    quadratic, quadratic_above = square(pulls, scores)
    loss, loss_above = loss_sums(problem, point, np.arange(problem.n_rows), scores)
    primal = 0.5 * quadratic + loss
    above = (0.5 * quadratic_above + loss_above) * (1.0 + _FEW_ROUNDINGS)
    return primal, above, (quadratic, quadratic_above)


def loss_sums(problem: Problem, point: Point, ids: Ids, scores: Scores) -> tuple[float, float]:
    """Return the sum of the losses of some rows and an upper bound on it.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    point : Point
        A point with an intercept.
    ids : ndarray of int of shape (n,)
        The rows.
    scores : Scores
        Their scores, without intercept.
    """
    costs = problem.costs[ids]
    margins = problem.signs[ids] * (scores.values + point.intercept)
    lowest = lowest_margins(problem, point, ids, scores)
    loss = correct_sum(costs * problem.loss.value(margins))
    return loss, correct_sum(costs * problem.loss.value(lowest)) * (1.0 + _FEW_ROUNDINGS)


def dual_value(
    problem: Problem, point: Point, quadratic: tuple[float, float], primal_above: float
) -> tuple[float, float, tuple[str, ...]]:
    """Return the dual value, a lower bound on it, and what keeps it from being one.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    point : Point
        A point with dual coefficients.
    quadratic : tuple of float
        ``b'Kb`` of the dual point, and an upper bound on it.
    primal_above : float
        An upper bound on the optimum, which bounds the intercept.
    """
    loss, alpha, costs = problem.loss, point.dual_coef, problem.costs
    assert alpha is not None
    if not ((alpha >= 0.0) & (alpha <= loss.upper_bound(costs))).all():
        return -math.inf, -math.inf, (OUTSIDE,)
    assert problem.kernel is not None
    if problem.kernel.psd is not True:
        return -math.inf, -math.inf, (_NOT_PSD,)
    linear = loss.dual_linear * correct_sum(alpha)
    safe = np.where(costs > 0, costs, np.inf)
    curved = 0.5 * loss.dual_curvature * correct_sum(alpha * (alpha / safe))
    dual = linear - curved - 0.5 * quadratic[0]
    losses = _FEW_ROUNDINGS * (linear + curved + abs(quadratic[1]))
    below = linear - curved - 0.5 * quadratic[1] - losses
    notes: tuple[str, ...] = ()
    if problem.intercept is Intercept.FREE:
        # No equality holds to the last bit; what is missing costs |y'a| times a bound on b*.
        balance = abs(correct_sum(problem.signs * alpha))
        bound = loss.zero_from + problem.largest_norm * math.sqrt(2.0 * max(primal_above, 0.0))
        penalty = bound * balance * (1.0 + _FEW_ROUNDINGS)
        dual, below = dual - bound * balance, below - penalty
        if penalty > 1e-6 * max(abs(dual), abs(primal_above)):
            notes = (f"the dual point misses y'alpha = 0 by {balance:.3g}",)
    return dual, below, notes
