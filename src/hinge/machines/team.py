"""Threads that share out pieces of a pass over kernel values; the calling thread is one of them.

A pass is work on ranges of columns. Every column gets the same in whichever piece it is, so that
pieces may be as large as suits the threads: a native call is to take no more than some 10 ms, and
no less than waking another thread is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hinge.block_map import share_out

Check = Callable[[], None]
Piece = Callable[[int, int], None]  # takes the first column and the end

VALUES_A_CALL = 1 << 22  # kernel values that one native call computes: some 10 ms
_LEAST_VALUES = 1 << 17  # of a piece that another thread may take
_LEAST_OF_TRIANGLE = 1 << 15  # the same, of a square whose threads wait for nothing else
_TURNS = 4  # pieces for each thread, so that all end together
_TILE = 96  # columns that native code takes at a time


class Team:
    """Threads that are made when they are needed first.

    Parameters
    ----------
    threads : int, default=1
        How many threads share out a pass, the calling one included.
    check : callable or None, default=None
        Called between pieces on the calling thread; raises to abandon the rest.
    """

    def __init__(self, threads: int = 1, check: Check | None = None) -> None:
        self.threads = threads
        self.check = check
        self._pool: ThreadPoolExecutor | None = None

    def over_columns(
        self, work: Piece, n_terms: int, n_columns: int, *, alone: bool = False
    ) -> None:
        """Do work on pieces of the columns.

        Parameters
        ----------
        work : callable
            Takes the first column of a piece and its end.
        n_terms, n_columns : int
            What the work is proportional to.
        alone : bool, default=False
            Whether the calling thread is to do it all.
        """
        if n_terms == 0 or n_columns == 0:
            return
        threads = 1 if alone else self.threads
        size = max(256, VALUES_A_CALL // n_terms)
        if threads > 1:
            share = -(-n_columns // (_TURNS * threads))
            size = min(size, max(share, _LEAST_VALUES // n_terms))
        size = -(-size // _TILE) * _TILE

        def piece(number: int) -> None:
            work(number * size, min((number + 1) * size, n_columns))

        self._run(piece, -(-n_columns // size), threads)

    def over_triangle(self, work: Piece, n_columns: int) -> None:
        """Do work on pieces of columns each of which has as many terms as there are before it.

        Parameters
        ----------
        work : callable
            Takes the first column of a piece and its end.
        n_columns : int
            How many columns there are.
        """
        values = n_columns * n_columns // 2
        count = 1 + values // VALUES_A_CALL
        if self.threads > 1:
            count = max(count, min(_TURNS * self.threads, values // _LEAST_OF_TRIANGLE))
        ends = [math.isqrt(n_columns * n_columns * k // count) for k in range(count + 1)]
        self._run(lambda number: work(ends[number], ends[number + 1]), count, self.threads)

    def release(self) -> None:
        """Let go of the threads; they are made anew when needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _run(self, piece: Callable[[int], None], count: int, threads: int) -> None:
        """Do pieces by number, in threads if there are several of either."""
        if threads <= 1 or count == 1:
            for number in range(count):
                if self.check is not None:
                    self.check()
                piece(number)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=threads - 1)
        share_out(piece, range(count), self._pool, threads, self.check)
