r"""The certificate of a kernel machine.

Its weights are those of its dual point, :math:`w = \sum_i b_i \phi(x_i)` with
:math:`b_i = y_i\alpha_i`, so one vector of scores :math:`f = K b` gives everything:

.. math:: P &= \tfrac12 b'f + \sum_i c_i\,\ell(y_i (f_i + b_0))
       \\ D &= p\sum_i\alpha_i - \tfrac\kappa2\sum_i\alpha_i^2/c_i - \tfrac12 b'f
             - B\,|y'\alpha| ,

the last term, with :math:`B \ge |b_0^*|`, only if the intercept is free. That D is a lower bound
needs a positive semidefinite kernel. Every score comes with a bound on its rounding error
(:mod:`hinge.certificates.kernel_scores`), by which P is widened upwards and D downwards; sums over
rows are correctly rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_region import kernel_region
from hinge.certificates.kernel_scores import Scores, lowest_margins, training_scores
from hinge.certificates.kernel_sums import correct_sum
from hinge.certificates.kkt import DualSums, condition_violations, row_violations
from hinge.certificates.verdict import Values, certificate_of, largest
from hinge.inequality import UNIT_ROUNDOFF
from hinge.problem import Intercept, Problem
from hinge.result import Certificate, Point
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_FEW_ROUNDINGS = 8.0 * UNIT_ROUNDOFF  # of a term of a sum, and of the sum itself
_NOT_PSD = (
    "no gap certificate: the kernel is not (known to be) positive semidefinite; the violation "
    "of the optimality conditions is all that is confirmed"
)
_OUTSIDE = "the dual point leaves its box (a coefficient is negative, above its cost, or NaN)"


def kernel_gap(
    problem: Problem,
    point: Point,
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
    region: bool = True,
) -> Certificate:
    """Judge a point of a kernel problem; see :func:`hinge.certificates.gap`."""
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        assert point.dual_coef is not None
        pulls = problem.signs * point.dual_coef
        if not (np.isfinite(pulls).all() and math.isfinite(point.intercept)):
            nan, inf = math.nan, math.inf
            return Certificate(nan, -inf, inf, inf, inf, inf, (_OUTSIDE,))
        scores = training_scores(problem, point, threads, check)
        primal, primal_above, quadratic = _primal(problem, point, pulls, scores)
        dual, dual_below, notes = _dual(problem, point, quadratic, primal_above)
        margins = problem.signs * (scores.values + point.intercept)
        violations = row_violations(problem.loss, margins, point.dual_coef, problem.costs)
        sums = DualSums(point.coef, correct_sum(pulls), correct_sum(np.abs(pulls)))
        worst = largest(float(np.max(violations)), *condition_violations(problem, point, sums))
        certificate = certificate_of(
            Values(primal, primal_above, dual, dual_below), worst, 8 * (problem.n_rows + 8)
        )
        where = None
        if region and math.isfinite(certificate.gap):
            where = kernel_region(problem, point, scores, certificate.gap, check)
    return replace(certificate, notes=notes, region=where)


def _primal(
    problem: Problem, point: Point, pulls: Floats, scores: Scores
) -> tuple[float, float, tuple[float, float]]:
    """Return the primal value, an upper bound on it, and b'Kb with an upper bound on it."""
    quadratic = correct_sum(pulls * scores.values)
    spread = correct_sum(np.abs(pulls) * (scores.error + _FEW_ROUNDINGS * np.abs(scores.values)))
    quadratic_above = (quadratic + spread) + _FEW_ROUNDINGS * (abs(quadratic) + spread)
    y, costs = problem.signs, problem.costs
    margins = y * (scores.values + point.intercept)
    lowest = lowest_margins(problem, point, np.arange(problem.n_rows), scores)
    loss = correct_sum(costs * problem.loss.value(margins))
    loss_above = correct_sum(costs * problem.loss.value(lowest)) * (1.0 + _FEW_ROUNDINGS)
    primal = 0.5 * quadratic + loss
    above = (0.5 * quadratic_above + loss_above) * (1.0 + _FEW_ROUNDINGS)
    return primal, above, (quadratic, quadratic_above)


def _dual(
    problem: Problem, point: Point, quadratic: tuple[float, float], primal_above: float
) -> tuple[float, float, tuple[str, ...]]:
    """Return the dual value, a lower bound on it, and what keeps it from being one."""
    loss, alpha, costs = problem.loss, point.dual_coef, problem.costs
    assert alpha is not None
    if not ((alpha >= 0.0) & (alpha <= loss.upper_bound(costs))).all():
        return -math.inf, -math.inf, (_OUTSIDE,)
    assert problem.kernel is not None
    if problem.kernel.psd is not True:
        return -math.inf, -math.inf, (_NOT_PSD,)
    linear = loss.dual_linear * correct_sum(alpha)
    safe = np.where(costs > 0, costs, np.inf)
    curved = 0.5 * loss.dual_curvature * correct_sum(alpha * (alpha / safe))
    dual = linear - curved - 0.5 * quadratic[0]
    losses = _FEW_ROUNDINGS * (linear + curved + abs(quadratic[1]))
    below = linear - curved - 0.5 * quadratic[1] - losses
    notes: tuple[str, ...] = ()
    if problem.intercept is Intercept.FREE:
        # No equality holds to the last bit; what is missing costs |y'a| times a bound on b*.
        balance = abs(correct_sum(problem.signs * alpha))
        bound = loss.zero_from + problem.largest_norm * math.sqrt(2.0 * max(primal_above, 0.0))
        penalty = bound * balance * (1.0 + _FEW_ROUNDINGS)
        dual, below = dual - bound * balance, below - penalty
        if penalty > 1e-6 * max(abs(dual), abs(primal_above)):
            notes = (f"the dual point misses y'alpha = 0 by {balance:.3g}",)
    return dual, below, notes
