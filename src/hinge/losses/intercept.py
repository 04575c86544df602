r"""The intercepts that are best for given scores: exact, by selection instead of a sort.

With scores :math:`f_i = w'x_i` fixed, the objective is a convex, piecewise quadratic function of
the intercept whose derivative

.. math:: S(b) = \sum_i c_i\, y_i\, \ell'(y_i (f_i + b))

is non-decreasing. Its kinks are those of every row's loss, at ``b = y_i z_k - f_i``. A sorted
sample of them tells roughly where S crosses zero; S is summed over all rows at two places around
it, and only the kinks between these are sorted. That takes a few passes over the scores and next
to no memory beside them. For the hinge it finds the weighted order statistic of ``y_i - f_i``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.losses.base import Floats, Loss

Signs = NDArray[np.int8] | Floats
Ids = NDArray[np.int64]
_Rows = tuple[Floats, Signs, Floats]
Check = Callable[[], None]

_BLOCK = 1 << 14  # rows at a time, at the least, and
_LONGEST_BLOCK = 1 << 18  # at the most: threads that make short calls of NumPy hinder each other
_BLOCKS = 7  # that the rows are to be in
_FEW = 1 << 14  # rows whose kinks are sorted at once
_SAMPLED = 16  # of more rows: the part that tells where to look
_LARGEST_SAMPLE = 1 << 14
_SPREAD = 2.0  # how far, in roots of the sample's size, the place in the sample may be off
_EPS = float(np.finfo(np.float64).eps)
# Roundings of a sum: a dozen in each term and a pairwise sum of one block; the sums of the blocks
# are added up exactly.
_ROUNDINGS = 64.0


def optimal_intercepts(
    loss: Loss, scores: Floats, signs: Signs, costs: Floats, check: Check | None = None
) -> tuple[float, float]:
    """Return both ends of the interval of intercepts that minimise the sum of losses.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores : ndarray of shape (n,)
        Decision values without intercept.
    signs : ndarray of shape (n,)
        Labels, -1 or +1 of any type; both must occur with a positive cost.
    costs : ndarray of shape (n,)
        Weight of every row's loss, not negative.
    check : callable or None, default=None
        Called every few milliseconds; may raise to give up.

    Returns
    -------
    low, high : float
        The smallest and the largest minimiser; equal where there is only one.
    """
    return (
        smallest_intercept(loss, scores, signs, costs, check),
        largest_intercept(loss, scores, signs, costs, check),
    )


def smallest_intercept(
    loss: Loss, scores: Floats, signs: Signs, costs: Floats, check: Check | None = None
) -> float:
    """Return the smallest minimiser of the sum of losses; see ``optimal_intercepts``.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores, signs, costs : ndarray of shape (n,)
        Decision values without intercept, labels and weights.
    check : callable or None, default=None
        Called now and then; may raise to abandon the search.

    Returns
    -------
    float
        The smallest minimiser.
    """
    return _first_crossing(_Slope(loss, (scores, signs, costs), 1.0, check))


def largest_intercept(
    loss: Loss, scores: Floats, signs: Signs, costs: Floats, check: Check | None = None
) -> float:
    """Return the largest minimiser of the sum of losses; see ``optimal_intercepts``.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores, signs, costs : ndarray of shape (n,)
        Decision values without intercept, labels and weights.
    check : callable or None, default=None
        Called now and then; may raise to abandon the search.

    Returns
    -------
    float
        The largest minimiser.
    """
    # Scores and labels of the other sign, with -b in place of b, have the same margins.
    return -_first_crossing(_Slope(loss, (scores, signs, costs), -1.0, check))


@dataclass(frozen=True)
class _Place:
    """S around a place, just before and just after it, and the slope of S there.

    Parameters
    ----------
    b : float
        The place.
    before, after : float
        S just before it and just after it.
    slope_before, slope_after : float
        The slope of S there.
    """

    b: float
    before: float
    after: float
    slope_before: float
    slope_after: float


class Kinks(NamedTuple):
    """Some kinks of S, by place.

    Parameters
    ----------
    places, jumps, bends : ndarray of shape (n,)
        Where they are, how S jumps there and how its slope changes.
    """

    places: Floats
    jumps: Floats
    bends: Floats


class _Slope:
    """The derivative S of the sum of losses by the intercept, read off the scores in blocks.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    rows : tuple of ndarray of shape (n,)
        Decision values without intercept, labels and weights.
    direction : {1.0, -1.0}
        Factor of scores and labels.
    check : callable or None
        Called between blocks.
    """

    def __init__(self, loss: Loss, rows: _Rows, direction: float, check: Check | None) -> None:
        self._loss = loss
        self._scores, self._signs, self._costs = rows
        self._direction = direction
        self._check = check
        self._constants, self._slopes = loss.derivative_pieces()
        self.noise = self._rounding()

    def sampled(self) -> _Slope | None:
        """Return S over rows drawn at random, always the same ones; None if there are few."""
        n = len(self._scores)
        if n <= _FEW:
            return None
        picks = np.random.default_rng(0).integers(n, size=min(n // _SAMPLED, _LARGEST_SAMPLE))
        rows = self._scores[picks], self._signs[picks], self._costs[picks]
        return _Slope(self._loss, rows, self._direction, self._check)

    def at(self, b: float) -> _Place:
        """Sum S and its slope over all rows, just before and just after a place."""
        sums: list[list[float]] = [[], [], [], []]
        for f, y, c in self._blocks():
            positive = y > 0.0
            places = [y * kink.margin - f for kink in self._loss.kinks]
            pulls = c * y
            moments = pulls
            if self._slopes.any():
                # In the place of the scores, which are a copy.
                moments = np.add(f, b, out=f)
                moments *= y
                moments *= pulls
            # Told by places, as kinks are elsewhere: a margin may round to the other side.
            for side, passed in enumerate((np.less, np.less_equal)):
                # A negative row's margin walks down as b walks up.
                below = [passed(place, b) ^ positive for place in places]
                for constant, slope, rows in zip(
                    self._constants, self._slopes, _pieces(below), strict=False
                ):
                    if constant:
                        sums[side].append(float(constant) * _sum_where(rows, pulls))
                    if slope:
                        sums[side].append(float(slope) * _sum_where(rows, moments))
                        sums[2 + side].append(float(slope) * _sum_where(rows, c))
        before, after, slope_before, slope_after = (math.fsum(parts) for parts in sums)
        return _Place(b, before, after, slope_before, slope_after)

    def between(self, low: float, high: float) -> Kinks:
        """Return the kinks strictly between two places, by place."""
        found: list[list[Floats]] = [[], [], []]
        for f, y, c in self._blocks():
            for kink in self._loss.kinks:
                places = y * kink.margin - f
                inside = np.flatnonzero((places > low) & (places < high))
                found[0].append(places[inside])
                found[1].append(c[inside] * kink.jump)
                # A negative row's margin walks down as b walks up: its bends change their sign.
                found[2].append(c[inside] * y[inside] * kink.bend)
        places, jumps, bends = (np.concatenate(parts) for parts in found)
        order = np.argsort(places, kind="stable")
        return Kinks(places[order], jumps[order], bends[order])

    def _blocks(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield scores, signs and costs of a block of rows at a time, in this direction."""
        size = min(max(len(self._scores) // _BLOCKS, _BLOCK), _LONGEST_BLOCK)
        for start in range(0, len(self._scores), size):
            if self._check is not None:
                self._check()
            part = slice(start, start + size)
            y = self._direction * self._signs[part].astype(np.float64)
            yield self._direction * self._scores[part], y, self._costs[part]

    def _rounding(self) -> float:
        """Return a bound on the rounding error of S anywhere between its first and last kink."""
        totals, moments, largest = [], [], 0.0
        for f, _, c in self._blocks():
            sizes = np.abs(f)
            totals.append(float(np.sum(c)))
            moments.append(float(np.sum(c * sizes)))
            counted = c > 0
            own = sizes if counted.all() else sizes[counted]
            largest = max(largest, float(np.max(own, initial=0.0)))
        reach = largest + max(abs(kink.margin) for kink in self._loss.kinks)
        total, moment = math.fsum(totals), math.fsum(moments)
        constant, slope = float(np.max(np.abs(self._constants))), float(np.max(self._slopes))
        return _ROUNDINGS * _EPS * (constant * total + slope * (moment + reach * total))


def _pieces(below: list[NDArray[np.bool_]]) -> Iterator[NDArray[np.bool_]]:
    """Yield the rows on every piece of the loss but the last, where it is zero.

    Parameters
    ----------
    below : list of ndarray
        For every kink, by increasing margin, the rows whose margins are below it.
    """
    yield below[0]
    for before, here in itertools.pairwise(below):
        yield here & ~before


def _sum_where(rows: NDArray[np.bool_], terms: Floats) -> float:
    """Return the sum of the terms of some rows, pairwise."""
    # A product with zeros and ones is several times as fast as a choice that nobody can foresee.
    return float(np.sum(rows * terms))


def _first_crossing(slope: _Slope) -> float:
    """Return the smallest b at which S is not negative, so far as rounding can tell."""
    if not math.isfinite(slope.noise):
        return -math.inf
    low, high = _bracket(slope, -slope.noise)
    if low is not None and low is high:
        return low.b
    first = -math.inf if low is None else low.b
    last = math.inf if high is None else high.b
    kinks = slope.between(first, last)
    if low is None:
        # Nothing bends or jumps before the first kink, so S is summed right there.
        first = float(kinks.places[0]) if len(kinks.places) else last
        at_first = slope.at(first)
        low = replace(at_first, after=at_first.before, slope_after=at_first.slope_before)
    return _crossing_between(low, kinks, last, slope.noise)


def _bracket(slope: _Slope, level: float) -> tuple[_Place | None, _Place | None]:
    """Return a place before and a place after the crossing, few kinks between them.

    None stands for infinity. Both are the same place where S jumps across the level.
    """
    sample = slope.sampled()
    low: _Place | None = None
    high: _Place | None = None
    if sample is None:
        return low, high
    places = sample.between(-math.inf, math.inf).places
    rank = int(np.searchsorted(places, _first_crossing(sample)))
    reach = math.ceil(_SPREAD * math.sqrt(len(places)))
    probes = [rank + reach, rank - reach]
    first, last = 0, len(places)  # of the sample's kinks, those between low and high
    while last - first > 2 * reach:
        # Where the sample has misled, halve what is left of it.
        probe = probes.pop() if probes else (first + last) // 2
        if not first <= probe < last:
            continue
        place = slope.at(float(places[probe]))
        if place.after < level:
            low, first = place, int(np.searchsorted(places, place.b, side="right"))
        elif place.before >= level:
            high, last = place, int(np.searchsorted(places, place.b, side="left"))
        else:
            return place, place
    return low, high


def _crossing_between(low: _Place, kinks: Kinks, last: float, noise: float) -> float:
    """Return the smallest b from ``low`` to ``last`` at which S reaches zero, less its noise.

    Parameters
    ----------
    low : _Place
        Where to begin; S is negative just after it.
    kinks : Kinks
        All kinks between there and ``last``.
    last : float
        Where to end; may be infinite.
    noise : float
        Bound on the rounding error of S at the beginning.
    """
    if math.isfinite(last):
        # The piece between the last kink and there ends like any other.
        kinks = Kinks(
            *(np.append(part, end) for part, end in zip(kinks, (last, 0, 0), strict=True))
        )
    begin = (np.asarray([number]) for number in (low.b, low.after, low.slope_after, noise))
    places, values, slopes, noises = begin
    table, count = Kinks(*(part[None, :] for part in kinks)), np.asarray([len(kinks.places)])
    return float(crossings_between(places, values, slopes, noises, table, count)[0])


def crossings_between(
    places: Floats, values: Floats, slopes: Floats, noise: Floats, kinks: Kinks, counts: Ids
) -> Floats:
    """Return where each of several S reaches zero, less its noise; at its last kink if nowhere.

    Parameters
    ----------
    places, values, slopes : ndarray of shape (m,)
        Where to begin, and S and its slope just after that.
    noise : ndarray of shape (m,)
        Bounds on the rounding errors of S there.
    kinks : Kinks
        Arrays of shape (m, n): the kinks of each from there on, by place. Its last one may be
        followed by others at the same place that neither jump nor bend.
    counts : ndarray of int64 of shape (m,)
        How many kinks each has.
    """
    slopes_after = slopes[:, None] + np.cumsum(kinks.bends, axis=1)
    slopes_before = slopes_after - kinks.bends
    rises = slopes_before * np.diff(kinks.places, prepend=places[:, None])
    after = values[:, None] + np.cumsum(rises + kinks.jumps, axis=1)
    before = after - kinks.jumps
    # Running sums: their errors come on top of those of S at the place where they begin.
    variation = np.sum(np.abs(rises), axis=1) + np.sum(kinks.jumps, axis=1)
    variation += (kinks.places[:, -1] - places) * np.sum(np.abs(kinks.bends), axis=1)
    level = -(noise + counts * _EPS * variation)
    reached = after >= level[:, None]
    k = np.where(reached.any(axis=1), np.argmax(reached, axis=1), counts - 1)
    each = np.arange(len(k))
    place, steepness = kinks.places[each, k], slopes_before[each, k]
    # Crossed at the kink, or else on the piece that ends there.
    start = np.where(k > 0, kinks.places[each, k - 1], places)
    value = np.where(k > 0, after[each, k - 1], values)
    rises_there = (value < level) & (steepness > 0.0)
    ahead = np.divide(level - value, steepness, out=np.zeros(len(k)), where=rises_there)
    on_piece = np.clip(start + ahead, start, place)
    on_piece = np.where((value < level) & ~rises_there, place, on_piece)
    return np.where(before[each, k] < level, place, on_piece)
