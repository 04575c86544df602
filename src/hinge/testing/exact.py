"""A point judged in rational or extended arithmetic, by code that is written twice on purpose.

Nothing here calls the losses, the block passes or the certificates of hinge: the objective is
spelled out again, in exact fractions for small problems and in ``numpy.longdouble`` for others and
for kernels.
"""

from __future__ import annotations

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

EXACT_UP_TO = 4096  # stored values; beyond them rational arithmetic takes too long

Number = Any  # Fraction or longdouble


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
    """

    primal: Number
    dual: Number
    balance: Number
    margins: list[Number]
    in_the_box: bool

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
        scores, primal, dual = _linear_parts(problem, point, number, y * alpha)
    else:
        scores = kernel_matrix(problem) @ (y * alpha)
        primal = (y * alpha) @ scores / 2
        dual = -primal
    if problem.intercept.value == "augmented":
        scale = number(problem.intercept_scale)
        primal += b * b / (2 * scale * scale)
        dual -= scale * scale * balance * balance / 2
    margins = y * (scores + b)
    value, conjugate, top = _formulas(problem, number)
    in_the_box = True
    for c, a, m in zip(costs, alpha, margins, strict=True):
        in_the_box &= bool(a >= 0 and (c > 0 or a == 0) and (top is None or a <= top * c))
        if c > 0:
            primal += c * value(m)
            dual -= c * conjugate(a / c)
    return Recomputed(primal, dual, balance, list(margins), in_the_box)


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


def _linear_parts(
    problem: Problem, point: Point, number: Callable[[float], Number], pulls: Any
) -> tuple[Any, Number, Number]:
    """Return scores, and both objectives' halves of squared norms without a constant feature."""
    rows = _convert(number, raw_matrix(problem.rows))
    coef = _convert(number, point.coef)
    weights = rows.T @ pulls
    return rows @ coef, coef @ coef / 2, -(weights @ weights) / 2


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
