"""A point judged in rational or extended arithmetic, by code that is written twice on purpose.

Nothing here calls the losses, the block passes or the certificates of hinge: the objective is
spelled out again, in exact fractions for small problems and in ``numpy.longdouble`` for others and
for kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.problem import Problem
from hinge.result import Point
from hinge.testing.extended_kernels import extended_kernel
from hinge.testing.reference import raw_matrix

_ROOT_BITS = 200
EXACT_UP_TO = 4096  # stored values; beyond them rational arithmetic takes too long

Number = Any  # Fraction or longdouble


@dataclass(frozen=True)
class ExactViolation:
    """The violations of the optimality conditions that :class:`hinge.certificates.Violation` has.

    Parameters
    ----------
    complementarity, stationarity, balance : Fraction or longdouble
        Of a row, of ``w = w(alpha)`` and of ``y'alpha = 0``.
    """

    complementarity: Number
    stationarity: Number
    balance: Number

    @property
    def worst(self) -> Number:
        """The largest of the three."""
        return max(self.complementarity, self.stationarity, self.balance)


@dataclass(frozen=True)
class Recomputed:
    """What a point is worth, to far more digits than float64 has.

    Parameters
    ----------
    primal, dual : Fraction or longdouble
        Objective values; the dual one without regard to ``y'alpha = 0``.
    balance : Fraction or longdouble
        ``y'alpha``.
    margins : list of Fraction or longdouble
        ``y_i (w'x_i + b)``.
    in_the_box : bool
        Whether every dual coefficient lies between its bounds.
    violation : ExactViolation
        How far the optimality conditions are from being met.
    """

    primal: Number
    dual: Number
    balance: Number
    margins: list[Number]
    in_the_box: bool
    violation: ExactViolation

    @property
    def gap(self) -> Number:
        """Primal minus dual value."""
        return self.primal - self.dual


def recompute(problem: Problem, point: Point) -> Recomputed:
    """Evaluate both objectives at a point from the raw data.

    Parameters
    ----------
    problem : Problem
        The problem.
    point : Point
        A finite point; without dual coefficients zeros are taken.

    Returns
    -------
    Recomputed
        The values.
    """
    number = _arithmetic(problem)
    y = _convert(number, np.asarray(problem.signs, dtype=np.float64))
    costs = _convert(number, np.asarray(problem.costs))
    b = number(float(point.intercept))
    given = np.zeros(problem.n_rows) if point.dual_coef is None else point.dual_coef
    alpha = _convert(number, given)
    balance = y @ alpha
    if problem.kernel is None:
        rows = _convert(number, raw_matrix(problem.rows))
        coef = _convert(number, point.coef)
        weights = rows.T @ (y * alpha)
        scores, primal, dual = rows @ coef, coef @ coef / 2, -(weights @ weights) / 2
        apart, longest = (coef - weights) @ (coef - weights), _longest(rows, costs)
    else:
        scores = kernel_matrix(problem) @ (y * alpha)
        primal = (y * alpha) @ scores / 2
        dual = -primal
        apart = longest = number(0)
    if problem.intercept.value == "augmented":
        scale = number(problem.intercept_scale)
        primal += b * b / (2 * scale * scale)
        dual -= scale * scale * balance * balance / 2
        apart, longest = apart + (b / scale - scale * balance) ** 2, longest + scale * scale
    margins = y * (scores + b)
    value, conjugate, top = _formulas(problem, number)
    in_the_box, moves = True, [number(0)]
    for c, a, m in zip(costs, alpha, margins, strict=True):
        in_the_box &= bool(a >= 0 and (c > 0 or a == 0) and (top is None or a <= top * c))
        if c > 0:
            primal += c * value(m)
            dual -= c * conjugate(a / c)
        moves.append(_move(conjugate, top, a / c, m) if c > 0 else abs(a))
    total = sum(abs(a) for a in alpha)
    is_missed = problem.intercept.value == "free" and total > 0
    violation = ExactViolation(
        max(moves), _root(apart * longest), abs(balance) / total if is_missed else number(0)
    )
    return Recomputed(primal, dual, balance, list(margins), in_the_box, violation)


def kernel_matrix(problem: Problem) -> Any:
    """Return the kernel matrix of a problem in extended precision.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel, of at most some hundred rows.

    Returns
    -------
    ndarray of longdouble of shape (n_samples, n_samples)
        The matrix.
    """
    kernel = problem.kernel
    if kernel is None:
        message = "the problem has no kernel."
        raise ValueError(message)
    rows = raw_matrix(problem.rows)
    return extended_kernel(kernel, rows, kernel.operand(problem.rows, np.arange(problem.n_rows)))


def _longest(rows: Any, costs: Any) -> Number:
    """Return the largest squared norm of a row that has a cost."""
    squares = rows.power(2).sum(axis=1) if sp.issparse(rows) else (rows * rows).sum(axis=1)
    return max(square for square, c in zip(np.ravel(squares), costs, strict=True) if c > 0)


def _move(
    conjugate: Callable[[Number], Number], top: Number | None, slope: Number, margin: Number
) -> Number:
    """Return how far a projected gradient step of the dual moves the slope of a row.

    The conjugate at minus a slope is quadratic, so its derivative is a difference of two values.
    """
    derivative = (conjugate(slope + 1) - conjugate(slope - 1)) / 2
    end = max(slope - (margin + derivative), 0 * slope)
    return abs((end if top is None else min(end, top)) - slope)


def _root(square: Number) -> Number:
    """Return a square root, of a fraction the largest one of 200 bits after the point below it."""
    if not isinstance(square, Fraction):
        return np.sqrt(square)
    return Fraction(math.isqrt(int(square * 4**_ROOT_BITS)), 2**_ROOT_BITS)


def _arithmetic(problem: Problem) -> Callable[[float], Number]:
    small = problem.n_rows * problem.n_features <= EXACT_UP_TO
    return Fraction if small and problem.kernel is None else np.longdouble


def _convert(number: Callable[[float], Number], values: Any) -> Any:
    """Return the values as an array of fractions, or of extended floating point."""
    if number is np.longdouble:
        return values.astype(np.longdouble)
    if sp.issparse(values):
        values = values.toarray()
    flat = np.empty(np.size(values), dtype=object)
    flat[:] = [Fraction(float(value)) for value in np.ravel(values)]
    return flat.reshape(np.shape(values))


def _formulas(
    problem: Problem, number: Callable[[float], Number]
) -> tuple[Callable[[Number], Number], Callable[[Number], Number], Number | None]:
    """Return value at a margin, conjugate at minus a slope, and the largest slope."""
    zero, one = number(0), number(1)
    if problem.loss.name == "hinge":
        return lambda m: max(zero, one - m), lambda t: -t, one
    if problem.loss.name == "squared_hinge":
        return lambda m: max(zero, one - m) ** 2, lambda t: -t + t * t / 4, None
    if problem.loss.name == "huber":
        h = number(problem.loss.h)  # type: ignore[attr-defined]

        def value(m: Number) -> Number:
            if m >= 1 + h:
                return zero
            return one - m if m <= 1 - h else (1 + h - m) ** 2 / (4 * h)

        return value, lambda t: -(1 + h) * t + h * t * t, one
    message = f"no exact formulas for the loss {problem.loss!r}"
    raise NotImplementedError(message)
