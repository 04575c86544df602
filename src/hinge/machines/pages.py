"""Large arrays whose memory goes back to the system as soon as nobody has them any more.

What an allocator has taken for large arrays it keeps for later ones, and where these do not fit
into it, both are held: twice the memory of one. Arrays that count against a promise have pages of
their own.
"""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core

LEAST_BYTES = 1 << 20  # of an array with its own pages: they take some time to map
_HUGE_BYTES = 1 << 22  # from which on huge pages are asked for, as NumPy does


def empty_pages(shape: tuple[int, ...], dtype: np.dtype[Any] | type) -> NDArray[Any]:
    """Return an array with pages of its own, taken when they are first written.

    Small arrays, and all where memory is not mapped in this way, come from NumPy.

    Parameters
    ----------
    shape : tuple of int
        Its shape.
    dtype : dtype
        Its type.

    Returns
    -------
    ndarray
        The array; its values are not to be read before they are written.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < LEAST_BYTES or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(shape, dtype=dtype)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        message = f"no memory for {size / 2**20:.0f} MB, an array of shape {shape}"
        raise MemoryError(message) from error
    if size >= _HUGE_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        _ask_for_huge(pages)
    return np.frombuffer(pages, dtype=dtype).reshape(shape)


def give_back() -> None:
    """Have the allocator give back what it keeps of memory that nobody has any more.

    Small arrays that a pass has made one by one leave holes of which the system does not know. To
    close them takes a look at all of the heap: it is for where the promise is tight.
    """
    core.trim_heap()


def _ask_for_huge(pages: mmap.mmap) -> None:
    """Ask for huge pages, which are quicker to take; not all systems have them."""
    try:
        pages.madvise(mmap.MADV_HUGEPAGE)
    except OSError:
        return
