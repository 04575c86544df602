"""Numbers of all rows, worked on in groups of rows, and their sums.

Threads that make short calls of NumPy wait for each other, because every call takes the
interpreter's lock: between two threads groups are as large as the rows allow, and few rows are not
shared out at all. What is computed for each row does not depend on the groups, and sums are those
of fixed parts of the rows, so that neither depends on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.inequality import rounding_factor

Result = TypeVar("Result")
Floats = NDArray[np.float64]

PART = 1 << 11  # rows that are summed up first
_GROUP = 1 << 15  # rows whose numbers stay in the cache
_LARGEST_GROUP = 1 << 18
WORTH_SHARING = 1 << 17  # rows that threads are started for


def map_groups(
    function: Callable[[slice], Result],
    n_rows: int,
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
) -> list[Result]:
    """Apply a function to groups of rows, each of whole parts, and return its results in order.

    Parameters
    ----------
    function : callable
        Takes a slice of the rows.
    n_rows : int
        How many rows there are, at least one.
    threads : int, default=1
        Threads that share out the groups.
    check : callable or None, default=None
        Called between groups; may raise to give up.

    Returns
    -------
    list
        What the function has returned for each group.
    """
    size = _GROUP
    if n_rows < WORTH_SHARING:
        threads = 1
    if threads > 1:
        share = -(-n_rows // (threads * PART)) * PART
        size = min(max(share, _GROUP), _LARGEST_GROUP)
    return map_numbers(
        lambda number: [function(slice(number * size, min((number + 1) * size, n_rows)))],
        -(-n_rows // size),
        list.__add__,
        threads=threads,
        check=check,
    )


def part_sums(terms: Floats) -> Floats:
    """Return the sums of every ``PART`` neighbouring terms of a group.

    Parameters
    ----------
    terms : ndarray of shape (n,)
        What to sum, at least one term.
    """
    return np.asarray(np.add.reduceat(terms, np.arange(0, len(terms), PART)))


def tree_sum(sums: Floats) -> Floats:
    """Return the sums of parts, added up along the last axis in a binary tree.

    Parameters
    ----------
    sums : ndarray of shape (..., n_parts)
        Sums of parts, in the order of the rows.
    """
    while sums.shape[-1] > 1:
        paired = sums.shape[-1] // 2 * 2
        pairs = sums[..., 0:paired:2] + sums[..., 1:paired:2]
        sums = np.concatenate((pairs, sums[..., paired:]), axis=-1)
    return sums[..., 0]


def sum_rounding(n_rows: int) -> float:
    """Return the relative error bound of such a sum over as many rows: a part, then the tree.

    Parameters
    ----------
    n_rows : int
        How many rows are summed up.
    """
    depth = math.ceil(math.log2(n_rows / PART + 1.0)) + 1
    return rounding_factor(min(PART, n_rows) + depth + 4)
