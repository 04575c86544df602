"""A pass over blocks that can pause between any two of them.

Sums over blocks combine in the binary tree of :func:`hinge.rows.map_blocks`, but the tree lives in
an array that its owner keeps: row k holds the sum of ``2**k`` neighbouring blocks where bit k of
the number of blocks done is set. A pass may stop after any block, be pickled, and go on on any
number of threads; its bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Partial = tuple[Floats, float]  # what a block adds to the sums, and its largest value
Kernel = Callable[[int], Partial]


def tree_levels(n_blocks: int) -> int:
    """Return how many rows the tree of so many blocks has."""
    return max(1, int(n_blocks).bit_length())


def add_block(tree: Floats, done: int, sums: Floats) -> None:
    """Add the sums of block number ``done``, which are overwritten, to the tree."""
    width = len(sums)
    level = 0
    while done >> level & 1:
        np.add(tree[level, :width], sums, out=sums)
        level += 1
    tree[level, :width] = sums


def total(tree: Floats, done: int, width: int) -> Floats:
    """Return the sum of all blocks done, the latest groups first."""
    levels = [level for level in range(len(tree)) if done >> level & 1]
    combined = tree[levels[0], :width].copy()
    for level in levels[1:]:
        combined += tree[level, :width]
    return combined


def some_blocks(kernel: Kernel, first: int, count: int, threads: int) -> Iterator[Partial]:
    """Yield what the kernel makes of ``count`` blocks, in order, computed on so many threads."""

    def one(number: int) -> Partial:
        # A thread of a pool does not inherit how its caller handles floating-point errors.
        with np.errstate(all="ignore"):
            return kernel(number)

    numbers = range(first, first + count)
    if threads <= 1 or count <= 1:
        yield from map(one, numbers)
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        yield from pool.map(one, numbers)
