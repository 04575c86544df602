"""A pass over blocks that can pause between any two of them.

Sums over blocks combine in the binary tree of :mod:`hinge.block_map`, but the tree lives in an
array that its owner keeps: row k holds the sum of ``2**k`` neighbouring blocks where bit k of the
number of blocks done is set. A pass may stop after any block, be pickled, and go on on any
number of threads; its bits are the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import share_out

Floats = NDArray[np.float64]
Result = TypeVar("Result")

_SUMS_A_CALL = 1 << 18  # numbers that panels return at a time, if they are that few: 2 MB
_VALUES_A_CALL = 1 << 23  # values that a thread reads in one call: some 5 ms
_MOST_SHARES = 4  # of these in a call: where no other thread is free, one reads them all


class KeepsThreads:
    """A state that holds the threads of its run, as starting them takes time; never pickled.

    They end with the run (``release``); one that goes on gets new ones.
    """

    threads: int

    @property
    def pool(self) -> Executor | None:
        """The threads beside the calling one, if there are to be more than that."""
        if self.threads <= 1:
            return None
        kept: dict[str, Any] = self.__dict__
        key = os.getpid(), self.threads  # a process that was forked has none of the threads
        if "_pool" not in kept or kept["_pool"][0] != key:
            self.release()
            kept["_pool"] = key, ThreadPoolExecutor(self.threads - 1)
        pool: Executor = kept["_pool"][1]
        return pool

    def release(self) -> None:
        """End the threads, when those of the present call are done."""
        (process, _), pool = self.__dict__.pop("_pool", ((None, 0), None))
        if pool is not None and process == os.getpid():
            pool.shutdown(cancel_futures=True)


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


def groups_of(panels: range, width: int, work: int, threads: int) -> Iterator[range]:
    """Yield some panels in the groups that native calls take.

    A call is short even if no other thread is free for it, and what it returns takes little memory.

    Parameters
    ----------
    panels : range
        The panels.
    width : int
        How many sums a panel makes.
    work : int
        Values that a panel reads.
    threads : int
        How many threads share them out.
    """
    most = min(_SUMS_A_CALL // width, min(threads, _MOST_SHARES) * _VALUES_A_CALL // work)
    size = max(most, threads)
    for first in range(0, len(panels), size):
        yield panels[first : first + size]


def some_blocks(
    kernel: Callable[[int], Result], blocks: range, threads: int, pool: Executor | None = None
) -> Iterator[Result]:
    """Yield what a function makes of some blocks, in order, computed on so many threads.

    Parameters
    ----------
    kernel : callable
        Takes a block number.
    blocks : range
        Which blocks.
    threads : int
        How many threads.
    pool : Executor or None, default=None
        Who runs them; a pool of this call's own if none is given.

    Yields
    ------
    object
        What the function returned, block by block.
    """
    if threads <= 1 or len(blocks) <= 1:
        with np.errstate(all="ignore"):
            yield from map(kernel, blocks)
        return

    def quiet(number: int) -> Result:
        # A thread of a pool does not inherit how its caller handles floating-point errors.
        with np.errstate(all="ignore"):
            return kernel(number)

    with nullcontext(pool) if pool is not None else ThreadPoolExecutor(threads - 1) as workers:
        yield from share_out(quiet, blocks, workers, threads)
