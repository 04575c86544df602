"""Memory of a factor that grows by columns: nothing is moved when more of them come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.floating]

_CHUNK = 256  # columns that memory is taken for at a time
_ROWS_A_MOVE = 1024


class Columns:
    """Columns as rows of chunks; memory is that of the columns that there are.

    Parameters
    ----------
    n_rows : int
        Length of a column.
    most : int
        How many there may be.
    dtype : dtype
        Of the values.
    """

    def __init__(self, n_rows: int, most: int, dtype: np.dtype[Any]) -> None:
        self.n_rows, self.most, self.dtype = n_rows, most, dtype
        self._chunks: list[Values] = []
        self._whole: Values | None = None

    def begin_whole(self, count: int) -> Values:
        """Take memory for so many columns, a row of it for every row, as they will be wanted.

        Parameters
        ----------
        count : int
            How many columns will come at once; there are none yet.

        Returns
        -------
        ndarray of shape (n_rows, count)
            Where they go.
        """
        self._whole = np.empty((self.n_rows, count), dtype=self.dtype)
        self._chunks = [self._whole.T[begin : begin + _CHUNK] for begin in range(0, count, _CHUNK)]
        return self._whole

    def filled(self, rank: int) -> list[Values]:
        """Return the first columns, as rows of arrays.

        Parameters
        ----------
        rank : int
            How many.
        """
        filled = []
        left = rank
        for chunk in self._chunks:
            if left > 0:
                filled.append(chunk[:left])
            left -= len(chunk)
        return filled

    def places(self, rank: int, more: int) -> list[tuple[Values, slice]]:
        """Return where columns to come go: parts of chunks, and which of the columns.

        Parameters
        ----------
        rank : int
            How many columns there are.
        more : int
            How many come.
        """
        room = sum(len(chunk) for chunk in self._chunks)
        while room < rank + more:
            size = min(_CHUNK, self.most - room)
            self._chunks.append(np.empty((size, self.n_rows), dtype=self.dtype))
            room += size
        places = []
        begin, done = 0, 0
        for chunk in self._chunks:
            at = max(rank - begin, 0)
            count = min(len(chunk) - at, more - done)
            if count > 0:
                places.append((chunk[at : at + count], slice(done, done + count)))
                done += count
            begin += len(chunk)
        return places

    def gathered(self, rank: int) -> Values:
        """Return the first columns as an array of its own, a row of it for every row.

        Parameters
        ----------
        rank : int
            How many.
        """
        return self._gather(self.filled(rank), rank)

    def released(self, rank: int) -> Values:
        """Return the same, and let go of everything on the way.

        Parameters
        ----------
        rank : int
            How many.
        """
        whole, chunks = self._whole, self.filled(rank)
        self._whole, self._chunks = None, []
        if whole is not None and whole.shape[1] == rank:
            return whole  # nothing came after them
        return self._gather(chunks, rank)

    def _gather(self, chunks: list[Values], rank: int) -> Values:
        """Return the columns of chunks, which are let go of one by one."""
        gathered = np.empty((self.n_rows, rank), dtype=self.dtype)
        begin = 0
        while chunks:
            chunk = chunks.pop(0)
            for first in range(0, self.n_rows, _ROWS_A_MOVE):
                some = slice(first, first + _ROWS_A_MOVE)
                gathered[some, begin : begin + len(chunk)] = chunk[:, some].T
            begin += len(chunk)
        return gathered
