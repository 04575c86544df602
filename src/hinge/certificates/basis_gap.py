r"""The certificate of a function over a few basis rows, against the exact kernel.

Low-rank methods find a function :math:`f = \sum_b c_b\, k(x_b, \cdot) + b_0` of basis rows, and
dual coefficients :math:`\alpha` of all rows. Both are points of the exact problem:

.. math:: P(f) = \tfrac12 c'K_{BB}c + \sum_i c_i\,\ell(y_i f(x_i)), \qquad
          D(\alpha) = p \sum_i \alpha_i - \tfrac\kappa2 \sum_i \alpha_i^2 / c_i
          - \tfrac12 \beta'K\beta, \quad \beta_i = y_i \alpha_i .

P costs as many kernel values as the factor did. :math:`\beta'K\beta` costs one for every pair of
support vectors; where that is too much, a factor V whose remainder :math:`E = K - VV'` is positive
semidefinite with the diagonal e bounds it:

.. math:: \beta'K\beta = \|V'\beta\|^2 + \beta'E\beta
          \le \|V'\beta\|^2 + \Big(\sum_i |\beta_i| \sqrt{e_i}\Big)^2 ,

by the triangle inequality for the projections of the images off the basis. Any :math:`t \in [0, 1]`
makes :math:`t\alpha` a dual point as well, and the best t is taken: it keeps a coarse factor from
proving nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.conditions import (
    DualSums,
    Measured,
    condition_violations,
    worst_of,
    worst_row,
)
from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_margins import Scores, margin_slack
from hinge.certificates.kernel_points import KernelPoints
from hinge.certificates.kernel_scores import machine_of, scores_at, support_scores
from hinge.certificates.kernel_sums import correct_sum
from hinge.certificates.kernel_values import (
    OUTSIDE,
    Bounded,
    dual_values,
    primal_values,
    squares,
)
from hinge.certificates.verdict import Values, certificate_of
from hinge.errors import InvalidParameterError
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.problem import Problem
from hinge.result import BasisPoint, Certificate
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Check = Callable[[], None]

_SCALING = 8.0 * UNIT_ROUNDOFF  # of a square whose coefficients are multiplied by a number
_ROWS_A_PRODUCT = 1024  # of a factor, in float64: a copy of it would be twice its size
_BY_FACTOR = (
    "the dual value is bounded by the diagonal of what the factor leaves of the kernel matrix"
)


def basis_gap(
    problem: Problem,
    point: BasisPoint,
    *,
    threads: int = 1,
    check: Check | None = None,
    square_above: float | None = None,
) -> Certificate:
    """Judge a function over basis rows and a dual point of the exact problem.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    point : BasisPoint
        The function, and dual coefficients.
    threads : int, default=1
        Threads that share out panels of rows; never changes a bit.
    check : callable or None, default=None
        Called between panels; may raise to abandon the pass.
    square_above : float or None, default=None
        An upper bound on ``b'Kb`` of the dual point, such as :func:`square_by_factor` returns; None
        to compute it from all pairs of support vectors.

    Returns
    -------
    Certificate
        What is proven of them, for the exact kernel; without a region.
    """
    _check(problem, point)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        assert point.dual_coef is not None
        pulls = problem.signs * point.dual_coef
        numbers = (pulls, point.basis_coef, np.asarray(point.intercept))
        if not all(np.isfinite(array).all() for array in numbers):
            nan, inf = math.nan, math.inf
            return Certificate(nan, -inf, inf, inf, inf, inf, (OUTSIDE,))
        scores = _basis_scores(problem, point, threads, check)
        coef = np.zeros(problem.n_rows)
        coef[point.basis] = point.basis_coef
        primal, norm = primal_values(KernelPoints.of(problem, point), coef, scores)
        if square_above is None:
            machine = machine_of(problem, point)
            found = support_scores(machine, threads, check)
            quadratic = squares(machine.coef, found, np.asarray([0, len(machine.ids)]))
        else:
            quadratic = Bounded(np.asarray([square_above]), np.asarray([square_above]))
        dual, notes = _scaled_dual(problem, point, quadratic, primal.bounds)
        if square_above is not None:
            notes = (*notes, _BY_FACTOR)
        kkt = _violation(problem, point, scores, (norm, quadratic))
        values = Values(*(float(part[0]) for part in (*primal, *dual)))
        certificate = certificate_of(values, kkt, 8 * (problem.n_rows + 8))
    return replace(certificate, notes=notes)


def square_by_factor(
    values: NDArray[np.floating], remainder: Floats, diagonal: Floats, pulls: Floats
) -> float:
    """Return an upper bound on ``b'Kb`` from a factor, which is taken at its word.

    Parameters
    ----------
    values : ndarray of shape (n, rank)
        The factor V.
    remainder : ndarray of shape (n,)
        Diagonal of ``K - V V'``.
    diagonal : ndarray of shape (n,)
        Upper bounds on the diagonal of K.
    pulls : ndarray of shape (n,)
        The coefficients b.

    Returns
    -------
    float
        The bound, widened by the rounding of its sums and of a diagonal that is a difference.
    """
    n, rank = values.shape
    size = np.abs(pulls)
    with single_threaded_blas():
        sums = np.zeros(rank)
        for first in range(0, n, _ROWS_A_PRODUCT):
            some = slice(first, first + _ROWS_A_PRODUCT)
            sums += pulls[some] @ values[some].astype(np.float64, copy=False)
        pulled = float(np.linalg.norm(sums))
    unit = UNIT_ROUNDOFF if values.dtype == np.float64 else float(np.finfo(np.float32).eps)
    lost = (rounding_factor(n + 8) + unit) * float(size @ np.sqrt(diagonal))
    left = remainder + (rounding_factor(2 * rank + 8) + 2.0 * unit) * diagonal
    beyond = float(size @ np.sqrt(left)) * (1.0 + rounding_factor(n + 8))
    return ((pulled + lost) ** 2 + beyond**2) * (1.0 + 8.0 * UNIT_ROUNDOFF)


def _check(problem: Problem, point: BasisPoint) -> None:
    """Refuse basis rows that are not rows of the problem."""
    ids, coef = point.basis, point.basis_coef
    fits = ids.ndim == 1 and coef.shape == ids.shape and ids.dtype.kind in "iu"
    if not fits or (len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < problem.n_rows):
        message = (
            f"basis and basis_coef must name rows below {problem.n_rows} and have a coefficient "
            f"for each; got shapes {ids.shape} and {coef.shape}."
        )
        raise InvalidParameterError(message)
    if len(np.unique(ids)) != len(ids):
        message = "basis names a row twice; add its coefficients up."
        raise InvalidParameterError(message)


def _basis_scores(problem: Problem, point: BasisPoint, threads: int, check: Check | None) -> Scores:
    """Return the values of the function at every row that has a cost or is in the basis."""
    assert problem.kernel is not None
    used = point.basis_coef != 0.0
    ids, coef = point.basis[used].astype(np.int64), point.basis_coef[used]
    machine = Machine(problem.kernel, problem.rows, ids, coef)
    wanted = problem.costs > 0
    wanted[ids] = True
    rows = np.flatnonzero(wanted)
    scores = Scores.zeros(problem.n_rows)
    scores.put(rows, scores_at(machine, (problem.rows, rows), threads, check))
    return scores


def _scaled_dual(
    problem: Problem, point: BasisPoint, quadratic: Bounded, primal_above: Floats
) -> tuple[Bounded, tuple[str, ...]]:
    """Return the dual value of the best multiple of the dual point, as ``dual_values`` does."""
    loss, alpha, costs = problem.loss, point.dual_coef, problem.costs
    assert alpha is not None
    safe = np.where(costs > 0, costs, np.inf)
    linear = loss.dual_linear * correct_sum(alpha)
    curvature = loss.dual_curvature * correct_sum(alpha * (alpha / safe))
    curved = float(quadratic.bounds[0]) + curvature
    if 0.0 < linear < curved:
        share = linear / curved
        point = replace(point, dual_coef=share * alpha)
        square = share * share
        quadratic = Bounded(square * quadratic.values, square * quadratic.bounds * (1.0 + _SCALING))
    dual, notes = dual_values(KernelPoints.of(problem, point), quadratic, primal_above)
    return dual, notes[0]


def _violation(
    problem: Problem, point: BasisPoint, scores: Scores, own: tuple[Bounded, Bounded]
) -> Measured:
    """Return the worst violation: of a row's conditions, of stationarity, of the balance."""
    alpha = point.dual_coef
    assert alpha is not None
    margins = problem.signs * (scores.values + point.intercept)
    slack = margin_slack(point.intercept, scores)
    _, rows = worst_row(problem.loss, margins, slack, alpha, problem.costs)
    pulls = problem.signs * alpha
    sums = DualSums(point.coef, correct_sum(pulls), correct_sum(np.abs(pulls)))
    return worst_of(
        rows,
        _distance(problem, pulls, scores, own),
        *condition_violations(problem, point, sums),
    )


def _distance(
    problem: Problem, pulls: Floats, scores: Scores, own: tuple[Bounded, Bounded]
) -> Measured:
    """Return how far two functions that should be one are apart, in units of the margin.

    By Cauchy-Schwarz, from the squares of both and their product; what cancels in their sum is
    rounded in parts of the largest of them.
    """
    first, second = (float(square.values[0]) for square in own)
    product = correct_sum(pulls * scores.values)
    apart = first - 2.0 * product + second
    above = float(own[0].bounds[0]) - 2.0 * product + float(own[1].bounds[0])
    lost = correct_sum(np.abs(pulls) * (scores.error + _SCALING * np.abs(scores.values)))
    above += 2.0 * lost + _SCALING * (abs(first) + 2.0 * (abs(product) + lost) + abs(second))
    reach = problem.largest_norm
    return Measured(
        math.sqrt(max(apart, 0.0)) * reach, math.sqrt(max(above, 0.0)) * reach * (1.0 + _SCALING)
    )
