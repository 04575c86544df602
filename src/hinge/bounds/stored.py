"""Margins as they were at some weights, and which rows may have changed their side since."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.bounds.cells import Cells, Change
from hinge.bounds.geometry import by_group
from hinge.bounds.pieces import Pieces
from hinge.bounds.products import dot, dots, norm
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
RowList = NDArray[np.uint32]

_SPARE = 16
_SAMPLE = 1024
_SAMPLED_FROM = 16 * _SAMPLE  # rows from which a look at a sample pays
SORT_AFTER_SCANS = 24  # looking at all keys this often costs as much as sorting them once


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
    """The step between the last two references: how each margin changed on it is known.

    Parameters
    ----------
    before : Reference
        Where the step began.
    step : ndarray of shape (n_features,)
        Weights of the reference minus those of the one before.
    square : float
        Its squared length.
    towards : ndarray of shape (n_cells,) or None
        Its products with the centres of the cells.
    error : float
        Bound on the rounding of the change of a margin.
    """

    before: Reference
    step: Floats
    square: float
    towards: Floats | None
    error: float


@dataclass(frozen=True)
class Layout:
    """Rows cell by cell, and what is known of them whatever the weights.

    Parameters
    ----------
    order : ndarray of uint32
        The row at each position.
    starts : ndarray of int64
        Where each cell begins, and the end.
    distances : ndarray of float32 or None
        Distances from the centre, rounded up.
    """

    order: RowList
    starts: NDArray[np.int64]
    distances: Floats32 | None

    @classmethod
    def of(cls, cells: Cells, order: RowList, starts: NDArray[np.int64]) -> Layout:
        """Return the layout of these cells."""
        distances = None if cells.distances is None else _rounded_up(cells.distances[order])
        return cls(order, starts, distances)

    def every(self, stride: int) -> Layout:
        """Return a layout of every so manieth position."""
        distances = None if self.distances is None else self.distances[::stride].copy()
        return Layout(self.order[::stride].copy(), -(-self.starts // stride), distances)


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
        places = np.empty_like(self.order)
        for begin, end in pairwise(self.starts.tolist()):
            core.sort_cell(self.keys, begin, end, places)
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
        self.layout = Layout.of(cells, *by_group(cells.of_row, cells.count))
        self.sample: Layout | None = None
        if rows.n_rows > _SAMPLED_FROM:
            self.sample = self.layout.every(rows.n_rows // _SAMPLE)
        self.reference: Reference | None = None
        self.direction: Direction | None = None
        self.positions: Positions | None = None
        self._vectors = np.empty((0, rows.n_features))
        self._norm = 0.0
        self._open = np.empty(rows.n_rows + 1, dtype=np.uint32)

    def store(self, reference: Reference) -> None:
        """Take the margins of a full pass as those to start from."""
        before, self.reference = self.reference, reference
        self.positions = self.direction = None
        self._norm = norm(reference.w)
        vectors = [] if self.cells.centres is None else list(self.cells.centres)
        if before is not None and self.extrapolates:
            step = reference.w - before.w
            square = dot(step, step)
            if square > 0.0:
                centres = self.cells.centres
                towards = None if centres is None else dots(centres, step)
                error = 2.0 * self._store_error(norm(before.w), before.b)
                self.direction = Direction(before, step, square, towards, error)
                vectors = [step, *vectors]
        self._vectors = np.array(vectors).reshape(len(vectors), len(reference.w))

    def guess_open(self, w: Floats, b: float, pieces: Pieces) -> int | None:
        """Return about how many rows are open where finding them would cost much; else None."""
        if self.sample is None or self.positions is not None:
            return None
        positions = self._make_positions(self.sample)
        table, movement = self._movement(w, b, positions)
        count = core.open_rows(
            positions.native(), table, movement, pieces.low, pieces.high, self._open
        )
        return int(count) * len(self.layout.order) // len(positions.order)

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
            self.positions = self._make_positions(self.layout)
        elif not self.positions.is_sorted:
            self.positions.scans += 1
            if self.positions.scans >= SORT_AFTER_SCANS:
                self.positions.sort()
        return self.positions

    def _make_positions(self, layout: Layout) -> Positions:
        assert self.reference is not None
        reference, direction = self.reference, self.direction
        n = len(layout.order)
        keys = np.empty(n, dtype=np.float32)
        slopes = None if direction is None else np.empty(n, dtype=np.float32)
        before = None if direction is None else direction.before.margins
        step = 0.0 if direction is None else reference.b - direction.before.b
        steepest = [
            core.fill_positions(
                reference.margins, before, self.signs, step, layout.order, span, keys, slopes
            )
            for span in pairwise(layout.starts.tolist())
        ]
        return Positions(
            layout.order, layout.starts, keys, slopes, layout.distances, np.array(steepest)
        )

    def _movement(self, w: Floats, b: float, positions: Positions) -> tuple[Floats, core.Movement]:
        """Return what the change of the weights means for each cell, and for a row of it."""
        assert self.reference is not None
        products = np.empty(len(self._vectors) + 2)
        core.movement(w, self.reference.w, self._vectors, products)
        db = b - self.reference.b
        along = 0.0
        if self.direction is not None:
            along = float(products[2]) / self.direction.square
        if self.cells.half_widths is None:
            change = self._change_by_products(products, along, db)
        else:
            change = self._change_by_parts(w, along, db)
        table = np.stack([change.shift, change.spread, change.rounding, positions.steepest])
        error = self._store_error(math.sqrt(products[0]), b)
        slope_error = 0.0 if self.direction is None else abs(along) * self.direction.error
        return table, core.Movement(change.length, along, slope_error, error)

    def _change_by_products(self, products: Floats, along: float, db: float) -> Change:
        """Bound the change off the direction from products alone, without forming it."""
        share = rounding_factor(3 * self._vectors.shape[1] + _SPARE)
        square = float(products[1])
        length = math.sqrt(square)
        towards = products[2:] if self.cells.centres is not None else None
        if self.direction is not None:
            part = along * along * self.direction.square
            # The difference cancels where the change is along the step: its error stays.
            square = max(square - part, 0.0) + 2.0 * share * (square + part)
            if towards is not None and self.direction.towards is not None:
                towards = towards[1:] - along * self.direction.towards
            length += abs(along) * math.sqrt(self.direction.square)
        rest = math.sqrt(square) * (1.0 + share)
        return self.cells.change_of(rest, db, towards, 2.0 * share * length)

    def _change_by_parts(self, w: Floats, along: float, db: float) -> Change:
        """Bound the change off the direction feature by feature."""
        assert self.reference is not None
        moved = w - self.reference.w
        slack = 2.0 * UNIT_ROUNDOFF * norm(moved)
        if self.direction is not None:
            part = along * self.direction.step
            moved -= part
            slack += 4.0 * UNIT_ROUNDOFF * norm(part) + 2.0 * UNIT_ROUNDOFF * norm(moved)
        return self.cells.change(moved, db, slack)

    def _store_error(self, length: float, b: float) -> float:
        """Bound the rounding of a stored margin and one at weights of that length, together."""
        assert self.reference is not None
        sizes = (length + self._norm) * self.largest_norm + abs(b) + abs(self.reference.b) + 2.0
        return sizes * (rounding_factor(self.terms + _SPARE) + _SPARE * UNIT_ROUNDOFF)


def _rounded_up(values: Floats) -> Floats32:
    """Return float32 values that are no smaller."""
    with np.errstate(over="ignore"):
        return np.nextafter(values.astype(np.float32), np.float32(np.inf))
