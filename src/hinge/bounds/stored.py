"""Margins as they were at some weights, and which rows may have changed their side since."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.bounds.cells import Cells
from hinge.bounds.pieces import Pieces
from hinge.bounds.products import dot, norm
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
RowList = NDArray[np.uint32]

_SPARE = 16
SORT_AFTER_SCANS = 12  # looking at all keys this often costs as much as sorting them once


@dataclass
class Reference:
    """Weights, and the margins of all rows under them.

    Parameters
    ----------
    w : ndarray of shape (n_features,)
        The weights.
    b : float
        The intercept.
    margins : ndarray of shape (n_rows,)
        The margins.
    """

    w: Floats
    b: float
    margins: Floats


@dataclass
class Direction:
    """Where the weights came from: how margins changed on the way is known of every row.

    Parameters
    ----------
    step : ndarray of shape (n_features,)
        Weights of the reference minus those of the one before.
    square : float
        Its squared length.
    changes : ndarray of shape (n_rows,)
        Change of each margin that the step alone made, without that of the intercept.
    error : float
        Bound on the rounding of these changes.
    """

    step: Floats
    square: float
    changes: Floats
    error: float


@dataclass
class Positions:
    """Rows cell by cell with what a scan needs of them, in float32.

    Parameters
    ----------
    order : ndarray of uint32
        The row at each position.
    starts : ndarray of int64
        Where each cell begins, and the end.
    keys : ndarray of float32
        Margins of the reference.
    slopes, distances : ndarray of float32 or None
        Changes along the direction; distances from the centre.
    steepest : ndarray of shape (n_cells,)
        The largest slope of each cell in size.
    is_sorted : bool, default=False
        Whether each cell is in the order of its keys.
    """

    order: RowList
    starts: NDArray[np.int64]
    keys: Floats32
    slopes: Floats32 | None
    distances: Floats32 | None
    steepest: Floats
    is_sorted: bool = False
    scans: int = field(default=0)

    def native(self) -> core.CellPositions:
        """Return the view that the compiled core works on."""
        return core.CellPositions(
            self.order, self.keys, self.slopes, self.distances, self.starts, self.is_sorted
        )

    def sort(self) -> None:
        """Put each cell in the order of its keys."""
        places = np.arange(len(self.order), dtype=np.uint32)
        scratch = np.empty_like(places)
        for begin, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            core.sort_cell(self.keys, places, scratch, begin, end)
        self.order = self.order[places]
        self.keys = self.keys[places]
        self.slopes = None if self.slopes is None else self.slopes[places]
        self.distances = None if self.distances is None else self.distances[places]
        self.is_sorted = True


class StoredMargins:
    """The last full pass, ready to say which rows must be looked at again.

    Parameters
    ----------
    rows : Rows
        The data.
    signs : ndarray of int8 of shape (n_rows,)
        The labels.
    cells : Cells
        The cells of the rows.
    extrapolates : bool
        Whether the step between the last two passes is used as a direction.
    """

    def __init__(
        self, rows: Rows, signs: NDArray[np.int8], cells: Cells, extrapolates: bool
    ) -> None:
        self.cells, self.extrapolates, self.signs = cells, extrapolates, signs
        self.largest_norm = float(np.max(rows.norm_bounds(rows.squared_norms), initial=0.0))
        self.terms = rows.longest_row
        self.order: RowList = np.argsort(cells.of_row, kind="stable").astype(np.uint32)
        counts = np.bincount(cells.of_row, minlength=cells.count)
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.distances: Floats32 | None = None
        if cells.distances is not None:
            self.distances = _rounded_up(cells.distances[self.order])
        self.reference: Reference | None = None
        self.direction: Direction | None = None
        self.positions: Positions | None = None
        self._open = np.empty(rows.n_rows + 1, dtype=np.uint32)

    def store(self, reference: Reference) -> None:
        """Take the margins of a full pass as those to start from."""
        before, self.reference = self.reference, reference
        self.positions = None
        self.direction = None
        if before is not None and self.extrapolates:
            step = reference.w - before.w
            square = dot(step, step)
            if square > 0.0:
                changes = reference.margins - before.margins
                changes -= self.signs * (reference.b - before.b)
                error = 2.0 * self._store_error(reference.w, reference.b, before)
                self.direction = Direction(step, square, changes, error)

    def open_rows(self, w: Floats, b: float, pieces: Pieces) -> RowList:
        """Return the rows that may have left their side of the window."""
        positions = self._ready_positions()
        table, movement = self._movement(w, b, positions)
        count = core.open_rows(
            positions.native(), table, movement, pieces.low, pieces.high, self._open
        )
        return self._open[:count]

    def lower_bounds(self, w: Floats, b: float) -> tuple[RowList, Floats]:
        """Return the rows in some order, and a lower bound on the margin of each."""
        positions = self._ready_positions()
        table, movement = self._movement(w, b, positions)
        lowest = np.empty(len(positions.order))
        core.lower_bounds(positions.native(), table, movement, lowest)
        return positions.order, lowest

    def _ready_positions(self) -> Positions:
        """Return the positions, made when first asked for and sorted when that is worth it."""
        if self.positions is None:
            self.positions = self._make_positions()
        elif not self.positions.is_sorted:
            self.positions.scans += 1
            if self.positions.scans >= SORT_AFTER_SCANS:
                self.positions.sort()
        return self.positions

    def _make_positions(self) -> Positions:
        assert self.reference is not None
        keys = _as_float32(self.reference.margins[self.order])
        slopes, steepest = None, np.zeros(self.cells.count)
        if self.direction is not None:
            slopes = _as_float32(self.direction.changes[self.order])
            for cell in range(self.cells.count):
                part = slopes[self.starts[cell] : self.starts[cell + 1]]
                largest = max(np.max(part, initial=0.0), -np.min(part, initial=0.0))
                steepest[cell] = largest
        return Positions(self.order, self.starts, keys, slopes, self.distances, steepest)

    def _movement(self, w: Floats, b: float, positions: Positions) -> tuple[Floats, core.Movement]:
        """Return what the change of the weights means for each cell, and for a row of it."""
        assert self.reference is not None
        moved = w - self.reference.w
        along = slope_error = 0.0
        slack = 2.0 * UNIT_ROUNDOFF * norm(moved)
        if self.direction is not None:
            along = dot(self.direction.step, moved) / self.direction.square
            part = along * self.direction.step
            moved = moved - part
            slack += 4.0 * UNIT_ROUNDOFF * norm(part) + 2.0 * UNIT_ROUNDOFF * norm(moved)
            slope_error = abs(along) * self.direction.error
        change = self.cells.change(moved, b - self.reference.b, slack)
        table = np.stack([change.shift, change.spread, change.rounding, positions.steepest])
        error = self._store_error(w, b, self.reference)
        return table, core.Movement(change.length, along, slope_error, error)

    def _store_error(self, w: Floats, b: float, reference: Reference) -> float:
        """Bound the rounding of a stored and a new margin together."""
        sizes = (norm(w) + norm(reference.w)) * self.largest_norm + abs(b) + abs(reference.b)
        factor = rounding_factor(self.terms + _SPARE) + rounding_factor(len(w) + _SPARE) ** 2
        return (sizes + 2.0) * factor * (1.0 + _SPARE * UNIT_ROUNDOFF)


def _as_float32(values: Floats) -> Floats32:
    """Return the nearest float32 values; what is too large becomes infinite, and stays open."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _rounded_up(values: Floats) -> Floats32:
    """Return float32 values that are no smaller."""
    return np.nextafter(_as_float32(values), np.float32(np.inf))
