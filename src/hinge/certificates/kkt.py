"""The optimality conditions, row by row.

At an optimum ``-alpha_i / c_i`` is a subgradient of the loss at the margin ``m_i``. With
``a_i = alpha_i / c_i`` and the dual gradient ``g_i = m_i + kappa a_i - p``, in units of the margin,
this says that a projected gradient step does not move: ``clip(a_i - g_i, 0, u) = a_i``. The
violation of a row is how far it does move. It equals ``|g_i|`` where the coefficient has room and
shrinks to zero as the coefficient approaches the bound that the gradient pushes it to, so points
that keep away from their bounds by a rounding error are not taken for bad ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_blocks
from hinge.errors import InvalidParameterError
from hinge.losses import Loss
from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.rows import Block
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Violation:
    """The worst violations of the optimality conditions, each in units of the margin.

    Parameters
    ----------
    complementarity : float
        Largest violation of a row.
    worst_row : int
        The row where it occurs.
    stationarity : float
        How far ``w != w(alpha)`` can move a margin; zero if the weights are the dual point's.
    balance : float
        ``|y'alpha|`` as a share of the sum of alpha, where a free intercept needs it to be zero.
    """

    complementarity: float
    worst_row: int
    stationarity: float
    balance: float

    @property
    def worst(self) -> float:
        """The largest of the three; NaN if one of them is."""
        return float(np.max((self.complementarity, self.stationarity, self.balance)))


@dataclass(frozen=True)
class DualSums:
    """Sums over the rows of a dual point: of ``y alpha x``, of ``y alpha`` and of ``alpha``."""

    weights: Floats
    balance: float
    total: float


def row_violations(loss: Loss, margins: Floats, alpha: Floats, costs: Floats) -> Floats:
    """Return each row's violation, given its margin and dual coefficient.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    margins, alpha : ndarray of shape (n,)
        Margins and dual coefficients.
    costs : ndarray of shape (n,) or (1,)
        Costs, one if it is that of every row; a row without cost must have coefficient 0.
    """
    counted = costs > 0
    slopes = alpha / np.where(counted, costs, np.inf)
    gradient = margins - loss.dual_linear
    if loss.dual_curvature:
        gradient += loss.dual_curvature * slopes
    moved = np.subtract(slopes, gradient)
    np.clip(moved, 0.0, loss.dual_upper, out=moved)
    moved -= slopes
    violations = np.abs(moved, out=moved)
    if np.isinf(costs).any():
        # A hard margin has no slopes: a row may miss its margin by nothing, and exceed it only
        # with coefficient 0.
        hard = np.where(alpha > 0.0, np.abs(gradient), np.maximum(-gradient, 0.0))
        violations = np.where(np.isinf(costs), hard, violations)
    return violations if counted.all() else np.where(counted, violations, np.abs(alpha))


def condition_violations(problem: Problem, point: Point, sums: DualSums) -> tuple[float, float]:
    """Return the violations of stationarity and of the balance of a free intercept."""
    if problem.kernel is not None:
        return 0.0, _imbalance(problem, sums)
    distance = float(np.linalg.norm(point.coef - sums.weights))
    constant = problem.constant_feature
    if constant:
        weight = problem.intercept_weight(point.intercept)
        distance = math.hypot(distance, weight - constant * sums.balance)
    stationarity = distance * math.hypot(problem.largest_norm, constant)
    return stationarity, _imbalance(problem, sums)


def _imbalance(problem: Problem, sums: DualSums) -> float:
    """Return by how much of all coefficients a free intercept's ``y'alpha = 0`` is missed."""
    if problem.intercept is not Intercept.FREE or sums.balance == 0.0:
        return 0.0
    return abs(sums.balance) / sums.total


def check_point(problem: Problem, point: Point) -> None:
    """Refuse a point that cannot belong to the problem."""
    if problem.kernel is not None:
        _check_kernel_point(point)
    elif point.coef.shape != (problem.n_features,):
        message = f"coef has shape {point.coef.shape}; the data have {problem.n_features} features."
        raise InvalidParameterError(message)
    if point.dual_coef is not None and point.dual_coef.shape != (problem.n_rows,):
        message = f"dual_coef has shape {point.dual_coef.shape}; there are {problem.n_rows} rows."
        raise InvalidParameterError(message)
    if problem.intercept is Intercept.NONE and point.intercept != 0.0:
        message = f"the problem has no intercept; the point has intercept {point.intercept!r}."
        raise InvalidParameterError(message)


def _check_kernel_point(point: Point) -> None:
    """Refuse a point that is no kernel machine's: its function is that of its coefficients."""
    if point.coef.shape != (0,):
        message = (
            f"coef has shape {point.coef.shape}; a kernel machine has dual coefficients alone, "
            "and its coef is empty: Point(numpy.zeros(0), intercept, dual_coef)."
        )
        raise InvalidParameterError(message)
    if point.dual_coef is None:
        message = "a kernel machine is its dual_coef; the point has none."
        raise InvalidParameterError(message)


def kkt(problem: Problem, point: Point) -> Violation:
    """Recompute the violation of the optimality conditions from the raw data.

    Parameters
    ----------
    problem : Problem
        The problem that the point claims to solve.
    point : Point
        Weights, intercept and dual coefficients.

    Returns
    -------
    Violation
        The worst violations; infinite without a dual point, NaN if a number is not one.
    """
    check_point(problem, point)
    if point.dual_coef is None:
        return Violation(math.inf, -1, math.inf, math.inf)
    if problem.kernel is not None:
        return _kernel_violation(problem, point)
    alpha, costs = point.dual_coef, problem.costs

    def kernel(block: Block) -> tuple[float, int, DualSums]:
        y = problem.signs[block.rows].astype(np.float64)
        a = alpha[block.rows]
        margins = y * (block.dot(point.coef) + point.intercept)
        violations = row_violations(problem.loss, margins, a, costs[block.rows])
        worst = int(np.argmax(violations))  # argmax of an array with NaN is the NaN
        sums = DualSums(block.transpose_dot(y * a), float(y @ a), float(np.sum(a)))
        return float(violations[worst]), block.start + worst, sums

    with single_threaded_blas():
        worst, row, sums = map_blocks(kernel, problem.rows, _worse)
        return Violation(worst, row, *condition_violations(problem, point, sums))


def _kernel_violation(problem: Problem, point: Point) -> Violation:
    """Return the violation of a kernel machine, whose weights are those of its coefficients."""
    alpha = point.dual_coef
    assert alpha is not None
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        from hinge.certificates.kernel_scores import (  # noqa: PLC0415 - linear machines spare it
            training_scores,
        )

        scores = training_scores(problem, point).values
        margins = problem.signs * (scores + point.intercept)
        violations = row_violations(problem.loss, margins, alpha, problem.costs)
        worst = int(np.argmax(violations))
        sums = DualSums(point.coef, float(problem.signs @ alpha), float(np.sum(np.abs(alpha))))
        stationarity, balance = condition_violations(problem, point, sums)
    return Violation(float(violations[worst]), worst, stationarity, balance)


def _worse(
    a: tuple[float, int, DualSums], b: tuple[float, int, DualSums]
) -> tuple[float, int, DualSums]:
    """Merge two partial results, keeping the first of the largest violations and any NaN."""
    first = a[0] >= b[0] or math.isnan(a[0])
    sums = DualSums(
        a[2].weights + b[2].weights, a[2].balance + b[2].balance, a[2].total + b[2].total
    )
    return (*(a[:2] if first else b[:2]), sums)
