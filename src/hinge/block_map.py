"""A pass over the blocks of some rows: a kernel on each, and the results joined in a fixed tree.

Every computation that needs only passes over the data is ``map_blocks(kernel, rows)``. Partial
results are combined in a binary tree fixed by block number, so the bits do not depend on how many
threads ran it. The calling thread is one of them: each takes a branch of the tree at a time, large
ones first, so that threads meet seldom, read far from each other, and yet end together.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from hinge.threads import single_threaded_blas

Result = TypeVar("Result")
Block = TypeVar("Block")
Block_co = TypeVar("Block_co", covariant=True)

_WORTH_SHARING = 8  # blocks: one thread has done half of fewer before the others have begun
_TURNS = 2  # a branch is at most this part of what each thread has left to do


class Blocks(Protocol[Block_co]):
    """What a pass needs of the rows: that they come in blocks."""

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""

    def block(self, number: int) -> Block_co:
        """Return one of them."""


def map_blocks(
    kernel: Callable[[Block], Result],
    rows: Blocks[Block],
    merge: Callable[[Result, Result], Result],
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
) -> Result:
    """Apply a kernel to every block and combine the results in a fixed binary tree.

    Parameters
    ----------
    kernel : callable
        Takes a Block and returns a partial result that does not refer to the block's buffer.
    rows : Rows
        The data.
    merge : callable
        Combines the partial results of two neighbouring groups of blocks.
    threads : int, default=1
        How many threads share out the blocks.
    check : callable or None, default=None
        Called between blocks on the calling thread; raises to abandon the pass.

    Returns
    -------
    object
        The combined result, with the same bits for any number of threads.
    """
    return map_numbers(
        lambda number: kernel(rows.block(number)),
        rows.n_blocks,
        merge,
        threads=threads if rows.n_blocks >= _WORTH_SHARING else 1,
        check=check,
    )


def map_runs(
    kernel: Callable[[range], Result],
    rows: Blocks[Any],
    size: int,
    merge: Callable[[Result, Result], Result],
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
) -> Result:
    """Apply a kernel to runs of so many blocks, as ``map_blocks`` does to single ones.

    Parameters
    ----------
    kernel : callable
        Takes the numbers of neighbouring blocks and returns a partial result.
    rows : Rows
        The data.
    size : int
        Blocks in a run; the last one may be shorter.
    merge : callable
        Combines the partial results of two neighbouring groups of runs.
    threads : int, default=1
        How many threads share out the runs.
    check : callable or None, default=None
        Called between runs on the calling thread; raises to abandon the pass.

    Returns
    -------
    object
        The combined result, with the same bits for any number of threads.
    """
    return map_numbers(
        lambda number: kernel(range(number * size, min((number + 1) * size, rows.n_blocks))),
        -(-rows.n_blocks // size),
        merge,
        threads=threads if rows.n_blocks >= _WORTH_SHARING else 1,
        check=check,
    )


def map_numbers(
    function: Callable[[int], Result],
    count: int,
    merge: Callable[[Result, Result], Result],
    *,
    threads: int = 1,
    check: Callable[[], None] | None = None,
) -> Result:
    """Apply a function to 0, 1, ... and combine the results in a fixed binary tree.

    Parameters
    ----------
    function : callable
        Takes a number below ``count`` and returns a partial result.
    count : int
        How many there are, at least one.
    merge : callable
        Combines the partial results of two neighbouring groups of numbers.
    threads : int, default=1
        How many threads share out the numbers.
    check : callable or None, default=None
        Called between numbers on the calling thread; raises to abandon the rest.

    Returns
    -------
    object
        The combined result, with the same bits for any number of threads.
    """
    # Floating-point errors are for the function's caller to judge.
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        if count == 1:
            result = function(0)
            if check is not None:
                check()
            return result
        if threads <= 1:
            return _merge_tree(((1, function(number)) for number in range(count)), merge, check)
        work = _Branches(function, merge, check)
        branches = _branches(count, threads)
        with ThreadPoolExecutor(max_workers=threads - 1) as pool:
            results = share_out(
                lambda number: work.result(branches[number]), range(len(branches)), pool, threads
            )
        # None of them is None: if one had not been wanted, an error would have been raised.
        whole = cast("list[Result]", results)
        return _merge_tree(zip(map(len, branches), whole, strict=True), merge)


def _branches(count: int, threads: int) -> list[range]:
    """Return the numbers below ``count`` as whole branches of the tree, none larger than before."""
    branches = []
    start = 0
    while start < count:
        share = (count - start) // (threads * _TURNS)
        size = 1 << max(share.bit_length() - 1, 0)
        branches.append(range(start, min(start + size, count)))
        start += size
    return branches


class _Branches(Generic[Result]):
    """Branches of a tree, each computed by one thread.

    Parameters
    ----------
    function : callable
        Takes a number.
    merge : callable
        Combines the results of two neighbouring groups of numbers.
    check : callable or None
        Called between numbers on the thread that makes this; raises to abandon all branches.
    """

    def __init__(
        self,
        function: Callable[[int], Result],
        merge: Callable[[Result, Result], Result],
        check: Callable[[], None] | None,
    ) -> None:
        self._function = function
        self._merge = merge
        self._check = check
        self._caller = threading.get_ident()
        self._end = math.inf  # from here on nothing is wanted: a number before it has failed

    def result(self, numbers: range) -> Result | None:
        """Return what a branch comes to, or None if it is no longer wanted."""
        # A thread of a pool does not inherit how its caller handles floating-point errors.
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                return _merge_tree(((1, self._one(number)) for number in numbers), self._merge)
            except _NotWantedError:
                return None

    def _one(self, number: int) -> Result:
        if number > self._end:
            raise _NotWantedError
        try:
            result = self._function(number)
        except BaseException:
            self._end = min(self._end, number)
            raise
        if self._check is not None and threading.get_ident() == self._caller:
            try:
                self._check()
            except BaseException:
                self._end = -1.0
                raise
        return result


class _NotWantedError(Exception):
    """What is left of a branch is not wanted, because a number before it has failed."""


def share_out(
    function: Callable[[int], Result],
    numbers: range,
    pool: Executor,
    threads: int,
) -> list[Result]:
    """Apply a function to some numbers on this thread and those of a pool.

    Parameters
    ----------
    function : callable
        Takes a number.
    numbers : range
        Which ones, in the order in which they are taken.
    pool : Executor
        Whose threads help.
    threads : int
        How many threads share the numbers out, this one included.

    Returns
    -------
    list
        What the function returns for each. If it raises, the error is that of the first number
        for which it does, as on one thread.
    """
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    left = iter(numbers)  # handing one out is a single operation

    def work() -> None:
        for number in left:
            try:
                results[number] = function(number)
            except BaseException as error:  # raised again by the calling thread
                errors[number] = error
                deque(left, maxlen=0)  # nobody takes another one

    helpers = [pool.submit(work) for _ in range(min(threads, len(numbers)) - 1)]
    try:
        work()
    finally:
        deque(left, maxlen=0)
        for helper in helpers:
            if not helper.cancel():
                helper.result()
    if errors:
        raise errors[min(errors)]
    return [results[number] for number in numbers]


def _merge_tree(
    results: Iterable[tuple[int, Result]],
    merge: Callable[[Result, Result], Result],
    check: Callable[[], None] | None = None,
) -> Result:
    """Combine results as a binary counter does: only equal-sized groups merge, then the rest.

    Parameters
    ----------
    results : iterable of tuple
        How many numbers each is the result of, and the result.
    merge : callable
        Combines the results of two neighbouring groups.
    check : callable or None, default=None
        Called between results; raises to abandon the rest.
    """
    groups: list[tuple[int, Result]] = []
    for size, combined in results:
        if check is not None:
            check()
        while groups and groups[-1][0] == size:
            combined = merge(groups.pop()[1], combined)  # noqa: PLW2901
            size *= 2  # noqa: PLW2901
        groups.append((size, combined))
    combined = groups.pop()[1]
    while groups:
        combined = merge(groups.pop()[1], combined)
    return combined
