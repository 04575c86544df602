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

from hinge.certificates.basis_gap import basis_gap
from hinge.certificates.kernel_region import kernel_region
from hinge.certificates.kernel_scores import training_scores
from hinge.certificates.kernel_sums import correct_sum
from hinge.certificates.kernel_values import OUTSIDE, dual_value, primal_value
from hinge.certificates.kkt import DualSums, condition_violations, row_violations
from hinge.certificates.verdict import Values, certificate_of, largest
from hinge.problem import Problem
from hinge.result import BasisPoint, Certificate, Point
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]


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
            return Certificate(nan, -inf, inf, inf, inf, inf, (OUTSIDE,))
        scores = training_scores(problem, point, threads, check)
        primal, primal_above, quadratic = primal_value(problem, point, pulls, scores)
        dual, dual_below, notes = dual_value(problem, point, quadratic, primal_above)
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
