r"""Where the optimum of a kernel machine must lie, and which labels that settles.

As for a linear machine (:mod:`hinge.certificates.settled`), in the space of the kernel: a machine's
weights are those of its dual point, so the optimum's are within :math:`r = \sqrt{\text{gap}}`, and
no decision value is further from the optimum's than :math:`r\,\|\phi(x)\|`,
:math:`\|\phi(x)\|^2 = k(x, x)`.

A free intercept is bounded by an interval as there, with distances measured from a point m: what
the optimum's score at m adds to all scores is the same number, and the interval takes it up. Here m
is the mean of the support vectors, weighted by the size of their coefficients: the sums
:math:`\sum_j |b_j| k(x_j, x)` are at hand, and

.. math:: \|\phi(x) - m\|^2 = k(x, x) - \frac{2}{T} \sum_j |b_j| k(x_j, x) + \|m\|^2,
          \qquad T = \sum_j |b_j| .
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_points import KernelPoints
from hinge.certificates.kernel_scores import Scores, machine_of, scores_at
from hinge.certificates.settled import intercept_interval
from hinge.errors import InvalidDataError
from hinge.inequality import UNIT_ROUNDOFF, score_bounds
from hinge.kernels import Kernel
from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_ROUNDINGS = 32.0 * UNIT_ROUNDOFF  # of the few sums that make a distance


@dataclass(frozen=True)
class Origin:
    """The point m that distances are measured from.

    Parameters
    ----------
    total : float
        Sum of the sizes of the coefficients; for rows of several machines one for every row.
    square : float
        Upper bound on the squared norm of m; likewise.
    """

    total: Any
    square: Any


@dataclass(frozen=True)
class KernelRegion:
    """A ball about a kernel machine that holds the optimal one, and the intercept's interval.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : Rows
        Rows with the support vectors among them; a pickle keeps no others.
    support : ndarray of int
        The support vectors.
    coef : ndarray
        Their coefficients ``b = y alpha``.
    radius : float
        Radius of the ball.
    origin : Origin or None
        What distances are measured from; None for the zero vector.
    offsets : tuple of two float
        Interval of the optimum's intercept, plus by how much its score at the origin exceeds that
        of this machine.
    """

    kernel: Kernel
    rows: Rows
    support: NDArray[np.int64]
    coef: Floats
    radius: float
    origin: Origin | None
    offsets: tuple[float, float]

    def __getstate__(self) -> dict[str, Any]:
        taken = {"rows": self.rows.take(self.support), "support": np.arange(len(self.support))}
        return {**self.__dict__, **taken}

    def decision_bounds(self, X: Any) -> tuple[Floats, Floats]:
        """Return bounds on the optimum's decision value of every row of X."""
        rows = X if isinstance(X, Rows) else Rows(X)
        if rows.n_features != self.rows.n_features:
            message = (
                f"X has {rows.n_features} features; the certificate is for {self.rows.n_features}."
            )
            raise InvalidDataError(message)
        machine = Machine(self.kernel, self.rows, self.support, self.coef)
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            scores = scores_at(machine, (rows, np.arange(rows.n_rows)))
            squares = self.kernel.training_diagonal_above(rows)
            lower, upper = self.bounds_of(scores, squares)
            return (
                np.nextafter(lower + self.offsets[0], -np.inf),
                np.nextafter(upper + self.offsets[1], np.inf),
            )

    def bounds_of(self, scores: Scores, squares: Floats) -> tuple[Floats, Floats]:
        """Return bounds on the optimum's scores, but for a constant, of rows with such images.

        Parameters
        ----------
        scores : Scores
            The machine's scores.
        squares : ndarray
            Upper bounds on the squared norms of the images.
        """
        return optimum_bounds(scores, squares, self.radius, self.origin)


def optimum_bounds(
    scores: Scores, squares: Floats, radius: Floats | float, origin: Origin | None
) -> tuple[Floats, Floats]:
    """Return bounds on the scores of optima, but for a constant, at some rows.

    Parameters
    ----------
    scores : Scores
        Scores of the machines.
    squares : ndarray of shape (n,)
        Upper bounds on the squared norms of the images of the rows.
    radius : ndarray of shape (n,) or float
        How far the optimum is from the machine of a row at the most.
    origin : Origin or None
        What distances are measured from; None for the zero vector.
    """
    values, error = scores.values, scores.error
    if origin is not None:
        means = (scores.plus + scores.minus) / origin.total
        size = squares + 2.0 * np.abs(means) + origin.square
        squares = squares - 2.0 * means + origin.square
        squares = np.maximum(squares, 0.0) + 2.0 * error / origin.total + _ROUNDINGS * size
    norms = np.sqrt(squares) * (1.0 + 4.0 * UNIT_ROUNDOFF)
    lower, upper = score_bounds(values, norms, radius, error)
    unknown = ~(np.isfinite(lower) & np.isfinite(upper))
    lower[unknown], upper[unknown] = -np.inf, np.inf
    return lower, upper


def origins(points: KernelPoints, scores: Scores) -> Origin:
    """Return the means of the support vectors of every machine, by the size of their coefficients.

    Parameters
    ----------
    points : KernelPoints
        The machines; where one has no coefficient, its numbers are none.
    scores : Scores
        Their scores.
    """
    sizes = np.abs(points.pulls)
    total = points.sums(sizes)
    sums = scores.plus + scores.minus
    square = points.sums(sizes * sums) + points.sums(sizes * scores.error)
    square += _ROUNDINGS * points.sums(sizes * np.abs(sums))
    return Origin(total, square / total / total)


def kernel_region(
    problem: Problem,
    point: Point,
    scores: Scores,
    gap: float,
    check: Callable[[], None] | None = None,
) -> KernelRegion | None:
    """Return the region that a certified gap proves to hold the optimum.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    point : Point
        The machine.
    scores : Scores
        Its scores at the training rows.
    gap : float
        Its certified gap, absolute.
    check : callable or None, default=None
        Called now and then; may raise to abandon the search for the intercept.

    Returns
    -------
    KernelRegion or None
        The region; None for a precomputed kernel, which says nothing about other rows.
    """
    machine = machine_of(problem, point)
    if not machine.kernel.knows_new_rows:
        return None
    radius = math.sqrt(gap) * (1.0 + 4.0 * UNIT_ROUNDOFF)
    region = KernelRegion(
        machine.kernel, problem.rows, machine.ids, machine.coef, radius, None, (0.0, 0.0)
    )
    if problem.intercept is not Intercept.FREE:
        return region
    found = origins(KernelPoints.of(problem, point), scores)
    total, square = float(found.total[0]), float(found.square[0])
    if 0.0 < total < math.inf:
        region = replace(region, origin=Origin(total, square))
    lower, upper = region.bounds_of(scores, problem.image_squares)
    if not (np.isfinite(lower) & np.isfinite(upper))[problem.costs > 0].all():
        return replace(region, offsets=(-math.inf, math.inf))
    return replace(region, offsets=intercept_interval(problem, lower, upper, check))
