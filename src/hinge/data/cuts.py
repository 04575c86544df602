"""Where to cut rows into blocks, so that none holds many more values than asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp


def row_cuts(X: Any, most: int) -> Iterator[tuple[int, int]]:
    """Yield where consecutive blocks of rows begin and end.

    Parameters
    ----------
    X : ndarray or csr_array
        The rows.
    most : int
        How many values are stored in a block, and how many rows it has, at most; a row that has
        more is a block of its own.

    Yields
    ------
    begin, end : int
        Positions of rows.
    """
    count, width = X.shape
    begin = 0
    while begin < count:
        end = begin + max(1, most // max(1, width))
        if sp.issparse(X):
            end = min(begin + max(1, most), _last_within(X.indptr, begin, most))
        end = min(end, count)
        yield begin, end
        begin = end


def _last_within(indptr: Any, begin: int, most: int) -> int:
    """Return where rows end that together store at most so many values, at least one row."""
    last = min(int(indptr[begin]) + most, int(indptr[-1]))
    # In the type of the pointers, of which NumPy would otherwise make a copy to compare.
    place = np.searchsorted(indptr, indptr.dtype.type(last), side="right")
    return max(begin + 1, int(place) - 1)
