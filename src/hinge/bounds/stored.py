"""Margins as they were at some weights, and which rows may have changed their side since."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.bounds.cells import Cells, Change, Decides
from hinge.bounds.geometry import by_group
from hinge.bounds.pieces import Pieces
from hinge.bounds.positions import Check, Direction, Layout, Moved, Positions, Reference, runs
from hinge.bounds.products import SMALLEST, dot, dots, norm
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]

_SPARE = 16
_FLOAT_ERROR = 2.0**-22  # of a key or slope as float32, generously
_LEAST_SQUARE = 1e-290  # of a step: underflow takes too much of a smaller one
_SAMPLE = 1024
_SAMPLED_FROM = 4 * _SAMPLE  # rows from which a look at a sample pays
_CALL = 1 << 22  # positions that a call looks at, some 10 ms
SORT_AFTER_SCANS = 24  # looking at all keys this often costs as much as sorting them once


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
        self.layout = Layout.of(cells, *by_group(cells.of_row, cells.count))
        self.sample: Layout | None = None
        if rows.n_rows > _SAMPLED_FROM:
            self.sample = self.layout.every(rows.n_rows // _SAMPLE)
        self.reference: Reference | None = None
        self.direction: Direction | None = None
        self.positions: Positions | None = None
        self._before: Reference | None = None
        self._is_ready = False
        self._vectors = np.empty((0, rows.n_features))
        self._norm = 0.0
        self._open = np.empty(rows.n_rows + 1, dtype=np.uint32)
        self.check: Check | None = None  # called between native calls; may raise to give up

    def store(self, reference: Reference) -> None:
        """Take the margins of a full pass as those to start from."""
        self._before, self.reference = self.reference, reference
        self.positions = self.direction = None
        self._is_ready = False

    def _make_ready(self) -> None:
        """Make what a look at the bound needs, when there is one."""
        reference, before = self.reference, self._before
        if self._is_ready or reference is None:
            return
        self._is_ready = True
        self._norm = norm(reference.w)
        vectors = [] if self.cells.centres is None else list(self.cells.centres)
        if before is not None and self.extrapolates:
            step = reference.w - before.w
            square = dot(step, step)
            if square >= _LEAST_SQUARE:
                centres = self.cells.centres
                towards = None if centres is None else dots(centres, step)
                error = 2.0 * self._store_error(norm(before.w), before.b)
                self.direction = Direction(before, step, square, towards, error)
                vectors = [step, *vectors]
        self._vectors = np.array(vectors).reshape(len(vectors), len(reference.w))

    def moved(self, w: Floats, base: Floats | None = None) -> Moved:
        """Return how far these weights are from the stored ones, in one read of all vectors."""
        assert self.reference is not None
        self._make_ready()
        products = np.empty(len(self._vectors))
        sums = core.movement(w, self.reference.w, base, self._vectors, products)
        return Moved(w, *sums, products)

    def guess_open(self, moved: Moved, b: float, pieces: Pieces) -> int | None:
        """Return about how many rows are open where finding them would cost much; else None."""
        if self.sample is None or self.positions is not None:
            return None
        positions = self._make_positions(self.sample)
        count = self._list_open(moved, b, pieces, positions, self._open)
        return count * len(self.layout.order) // len(positions.order)

    def open_rows(self, moved: Moved, b: float, pieces: Pieces) -> RowList:
        """Return the rows that may have left their side of the window."""
        count = self._list_open(moved, b, pieces, self._ready_positions(), self._open)
        return self._open[:count]

    def _list_open(
        self, moved: Moved, b: float, pieces: Pieces, positions: Positions, room: RowList
    ) -> int:
        """Write the rows that may have left their side of the window; return how many."""
        table, movement = self._movement(moved, b, positions, pieces)
        native, window = positions.native(), (pieces.low, pieces.high)
        total, count = len(positions.order), 0
        for begin in range(0, total, _CALL):
            if begin > 0:
                self._pause()
            span = (begin, min(begin + _CALL, total))
            count += core.open_rows(native, table, movement, window, span, room[count:])
        return count

    def _pause(self) -> None:
        """Ask between two native calls whether to go on."""
        if self.check is not None:
            self.check()

    def decided(
        self, w: Floats, b: float, pieces: Pieces, drawn: RowList
    ) -> tuple[RowList, RowList]:
        """Return which of some rows are surely on the linear piece, and which are open."""
        reference = self.reference
        assert reference is not None
        positions = self._positions_of(drawn)
        by_cell = positions.order
        room = np.empty(len(drawn) + 1, dtype=np.uint32)
        # Named by position: a row may have been drawn twice.
        positions.order = np.arange(len(drawn), dtype=np.uint32)
        count = self._list_open(self.moved(w), b, pieces, positions, room)
        is_open = np.zeros(len(drawn), dtype=bool)
        is_open[room[:count]] = True
        quiet = by_cell[~is_open]
        linear = pieces.linear(reference.margins[quiet], self.signs[quiet])
        return quiet[linear], by_cell[is_open]

    def cell_changes(self, w: Floats, b: float) -> tuple[Floats, Floats]:
        """Return, per cell, the shift of all its margins and how far from it one may be."""
        positions = self._ready_positions()
        table, movement = self._movement(self.moved(w), b, positions)
        reach = table[1] + abs(movement.along) * table[3] + movement.slope_error
        return table[0], reach * (1.0 + 2.0**-20) + movement.store_error

    def lower_bounds(
        self, w: Floats, b: float, rows: RowList | None = None
    ) -> tuple[RowList, Floats]:
        """Return all rows or these, in some order, and a lower bound on the margin of each."""
        positions = self._ready_positions() if rows is None else self._positions_of(rows)
        table, movement = self._movement(self.moved(w), b, positions)
        lowest = np.empty(len(positions.order))
        core.lower_bounds(positions.native(), table, movement, lowest)
        return positions.order, lowest

    def movement(self, w: Floats, b: float) -> tuple[Floats, core.Movement, core.CellPositions]:
        """Return what the core needs to bound the margin at every position."""
        positions = self._ready_positions()
        return *self._movement(self.moved(w), b, positions), positions.native()

    def laid_out(self) -> Positions:
        """Return the stored margins laid out for a scan."""
        return self._make_positions(self.layout)

    def _ready_positions(self) -> Positions:
        """Return the positions, made when first asked for and sorted when that is worth it."""
        if self.positions is None:
            self.positions = self.laid_out()
        elif not self.positions.is_sorted:
            self.positions.scans += 1
            if self.positions.scans >= SORT_AFTER_SCANS:
                self.positions.sort(self.check)
        return self.positions

    def _positions_of(self, rows: RowList) -> Positions:
        """Return positions of these rows alone, cell by cell."""
        of_row = self.cells.of_row[rows]
        by_cell = rows[np.argsort(of_row, kind="stable")]
        starts = np.searchsorted(np.sort(of_row), np.arange(self.cells.count + 1))
        return self._make_positions(Layout.of(self.cells, by_cell, starts.astype(np.int64)))

    def _make_positions(self, layout: Layout) -> Positions:
        assert self.reference is not None
        self._make_ready()
        reference, direction = self.reference, self.direction
        n = len(layout.order)
        keys = np.empty(n, dtype=np.float32)
        slopes = None if direction is None else np.empty(n, dtype=np.float32)
        before = None if direction is None else direction.before.margins
        step = 0.0 if direction is None else reference.b - direction.before.b
        steepest = np.zeros(self.cells.count)
        for cell, span in runs(layout.starts, _CALL):
            steep = core.fill_positions(
                reference.margins, before, self.signs, step, layout.order, span, keys, slopes
            )
            steepest[cell] = max(steepest[cell], steep)
            self._pause()
        return Positions(layout.order, layout.starts, keys, slopes, layout.distances, steepest)

    def _movement(
        self, moved: Moved, b: float, positions: Positions, pieces: Pieces | None = None
    ) -> tuple[Floats, core.Movement]:
        """Return what the change of the weights means for each cell, and for a row of it."""
        assert self.reference is not None
        db = b - self.reference.b
        along = slope_error = 0.0
        if self.direction is not None:
            along = float(moved.products[0]) / self.direction.square
            slope_error = abs(along) * self.direction.error
        error = self._store_error(math.sqrt(moved.square), b)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.cells.needs_parts:
                decides = _Decides(positions, pieces, along, error + slope_error)
                change = self._change_by_parts(moved.w, along, db, decides)
            else:
                change = self._change_by_products(moved, along, db)
        table = np.empty((4, self.cells.count))
        table[0], table[1], table[2] = change.shift, change.spread, change.rounding
        table[3] = positions.steepest
        return table, core.Movement(change.length, along, slope_error, error)

    def _change_by_products(self, moved: Moved, along: float, db: float) -> Change:
        """Bound the change off the direction from products alone, without forming it."""
        width = self._vectors.shape[1]
        share = rounding_factor(3 * width + _SPARE)
        # The root of what squares and products lose to underflow may still move a long row.
        lost = 4.0 * width * SMALLEST
        square = moved.change + lost
        length = math.sqrt(square)
        towards = moved.products if self.cells.centres is not None else None
        if self.direction is not None:
            part = along * (along * self.direction.square)  # the square of along may underflow
            # The difference cancels where the change is along the step: its error stays.
            square = max(square - part, 0.0) + 2.0 * share * (square + part) + lost
            if towards is not None and self.direction.towards is not None:
                towards = towards[1:] - along * self.direction.towards
            length += abs(along) * math.sqrt(self.direction.square)
        rest = math.sqrt(square) * (1.0 + share)
        return self.cells.change_of(rest, db, towards, 2.0 * share * length)

    def _change_by_parts(self, w: Floats, along: float, db: float, decides: Decides) -> Change:
        """Bound the change off the direction feature by feature."""
        assert self.reference is not None
        moved = w - self.reference.w
        slack = 2.0 * UNIT_ROUNDOFF * norm(moved)
        if self.direction is not None:
            part = along * self.direction.step
            moved -= part
            slack += 4.0 * UNIT_ROUNDOFF * norm(part) + 2.0 * UNIT_ROUNDOFF * norm(moved)
        return self.cells.decided_change(moved, db, slack, decides)

    def _store_error(self, length: float, b: float) -> float:
        """Bound the rounding of a stored margin and one at weights of that length, together."""
        assert self.reference is not None
        sizes = (length + self._norm) * self.largest_norm + abs(b) + abs(self.reference.b) + 2.0
        return sizes * (rounding_factor(self.terms + _SPARE) + _SPARE * UNIT_ROUNDOFF)


class _Decides:
    """Says which nodes of a tree have all their rows surely where they were."""

    def __init__(
        self, positions: Positions, pieces: Pieces | None, along: float, error: float
    ) -> None:
        self.pieces, self.along, self.error = pieces, abs(along), error
        self.lowest, self.highest = positions.extremes()
        self.steepest = positions.steepest

    def __call__(
        self, first: NDArray[np.int64], last: NDArray[np.int64], change: Change
    ) -> NDArray[np.bool_]:
        if self.pieces is None:
            return np.zeros(len(first), dtype=bool)
        spans = list(zip(first.tolist(), last.tolist(), strict=True))
        lowest = np.array([self.lowest[begin:end].min() for begin, end in spans])
        highest = np.array([self.highest[begin:end].max() for begin, end in spans])
        steepest = np.array([self.steepest[begin:end].max() for begin, end in spans])
        blur = self.error + _FLOAT_ERROR * np.maximum(np.abs(lowest), np.abs(highest))
        reach = change.spread + (1.0 + _FLOAT_ERROR) * self.along * steepest + 2.0 * blur
        rise = np.maximum(change.shift + reach, blur)
        fall = np.minimum(change.shift - reach, -blur)
        is_below = highest + rise < self.pieces.low
        return np.asarray(is_below | (lowest + fall > self.pieces.high))
