"""What a run on a kernel machine holds besides kept kernel rows, and room for it in the cache.

The promise is that a run takes no more than its cache, a tenth of it, and the data. The matrix of a
working set has one piece of memory for all sets. Arrays of a number for each row, and what passes
over kernel values prepare, come out of that tenth as far as they fit, and out of the cache beyond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.machines.pages import empty_pages, give_back

WHOLE_SET, LARGEST_SET = 256, 2048  # rows that are always one working set; the most of one
SLACK = 0.1  # share of the cache that may be taken beyond it
_SET_SHARE = 1 / 3  # of the cache's memory that the matrix of a set may take
_BYTES_A_ROW = 200.0  # program, coefficients, scores, what rows miss, gradients and masks
_MOST = 0.5  # share of what is left for kept rows that is given up for that
LEAST_MB = 10.0  # of a cache that is held to it: in a smaller one there would be no kept rows
_PASSES_MB = 3.5  # blocks of rows, and what an allocator keeps of them
_PROCESS_MB = 2.5  # modules and native code that a process has not used before
_JUDGE_BYTES, _JUDGED_ROW_BYTES = 13.0 * 2**20, 60.0  # of a certificate, and for each row
_JUDGED_BYTES = 9.0  # for each stored value of the support vectors
_KEPT_MB = 10.0  # that an allocator may keep of the arrays of certificates
_RESULT_BYTES = 24.0  # of a machine, for each row: its coefficient, twice, and its number
_MOST_RESULTS = 0.5  # share of a cache that is given up for them


class SetMemory:
    """Memory for the matrix of a working set, of one set after the other.

    Parameters
    ----------
    usual : int
        Bytes to take at first, so that sets may grow; a page is taken when it is first written.

    Attributes
    ----------
    nbytes : int
        The bytes of it that have been written.
    """

    def __init__(self, usual: int) -> None:
        self._usual = usual
        self._buffer: NDArray[np.uint8] | None = None
        self.nbytes = 0

    def matrix(self, size: int, dtype: np.dtype[Any] | type) -> NDArray[Any]:
        """Return a square matrix to be written; there must be none left of those before it.

        Parameters
        ----------
        size : int
            How many rows it has.
        dtype : dtype
            The type of its values.
        """
        wanted = size * size * np.dtype(dtype).itemsize
        if self._buffer is None or len(self._buffer) < wanted:
            self.release()  # before more is taken
            self._buffer = empty_pages((max(wanted, self._usual),), np.uint8)
        self.nbytes = max(self.nbytes, wanted)
        return self._buffer[:wanted].view(dtype).reshape(size, size)

    def release(self) -> None:
        """Give the memory back."""
        self._buffer, self.nbytes = None, 0


def largest_set(cache_mb: float) -> int:
    """Return the most rows of a working set: its matrix takes a part of the cache at the most.

    Parameters
    ----------
    cache_mb : float
        Memory of the cache.
    """
    values = _SET_SHARE * cache_mb * 2**20 / 4
    return min(max(math.isqrt(int(values)), WHOLE_SET), LARGEST_SET)


def run_bytes(n_rows: int, n_stored: int, n_terms: int) -> float:
    """Return about what a run takes besides kept rows, a copy of the rows, and matrices.

    Parameters
    ----------
    n_rows : int
        How many rows have a coefficient.
    n_stored : int
        How many values of them are stored.
    n_terms : int
        How many of them are prepared for a pass at a time.
    """
    return _BYTES_A_ROW * n_rows + 4.0 * n_terms * n_stored / max(1, n_rows)


def judge_bytes(n_rows: int, n_stored: int, n_support: int) -> float:
    """Return about what a certificate takes.

    Parameters
    ----------
    n_rows : int
        How many rows the problem has.
    n_stored : int
        How many values of them are stored.
    n_support : int
        How many of them have a coefficient.
    """
    prepared = _JUDGED_BYTES * n_stored * n_support / max(1, n_rows)
    return _JUDGE_BYTES + _JUDGED_ROW_BYTES * n_rows + prepared


def is_tight(cache_mb: float) -> bool:
    """Return whether a tenth of a cache is less than what an allocator may keep of a certificate.

    Parameters
    ----------
    cache_mb : float
        Memory of the cache.
    """
    return SLACK * cache_mb < _KEPT_MB


def give_back_if_tight(cache_mb: float) -> None:
    """Have the allocator give back what it keeps, where that may be more than a cache allows.

    Parameters
    ----------
    cache_mb : float
        Memory of the cache.
    """
    if is_tight(cache_mb):
        give_back()


def beside_results(cache_mb: float, sizes: Sequence[int]) -> float:
    """Return the megabytes of a cache that several machines leave, whose results are kept.

    Parameters
    ----------
    cache_mb : float
        Memory of the cache. Of a large one, results come out of the tenth that may be beyond it.
    sizes : sequence of int
        How many rows each machine has.
    """
    if not is_tight(cache_mb) or len(sizes) < 2:
        return cache_mb
    return cache_mb - min(_MOST_RESULTS * cache_mb, _RESULT_BYTES * sum(sizes) / 2**20)


def beyond_slack(run: float, cache_mb: float) -> float:
    """Return the megabytes that a run's other arrays take beyond a tenth of its cache.

    Parameters
    ----------
    run : float
        Their bytes.
    cache_mb : float
        Memory of the cache.
    """
    if cache_mb < LEAST_MB:
        return 0.0
    slack = SLACK * cache_mb
    return max(0.0, run / 2**20 + min(3.0 * slack, _PASSES_MB + _PROCESS_MB) - slack)


def left_for_rows(room_mb: float, beyond_mb: float) -> float:
    """Return the megabytes for kept rows: other arrays take a part of their room at the most.

    Parameters
    ----------
    room_mb : float
        What is left of the cache for kept rows.
    beyond_mb : float
        What other arrays would have of it.
    """
    return room_mb - min(beyond_mb, _MOST * max(0.0, room_mb))
