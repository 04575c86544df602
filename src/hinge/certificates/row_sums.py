"""What rows add to the objectives at a point, once their scores are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.conditions import Measured, margin_errors, worst_of, worst_row
from hinge.certificates.hard_margin import costs_of_losses
from hinge.certificates.row_groups import map_groups, part_sums, tree_sum
from hinge.problem import Problem
from hinge.result import Point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowSums:
    """Sums over all rows, and the worst violation of one.

    Parameters
    ----------
    loss, loss_widened : float
        Losses times costs, at the margins and at margins less what rounding may have added.
    alpha : float
        Dual coefficients; NaN if one of them leaves its box.
    curvature : float
        Squared dual coefficients over costs, where the loss has a curvature.
    balance : float
        Dual coefficients times labels.
    magnitude, alpha_norms : float
        Absolute values of dual coefficients, alone and times norms of rows.
    violation : Measured
        The worst violation of a row's optimality condition.
    """

    loss: float
    loss_widened: float
    alpha: float
    curvature: float
    balance: float
    magnitude: float
    alpha_norms: float
    violation: Measured


def row_sums(
    problem: Problem,
    point: Point,
    scores: Floats,
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
) -> RowSums:
    """Return every sum over rows that the objectives need.

    Parameters
    ----------
    problem : Problem
        The problem.
    point : Point
        Weights, intercept and, if there are any, dual coefficients.
    scores : ndarray of shape (n_samples,)
        Products of the weights with the rows.
    threads : int, default=1
        Threads that share out the rows; the sums have the same bits for any number.
    check : callable or None, default=None
        Called between groups of rows; may raise to give up.

    Returns
    -------
    RowSums
        The sums.
    """
    # Costs that are all the same are one number, which NumPy takes for as many as it needs.
    costs = problem.costs if problem.sample_weight is not None else np.array([problem.C])

    def group(rows: slice) -> tuple[Floats, Measured]:
        here = costs if len(costs) == 1 else costs[rows]
        return _group_sums(problem, point, rows, scores[rows], here)

    groups = map_groups(group, problem.n_rows, threads=threads, check=check)
    parts = np.concatenate([found for found, _ in groups], axis=1)
    loss, loss_widened, alpha, curvature, balance, magnitude, alpha_norms = tree_sum(parts).tolist()
    return RowSums(
        loss=loss,
        loss_widened=loss_widened,
        alpha=alpha,
        curvature=curvature,
        balance=balance,
        magnitude=magnitude,
        alpha_norms=alpha_norms,
        violation=worst_of(*(worst for _, worst in groups)),
    )


def _group_sums(
    problem: Problem, point: Point, rows: slice, scores: Floats, costs: Floats
) -> tuple[Floats, Measured]:
    """Return the sums over parts of some rows, in the order of ``RowSums``; the worst violation."""
    loss, y = problem.loss, problem.signs[rows].astype(np.float64)
    row_norms = problem.rows.norm_bounds(problem.rows.squared_norms[rows])
    margins = scores + point.intercept
    margins *= y
    error = margin_errors(problem, point, row_norms)
    a = np.zeros(len(y)) if point.dual_coef is None else point.dual_coef[rows]
    _, violation = worst_row(loss, margins, error, a, costs)
    losses = loss.value(margins)
    losses_widened = loss.value(np.subtract(margins, error, out=error))
    alpha = magnitude = part_sums(a)
    size = a
    if not _is_in_box(a, loss.upper_bound(costs)):
        size = np.abs(a)
        alpha, magnitude = np.full_like(alpha, math.nan), part_sums(size)
    curvature = np.zeros_like(alpha)
    if loss.dual_curvature:
        curvature = part_sums(a * (a / np.where(costs > 0, costs, np.inf)))
    sums = (
        part_sums(costs_of_losses(costs, losses)),
        part_sums(costs_of_losses(costs, losses_widened)),
        alpha,
        curvature,
        part_sums(np.multiply(y, a, out=y)),
        magnitude,
        part_sums(np.multiply(size, row_norms, out=row_norms)),
    )
    return np.array(sums), violation


def _is_in_box(alpha: Floats, upper: Floats) -> bool:
    """Return whether every coefficient is finite, not negative and at most its bound."""
    lowest, highest = float(alpha.min()), float(alpha.max())  # NaN if one is
    if not (lowest >= 0.0 and highest < math.inf):
        return False
    return highest <= float(upper[0]) if len(upper) == 1 else bool((alpha <= upper).all())
