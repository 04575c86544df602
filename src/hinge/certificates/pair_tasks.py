r"""Sums of kernel values of groups of rows in all of their pairs, a task at a time.

A task is some rows of one group in all of its pairs. Tasks write to places of their own, so that
the bits do not depend on threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_margins import Scores, absolute_error, bounded_error
from hinge.certificates.kernel_panels import (
    PANEL_COLUMNS,
    Columns,
    Panel,
    ProductPanels,
    joined,
)
from hinge.certificates.kernel_weights import PanelWeights, sum_error, sum_loss
from hinge.certificates.pair_groups import PairPoints, Side
from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels import Kernel

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Weighted = list[tuple[Columns, PanelWeights]]  # support vectors, and weights of each in some sums

PANEL_ROWS = 512
_MOST = 0.5  # share of the values of rows in all pairs, from which all are computed


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

    def scores(self, kernel: Kernel, side: Side, terms: Floats, totals: Floats) -> Scores:
        """Return the scores with bounds on their errors, in the shape of the pairs and rows.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        side : Side
            The group.
        terms, totals : ndarray of shape (n_pairs, 1)
            How many support vectors the pairs have, and bounds on the sums of their coefficients.
        """
        is_second = side.signs > 0.0
        sums = (
            np.where(is_second, self.own, self.other),
            np.where(is_second, self.other, self.own),
            self.own_size + self.other_size,
        )
        return total_scores(kernel, sums, (self.relative, self.absolute), (terms, totals))


def total_scores(
    kernel: Kernel,
    sums: tuple[Floats, Floats, Floats],
    errors: tuple[Floats, Floats],
    support: tuple[Floats, Floats],
) -> Scores:
    """Return scores with bounds on their errors.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    sums : tuple of ndarray of shape (n_pairs, n)
        Sums over the second and over the first group, and of absolute values over both.
    errors : tuple of ndarray
        Relative and absolute error bounds of kernel values.
    support : tuple of ndarray of shape (n_pairs, 1)
        How many support vectors the pairs have, and bounds on the sums of their coefficients.
    """
    (relative, absolute), (terms, totals) = errors, support
    summed = (terms + 16.0) * UNIT_ROUNDOFF
    inexact = relative + summed / (1.0 - summed) + 8.0 * UNIT_ROUNDOFF
    absolute = absolute_error(kernel, (inexact, absolute), sums[2], totals)
    return Scores(*sums, bounded_error(inexact, sums[2], absolute))


class Arithmetic:
    """Kernel values of all sides, in float32 or in float64.

    Parameters
    ----------
    points : PairPoints
        The points.
    dtype : dtype
        The arithmetic.

    Attributes
    ----------
    support, every : ndarray of int64
        The support vectors and the rows of all sides, one side after another.
    """

    def __init__(self, points: PairPoints, dtype: Any) -> None:
        sides, rows = points.sides, points.rows
        self._points = points
        self.support = np.concatenate([side.ids[: side.n_support] for side in sides])
        self.every = np.concatenate([side.ids for side in sides])
        self.panels = ProductPanels(points.kernel, (rows, self.support), (rows, self.every), dtype)
        self._sides = {side.group: side for side in sides}

    @cached_property
    def _columns(self) -> dict[int, Columns]:
        """The support vectors of every group, prepared."""
        rows = self._points.rows
        return {
            group: self.panels.columns(rows, side.ids[: side.n_support])
            for group, side in self._sides.items()
        }

    def own(self, side: Side) -> Weighted:
        """Return the support vectors of a group, with their weights in all of its pairs."""
        return self._cut(self._columns[side.group], side.alpha[:, : side.n_support].T)

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
        return self._cut(joined(columns), np.concatenate(weights))

    def facing(self, side: Side, place: int) -> list[tuple[Columns, Floats]]:
        """Return the support vectors of the other group of a pair in pieces, with their weights."""
        facing = self._sides[side.others[place]]
        alpha = facing.alpha[facing.place_of(side.numbers[place]), : facing.n_support]
        used, whole = np.flatnonzero(alpha), self._columns[facing.group]
        cuts = [used[k : k + PANEL_COLUMNS] for k in range(0, len(used), PANEL_COLUMNS)]
        pieces = [whole.some(cut) for cut in cuts]
        return [(c, alpha[cut] * c.factors) for c, cut in zip(pieces, cuts, strict=True)]

    @property
    def never_cancels(self) -> bool:
        """Whether no kernel value is negative."""
        return bool(self._points.kernel.is_never_negative)

    def panel(self, side: Side, which: Ids) -> Panel:
        """Return some rows of a group, prepared."""
        return self.panels.panel(self._points.rows, side.ids[which])

    @cached_property
    def _errors(self) -> dict[int, tuple[Floats, Floats]]:
        """Bounds on the errors of all rows of every group."""
        rows = self._points.rows
        return {
            group: self.error(self.panels.norms(rows, side.ids))
            for group, side in self._sides.items()
        }

    def errors(self, side: Side, which: Ids) -> tuple[Floats, Floats]:
        """Return relative and absolute error bounds of sums of values of some rows of a group."""
        relative, absolute = self._errors[side.group]
        return relative[which], absolute[which]

    def error(self, norms: Floats) -> tuple[Floats, Floats]:
        """Return relative and absolute error bounds of sums of values of rows of such norms.

        What sums in float64 add is left to others.
        """
        kind = self.panels.dtype
        relative, absolute = self.panels.error(norms)
        return relative + sum_error(kind), absolute + sum_loss(kind, len(self.support))

    def prepare(self) -> None:
        """Prepare what all tasks share, before threads ask for it."""
        _ = self._columns, self._errors

    def sums(self, panel: Panel, weighted: Weighted) -> tuple[Floats, Floats]:
        """Return the sums of kernel values times weights, and of their absolute values."""
        found: list[Floats] = []
        for columns, weights in weighted:
            values = self.panels.values(panel, columns)
            parts = [weights.sums(values)]
            if not self.never_cancels:
                parts.append(weights.sums(np.abs(values, out=values)))
            found = parts if not found else [a + b for a, b in zip(found, parts, strict=True)]
        scaled = [(part * panel.factors[:, None]).T for part in found]
        return scaled[0], scaled[-1]

    def _cut(self, columns: Columns, weights: Floats) -> Weighted:
        """Return columns in pieces of bounded width, with weights that take up their factors."""
        width, kind = len(columns.factors), self.panels.dtype
        weights = np.ascontiguousarray(weights * columns.factors[:, None])
        if width <= PANEL_COLUMNS:
            return [(columns, PanelWeights(weights, kind))]
        cuts = [np.arange(k, min(k + PANEL_COLUMNS, width)) for k in range(0, width, PANEL_COLUMNS)]
        return [(columns.some(cut), PanelWeights(weights[cut], kind)) for cut in cuts]


@dataclass(frozen=True)
class Task:
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

    def run(self, arithmetic: Arithmetic) -> None:
        """Compute the values."""
        cuts = [slice(k, k + PANEL_ROWS) for k in range(0, len(self.rows), PANEL_ROWS)]
        panels = [arithmetic.panel(self.side, self.rows[cut]) for cut in cuts]
        if self.rows[-1] >= self.first:
            own = arithmetic.own(self.side)
            for cut, panel in zip(cuts, panels, strict=True):
                self._add_own(arithmetic, self.rows[cut], panel, own)
        together = np.flatnonzero(self.wanted.any(axis=1))
        if not len(together):
            return
        errors = [arithmetic.errors(self.side, self.rows[cut]) for cut in cuts]
        # Where most is wanted, all pairs together are one product.
        apart = [together] if np.mean(self.wanted[together]) >= _MOST else together[:, None]
        for places in apart:
            others = arithmetic.others(self.side, places)
            for cut, panel, error in zip(cuts, panels, errors, strict=True):
                where = _some_of(np.any(self.wanted[places, cut], axis=0))
                found = arithmetic.sums(panel.some(where), others)
                self._put(places, cut, where, (*found, error[0][where], error[1][where]))

    def _add_own(self, arithmetic: Arithmetic, rows: Ids, panel: Panel, own: Weighted) -> None:
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
