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

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.basis_gap import basis_gap
from hinge.certificates.conditions import DualSums, Measured, imbalance, row_violations, worst_of
from hinge.certificates.kernel_margins import Scores, margin_slack
from hinge.certificates.kernel_points import KernelPoints
from hinge.certificates.kernel_region import kernel_region
from hinge.certificates.kernel_scores import training_scores
from hinge.certificates.kernel_values import OUTSIDE, dual_values, primal_values
from hinge.certificates.verdict import Values, certificate_of
from hinge.problem import Problem
from hinge.result import BasisPoint, Certificate, Point
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_NO_INTERCEPT = "the intercept is not finite, so that there is no objective and nothing is proven"
_NO_WEIGHTS = np.zeros(0)  # a kernel machine is its dual coefficients


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
        if isinstance(point, BasisPoint):
            return basis_gap(problem, point, threads=threads, check=check)
        assert point.dual_coef is not None
        pulls = problem.signs * point.dual_coef
        if not (np.isfinite(pulls).all() and math.isfinite(point.intercept)):
            nan, inf = math.nan, math.inf
            note = OUTSIDE if math.isfinite(point.intercept) else _NO_INTERCEPT
            return Certificate(nan, -inf, inf, inf, inf, inf, (note,))
        scores = training_scores(problem, point, threads, check)
        points = KernelPoints.of(problem, point)
        found = certificates_of(points, scores)[0]
        where = None
        if region and math.isfinite(found.gap):
            where = kernel_region(problem, points, scores, found.gap, check)
    return replace(found, region=where)


def certificates_of(points: KernelPoints, scores: Scores) -> list[Certificate]:
    """Return what is proven of points, but for the regions of the optima.

    Parameters
    ----------
    points : KernelPoints
        Finite points of kernel problems.
    scores : Scores
        Their scores at the rows.
    """
    primal, quadratic = primal_values(points, points.pulls, scores)
    dual, notes = dual_values(points, quadratic, primal.bounds)
    violations = _violations(points, scores)
    values = zip(*(part.tolist() for part in (*primal, *dual)), strict=True)
    products = (8 * (points.sizes + 8)).tolist()
    found = zip(itertools.starmap(Values, values), violations, products, notes, strict=True)
    return list(itertools.starmap(certificate_of, found))


def _violations(points: KernelPoints, scores: Scores) -> list[Measured]:
    """Return the worst violation of any optimality condition, of every point."""
    intercept = points.at_rows(points.intercept)
    margins = points.signs * (scores.values + intercept)
    slack = margin_slack(intercept, scores)
    rows = row_violations(points.loss, margins, slack, points.alpha, points.costs)
    worst = zip(*(points.largest(numbers).tolist() for numbers in rows), strict=True)
    sums = zip(points.balance.tolist(), points.total.tolist(), strict=True)
    return [
        worst_of(Measured(*found), imbalance(points.is_free, DualSums(_NO_WEIGHTS, *parts)))
        for found, parts in zip(worst, sums, strict=True)
    ]
