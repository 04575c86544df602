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

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_runs
from hinge.certificates.hard_margin import DualBounds, hard_dual, total_loss
from hinge.certificates.kernel_gap import kernel_gap
from hinge.certificates.kkt import DualSums, check_point, condition_violations, row_violations
from hinge.certificates.settled import optimum_region
from hinge.certificates.verdict import Values, certificate_of, largest
from hinge.inequality import rounding_factor, score_rounding
from hinge.problem import Intercept, Problem
from hinge.result import Certificate, Point
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_GROUP_ROWS = 4096  # rows that are summed up together: enough that calls cost less than sums,
_LONGEST_RUN = 32  # unless they have more blocks than this
PASSES = 2  # a certificate reads every stored value twice: scores, and the sum of the rows
_NO_DUAL = "no dual point was given: the objective is confirmed, optimality is unproven"


@dataclass
class _Pass:
    """What reading the data gives, for some runs of blocks.

    Numbers of every run, in the order of ``_Sums``; the worst violation; the sum of the rows.
    """

    numbers: list[tuple[float, ...]]
    violations: list[float]
    weights: Floats

    def merged(self, other: _Pass) -> _Pass:
        self.weights += other.weights
        return _Pass(self.numbers + other.numbers, self.violations + other.violations, self.weights)


@dataclass(frozen=True)
class _Sums:
    """Sums over all rows; ``weights`` are those of the dual point, ``w(alpha)``."""

    loss: float
    loss_widened: float
    alpha: float
    curvature: float
    balance: float
    alpha_norms: float
    violation: float
    weights: Floats


def gap(
    problem: Problem,
    point: Point,
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
    region: bool = True,
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
    region : bool, default=True
        Whether to find where the optimum lies, for ``settled``; a free intercept needs another
        pass for it.

    Returns
    -------
    Certificate
        What is proven of the point.
    """
    check_point(problem, point)
    if problem.kernel is not None:
        return kernel_gap(problem, point, threads=threads, check=check, region=region)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        sums = _sums(_read(problem, point, threads, check))
        primal, primal_above = _primal(problem, point, sums)
        if point.dual_coef is None:
            dual = dual_below = -math.inf
            notes: tuple[str, ...] = (_NO_DUAL,)
        else:
            dual, dual_below, notes = _dual(problem, point.dual_coef, sums, primal_above)
        values = Values(primal, primal_above, dual, dual_below)
        certificate = _certificate(problem, point, sums, values)
        where = None
        if region and math.isfinite(certificate.gap):
            dual_point = Point(sums.weights, float(problem.constant_feature**2 * sums.balance))
            spread = _spread(problem, sums)
            limits = certificate.gap, spread
            points = point, dual_point
            where = optimum_region(problem, points, limits, threads=threads, check=check)
    return replace(certificate, notes=notes, region=where)


def _read(problem: Problem, point: Point, threads: int, check: Callable[[], None] | None) -> _Pass:
    """Return what one pass over the data gives: the weights of the dual point, and numbers of rows.

    The numbers are those of runs of blocks: enough rows that calls cost less than sums.
    """
    alpha, rows = point.dual_coef, problem.rows

    def kernel(numbers: range) -> _Pass:
        scores = []
        weights = np.zeros(0 if alpha is None else problem.n_features)
        for number in numbers:
            block = rows.block(number)
            scores.append(block.dot(point.coef))
            if alpha is not None:
                weights += block.transpose_dot(problem.signs[block.rows] * alpha[block.rows])
        here = slice(numbers.start * rows.block_rows, block.stop)
        found, violation = _group_sums(problem, point, here, np.concatenate(scores))
        return _Pass([found], [violation], weights)

    size = min(_LONGEST_RUN, -(-_GROUP_ROWS // rows.block_rows))
    return map_runs(kernel, rows, size, _Pass.merged, threads=threads, check=check)


def _sums(read: _Pass) -> _Sums:
    """Return every sum over rows that the objectives need, from those of runs, in their tree."""
    sums = np.array(read.numbers)
    while len(sums) > 1:
        paired = len(sums) // 2 * 2
        sums = np.concatenate((sums[0:paired:2] + sums[1:paired:2], sums[paired:]))
    loss, loss_widened, alpha, curvature, balance, alpha_norms = sums[0].tolist()
    return _Sums(
        loss=loss,
        loss_widened=loss_widened,
        alpha=alpha,
        curvature=curvature,
        balance=balance,
        alpha_norms=alpha_norms,
        violation=largest(*read.violations),
        weights=read.weights,
    )


def _group_sums(
    problem: Problem, point: Point, rows: slice, scores: Floats
) -> tuple[tuple[float, ...], float]:
    """Return the sums over a group of rows, in the order of ``_Sums``, and its worst violation."""
    loss, c, y = problem.loss, problem.costs[rows], problem.signs[rows]
    row_norms = problem.rows.norm_bounds(problem.rows.squared_norms[rows])
    margins = y * (scores + point.intercept)
    norm = float(np.linalg.norm(point.coef))
    error = score_rounding(norm, row_norms, problem.rows.longest_row)
    error += 4e-16 * abs(point.intercept)
    a = np.zeros(len(y)) if point.dual_coef is None else point.dual_coef[rows]
    inside = (a >= 0.0) & (a <= loss.upper_bound(c)) & (a < math.inf)
    sums = (
        total_loss(c, loss.value(margins)),
        total_loss(c, loss.value(margins - error)),
        float(np.sum(a)) if inside.all() else math.nan,
        float(np.sum(a * (a / np.where(c > 0, c, np.inf)))) if loss.dual_curvature else 0.0,
        float(y @ a),
        float(a @ row_norms),
    )
    return sums, float(np.max(row_violations(loss, margins, a, c)))


def _primal(problem: Problem, point: Point, sums: _Sums) -> tuple[float, float]:
    """Return the primal value and an upper bound on it."""
    weight = problem.intercept_weight(point.intercept)
    norm = problem.penalty.value(point.coef) + 0.5 * weight * weight
    widened = norm * (1.0 + rounding_factor(problem.n_features + 3))
    sums_widened = sums.loss_widened * (1.0 + _sum_rounding(problem))
    return norm + sums.loss, widened + sums_widened


def _dual(
    problem: Problem, alpha: Floats, sums: _Sums, primal_above: float
) -> tuple[float, float, tuple[str, ...]]:
    """Return the dual value, a lower bound on it, and what keeps it from being one."""
    loss, relative = problem.loss, _sum_rounding(problem)
    if math.isnan(sums.alpha):
        note = "the dual point leaves its box (a coefficient is negative, above its cost, or NaN)"
        return -math.inf, -math.inf, (note,)
    constant = problem.constant_feature * sums.balance
    norm = math.hypot(float(np.linalg.norm(sums.weights)), constant)
    if problem.is_hard:
        bounds = DualBounds(sums.alpha, sums.balance, norm, _spread(problem, sums), relative)
        return hard_dual(problem, alpha, bounds, math.isfinite(primal_above))
    linear = loss.dual_linear * sums.alpha
    curved = 0.5 * loss.dual_curvature * sums.curvature
    dual = linear - curved - 0.5 * norm * norm
    above = (norm + _spread(problem, sums)) * (1.0 + rounding_factor(problem.n_features + 3))
    below = linear * (1.0 - relative) - curved * (1.0 + relative) - 0.5 * above * above
    notes: tuple[str, ...] = ()
    if problem.intercept is Intercept.FREE:
        # No equality holds to the last bit; what is missing costs |y'a| times a bound on b*.
        bound = loss.zero_from + problem.largest_norm * math.sqrt(2.0 * max(primal_above, 0.0))
        penalty = bound * (abs(sums.balance) + relative * sums.alpha)
        dual, below = dual - bound * abs(sums.balance), below - penalty
        if penalty > 1e-6 * max(abs(dual), abs(primal_above)):
            notes = (f"the dual point misses y'alpha = 0 by {sums.balance:.3g}",)
    return dual, below, notes


def _certificate(problem: Problem, point: Point, sums: _Sums, values: Values) -> Certificate:
    """Return the certificate of widened values."""
    # Each row and feature has a few products on either side.
    products = 8 * (problem.n_rows + problem.n_features + 8)
    certificate = certificate_of(values, _violation(problem, point, sums), products)
    if problem.is_hard and math.isinf(certificate.gap) and math.isfinite(values.primal_above):
        # The margins are there, whatever the dual point is.
        return replace(certificate, rounding=values.primal_above - values.primal)
    return certificate


def _violation(problem: Problem, point: Point, sums: _Sums) -> float:
    """Return the worst violation of any optimality condition; infinite without a dual point."""
    if point.dual_coef is None:
        return math.inf
    dual_sums = DualSums(sums.weights, sums.balance, sums.alpha)
    return largest(sums.violation, *condition_violations(problem, point, dual_sums))


def _spread(problem: Problem, sums: _Sums) -> float:
    """Return a bound on the rounding error, in norm, of the weights of the dual point."""
    total = sums.alpha_norms + problem.constant_feature * sums.alpha
    return _sum_rounding(problem) * total


def _sum_rounding(problem: Problem) -> float:
    """Return the relative error bound of a sum over all rows: those of a run, then their tree.

    A run has fewer rows than ``_GROUP_ROWS`` and a block together, and fewer blocks than that.
    """
    depth = math.ceil(math.log2(problem.rows.n_blocks + 1)) + 1
    terms = min(_GROUP_ROWS + problem.rows.block_rows, problem.n_rows)
    return rounding_factor(terms + depth + 4)
