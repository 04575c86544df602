"""Passes over kernel values in native calls of bounded work, each shared out by native threads.

A pass is work on ranges of columns. Every column gets the same in whichever range it is, and
whichever thread computes it, so that ranges may be as long as suits the threads: a call is to take
no more than some 10 ms, and threads take part in it where that is worth to wake them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

Check = Callable[[], None]
Piece = Callable[[int, int, int], None]  # takes the first column, the end, and how many threads

VALUES_A_CALL = 1 << 22  # kernel values that a thread computes in one native call: some 10 ms
_MOST_SHARES = 4  # of these in a call: where no other thread is free, one does it all
_LEAST_VALUES = 1 << 15  # of a call that several threads share
_READING = 16  # values that take as long as to read a column, at the least
_TILE = 96  # columns that native code takes at a time


class Team:
    """How many threads take part in a pass, and who is asked between its calls.

    Parameters
    ----------
    threads : int, default=1
        How many threads share out a call, the calling one included.
    check : callable or None, default=None
        Called before every call; raises to abandon the rest.
    """

    def __init__(self, threads: int = 1, check: Check | None = None) -> None:
        self.threads = threads
        self.check = check

    def over_columns(
        self, work: Piece, n_terms: int, n_columns: int, *, alone: bool = False
    ) -> None:
        """Do work on pieces of the columns.

        Parameters
        ----------
        work : callable
            Takes the first column of a piece, its end, and how many threads are to share it out.
        n_terms, n_columns : int
            What the work is proportional to.
        alone : bool, default=False
            Whether the calling thread is to do it all.
        """
        if n_terms == 0 or n_columns == 0:
            return
        threads = self._worth((n_terms + _READING) * n_columns, alone=alone)
        values = min(threads, _MOST_SHARES) * VALUES_A_CALL
        size = -(-max(256, values // n_terms) // _TILE) * _TILE
        self._run(work, [*range(0, n_columns, size), n_columns], threads)

    def over_triangle(self, work: Piece, n_columns: int) -> None:
        """Do work on pieces of columns each of which has as many terms as there are before it.

        Parameters
        ----------
        work : callable
            Takes the first column of a piece, its end, and how many threads are to share it out.
        n_columns : int
            How many columns there are.
        """
        values = n_columns * n_columns // 2
        threads = self._worth(values)
        count = 1 + values // (min(threads, _MOST_SHARES) * VALUES_A_CALL)
        ends = [math.isqrt(n_columns * n_columns * k // count) for k in range(count + 1)]
        self._run(work, ends, threads)

    def _worth(self, values: int, *, alone: bool = False) -> int:
        """Return how many threads are worth it."""
        return 1 if alone or values < _LEAST_VALUES else self.threads

    def _run(self, work: Piece, ends: list[int], threads: int) -> None:
        """Do pieces between these columns."""
        for first, stop in itertools.pairwise(ends):
            if self.check is not None:
                self.check()
            work(first, stop, threads)
