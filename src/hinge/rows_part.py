"""Parts of rows: some of the rows of others, copied only where they are asked for as a whole.

The problems of pairs of classes are over parts of the same rows. What is prepared of the whole is
prepared once for all of them, and most passes over a part take the rows that they need from the
whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hinge.rows import Block, Rows

Ids = NDArray[np.int64]
Made = TypeVar("Made")

_STORAGE = ("values", "indices", "indptr")


class SharedRows:
    """Rows of which parts are taken, and what is prepared once for all parts.

    Parameters
    ----------
    rows : Rows
        The rows.
    present : ndarray of int64 or None, default=None
        Which of them may be in a part, in their order, None for all: the others are as if they
        were not there. If it is not all, these are copied.
    """

    def __init__(self, rows: Rows, present: Ids | None = None) -> None:
        self.rows = rows if present is None else rows.take(present)
        self._present = present
        self._prepared: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def part(self, numbers: Ids) -> RowsPart:
        """Return some of the rows.

        Parameters
        ----------
        numbers : ndarray of int
            Their numbers among all rows.
        """
        return RowsPart(self, self.places(numbers))

    def places(self, numbers: Ids) -> Ids:
        """Return where some rows are among those that may be in a part.

        Parameters
        ----------
        numbers : ndarray of int
            Their numbers among all rows.
        """
        if self._present is not None:
            numbers = np.searchsorted(self._present, numbers)
        return np.ascontiguousarray(numbers, dtype=np.int64)

    def prepared(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is kept under a name, which is made when it is first asked for.

        Parameters
        ----------
        name : hashable
            The name, and all that the thing depends on beside the rows.
        make : callable
            Makes it; other threads wait meanwhile.
        """
        with self._lock:
            if name not in self._prepared:
                self._prepared[name] = make()
            made: Made = self._prepared[name]
            return made


class RowsPart(Rows):
    """Some rows of others.

    Parameters
    ----------
    shared : SharedRows
        The rows of which these are some.
    numbers : ndarray of int64 of shape (n_rows,)
        Which of them.
    """

    def __init__(self, shared: SharedRows, numbers: Ids) -> None:
        whole = shared.rows
        self.__dict__.update({k: v for k, v in whole.__dict__.items() if k not in _STORAGE})
        self.shared = shared
        self.numbers = numbers
        self.n_rows = len(numbers)
        self.n_stored = self.n_rows * self.n_features
        self.squared_norms = whole.squared_norms[numbers]
        self.squared_norms.flags.writeable = False
        self._buffers = threading.local()
        if self.is_sparse:
            lengths = whole.indptr[numbers + 1] - whole.indptr[numbers]
            self.n_stored = int(np.sum(lengths, dtype=np.int64))
            self.longest_row = int(np.max(lengths, initial=0))

    def __getattr__(self, name: str) -> Any:
        """Copy the rows when their storage is first asked for."""
        if name not in _STORAGE or (name != "values" and not self.is_sparse):
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message)
        copy = self.copied()
        self.__dict__.update({key: copy.__dict__[key] for key in _STORAGE if key in copy.__dict__})
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        """Pickle the rows of this part alone."""
        return _unpickled, (self.copied(),)

    def stored(self, most: int) -> Iterator[NDArray[Any]]:
        """Yield all stored values as they are, one after another; see ``Rows.stored``.

        Parameters
        ----------
        most : int
            How many at a time, at the most.
        """
        height = max(1, most * self.n_rows // max(1, self.n_stored))
        for start in range(0, self.n_rows, height):
            yield from self._between(start, start + height).stored(most)

    def whole_of(self, ids: Ids) -> tuple[Rows, Ids]:
        """Return the rows of which these are some, and which of them; see ``Rows.whole_of``.

        Parameters
        ----------
        ids : ndarray of int64
            Numbers of some rows, in this part.
        """
        return self.shared.rows, self.numbers[ids]

    def _rows_between(self, first_block: int, end_block: int) -> Block:
        """Return some neighbouring blocks as one: a copy of these alone."""
        start = first_block * self.block_rows
        taken = self._between(start, end_block * self.block_rows)
        values = taken.values.astype(np.float64, copy=False)
        structure = (taken.indices, taken.indptr) if self.is_sparse else None
        return Block(start, start + taken.n_rows, values, self.n_features, structure)

    def _between(self, start: int, stop: int) -> Rows:
        """Return copies of some consecutive rows."""
        return self.shared.rows.take(self.numbers[start:stop])

    def copied(self) -> Rows:
        """Return the rows as rows of their own."""
        return self.shared.rows.take(self.numbers)

    def take(self, ids: Ids) -> Rows:
        """Return copies of some rows, in that order; see ``Rows.take``.

        Parameters
        ----------
        ids : ndarray of int
            Numbers of the rows, in this part.
        """
        return self.shared.rows.take(self.numbers[np.asarray(ids, dtype=np.int64)])


def _unpickled(rows: Rows) -> Rows:
    """Return what a part is once it has been pickled: rows of their own."""
    return rows
