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
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import score_bounds, score_rounding
from hinge.losses import largest_intercept, smallest_intercept
from hinge.problem import Problem

Floats = NDArray[np.float64]
Check = Callable[[], None]

_BLOCK = 1 << 14  # rows at a time
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


def narrowed(
    problem: Problem, rows: Floats, centre: Floats, run: Any, check: Check | None = None
) -> tuple[float, float]:
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
    check : callable or None, default=None
        Called between blocks of rows; may raise to abandon the passes.

    Returns
    -------
    low, high : float
        The new interval, within the old one.
    """
    known = (float(run.intercepts[0]), float(run.intercepts[1]))
    if not (math.isfinite(run.radius) and math.isfinite(known[0]) and math.isfinite(known[1])):
        return known
    bounds, signs, costs = _counted_rows(problem, rows, centre, run, check)
    if not all(np.any(costs[signs == sign] > 0.0) for sign in (-1, 1)):
        return known
    low = smallest_intercept(problem.loss, bounds[1], signs, costs, check)
    high = largest_intercept(problem.loss, bounds[0], signs, costs, check)
    widen = _WIDEN * (1.0 + abs(low) + abs(high))
    return intersected(known, (low - widen, high + widen))


def _counted_rows(
    problem: Problem, rows: Floats, centre: Floats, run: Any, check: Check | None
) -> tuple[Floats, NDArray[np.int8], Floats]:
    """Return bounds on scores, signs and costs of the open rows, and of two that stand for others.

    The last two stand for the rows that are settled at upper bounds: their margins are on the
    steepest part of the loss for every intercept of the known interval.
    """
    n_rows = problem.n_rows
    bounds = np.empty((2, n_rows + 2))
    signs, costs = np.empty(n_rows + 2, dtype=np.int8), np.empty(n_rows + 2)
    norm, all_costs = float(np.linalg.norm(centre)), problem.costs
    settled: dict[int, list[float]] = {-1: [], 1: []}
    count = 0
    for start in range(0, n_rows, _BLOCK):
        if check is not None:
            check()
        part = slice(start, start + _BLOCK)
        block, y, c = rows[part], problem.signs[part], all_costs[part]
        is_open = ~np.isnan(block[:, 1])
        is_upper = ~is_open & (block[:, 0] > 0.0)
        for sign, sums in settled.items():
            sums.append(float(np.sum(c[is_upper & (y == sign)])))
        scores = y[is_open] * block[is_open, 2] - run.intercept
        norms = problem.rows.norm_bounds(problem.rows.squared_norms[part][is_open])
        error = score_rounding(norm, norms, problem.rows.longest_row)
        error += _WIDEN * (np.abs(scores) + abs(run.intercept))
        place = slice(count, count + len(scores))
        bounds[:, place] = score_bounds(scores, norms, run.radius, error)
        signs[place], costs[place] = y[is_open], c[is_open]
        count += len(scores)
    kinks = max(abs(kink.margin) for kink in problem.loss.kinks)
    reach = 2.0 * max(abs(run.intercepts[0]), abs(run.intercepts[1])) + kinks + 1.0
    for sign, sums in settled.items():
        bounds[:, count], signs[count], costs[count] = -reach * sign, sign, math.fsum(sums)
        count += 1
    return bounds[:, :count], signs[:count], costs[:count]
