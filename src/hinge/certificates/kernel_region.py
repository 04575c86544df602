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

Of few rows the interval is a good part of what a certificate costs, and few ask for it: it is found
when it is first asked for. Of many, whose scores would have to be kept until then, at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_margins import Scores
from hinge.certificates.kernel_points import KernelPoints
from hinge.certificates.kernel_scores import scores_at
from hinge.certificates.settled import intercept_interval
from hinge.errors import InvalidDataError
from hinge.inequality import UNIT_ROUNDOFF, score_bounds
from hinge.kernels import Kernel
from hinge.problem import Intercept, Problem
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

FEW_ROWS = 1 << 14  # whose scores are kept until somebody asks for the interval of an intercept
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
class Frame:
    """What the scores of the optimum are measured from, and in which interval its intercept is.

    Parameters
    ----------
    origin : Origin or None
        What distances are measured from; None for the zero vector.
    offsets : tuple of two float
        Interval of the optimum's intercept, plus by how much its score at the origin exceeds that
        of this machine.
    """

    origin: Origin | None = None
    offsets: tuple[float, float] = (0.0, 0.0)


class LaterFrame:
    """A frame that is found when it is first asked for.

    Parameters
    ----------
    find : callable
        Finds it; what it holds is dropped then.
    """

    def __init__(self, find: Callable[[], Frame]) -> None:
        self._find: Callable[[], Frame] | None = find
        self._found: Frame | None = None

    def frame(self) -> Frame:
        """Return the frame."""
        find = self._find
        if find is not None:
            self._found = find()
            self._find = None
        assert self._found is not None
        return self._found


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
    measured : Frame or LaterFrame
        What scores are measured from, and the interval of the intercept; of a pickle the former.
    """

    kernel: Kernel
    rows: Rows
    support: NDArray[np.int64]
    coef: Floats
    radius: float
    measured: Frame | LaterFrame = Frame()

    @property
    def origin(self) -> Origin | None:
        """What distances are measured from; None for the zero vector."""
        return self._frame.origin

    @property
    def offsets(self) -> tuple[float, float]:
        """Interval of the optimum's intercept, and of its score at the origin beyond this one's."""
        return self._frame.offsets

    @property
    def _frame(self) -> Frame:
        measured = self.measured
        return measured.frame() if isinstance(measured, LaterFrame) else measured

    def complete(self) -> None:
        """Find what is left to be found, so that what it is found from can be dropped."""
        _ = self._frame

    def without_data(self) -> KernelRegion:
        """Return the same region with its support vectors and no other row."""
        own = self.rows.take(self.support), np.arange(len(self.support))
        return KernelRegion(self.kernel, *own, self.coef, self.radius, self.measured)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.without_data().__dict__, "measured": self._frame}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "measured" not in state:  # a pickle of a version that kept its parts side by side
            state["measured"] = Frame(state.pop("origin"), state.pop("offsets"))
        self.__dict__.update(state)

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
            lower, upper = optimum_bounds(scores, squares, self.radius, self.origin)
            return (
                np.nextafter(lower + self.offsets[0], -np.inf),
                np.nextafter(upper + self.offsets[1], np.inf),
            )


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
    sizes, total = np.abs(points.pulls), points.total
    sums = scores.plus + scores.minus
    square = points.sums(sizes * sums) + points.sums(sizes * scores.error)
    square += _ROUNDINGS * points.sums(sizes * np.abs(sums))
    return Origin(total, square / total / total)


def kernel_region(
    problem: Problem,
    points: KernelPoints,
    scores: Scores,
    gap: float,
    check: Callable[[], None] | None = None,
) -> KernelRegion | None:
    """Return the region that a certified gap proves to hold the optimum.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    points : KernelPoints
        The machine alone.
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
    kernel = problem.kernel
    assert kernel is not None
    if not kernel.knows_new_rows:
        return None
    radius = math.sqrt(gap) * (1.0 + 4.0 * UNIT_ROUNDOFF)
    support = np.flatnonzero(points.pulls)
    measured: Frame | LaterFrame = Frame()
    if problem.intercept is Intercept.FREE:
        given = points, scores, problem.image_squares, radius
        measured = (
            LaterFrame(lambda: _frame(*given, None))
            if problem.n_rows <= FEW_ROWS
            else _frame(*given, check)
        )
    rows, ids = problem.rows.whole_of(support)
    return KernelRegion(kernel, rows, ids, points.pulls[support], radius, measured)


def _frame(
    points: KernelPoints,
    scores: Scores,
    squares: Floats,
    radius: float,
    check: Callable[[], None] | None,
) -> Frame:
    """Return what scores of one machine are measured from, and the interval of its intercept."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = origins(points, scores)
        total, square = float(found.total[0]), float(found.square[0])
        origin = Origin(total, square) if 0.0 < total < math.inf else None
        lower, upper = optimum_bounds(scores, squares, radius, origin)
        if not (np.isfinite(lower) & np.isfinite(upper))[points.costs > 0].all():
            return Frame(origin, (-math.inf, math.inf))
        rows = points.loss, points.signs, points.costs
        return Frame(origin, intercept_interval(*rows, lower, upper, check))
