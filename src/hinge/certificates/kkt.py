"""The violation of the optimality conditions, recomputed from the raw data.

What the conditions are, and how far rounding may move what is computed of them, is in
:mod:`hinge.certificates.conditions`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_blocks
from hinge.certificates.conditions import (
    DualSums,
    Measured,
    block_rounding,
    condition_violations,
    margin_errors,
    weights_rounding,
    worst_of,
    worst_row,
)
from hinge.errors import InvalidParameterError
from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.rows import Block
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]


class Rounding(NamedTuple):
    """How far rounding may have moved each number of a violation.

    Parameters
    ----------
    complementarity, stationarity, balance : float
        Added to the number of the same name, it is an upper bound on the true one.
    """

    complementarity: float
    stationarity: float
    balance: float


_NO_ROUNDING = Rounding(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Violation:
    """The worst violations of the optimality conditions, each in units of the margin.

    Parameters
    ----------
    complementarity : float
        Largest violation of a row, as computed.
    worst_row : int
        The row where it occurs.
    stationarity : float
        How far ``w != w(alpha)`` can move a margin; zero if the weights are the dual point's.
    balance : float
        ``|y'alpha|`` as a share of the sum of alpha, where a free intercept needs it to be zero.
    rounding : Rounding
        How far rounding may have moved each of the three.
    """

    complementarity: float
    worst_row: int
    stationarity: float
    balance: float
    rounding: Rounding = _NO_ROUNDING

    @property
    def worst(self) -> float:
        """What the true violation of every condition is at most; NaN if a number is not one."""
        numbers = (self.complementarity, self.stationarity, self.balance)
        # The sum with a rounding is rounded itself; the bound has room for that.
        return float(np.max(np.add(numbers, self.rounding)))


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

    Examples
    --------
    >>> import hinge
    >>> from hinge.certificates import kkt
    >>> problem = hinge.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> violation = kkt(problem, hinge.solve(problem, stop=hinge.Stop(kkt=1e-6)).point)
    >>> violation.worst <= 1e-6, violation.rounding.complementarity < 1e-12
    (True, True)
    """
    check_point(problem, point)
    if point.dual_coef is None:
        return Violation(math.inf, -1, math.inf, math.inf)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        if problem.kernel is not None:
            return _kernel_violation(problem, point)
        found = map_blocks(_Linear(problem, point, point.dual_coef), problem.rows, _Part.with_other)
        return _violation(problem, point, found.rows, found.row, found.sums(problem))


@dataclass(frozen=True)
class _Part:
    """What some rows of a linear machine add: the worst of them, and sums."""

    rows: Measured
    row: int
    weights: Floats
    numbers: Floats  # sums of y alpha, of |alpha|, and of |alpha| times the norm of the row

    def with_other(self, other: _Part) -> _Part:
        """Return what both add, keeping the first of the largest violations and any NaN."""
        first = self.rows.value >= other.rows.value or math.isnan(self.rows.value)
        return _Part(
            worst_of(self.rows, other.rows),
            self.row if first else other.row,
            self.weights + other.weights,
            self.numbers + other.numbers,
        )

    def sums(self, problem: Problem) -> DualSums:
        """Return the sums over all rows, with bounds on their errors."""
        balance, total, norms = self.numbers.tolist()
        spread = weights_rounding(problem, norms, total)
        return DualSums(self.weights, balance, total, spread, block_rounding(problem))


@dataclass(frozen=True)
class _Linear:
    """Blocks of rows of a linear machine, one at a time."""

    problem: Problem
    point: Point
    alpha: Floats

    def __call__(self, block: Block) -> _Part:
        """Return what the rows of a block add."""
        problem, point = self.problem, self.point
        y, a = problem.signs[block.rows].astype(np.float64), self.alpha[block.rows]
        margins = y * (block.dot(point.coef) + point.intercept)
        norms = problem.rows.norm_bounds(problem.rows.squared_norms[block.rows])
        error = margin_errors(problem, point, norms)
        worst, found = worst_row(problem.loss, margins, error, a, problem.costs[block.rows])
        pulls, size = y * a, np.abs(a)
        return _Part(
            found,
            block.start + worst,
            block.transpose_dot(pulls),
            np.asarray([np.sum(pulls), np.sum(size), size @ norms]),
        )


def _kernel_violation(problem: Problem, point: Point) -> Violation:
    """Return the violation of a kernel machine, whose weights are those of its coefficients."""
    from hinge.certificates.kernel_margins import margin_slack  # noqa: PLC0415 - linear machines spare it
    from hinge.certificates.kernel_scores import training_scores  # noqa: PLC0415 - linear machines spare it
    from hinge.certificates.kernel_sums import correct_sum  # noqa: PLC0415

    alpha = point.dual_coef
    assert alpha is not None
    unknown = np.flatnonzero(~np.isfinite(alpha))
    if len(unknown) or not math.isfinite(point.intercept):
        row = int(unknown[0]) if len(unknown) else -1
        return Violation(math.nan, row, math.nan, math.nan, Rounding(*(math.nan,) * 3))
    scores = training_scores(problem, point)
    margins = problem.signs * (scores.values + point.intercept)
    slack = margin_slack(point.intercept, scores)
    worst, rows = worst_row(problem.loss, margins, slack, alpha, problem.costs)
    sums = DualSums(point.coef, correct_sum(problem.signs * alpha), correct_sum(np.abs(alpha)))
    return _violation(problem, point, rows, worst, sums)


def _violation(
    problem: Problem, point: Point, rows: Measured, row: int, sums: DualSums
) -> Violation:
    """Return the violations of all conditions, given those of rows."""
    stationarity, balance = condition_violations(problem, point, sums)
    found = (rows, stationarity, balance)
    rounding = Rounding(*(number.rounding for number in found))
    return Violation(rows.value, row, stationarity.value, balance.value, rounding)
