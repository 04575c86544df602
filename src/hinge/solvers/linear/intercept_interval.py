r"""An interval for every optimal free intercept, narrowed between check passes.

The optimal weights lie within a radius of the present ones, so every row's score at the optimum is
known up to ``radius * ||x||``, and the slope of the objective in the intercept lies between two
functions. Both do not decrease; an optimal intercept lies between their zeros. That is the interval
of :mod:`hinge.certificates.settled`, here over the rows that are not settled yet: settled ones are
on a straight part of their loss at the optimum and add a constant slope. What is proven stays
proven, so intervals are intersected. The first is ``|b| <= z0 + max||x|| ||w||`` with
``||w||^2 <= 2 P``: beyond, all rows of one class have no loss and those of the other have some.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import score_bounds, score_rounding
from hinge.losses import largest_intercept, smallest_intercept
from hinge.problem import Problem

Floats = NDArray[np.float64]

PASSES = 24  # over the scores: what narrowing an interval takes, in values for each row
_WIDEN = 1e-12  # for the rounding of the slopes, in units of the intercepts


def first_interval(problem: Problem, primal: float) -> tuple[float, float]:
    """Return an interval of optimal intercepts that needs no more than an objective value.

    Parameters
    ----------
    problem : Problem
        A problem with a free intercept.
    primal : float
        The objective of any point.
    """
    reach = problem.loss.zero_from + problem.largest_norm * math.sqrt(2.0 * primal)
    return -reach, reach


def intersected(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Return what two intervals share; the first one if rounding has left nothing.

    Parameters
    ----------
    first, second : tuple of float
        Two proven intervals.
    """
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (low, high) if low <= high else first


def narrowed(problem: Problem, rows: Floats, centre: Floats, run: Any) -> tuple[float, float]:
    """Return the interval of optimal intercepts after a check pass.

    Parameters
    ----------
    problem : Problem
        A problem with a free intercept.
    rows : ndarray of shape (n_samples, 4)
        The rows of the run: alpha, NaN in the second column where settled, margins.
    centre : ndarray of shape (n_features,)
        The weights of the check pass.
    run : DualCoordinateRun
        The run, for its radius, intercept and proven interval.

    Returns
    -------
    low, high : float
        The new interval, within the old one.
    """
    known = run.intercepts
    if not (math.isfinite(run.radius) and math.isfinite(known[0]) and math.isfinite(known[1])):
        return (float(known[0]), float(known[1]))
    is_open = ~np.isnan(rows[:, 1])
    signs = problem.signs[is_open].astype(np.float64)
    scores = signs * rows[is_open, 2] - run.intercept
    norms = problem.rows.norm_bounds(problem.rows.squared_norms[is_open])
    error = score_rounding(float(np.linalg.norm(centre)), norms, problem.rows.longest_row)
    error += _WIDEN * (np.abs(scores) + abs(run.intercept))
    lower, upper = score_bounds(scores, norms, run.radius, error)
    far = _far_rows(problem, rows, is_open, known)
    all_signs, costs = np.append(signs, far[1]), np.append(problem.costs[is_open], far[2])
    if not (np.any(costs[all_signs > 0] > 0.0) and np.any(costs[all_signs < 0] > 0.0)):
        return (float(known[0]), float(known[1]))
    low = smallest_intercept(problem.loss, np.append(upper, far[0]), all_signs, costs)
    high = largest_intercept(problem.loss, np.append(lower, far[0]), all_signs, costs)
    widen = _WIDEN * (1.0 + abs(low) + abs(high))
    return intersected(known, (low - widen, high + widen))


def _far_rows(
    problem: Problem, rows: Floats, is_open: NDArray[np.bool_], known: tuple[float, float]
) -> tuple[Floats, Floats, Floats]:
    """Return scores, signs and costs of two rows that stand for those settled at upper bounds.

    Their margins are on the steepest part of the loss for every intercept of the known interval.
    """
    is_upper = ~is_open & (rows[:, 0] > 0.0)
    signs = np.array([-1.0, 1.0])
    costs = problem.costs[is_upper]
    sums = [float(np.sum(costs[problem.signs[is_upper] == sign])) for sign in signs]
    kinks = max(abs(kink.margin) for kink in problem.loss.kinks)
    reach = 2.0 * max(abs(known[0]), abs(known[1])) + kinks + 1.0
    return -reach * signs, signs, np.array(sums)
