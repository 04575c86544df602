"""Certificates of machines of pairs of classes, all at once.

What they say is what :func:`hinge.certificates.gap` says of each of them, recomputed from the data
in the same way. What several pairs need is computed once (:mod:`hinge.certificates.pair_scores`),
and numbers of rows are arrays over the rows of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_gap import certificates_of
from hinge.certificates.kernel_margins import Scores, surely_beyond
from hinge.certificates.kernel_points import KernelPoints
from hinge.certificates.kernel_region import (
    FEW_ROWS,
    Frame,
    KernelRegion,
    LaterFrame,
    Origin,
    optimum_bounds,
    origins,
)
from hinge.certificates.pair_groups import PairPoints
from hinge.certificates.pair_scores import PairScores
from hinge.certificates.settled import widened
from hinge.inequality import UNIT_ROUNDOFF
from hinge.losses.several_intercepts import largest_intercepts, smallest_intercepts
from hinge.result import Certificate
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_WINDOW = 0.01  # how far from the intercept the best one is expected


def pair_gaps(
    points: PairPoints, *, threads: int = 1, check: Callable[[], None] | None = None
) -> list[Certificate]:
    """Judge points of the problems of pairs of groups of rows.

    Parameters
    ----------
    points : PairPoints
        The points, finite, each with a coefficient that is not zero.
    threads : int, default=1
        Threads that share out rows; the result has the same bits for any number.
    check : callable or None, default=None
        Called now and then; may raise to abandon the certificates.

    Returns
    -------
    list of Certificate
        What is proven of each of them. Their regions refer to the rows.
    """
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        judged = _Judged(points, PairScores(points, threads, check))
        counting = judged.counting()
        certificates = certificates_of(*counting)
        gaps = np.asarray([found.gap for found in certificates])
        regions = judged.regions(gaps, counting)
    return [
        replace(certificate, region=region)
        for certificate, region in zip(certificates, regions, strict=True)
    ]


class _Judged:
    """The points of all pairs with their scores, pair by pair.

    Parameters
    ----------
    points : PairPoints
        The points.
    found : PairScores
        Their scores, side by side.
    """

    def __init__(self, points: PairPoints, found: PairScores) -> None:
        self._pairs = points
        self._places = _places(points)
        sides = points.sides
        # Two parts for every pair: the rows of its first group, whose label is -1, and its second.
        parts = [part for places in self._places for part in places]
        counts = np.asarray([len(sides[at].ids) for at, _ in parts])
        before = np.cumsum([0, *(side.alpha.size for side in sides)]).tolist()
        self._order = _ranges([before[at] + k * len(sides[at].ids) for at, k in parts], counts)
        begins = np.cumsum([0, *(len(side.ids) for side in sides)])
        rows = _ranges(begins[[at for at, _ in parts]], counts)
        self.scores = self._scores(found, rows, counts)
        above = points.kernel.training_diagonal_above(points.rows)
        squares = [above[side.ids] for side in sides]
        self._squares = np.concatenate(squares)[rows]
        self.points = KernelPoints(
            points.loss,
            is_free=True,
            is_psd=points.kernel.psd is True,
            ends=np.concatenate(((0,), np.cumsum(counts)[1::2])),
            signs=np.repeat(np.tile((-1.0, 1.0), len(points.pairs)), counts),
            costs=np.concatenate([side.costs for side in sides])[rows],
            alpha=self._in_order([side.alpha for side in sides]),
            intercept=points.intercept,
            reach=self._reach([float(np.max(some)) for some in squares]),
        )

    def _scores(self, found: PairScores, rows: Ids, counts: Ids) -> Scores:
        """Return the scores of the rows of every pair, given which of the rows of all sides."""
        if found.whole is not None:
            numbers = np.repeat(np.arange(len(counts)) // 2, counts)
            return found.whole.some((numbers, rows))
        scores = [found.of(place) for place in range(len(self._pairs.sides))]
        names = ("plus", "minus", "magnitude", "error")
        return Scores(*(self._in_order([getattr(one, name) for one in scores]) for name in names))

    def counting(self) -> tuple[KernelPoints, Scores]:
        """Return the points and scores without rows that add nothing and violate nothing.

        These are no support vectors and surely have a margin at which the loss is zero.
        """
        points, scores = self.points, self.scores
        intercept = points.at_rows(points.intercept)
        beyond = surely_beyond(points.loss, points.signs, intercept, scores)
        which = np.flatnonzero((points.alpha != 0.0) | ~beyond)
        some = replace(
            points,
            ends=np.searchsorted(which, points.ends),
            signs=points.signs[which],
            costs=points.costs[which],
            alpha=points.alpha[which],
        )
        return some, scores.some(which)

    def regions(
        self, gaps: Floats, counting: tuple[KernelPoints, Scores]
    ) -> list[KernelRegion | None]:
        """Return the regions that certified gaps prove to hold the optima; None without a gap.

        Parameters
        ----------
        gaps : ndarray of shape (n_pairs,)
            The gaps, absolute.
        counting : tuple of KernelPoints and Scores
            The rows that count for anything.
        """
        radius = np.sqrt(gaps) * (1.0 + 4.0 * UNIT_ROUNDOFF)
        given = (self.points, self.scores), counting, self._squares, radius

        @cache
        def frames() -> list[Frame]:
            return _frames(*given)

        is_later = len(self.points.signs) <= FEW_ROWS
        found: list[KernelRegion | None] = [None] * len(gaps)
        for number, (ids, coef) in enumerate(self._support()):
            if math.isfinite(gaps[number]):
                found[number] = KernelRegion(
                    self._pairs.kernel,
                    self._pairs.rows,
                    ids,
                    coef,
                    float(radius[number]),
                    LaterFrame(partial(_one_of, frames, number)) if is_later else frames()[number],
                )
        return found

    def _in_order(self, of_sides: list[Floats]) -> Floats:
        """Return numbers of the rows of every side in its pairs as one array, pair by pair."""
        return np.concatenate([numbers.reshape(-1) for numbers in of_sides])[self._order]

    def _reach(self, squares: list[float]) -> Floats:
        """Return upper bounds on the norms of the images of the rows of every pair."""
        largest = [max(squares[at] for at, _ in places) for places in self._places]
        return np.sqrt(largest) * (1.0 + 4.0 * UNIT_ROUNDOFF)

    def _support(self) -> list[tuple[Ids, Floats]]:
        """Return which rows are support vectors of every pair, and with what coefficients."""
        sides = self._pairs.sides
        found = []
        for places in self._places:
            used = [np.flatnonzero(sides[at].alpha[k]) for at, k in places]
            coef = [
                sides[at].signs[k] * sides[at].alpha[k][some]
                for (at, k), some in zip(places, used, strict=True)
            ]
            ids = [sides[at].ids[some] for (at, _), some in zip(places, used, strict=True)]
            found.append((np.concatenate(ids), np.concatenate(coef)))
        return found


def _places(points: PairPoints) -> list[list[tuple[int, int]]]:
    """Return, for both groups of every pair, which side it is and which of its pairs this is."""
    found: list[list[tuple[int, int]]] = [[] for _ in points.pairs]
    sides = {side.group: at for at, side in enumerate(points.sides)}
    for number, pair in enumerate(points.pairs):
        found[number] = [(sides[g], points.sides[sides[g]].place_of(number)) for g in pair]
    return found


def _ranges(begins: Any, counts: Ids) -> Ids:
    """Return so many numbers from each beginning on, one range after another."""
    ends = np.cumsum(counts)
    return np.repeat(begins - ends + counts, counts) + np.arange(ends[-1])


def _frames(
    judged: tuple[KernelPoints, Scores],
    counting: tuple[KernelPoints, Scores],
    squares: Floats,
    radius: Floats,
) -> list[Frame]:
    """Return what scores are measured from, and the interval of the intercept, of every pair."""
    with np.errstate(over="ignore", invalid="ignore"):
        points, scores = judged
        means = origins(*counting)
        origin = Origin(points.at_rows(means.total), points.at_rows(means.square))
        bounds = optimum_bounds(scores, squares, points.at_rows(radius), origin)
        offsets = _offsets(points, *bounds)
    pairs = zip(means.total.tolist(), means.square.tolist(), offsets, strict=True)
    return [Frame(Origin(total, square), ends) for total, square, ends in pairs]


def _one_of(frames: Callable[[], list[Frame]], number: int) -> Frame:
    return frames()[number]


def _offsets(points: KernelPoints, lower: Floats, upper: Floats) -> list[tuple[float, float]]:
    """Return an interval of every intercept, given bounds on the scores of the optima."""
    is_known = ~points.largest(~(np.isfinite(lower) & np.isfinite(upper)))
    known = points.at_rows(is_known).astype(bool)
    if not known.all():
        lower, upper = np.where(known, lower, 0.0), np.where(known, upper, 0.0)
    # Scores that are higher by so much want an intercept that is lower by that at the most.
    reach, here = 0.5 * points.largest(upper - lower), points.intercept
    rows = points.signs, points.costs, points.ends
    window = np.stack((here - reach - _WINDOW, here + _WINDOW))
    low = smallest_intercepts(points.loss, upper, *rows, window)
    window = np.stack((here - _WINDOW, here + reach + _WINDOW))
    high = largest_intercepts(points.loss, lower, *rows, window)
    ends = zip(low.tolist(), high.tolist(), is_known.tolist(), strict=True)
    return [widened(a, b) if sure else (-math.inf, math.inf) for a, b, sure in ends]
