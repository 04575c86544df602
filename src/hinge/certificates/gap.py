r"""Primal value, dual value and the gap between them, recomputed from the raw data.

One pass over the blocks, in NumPy, without solvers or native code. For a point (w, b, alpha):

.. math:: P &= \tfrac12\|w\|^2 + \sum_i c_i\,\ell(m_i), \quad m_i = y_i(w'x_i + b)
       \\ D &= p\sum_i\alpha_i - \tfrac\kappa2\sum_i\alpha_i^2/c_i - \tfrac12\|v\|^2
             - B\,|y'\alpha|, \quad v = \sum_i y_i\alpha_i x_i

(with a constant feature in both norms if the intercept is augmented; the last term, with
:math:`B \ge |b^*|`, only if it is free). Every alpha in the box gives :math:`D \le P^*`.

Rounding is bounded, not hoped for. The loss does not increase with the margin, so evaluating it
at ``m - e``, with e the error bound of a dot product, bounds P from above (and a hard margin, where
P is infinite unless all losses are zero, needs margins that are wide enough by e). ``||v||`` is
widened by the error bound of its sum, and sums of positive terms by a relative bound. ``gap`` is
the widened P minus the widened D: the true suboptimality is never larger. NaN anywhere makes it
infinite.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_runs
from hinge.certificates.conditions import (
    DualSums,
    Measured,
    condition_violations,
    weights_rounding,
    worst_of,
)
from hinge.certificates.hard_margin import DualBounds, hard_dual, margin_notes
from hinge.certificates.kkt import check_point
from hinge.certificates.row_groups import sum_rounding
from hinge.certificates.row_sums import RowSums, row_sums
from hinge.certificates.settled import optimum_region
from hinge.certificates.verdict import Values, certificate_of
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.problem import Intercept, Problem
from hinge.result import Certificate, Point
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_BOUNDS_ON_NORM = 2  # one after the other, each from the gap that the last one leaves
_FEW_ROUNDINGS = 16.0 * UNIT_ROUNDOFF  # of some operations on single numbers
PASSES = 2  # a certificate reads every stored value twice: scores, and the sum of the rows
_NO_DUAL = "no dual point was given: the objective is confirmed, optimality is unproven"
_NO_OBJECTIVE = (
    "the objective is not finite: the weights, the intercept or decision values overflow or are "
    "not numbers, so that nothing is proven"
)


@dataclass(frozen=True)
class _Sums:
    """Sums over all rows: of numbers, and of rows, which is the dual point ``w(alpha)``.

    Parameters
    ----------
    rows : RowSums
        What rows add to the objectives.
    weights : ndarray of shape (n_features,)
        The weights of the dual point.
    relative : float
        Bound on the relative error of a sum of positive numbers of all rows.
    spread : float
        Bound on the error of the weights, in norm.
    """

    rows: RowSums
    weights: Floats
    relative: float
    spread: float


def gap(
    problem: Problem,
    point: Point,
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
    region: bool | Callable[[Certificate], bool] = True,
) -> Certificate:
    """Judge a point: recompute its objective values, gap and violation from the raw data.

    Parameters
    ----------
    problem : Problem
        The problem that the point claims to solve.
    point : Point
        Weights, intercept and, if there are any, dual coefficients.
    threads : int, default=1
        Threads for the pass; the result has the same bits for any number.
    check : callable or None, default=None
        Called between blocks; may raise to abandon the pass.
    region : bool or callable, default=True
        Whether to find where the optimum lies, for ``settled``; a free intercept needs another
        pass for it. A function is asked that of the certificate without it.

    Returns
    -------
    Certificate
        What is proven of the point.
    """
    check_point(problem, point)
    if problem.kernel is not None:
        from hinge.certificates.kernel_gap import (  # noqa: PLC0415 - linear machines spare it
            kernel_gap,
        )

        wanted = callable(region) or region  # it takes no pass of its own
        return kernel_gap(problem, point, threads=threads, check=check, region=wanted)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        sums = _sums(problem, point, threads, check)
        primal, primal_above = _primal(problem, point, sums)
        if point.dual_coef is None:
            dual = dual_below = -math.inf
            notes: tuple[str, ...] = (_NO_DUAL,)
        else:
            dual, dual_below, notes = _dual(problem, point, sums, primal_above)
        if math.isnan(primal) or (math.isinf(primal) and not problem.is_hard):
            told = notes if point.dual_coef is not None else ()  # there is nothing to confirm
            notes = (_NO_OBJECTIVE, *told)
        values = Values(primal, primal_above, dual, dual_below)
        certificate = _certificate(problem, point, sums, values)
        where = None
        wanted = region(certificate) if callable(region) else region
        if wanted and math.isfinite(certificate.gap):
            dual_point = Point(sums.weights, float(problem.constant_feature**2 * sums.rows.balance))
            limits = certificate.gap, sums.spread
            points = point, dual_point
            where = optimum_region(problem, points, limits, threads=threads, check=check)
    notes += margin_notes(problem, certificate)
    return replace(certificate, notes=notes, region=where)


def _sums(problem: Problem, point: Point, threads: int, check: Callable[[], None] | None) -> _Sums:
    """Return the sums over all rows, from one pass over the data and one over their scores."""
    alpha, signs, rows = point.dual_coef, problem.signs, problem.rows
    scores = np.empty(problem.n_rows)

    def kernel(numbers: range) -> Floats:
        run = rows.run(numbers)
        scores[run.rows] = run.dot(point.coef)
        if alpha is None:
            return np.zeros(0)
        if rows.is_sparse or len(numbers) == 1:
            return run.transpose_dot(signs[run.rows] * alpha[run.rows])
        blocks = (rows.block(number) for number in numbers)
        sums = (block.transpose_dot(signs[block.rows] * alpha[block.rows]) for block in blocks)
        return functools.reduce(_added, sums)

    weights = map_runs(kernel, rows, rows.run_blocks, _added, threads=threads, check=check)
    found = row_sums(problem, point, scores, threads=threads, check=check)
    spread = weights_rounding(problem, found.alpha_norms, found.magnitude)
    return _Sums(found, weights, sum_rounding(problem.n_rows), spread)


def _added(sums: Floats, others: Floats) -> Floats:
    """Return the sum of two arrays in the first one's place."""
    return np.add(sums, others, out=sums)


def _primal(problem: Problem, point: Point, sums: _Sums) -> tuple[float, float]:
    """Return the primal value and an upper bound on it."""
    weight = problem.intercept_weight(point.intercept)
    norm = problem.penalty.value(point.coef) + 0.5 * weight * weight
    widened = norm * (1.0 + rounding_factor(problem.n_features + 3))
    sums_widened = sums.rows.loss_widened * (1.0 + sums.relative)
    return norm + sums.rows.loss, widened + sums_widened


def _dual(
    problem: Problem, point: Point, sums: _Sums, primal_above: float
) -> tuple[float, float, tuple[str, ...]]:
    """Return the dual value, a lower bound on it, and what keeps it from being one."""
    alpha, loss, relative = point.dual_coef, problem.loss, sums.relative
    assert alpha is not None
    if math.isnan(sums.rows.alpha):
        note = "the dual point leaves its box (a coefficient is negative, above its cost, or NaN)"
        return -math.inf, -math.inf, (note,)
    constant = problem.constant_feature * sums.rows.balance
    norm = math.hypot(float(np.linalg.norm(sums.weights)), constant)
    if problem.is_hard:
        bounds = DualBounds(sums.rows.alpha, sums.rows.balance, norm, sums.spread, relative)
        return hard_dual(problem, alpha, bounds, math.isfinite(primal_above))
    linear = loss.dual_linear * sums.rows.alpha
    curved = 0.5 * loss.dual_curvature * sums.rows.curvature
    dual = linear - curved - 0.5 * norm * norm
    above = (norm + sums.spread) * (1.0 + rounding_factor(problem.n_features + 3))
    below = linear * (1.0 - relative) - curved * (1.0 + relative) - 0.5 * above * above
    notes: tuple[str, ...] = ()
    if problem.intercept is Intercept.FREE:
        # No equality holds to the last bit; what is missing costs |y'a| times a bound on b*.
        imbalance = abs(sums.rows.balance)
        missing = imbalance + relative * sums.rows.alpha
        bound = _intercept_bound(problem, point.coef, missing, (primal_above, below))
        penalty = bound * missing
        dual, below = dual - bound * imbalance, below - penalty
        if penalty > 1e-6 * max(abs(dual), abs(primal_above)):
            notes = (f"the dual point misses y'alpha = 0 by {sums.rows.balance:.3g}",)
    return dual, below, notes


def _intercept_bound(
    problem: Problem, coef: Floats, missing: float, values: tuple[float, float]
) -> float:
    """Return a bound on a free b*, beyond which one whole class would be without loss.

    It grows with ``||w*||``. That is at most ``sqrt(2 P)``, which is much where losses are, and
    ``||w|| + sqrt(2 gap)``, for the gap that a first bound leaves.

    Parameters
    ----------
    problem : Problem
        A problem with a free intercept.
    coef : ndarray of shape (n_features,)
        The weights w.
    missing : float
        What ``|y'alpha|`` is at most: times the bound on b* it is taken from the dual value.
    values : tuple of float
        An upper bound on the primal value, and a lower one on the dual value without that.
    """
    above, below = values
    norm = float(np.linalg.norm(coef)) * (1.0 + rounding_factor(problem.n_features + 3))
    longest = math.sqrt(2.0 * max(above, 0.0))
    for _ in range(_BOUNDS_ON_NORM):
        bound = problem.loss.zero_from + problem.largest_norm * longest
        gap = above - (below - bound * missing)
        longest = min(longest, (norm + math.sqrt(2.0 * max(gap, 0.0))) * (1.0 + _FEW_ROUNDINGS))
    return problem.loss.zero_from + problem.largest_norm * longest


def _certificate(problem: Problem, point: Point, sums: _Sums, values: Values) -> Certificate:
    """Return the certificate of widened values."""
    # Each row and feature has a few products on either side.
    products = 8 * (problem.n_rows + problem.n_features + 8)
    certificate = certificate_of(values, _violation(problem, point, sums), products)
    if problem.is_hard and math.isinf(certificate.gap) and math.isfinite(values.primal_above):
        # The margins are there, whatever the dual point is.
        return replace(certificate, rounding=values.primal_above - values.primal)
    return certificate


def _violation(problem: Problem, point: Point, sums: _Sums) -> Measured:
    """Return the worst violation of any optimality condition; infinite without a dual point."""
    if point.dual_coef is None:
        return Measured(math.inf, math.inf)
    rows = sums.rows
    dual_sums = DualSums(sums.weights, rows.balance, rows.magnitude, sums.spread, sums.relative)
    return worst_of(rows.violation, *condition_violations(problem, point, dual_sums))
