r"""Decision values of machines of pairs of groups of rows, with a bound on every rounding error.

What :mod:`hinge.certificates.kernel_scores` does for one machine is done here for many that share
rows and support vectors: rows and support vectors are prepared once for all of them, and kernel
values of a group with itself are computed once (:mod:`hinge.certificates.pair_groups`). Support
vectors, and rows that float32 does not decide, are computed in float64.

A task is some rows of one group in all of its pairs. Tasks write to places of their own, so that
the bits do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_panels import (
    PANEL_COLUMNS,
    Columns,
    Panel,
    ProductPanels,
    joined,
)
from hinge.certificates.kernel_scores import Scores, surely_beyond
from hinge.certificates.pair_groups import PairPoints, Side
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Check = Callable[[], None]
Weighted = list[tuple[Columns, Floats]]  # support vectors, and weights of each in some sums

_TASK_ROWS = 2048
_PANEL_ROWS = 512
_MOST = 0.5  # share of the values of rows in all pairs, from which all are computed
_FEW_VALUES = 1 << 20  # kernel values that float64 computes before float32 is prepared
_WORTH_IT = 0.5  # of a margin: a bound on errors that leaves most rows decided
_USEFUL = 0.1  # a relative error beyond this bounds nothing


class SideScores:
    """Scores of the rows of a group in its pairs, as far as they are known.

    Parameters
    ----------
    side : Side
        The group.

    Attributes
    ----------
    own, other : ndarray of shape (n_pairs, n)
        Sums over the support vectors of the group, and over those of the other one of the pair.
    own_size, other_size : ndarray of shape (n_pairs, n)
        The same of absolute values.
    relative, absolute : ndarray of shape (n_pairs, n)
        Bounds on the errors of the kernel values.
    """

    def __init__(self, side: Side) -> None:
        shape = side.alpha.shape
        self.own, self.other = np.zeros(shape), np.zeros(shape)
        self.own_size, self.other_size = np.zeros(shape), np.zeros(shape)
        self.relative, self.absolute = np.zeros(shape), np.zeros(shape)

    def scores(self, side: Side, terms: Floats, totals: Floats) -> Scores:
        """Return the scores with bounds on their errors, in the shape of the pairs and rows.

        Parameters
        ----------
        side : Side
            The group.
        terms, totals : ndarray of shape (n_pairs, 1)
            How many support vectors the pairs have, and bounds on the sums of their coefficients.
        """
        magnitude = self.own_size + self.other_size
        summed = (terms + 16.0) * UNIT_ROUNDOFF
        inexact = self.relative + summed / (1.0 - summed) + 8.0 * UNIT_ROUNDOFF
        # Errors multiply up; while their sum is small, its square is more than that adds.
        error = inexact * (1.0 + 2.0 * inexact) * magnitude + self.absolute * totals * 1.01
        error[inexact >= _USEFUL] = np.inf
        is_second = side.signs > 0.0
        return Scores(
            np.where(is_second, self.own, self.other),
            np.where(is_second, self.other, self.own),
            magnitude,
            error,
        )


class _Arithmetic:
    """Kernel values of all sides, in float32 or in float64.

    Parameters
    ----------
    points : PairPoints
        The points.
    dtype : dtype
        The arithmetic.
    """

    def __init__(self, points: PairPoints, dtype: Any) -> None:
        sides = points.sides
        self._points = points
        support = np.concatenate([side.ids[: side.n_support] for side in sides])
        every = np.concatenate([side.ids for side in sides])
        rows = points.rows
        self.panels = ProductPanels(points.kernel, (rows, support), (rows, every), dtype)
        self._columns = {
            side.group: self.panels.columns(rows, side.ids[: side.n_support]) for side in sides
        }
        self._sides = {side.group: side for side in sides}

    def own(self, side: Side) -> Weighted:
        """Return the support vectors of a group, with their weights in all of its pairs."""
        return _cut(self._columns[side.group], side.alpha[:, : side.n_support].T)

    def others(self, side: Side, places: Ids) -> Weighted:
        """Return those of the other groups of some pairs, with their weights in these pairs."""
        columns, weights = [], []
        for k, place in enumerate(places.tolist()):
            facing = self._sides[side.others[place]]
            alpha = facing.alpha[facing.place_of(side.numbers[place]), : facing.n_support]
            used = np.flatnonzero(alpha)
            columns.append(self._columns[facing.group].some(used))
            weights.append(np.zeros((len(used), len(places))))
            weights[-1][:, k] = alpha[used]
        return _cut(joined(columns), np.concatenate(weights))

    def panel(self, side: Side, which: Ids) -> Panel:
        """Return some rows of a group, prepared."""
        return self.panels.panel(self._points.rows, side.ids[which])

    def sums(self, panel: Panel, weighted: Weighted) -> tuple[Floats, Floats]:
        """Return the sums of kernel values times weights, and of their absolute values."""
        found: list[Floats] = []
        for columns, weights in weighted:
            values = self.panels.values(panel, columns)
            parts = [values @ weights]
            if not self._points.kernel.is_never_negative:
                parts.append(np.abs(values, out=values) @ weights)
            found = parts if not found else [a + b for a, b in zip(found, parts, strict=True)]
        scaled = [(part * panel.factors[:, None]).T for part in found]
        return scaled[0], scaled[-1]


def _cut(columns: Columns, weights: Floats) -> Weighted:
    """Return columns in pieces of bounded width; weights take up the factors of their values."""
    width = len(columns.factors)
    weights = np.ascontiguousarray(weights * columns.factors[:, None])
    if width <= PANEL_COLUMNS:
        return [(columns, weights)]
    cuts = [np.arange(k, min(k + PANEL_COLUMNS, width)) for k in range(0, width, PANEL_COLUMNS)]
    return [(columns.some(cut), weights[cut]) for cut in cuts]


@dataclass(frozen=True)
class _Task:
    """Some rows of a group, and in which pairs their values are wanted.

    Parameters
    ----------
    side : Side
        The group.
    scores : SideScores
        Where to put what is found.
    rows : ndarray of int64
        The rows, in the order of the group.
    first : int
        The sums over the support vectors of the group are wanted of rows from this one on.
    wanted : ndarray of bool of shape (n_pairs, len(rows))
        Where those over the other group's are.
    """

    side: Side
    scores: SideScores
    rows: Ids
    first: int
    wanted: Flags

    def run(self, arithmetic: _Arithmetic) -> None:
        """Compute the values."""
        cuts = [slice(k, k + _PANEL_ROWS) for k in range(0, len(self.rows), _PANEL_ROWS)]
        panels = [arithmetic.panel(self.side, self.rows[cut]) for cut in cuts]
        if self.rows[-1] >= self.first:
            own = arithmetic.own(self.side)
            for cut, panel in zip(cuts, panels, strict=True):
                self._add_own(arithmetic, self.rows[cut], panel, own)
        errors = [arithmetic.panels.error(panel) for panel in panels]
        # Where most is wanted, all pairs together are one product.
        together = np.flatnonzero(self.wanted.any(axis=1))
        apart = [together] if np.mean(self.wanted[together]) >= _MOST else together[:, None]
        for places in apart:
            others = arithmetic.others(self.side, places)
            for cut, panel, error in zip(cuts, panels, errors, strict=True):
                where = _some_of(np.any(self.wanted[places, cut], axis=0))
                found = arithmetic.sums(panel.some(where), others)
                self._put(places, cut, where, (*found, error[0][where], error[1][where]))

    def _add_own(self, arithmetic: _Arithmetic, rows: Ids, panel: Panel, own: Weighted) -> None:
        """Compute the sums of some rows over the support vectors of their own group."""
        late = _some_of(rows >= self.first)
        if len(rows[late]):
            found = arithmetic.sums(panel.some(late), own)
            self.scores.own[:, rows[late]], self.scores.own_size[:, rows[late]] = found

    def _put(self, places: Ids, cut: slice, where: Ids | slice, found: tuple[Floats, ...]) -> None:
        """Put the sums over others, and errors, where they are wanted."""
        rows = self.rows[cut][where]
        names = ("other", "other_size", "relative", "absolute")
        wanted = self.wanted[places, cut][:, where]
        for name, values in zip(names, found, strict=True):
            target = getattr(self.scores, name)
            if wanted.all():
                target[places[:, None], rows] = values
            else:
                at, some = np.nonzero(wanted)
                target[places[at], rows[some]] = np.broadcast_to(values, wanted.shape)[at, some]


def _some_of(wanted: Flags) -> Ids | slice:
    """Return where flags are set; a slice if that is everywhere."""
    return slice(None) if wanted.all() else np.flatnonzero(wanted)


class PairScores:
    """Scores of all rows in all of their pairs.

    Parameters
    ----------
    points : PairPoints
        The points.
    threads : int
        Threads that share out rows.
    check : callable or None
        Called between tasks; may raise to abandon them.

    Attributes
    ----------
    sides : list of SideScores
        What is known, for every side of the points.
    """

    def __init__(self, points: PairPoints, threads: int, check: Check | None) -> None:
        self.sides = [SideScores(side) for side in points.sides]
        self._points = points
        self._threads = threads
        self._check = check
        self._exact = _Arithmetic(points, np.float64)
        counts = [np.count_nonzero(alpha) for pair in points.alpha for alpha in pair]
        self._terms = np.asarray(counts, dtype=np.float64).reshape(-1, 2).sum(axis=1)
        sums = np.asarray([float(np.sum(a) + np.sum(b)) for a, b in points.alpha])
        self._totals = sums * (1.0 + rounding_factor(int(max(counts, default=0)) + 4))
        self._find()

    def of(self, place: int) -> Scores:
        """Return the scores of a side, in the shape of its pairs and rows.

        Parameters
        ----------
        place : int
            Which of the sides.
        """
        side = self._points.sides[place]
        terms, totals = self._terms[side.numbers, None], self._totals[side.numbers, None]
        return self.sides[place].scores(side, terms, totals)

    def _find(self) -> None:
        """Compute all values, those that float32 decides in float32."""
        sides = self._points.sides
        values = sum(side.alpha.shape[1] * int(np.count_nonzero(side.alpha)) for side in sides)
        supports = [side.alpha != 0.0 for side in sides]
        if values <= _FEW_VALUES:
            every = [np.ones_like(support) for support in supports]
            self._compute(self._exact, every, is_first=True)
            return
        self._compute(self._exact, supports, is_first=True)
        rest = [~support for support in supports]
        singles = _Arithmetic(self._points, np.float32)
        if self._is_worth_it(singles):
            self._compute(singles, rest)
            rest = [self._open(place, some) for place, some in enumerate(rest)]
        self._compute(self._exact, rest)

    def _compute(
        self, arithmetic: _Arithmetic, wanted: list[Flags], *, is_first: bool = False
    ) -> None:
        """Compute the values of some rows in some pairs, in an arithmetic."""
        tasks: list[_Task] = []
        for side, scores, flags in zip(self._points.sides, self.sides, wanted, strict=True):
            rows = np.flatnonzero(flags.any(axis=0))
            # The first turn, in float64, has given support vectors their own sums in all pairs.
            first = 0 if is_first else side.n_support
            for start in range(0, len(rows), _TASK_ROWS):
                part = rows[start : start + _TASK_ROWS]
                tasks.append(_Task(side, scores, part, first, flags[:, part]))
        if tasks:
            map_numbers(
                lambda number: tasks[number].run(arithmetic),
                len(tasks),
                _nothing,
                threads=self._threads,
                check=self._check,
            )

    def _open(self, place: int, wanted: Flags) -> Flags:
        """Return where float32 has not shown that a row's margin is beyond all losses."""
        side = self._points.sides[place]
        intercept = self._points.intercept[side.numbers, None]
        decided = surely_beyond(self._points.loss, side.signs, intercept, self.of(place))
        return np.asarray(wanted & ~decided)

    def _is_worth_it(self, singles: _Arithmetic) -> bool:
        """Return whether float32 will decide so many rows that trying it first saves time."""
        sides = self._points.sides
        sizes = [
            scores.own_size[:, : side.n_support] + scores.other_size[:, : side.n_support]
            for side, scores in zip(sides, self.sides, strict=True)
        ]
        at_support = np.concatenate([size[size > 0.0] for size in sizes])
        largest = max(sides, key=lambda side: len(side.ids))
        sample = np.arange(0, len(largest.ids), max(1, len(largest.ids) // _PANEL_ROWS))
        relative, absolute = singles.panels.error(singles.panel(largest, sample))
        error = relative * np.median(at_support) + absolute * float(np.max(self._totals))
        return bool(np.median(error) <= _WORTH_IT)


def _nothing(a: None, b: None) -> None:
    """Merge results that are none."""
