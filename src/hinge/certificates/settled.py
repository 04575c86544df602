r"""Where the optimum must lie, and which labels that settles.

The objective is strongly convex in w, so a gap bounds the distance to the optimum from both
sides: ``P(w) - P* >= 1/2 ||w - w*||^2`` and ``P* - D(alpha) >= 1/2 ||v - w*||^2`` with
``v = w(alpha)``. Together, for the midpoint ``c = (w + v) / 2``,

.. math:: \|c - w^*\|^2 \le \text{gap} - \tfrac14 \|w - v\|^2 .

With an augmented intercept its weight belongs to w and nothing more is needed. A free intercept
is not in the norm: it is bounded by the interval in which the slope of the objective in b can
vanish for some w in the ball. Measured from a point m, the mean of the rows or of some if there
are many, ``b* + w*'m`` lies between the optimal intercepts for the scores ``c'(x_i - m)`` all
raised, and all lowered, by ``r ||x_i - m||``. Where the optimal intercept is not unique, some
labels never settle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_blocks, map_numbers
from hinge.certificates.row_groups import WORTH_SHARING, map_groups
from hinge.errors import InvalidDataError
from hinge.inequality import rounding_factor, score_bounds, score_rounding
from hinge.losses import Loss, largest_intercept, smallest_intercept
from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.rows import Block, Rows

Floats = NDArray[np.float64]

_MEAN_BLOCKS = 64  # of the rows, whose mean is taken for that of all


@dataclass(frozen=True)
class OptimumRegion:
    """A ball that holds the optimal weights, and an interval that holds the intercept.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        Centre of the ball.
    radius : float
        Its radius; it includes the weight of the constant feature, if there is one.
    origin : ndarray of shape (n_features,) or None
        The point m that scores are measured from; None for the zero vector.
    offsets : tuple of two float
        Interval of ``b* + w*'m``; both ends are the centre's intercept unless it is free.
    constant_feature : float
        Value of the constant feature of an augmented intercept, else 0.
    """

    coef: Floats
    radius: float
    origin: Floats | None
    offsets: tuple[float, float]
    constant_feature: float

    def complete(self) -> None:
        """Do nothing: unlike that of a kernel machine, a linear one's region is found at once."""

    def decision_bounds(self, X: Any) -> tuple[Floats, Floats]:
        """Return bounds on the optimum's decision value of every row of X."""
        rows = X if isinstance(X, Rows) else Rows(X)
        if rows.n_features != len(self.coef):
            message = f"X has {rows.n_features} features; the certificate is for {len(self.coef)}."
            raise InvalidDataError(message)
        return self.bounds_of(rows)

    def bounds_of(
        self, rows: Rows, check: Callable[[], None] | None = None, threads: int = 1
    ) -> tuple[Floats, Floats]:
        """Return the bounds for validated rows; ``check`` is called between blocks."""
        # Products with the centre and with the origin, until the bounds take their places.
        lower, upper = np.empty(rows.n_rows), np.empty(rows.n_rows)
        low, high = self.offsets

        def products(block: Block) -> None:
            lower[block.rows] = block.dot(self.coef)
            if self.origin is not None:
                upper[block.rows] = block.dot(self.origin)

        def bounds(part: slice) -> None:
            scores, norms, error = self._centred(rows, part, lower[part], upper[part])
            below, above = score_bounds(scores, norms, self.radius, error)
            # One more rounding each: step outwards.
            below += low
            above += high
            np.nextafter(below, -np.inf, out=lower[part])
            np.nextafter(above, np.inf, out=upper[part])

        if rows.n_rows:
            map_blocks(products, rows, lambda one, _: one, threads=threads, check=check)
            map_groups(bounds, rows.n_rows, threads=threads, check=check)
        return lower, upper

    def _centred(
        self, rows: Rows, part: slice, scores: Floats, products: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return scores, distances from the origin and score error bounds of some rows.

        Parameters
        ----------
        rows : Rows
            The data.
        part : slice
            Which of them.
        scores, products : ndarray of shape (n,)
            Their products with the centre, and with the origin if it is not zero.
        """
        squares = rows.squared_norms[part]
        norms = rows.norm_bounds(squares)
        norm = float(np.linalg.norm(self.coef))
        error = score_rounding(norm, norms, rows.longest_row)
        if self.origin is None:
            return scores, np.hypot(norms, self.constant_feature), error
        shift = float(self.coef @ self.origin)
        reach = norms + float(np.linalg.norm(self.origin))
        # ||x - m||^2 by expansion: its rounding error is bounded and added, never subtracted.
        expanded = squares - 2.0 * products
        expanded += float(self.origin @ self.origin)
        slack = 4.0 * rounding_factor(len(self.coef) + 4)
        error += slack * norm * reach
        np.maximum(expanded, 0.0, out=expanded)
        expanded += slack * reach * reach
        return scores - shift, np.sqrt(expanded, out=expanded), error


def optimum_region(
    problem: Problem,
    points: tuple[Point, Point],
    limits: tuple[float, float],
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
) -> OptimumRegion:
    """Return the region that a certified gap proves to hold the optimum.

    Parameters
    ----------
    problem : Problem
        The problem.
    points : tuple of two Point
        The primal point, and the weights ``w(alpha)`` of the dual point with the intercept that
        its constant feature gives.
    limits : tuple of two float
        Their certified gap, absolute, and a bound on the rounding error of the weights of the
        dual point.
    threads : int, default=1
        Threads for the passes that a free intercept needs.
    check : callable or None, default=None
        Called between blocks; may raise to abandon the passes that a free intercept needs.

    Returns
    -------
    OptimumRegion
        The ball and the interval.
    """
    (primal, dual), (gap, spread) = points, limits
    centre = 0.5 * (primal.coef + dual.coef)
    apart = float(np.linalg.norm(primal.coef - dual.coef))
    intercept = 0.0
    if problem.intercept is Intercept.AUGMENTED:
        intercept = 0.5 * (primal.intercept + dual.intercept)
        apart = math.hypot(apart, (primal.intercept - dual.intercept) / problem.intercept_scale)
    # Rounded so that the ball can only be too large: the distance down, the radius up.
    rounding = rounding_factor(problem.n_features + 4)
    apart = max(0.0, apart * (1.0 - rounding) - spread)
    radius = math.sqrt(max(gap - 0.25 * apart * apart, 0.0)) + spread
    radius = (radius + rounding * float(np.linalg.norm(centre))) * (1.0 + rounding)
    constant = problem.constant_feature
    if problem.intercept is not Intercept.FREE:
        return OptimumRegion(centre, radius, None, (intercept, intercept), constant)
    mean = _mean(problem, threads, check)
    ball = OptimumRegion(centre, radius, mean, (0.0, 0.0), constant)
    offsets = _intercept_interval(problem, ball, threads, check)
    return OptimumRegion(centre, radius, ball.origin, offsets, constant)


def _mean(problem: Problem, threads: int, check: Callable[[], None] | None) -> Floats:
    """Return the mean of the rows that have a cost, in evenly spaced blocks if there are many.

    Bounds hold from whichever point scores are measured; they are the tighter the nearer it is.
    """
    costs, rows = problem.costs, problem.rows
    every = -(-rows.n_blocks // _MEAN_BLOCKS)

    def kernel(number: int) -> Floats:
        block = rows.block(number * every)
        counted = (costs[block.rows] > 0).astype(np.float64)
        return np.append(block.transpose_dot(counted), np.sum(counted))

    count = -(-rows.n_blocks // every)
    total = map_numbers(kernel, count, np.add, threads=threads, check=check)
    return np.asarray(total[:-1] / max(float(total[-1]), 1.0))


def _intercept_interval(
    problem: Problem, ball: OptimumRegion, threads: int, check: Callable[[], None] | None
) -> tuple[float, float]:
    """Return an interval of ``b* + w*'m`` over every w* in the ball."""
    lower, upper = ball.bounds_of(problem.rows, check, threads)
    if problem.is_hard:
        return _hard_interval(problem, lower, upper)
    rows = problem.loss, problem.signs, problem.costs
    return intercept_interval(*rows, lower, upper, check, threads)


def intercept_interval(
    loss: Loss,
    signs: NDArray[np.int8] | Floats,
    costs: Floats,
    lower: Floats,
    upper: Floats,
    check: Callable[[], None] | None,
    threads: int = 1,
) -> tuple[float, float]:
    """Return an interval of the free intercept, given bounds on the scores of the optimum.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    signs, costs : ndarray of shape (n_samples,)
        Labels and finite costs of the rows.
    lower, upper : ndarray of shape (n_samples,)
        Bounds on the optimum's scores without intercept; of any size for rows without cost.
    check : callable or None
        Called now and then; may raise to abandon the search.
    threads : int, default=1
        From two on, each end has one of its own, if there are many rows.
    """

    def end(number: int) -> list[float]:
        find, scores = ((smallest_intercept, upper), (largest_intercept, lower))[number]
        return [find(loss, scores, signs, costs, check)]

    share = threads if len(signs) >= WORTH_SHARING else 1
    low, high = map_numbers(end, 2, list.__add__, threads=share)
    return widened(low, high)


def widened(low: float, high: float) -> tuple[float, float]:
    """Return an interval of intercepts, wider by the rounding of the sums behind their slopes.

    Parameters
    ----------
    low, high : float
        Its ends.
    """
    widen = 1e-12 * (1.0 + abs(low) + abs(high))  # of the scores' own size
    return low - widen, high + widen


def _hard_interval(problem: Problem, lower: Floats, upper: Floats) -> tuple[float, float]:
    """Return the interval of a hard margin's intercept: every row must be able to have its margin.

    Parameters
    ----------
    problem : Problem
        A problem with C infinite.
    lower, upper : ndarray of shape (n_samples,)
        Bounds on the scores without intercept.
    """
    counted, needed = problem.costs > 0, problem.loss.zero_from
    low = float(np.max(needed - upper, where=counted & (problem.signs > 0), initial=-np.inf))
    high = float(np.min(-needed - lower, where=counted & (problem.signs < 0), initial=np.inf))
    return float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))
