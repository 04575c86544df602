"""Arrays of stored margins: weights and margins of a full pass, and rows laid out for a scan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.bounds.cells import Cells

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Check = Callable[[], None]

_SORTED = ("order", "keys", "slopes", "distances")  # what is put in the order of the keys
RowList = NDArray[np.uint32]


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


class Moved(NamedTuple):
    """Weights, and what one read of them and of the stored ones tells of their change.

    Parameters
    ----------
    w : ndarray of shape (n_features,)
        The weights.
    square, change : float
        The squares of their length, and of the length of their change since the reference.
    with_base : float
        Their product with a vector that was named, else 0.
    products : ndarray
        Products of the change with the direction, if there is one, and then with the centres.
    """

    w: Floats
    square: float
    change: float
    with_base: float
    products: Floats


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
        Whether each cell is in the order of its keys, run by run.
    scans : int, default=0
        How often all keys have been looked at.
    """

    order: RowList
    starts: NDArray[np.int64]
    keys: Floats32
    slopes: Floats32 | None
    distances: Floats32 | None
    steepest: Floats
    is_sorted: bool = False
    scans: int = 0

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest key of each cell; infinite where it is empty."""
        parts = [self.keys[begin:end] for begin, end in pairwise(self.starts.tolist())]
        lowest = [float(np.min(part, initial=np.inf)) for part in parts]
        highest = [float(np.max(part, initial=-np.inf)) for part in parts]
        return np.array(lowest), np.array(highest)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_native"}

    def native(self) -> core.CellPositions:
        """Return the view that the compiled core works on; made once, and again after a sort."""
        view: core.CellPositions | None = self.__dict__.get("_native")
        if view is None:
            view = self.__dict__["_native"] = core.CellPositions(
                self.order, self.keys, self.slopes, self.distances, self.starts, self.is_sorted
            )
        return view

    def sort(self, check: Check | None = None) -> None:
        """Put each run of a cell in the order of its keys.

        Parameters
        ----------
        check : callable or None, default=None
            Called before each run; may raise to give up, and then nothing has changed.
        """
        names = [name for name in _SORTED if getattr(self, name) is not None]
        made = {name: np.empty_like(getattr(self, name)) for name in names}
        for _, (begin, end) in runs(self.starts, core.sorted_run):
            if check is not None:
                check()
            run = slice(begin, end)
            places = np.empty(end - begin, dtype=np.uint32)
            core.sort_run(self.keys[run], places)
            for name in names:
                np.take(getattr(self, name)[run], places, out=made[name][run])
        for name in names:
            setattr(self, name, made[name])
        self.is_sorted = True
        self.__dict__.pop("_native", None)


def runs(starts: NDArray[np.int64], longest: int) -> list[tuple[int, tuple[int, int]]]:
    """Return cells cut into runs of at most so many positions: the cell, begin and end of each."""
    return [
        (cell, (first, min(first + longest, end)))
        for cell, (begin, end) in enumerate(pairwise(starts.tolist()))
        for first in range(begin, end, longest)
    ]


def _rounded_up(values: Floats) -> Floats32:
    """Return float32 values that are no smaller."""
    with np.errstate(over="ignore"):
        return np.nextafter(values.astype(np.float32), np.float32(np.inf))
