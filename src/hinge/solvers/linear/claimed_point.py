r"""A point of one C whose gap at another C is known before any row is read.

From C to C' = rC the weights stay as they are and the dual coefficients are multiplied by r. With
N the norm's part of the primal value P, and N' that of the dual value D = S - N', the values of the
pair at C' are

.. math:: P' = r P - (r - 1) N, \qquad D' = r S - r^2 N',

for every loss: its part of P, the sum of the coefficients and, with costs r times as large, the
diagonal term of D all grow by r. For N = N' the gap is r (P - D) + (r - 1)^2 N. Where costs are so
high that the norm is little beside the losses, or values of C so close, the neighbour's point will
do. Whether it does, a certificate says: the claim only has the driver ask for it at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hinge.problem import Problem
from hinge.result import Certificate, Point
from hinge.threads import single_threaded_blas


@dataclass(frozen=True)
class ClaimedPoint(Point):
    """A point to start from, with its objective values.

    Parameters
    ----------
    primal, dual : float, default=nan
        What its values are said to be; NaN where nothing is known.
    """

    primal: float = math.nan
    dual: float = math.nan


def claimed(point: Point, certificate: Certificate, origin: Problem, target: Problem) -> Point:
    """Return a carried point with the values that follow from its certificate at another C.

    Parameters
    ----------
    point : Point
        Weights of ``origin``, and its dual coefficients times the ratio of C.
    certificate : Certificate
        What is proven of the weights and the coefficients before that.
    origin, target : Problem
        Linear problems that differ in C alone.

    Returns
    -------
    Point
        The same point; without values where there are no dual coefficients or nothing is proven.
    """
    alpha = point.dual_coef
    if alpha is None or target.is_hard or not math.isfinite(certificate.gap):
        return point
    ratio = target.C / origin.C
    weight = origin.intercept_weight(point.intercept)
    with single_threaded_blas():  # the same bits as everywhere
        norm = origin.penalty.value(point.coef) + 0.5 * weight * weight
    primal = ratio * certificate.primal - (ratio - 1.0) * norm
    grown = _sum(target, alpha)  # r S
    # What the certificate's gap is wider than its values is their rounding, and grows like them.
    below = certificate.primal - certificate.gap
    dual = grown - ratio * (grown - ratio * below)
    return ClaimedPoint(point.coef, point.intercept, alpha, primal, dual)


def _sum(problem: Problem, alpha: np.ndarray) -> float:
    """Return the dual value without the norm's part."""
    loss = problem.loss
    total = loss.dual_linear * float(np.sum(alpha))
    if loss.dual_curvature == 0.0:
        return total
    squares = np.divide(alpha * alpha, problem.costs, out=np.zeros_like(alpha), where=alpha > 0)
    return total - 0.5 * loss.dual_curvature * float(np.sum(squares))
