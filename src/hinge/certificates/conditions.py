r"""How far a point is from the optimality conditions, and how far rounding may have moved that.

At an optimum ``-alpha_i / c_i`` is a subgradient of the loss at the margin ``m_i``. With
``a_i = alpha_i / c_i`` and the dual gradient ``g_i = m_i + kappa a_i - p``, in units of the margin,
this says that a projected gradient step does not move: ``clip(a_i - g_i, 0, u) = a_i``. The
violation of a row is how far it does move. It equals ``|g_i|`` where the coefficient has room and
shrinks to zero as the coefficient approaches the bound that the gradient pushes it to, so points
that keep away from their bounds by a rounding error are not taken for bad ones.

Rounding moves the step by at most the error bound of the margin and some roundings of its terms.
The projection is monotone, so the violation is largest at one of the two ends of that interval:
both are looked at. Rows that a bound holds by more than that violate nothing, rounding or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.row_groups import sum_rounding
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor, score_rounding
from hinge.losses import Loss
from hinge.problem import Intercept, Problem
from hinge.result import Point

Floats = NDArray[np.float64]

_FEW_ROUNDINGS = 8.0 * UNIT_ROUNDOFF
_FEW_ROWS = 2048  # whose bounds are all computed sooner than those that matter are found
_SMALLEST_SQUARE = 2.0**-1073  # twice what a square may lose to underflow


class Measured(NamedTuple):
    """A number as it was computed, and an upper bound on what it would be without rounding."""

    value: float
    above: float

    @property
    def rounding(self) -> float:
        """How far rounding may have moved the number upwards; none of what is infinite."""
        return 0.0 if self.value == math.inf else self.above - self.value


def worst_of(*numbers: Measured) -> Measured:
    """Return the largest of some numbers, and of their bounds; NaN if one is.

    Parameters
    ----------
    *numbers : Measured
        At least one.
    """
    value, above = np.max(numbers, axis=0).tolist()
    return Measured(value, above)


@dataclass(frozen=True)
class DualSums:
    """Sums over the rows of a dual point, and what rounding may have done to them.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Of ``y alpha x``; empty for a kernel machine, whose weights these are.
    balance, total : float
        Of ``y alpha`` and of ``|alpha|``.
    spread : float, default=0.0
        Bound on the error of the weights, in norm, with their constant feature.
    relative : float or None, default=None
        Bound on the errors of the other two, in parts of ``total``; None if they are correctly
        rounded.
    """

    weights: Floats
    balance: float
    total: float
    spread: float = 0.0
    relative: float | None = None


def row_violations(
    loss: Loss, margins: Floats, error: Floats | float, alpha: Floats, costs: Floats
) -> tuple[Floats, Floats]:
    """Return each row's violation as computed, and upper bounds on the true ones.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    margins : ndarray of shape (n,)
        Margins, as computed.
    error : ndarray of shape (n,) or float
        Bounds on their errors.
    alpha : ndarray of shape (n,)
        Dual coefficients.
    costs : ndarray of shape (n,) or (1,)
        Costs, one if it is that of every row; a row without cost must have coefficient 0.
    """
    slopes, gradient = _slopes_and_gradient(loss, margins, alpha, costs)
    # What is subtracted and added below is rounded some times, in parts of what is largest in it.
    reach = np.abs(margins)
    reach += loss.dual_linear
    reach += (1.0 + loss.dual_curvature) * np.abs(slopes)
    reach *= _FEW_ROUNDINGS
    reach += error
    above = _farthest_moves(loss, slopes, slopes - gradient, reach)
    if np.isinf(costs).any():
        hard = np.where(alpha > 0.0, np.abs(gradient) + reach, np.maximum(reach - gradient, 0.0))
        above = np.where(np.isinf(costs), hard, above)
    above = np.where(costs > 0, above, np.abs(alpha))
    return _violations(loss, slopes, gradient, alpha, costs), above


def worst_row(
    loss: Loss, margins: Floats, error: Floats | float, alpha: Floats, costs: Floats
) -> tuple[int, Measured]:
    """Return which row has the largest violation as computed, and the largest of all rows.

    The parameters are those of :func:`row_violations`. Bounds on the true violations are looked at
    where they may be the largest, which they are at a few rows near the worst one.
    """
    if len(margins) <= _FEW_ROWS:
        violations, above = row_violations(loss, margins, error, alpha, costs)
        worst = int(np.argmax(violations))  # argmax of an array with NaN is the NaN
        return worst, Measured(float(violations[worst]), float(np.max(above)))
    slopes, gradient = _slopes_and_gradient(loss, margins, alpha, costs)
    sizes = [max(float(part.max()), -float(part.min())) for part in (margins, slopes)]
    violations = _violations(loss, slopes, gradient, alpha, costs)
    worst = int(np.argmax(violations))
    largest = float(violations[worst])
    reach = sizes[0] + loss.dual_linear + (1.0 + loss.dual_curvature) * sizes[1]
    reach = _FEW_ROUNDINGS * reach + float(np.max(error))
    some: slice | NDArray[np.intp] = slice(None)
    if math.isfinite(largest - 4.0 * reach):
        some = np.flatnonzero(violations >= largest - 4.0 * reach)
    errors = error[some] if isinstance(error, np.ndarray) else error
    here = costs if len(costs) == 1 else costs[some]
    _, above = row_violations(loss, margins[some], errors, alpha[some], here)
    return worst, Measured(largest, float(np.max(above)))


def _slopes_and_gradient(
    loss: Loss, margins: Floats, alpha: Floats, costs: Floats
) -> tuple[Floats, Floats]:
    """Return coefficients in parts of their costs, and the gradient of the dual."""
    slopes = alpha / np.where(costs > 0, costs, np.inf)
    gradient = margins - loss.dual_linear
    if loss.dual_curvature:
        gradient += loss.dual_curvature * slopes
    return slopes, gradient


def _violations(
    loss: Loss, slopes: Floats, gradient: Floats, alpha: Floats, costs: Floats
) -> Floats:
    """Return each row's violation as computed: how far a projected gradient step moves it."""
    moved = np.subtract(slopes, gradient)
    np.clip(moved, 0.0, loss.dual_upper, out=moved)
    moved -= slopes
    violations = np.abs(moved, out=moved)
    if np.isinf(costs).any():
        # A hard margin has no slopes: a row may miss its margin by nothing, and exceed it only
        # with coefficient 0.
        hard = np.where(alpha > 0.0, np.abs(gradient), np.maximum(-gradient, 0.0))
        violations = np.where(np.isinf(costs), hard, violations)
    counted = costs > 0
    return violations if counted.all() else np.where(counted, violations, np.abs(alpha))


def _farthest_moves(loss: Loss, slopes: Floats, moved: Floats, reach: Floats) -> Floats:
    """Return how far projected steps move slopes at the most if they end within a reach."""
    upper = loss.dual_upper
    above = np.clip(moved + reach, 0.0, upper)
    above -= slopes
    np.maximum(above, slopes - np.clip(moved - reach, 0.0, upper), out=above)
    # Slopes are quotients, which are rounded as well: in parts of a bound, or of the move itself.
    above *= 1.0 + _FEW_ROUNDINGS
    if math.isfinite(upper):
        above += 2.0 * UNIT_ROUNDOFF * upper
    return above


def margin_errors(problem: Problem, point: Point, row_norms: Floats) -> Floats:
    """Return bounds on the rounding errors of margins of a linear machine.

    Parameters
    ----------
    problem : Problem
        A problem without a kernel.
    point : Point
        Weights and intercept.
    row_norms : ndarray of shape (n,)
        Upper bounds on the norms of rows.
    """
    norm = float(np.linalg.norm(point.coef))
    error = score_rounding(norm, row_norms, problem.rows.longest_row)
    error += 4e-16 * abs(point.intercept)
    return error


def weights_rounding(problem: Problem, alpha_norms: float, total: float) -> float:
    """Return a bound on the rounding error, in norm, of the weights of a dual point.

    Parameters
    ----------
    problem : Problem
        A problem without a kernel.
    alpha_norms, total : float
        Sums of the absolute values of dual coefficients, times norms of rows and alone.
    """
    rounding = block_rounding(problem)
    constant = max(rounding, sum_rounding(problem.n_rows)) * problem.constant_feature
    return rounding * alpha_norms + constant * total


def block_rounding(problem: Problem) -> float:
    """Return the relative error bound of a sum over all rows that blocks are summed up for first.

    Parameters
    ----------
    problem : Problem
        The problem whose rows are summed up.
    """
    rows = problem.rows
    # Each of its sums is that of a block, is added to those of its run, and goes through a tree. A
    # run of sparse blocks is summed up as one.
    n_runs = -(-rows.n_blocks // rows.run_blocks)
    depth = math.ceil(math.log2(n_runs + 1)) + rows.run_blocks
    summed = rows.block_rows * (rows.run_blocks if rows.is_sparse else 1)
    return rounding_factor(min(summed, rows.n_rows) + depth + 4)


def condition_violations(
    problem: Problem, point: Point, sums: DualSums
) -> tuple[Measured, Measured]:
    """Return the violations of stationarity and of the balance of a free intercept.

    Parameters
    ----------
    problem : Problem
        The problem.
    point : Point
        Weights and intercept.
    sums : DualSums
        What is known of its dual point.
    """
    balance = imbalance(problem.intercept is Intercept.FREE, sums)
    if problem.kernel is not None:
        return Measured(0.0, 0.0), balance
    distance = float(np.linalg.norm(point.coef - sums.weights))
    # Squares that are too small for a number may be lost.
    lost = math.sqrt((problem.n_features + 4) * _SMALLEST_SQUARE) + sums.spread
    constant = problem.constant_feature
    if constant:
        weight, pulled = problem.intercept_weight(point.intercept), constant * sums.balance
        distance = math.hypot(distance, weight - pulled)
        lost += _FEW_ROUNDINGS * (abs(weight) + abs(pulled))
    farthest = math.hypot(problem.largest_norm, constant)
    above = distance * (1.0 + rounding_factor(problem.n_features + 3)) + lost
    return Measured(distance * farthest, above * farthest * (1.0 + _FEW_ROUNDINGS)), balance


def imbalance(is_free: bool, sums: DualSums) -> Measured:
    """Return by how much of all coefficients a free intercept's ``y'alpha = 0`` is missed.

    Parameters
    ----------
    is_free : bool
        Whether the intercept is free; it asks for nothing otherwise.
    sums : DualSums
        What is known of the dual point.
    """
    if not is_free or sums.total == 0.0:
        return Measured(0.0, 0.0)
    size = abs(sums.balance)
    if sums.relative is None:
        return Measured(size / sums.total, size / sums.total * (1.0 + _FEW_ROUNDINGS))
    above = (size + sums.relative * sums.total) / (sums.total * (1.0 - sums.relative))
    return Measured(size / sums.total, above * (1.0 + _FEW_ROUNDINGS))
