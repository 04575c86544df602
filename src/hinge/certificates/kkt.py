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

from hinge.losses import Loss
from hinge.problem import Problem
from hinge.result import Point
from hinge.rows import Block, map_blocks

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Violation:
    """The worst violations of the optimality conditions.

    Parameters
    ----------
    complementarity : float
        Largest violation of a row, in units of the margin.
    worst_row : int
        The row where it occurs.
    stationarity : float
        ``||w - w(alpha)||``, zero where the weights are exactly those of the dual point.
    balance : float
        ``|y'alpha|``, which a free intercept needs to be zero.
    """

    complementarity: float
    worst_row: int
    stationarity: float
    balance: float


def row_violations(loss: Loss, margins: Floats, alpha: Floats, costs: Floats) -> Floats:
    """Return each row's violation, given its margin and dual coefficient.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    margins, alpha, costs : ndarray of shape (n,)
        Margins, dual coefficients and costs of the rows; rows without cost violate nothing.
    """
    safe = np.where(costs > 0, costs, np.inf)
    slopes = alpha / safe
    gradient = margins + loss.dual_curvature * slopes - loss.dual_linear
    moved = np.clip(slopes - gradient, 0.0, loss.dual_upper)
    return np.where(costs > 0, np.abs(moved - slopes), 0.0)


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
    if point.dual_coef is None:
        return Violation(math.inf, -1, math.inf, math.inf)
    alpha, costs = point.dual_coef, problem.costs

    def kernel(block: Block) -> tuple[float, int, Floats, float]:
        y = problem.signs[block.rows].astype(np.float64)
        a = alpha[block.rows]
        margins = y * (block.dot(point.coef) + point.intercept)
        violations = row_violations(problem.loss, margins, a, costs[block.rows])
        worst = int(np.argmax(violations))  # argmax of an array with NaN is the NaN
        moved = block.transpose_dot(y * a)
        return float(violations[worst]), block.start + worst, moved, float(y @ a)

    worst, row, weights, balance = map_blocks(kernel, problem.rows, _worse)
    distance = float(np.linalg.norm(point.coef - weights))
    return Violation(worst, row, distance, abs(balance))


def _worse(
    a: tuple[float, int, Floats, float], b: tuple[float, int, Floats, float]
) -> tuple[float, int, Floats, float]:
    """Merge two partial results, keeping the first of the largest violations and any NaN."""
    first = a[0] >= b[0] or math.isnan(a[0])
    return (*(a[:2] if first else b[:2]), a[2] + b[2], a[3] + b[3])
