r"""Pivoted incomplete Cholesky factors, grown by several columns at a time.

With V of k columns and the remainder :math:`E = K - VV'`, whose diagonal d is kept, a round is

1. choose candidates: the rows of the largest d (``"largest"``), or rows drawn with probabilities
   that are proportional to d (``"random"``, which rows far from all others do not mislead), or the
   rows that the caller names;
2. factorise E among them, the largest pivot first, and leave out those that the others have made
   small: they are what a choice one by one would not have taken;
3. add a column for each of the rest: ``n`` kernel values and ``2 n k`` operations each, as matrix
   products over panels of rows.

Reference: S. Fine and K. Scheinberg, Efficient SVM training using low-rank kernel representations,
JMLR 2, 2001; Y. Chen, E. Epperly, J. Tropp and R. Webber, Randomly pivoted Cholesky, 2023. Ours:
batches whose rejected rows stay candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.lowrank.columns import Columns
from hinge.lowrank.pivots import Substitution, pivoted
from hinge.machines import KernelSource
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

PIVOTS = ("largest", "random")
_BATCH = 64  # candidates of a round: enough that products of matrices are what it costs,
_BATCH_SHARE = 0.25  # or this share of the columns so far, which are read once in a round,
_MOST_BATCH = 512  # up to so many,
_LAST_BATCH = 32  # and not many more than seem to be missing, but so many
_STILL_LARGE = 0.3  # share of its diagonal that a candidate must have kept to be taken
_NOTHING_LEFT = 1e-13  # of the largest diagonal: a remainder that is rounding
_OPERATIONS_A_PANEL = 1 << 29  # some 10 to 20 ms
_VALUES_A_PANEL = 1 << 18
_ROWS_A_PASS = 512  # that a pass over all columns takes at once: they stay in the cache,
_OPERATIONS_A_PASS = 1 << 31  # if that is no more than so much, some 50 ms
_FLOOR = 1e-300  # below it a diagonal has no logarithm that matters


class IncompleteCholesky:
    """A factor that grows.

    Parameters
    ----------
    source : KernelSource
        Where kernel values come from; its unit is divided out of everything here.
    diagonal : ndarray of shape (n_rows,)
        The kernel of every row with itself, in the source's unit.
    most : int
        Columns that there may be; memory for them is taken as they come.
    pivots : {"largest", "random"}
        How rows are chosen.
    seed : int
        Seed of the choice.
    dtype : type or dtype
        ``np.float64`` or ``np.float32``: how V is stored.

    Attributes
    ----------
    dtype : dtype
        How V is stored.
    rank : int
        Columns so far.
    basis : ndarray of int64 of shape (rank,)
        The pivots, in their order.
    remainder : ndarray of shape (n_rows,)
        Diagonal of ``K - V V'``.
    is_exhausted : bool
        Whether what remains is rounding, or there is no more room.
    """

    def __init__(
        self,
        source: KernelSource,
        diagonal: Floats,
        most: int,
        pivots: str = "random",
        seed: int = 0,
        dtype: type[np.floating] | np.dtype[Any] = np.float64,
    ) -> None:
        self.source = source
        self.most = max(0, min(most, source.n_rows))
        self.pivots = pivots
        self.remainder = np.maximum(diagonal, 0.0)
        self.trace = float(np.sum(self.remainder))
        self._floor = _NOTHING_LEFT * float(np.max(self.remainder, initial=0.0))
        self.dtype = np.dtype(dtype)
        self._columns = Columns(source.n_rows, self.most, self.dtype)
        self._pivot_rows = np.zeros((0, 0))  # rows of V at the pivots, in float64
        self.basis: Ids = np.zeros(0, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self.is_exhausted = self.most == 0 or not self.remainder.any()

    @property
    def rank(self) -> int:
        """Columns so far."""
        return len(self.basis)

    @property
    def relative_error(self) -> float:
        """Trace of what remains, as a share of the trace of K."""
        return float(np.sum(self.remainder)) / self.trace if self.trace > 0.0 else 0.0

    @property
    def columns(self) -> NDArray[np.floating]:
        """The factor so far, as an array of its own; of the source's unit."""
        return self._columns.gathered(self.rank)

    def rows_of(self, ids: Ids) -> Floats:
        """Return the rows of the factor that some rows have, in float64.

        Parameters
        ----------
        ids : ndarray of int64
            The rows.
        """
        parts = [chunk[:, ids].T for chunk in self._columns.filled(self.rank)]
        return np.hstack([np.zeros((len(ids), 0)), *parts])

    def triangle(self) -> Floats:
        """Return the rows of V at the pivots: a lower triangular matrix."""
        return self._pivot_rows

    def grow(
        self, rank: int, tolerance: float = 0.0, threads: int = 1, check: Check | None = None
    ) -> None:
        """Add columns until there are so many, or so little is left.

        Parameters
        ----------
        rank : int
            Columns to have at the most.
        tolerance : float, default=0.0
            Relative trace error at which to stop before.
        threads : int, default=1
            How many threads share out the rows; never changes a bit.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it, which leaves the factor as it was
            before the round.
        """
        goal = min(rank, self.most)
        missing = math.inf  # columns, as the last round forecasts it
        while self.rank < goal and not self.is_exhausted and self.relative_error > tolerance:
            batch = min(max(_BATCH, int(_BATCH_SHARE * self.rank)), _MOST_BATCH)
            batch = int(min(batch, max(missing, _LAST_BATCH), goal - self.rank))
            had, left = self.rank, self.relative_error
            self.round(batch, threads, check)
            gained = (left - self.relative_error) / max(1, self.rank - had)
            missing = (self.relative_error - tolerance) / gained if gained > 0.0 else math.inf
        self.is_exhausted |= self.rank >= self.most

    def round(self, size: int, threads: int = 1, check: Check | None = None) -> None:
        """Choose so many candidates and add the columns of those that are worth it."""
        drawn = self._rng.bit_generator.state
        candidates = self._candidates(size)
        if len(candidates) == 0:
            self.is_exhausted = True
            return
        try:
            self.add(candidates, _STILL_LARGE, threads, check)
        except BaseException:
            self._rng.bit_generator.state = drawn  # the round will be done again, the same
            raise

    def add(
        self, candidates: Ids, share: float, threads: int = 1, check: Check | None = None
    ) -> None:
        """Add the columns of candidates that keep a share of their mean diagonal.

        Parameters
        ----------
        candidates : ndarray of int64
            Rows, each once.
        share : float
            What must be left of it when the others are taken; 0 for whatever is not rounding.
        threads : int, default=1
            How many threads share out the rows.
        check : callable or None, default=None
            Called between pieces of work.
        """
        with single_threaded_blas():
            before = self.rows_of(candidates)
            self.source.check, self.source.threads = check, threads
            among = self.source.exact_block(candidates) - before @ before.T
            least = max(share * float(np.mean(self.remainder[candidates])), self._floor)
            order, triangle = pivoted(among, least)
            if len(order) == 0:
                self.remainder[candidates] = 0.0  # they are in the span, up to rounding
                return
            self._append(candidates[order], before[order], triangle, (threads, check))

    def adopt(
        self, ids: Ids, triangle: Floats, threads: int = 1, check: Check | None = None
    ) -> None:
        """Take the columns of pivots that another factor has chosen, in one pass over the rows.

        What a round reads again, the columns before it, is still in the processor's cache here.

        Parameters
        ----------
        ids : ndarray of int64
            The pivots, in their order.
        triangle : ndarray of shape (len(ids), len(ids))
            Their rows of V.
        threads : int, default=1
            How many threads share out the rows.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it, which leaves no column.
        """
        assert self.rank == 0
        r, n = len(ids), self.source.n_rows
        places = self._columns.begin_whole(r)
        lower = triangle.astype(self.dtype)
        solved = [Substitution(triangle[some, some], self.dtype) for _, some in places]
        size = max(64, min(_OPERATIONS_A_PASS // max(1, r * r), _ROWS_A_PASS))
        left = self.remainder.copy()

        def panel(number: int) -> None:
            first, stop = number * size, min((number + 1) * size, n)
            block = self.source.panel(ids, first, stop, self.dtype)
            for solve, (place, some) in zip(solved, places, strict=True):
                begin = some.start
                if begin:
                    block[some] -= lower[some, :begin] @ block[:begin]
                block[some] = solve(block[some])
                place[:, first:stop] = block[some]
            left[first:stop] -= np.einsum("ij,ij->j", block, block, dtype=np.float64)

        threads = threads if self.source.is_thread_safe else 1
        with single_threaded_blas():
            map_numbers(panel, -(-n // size), lambda one, _: one, threads=threads, check=check)
        self.source.computed += n * r
        for place, some in places:
            place[:, ids] = triangle.T[some]
        left[ids] = 0.0
        self._pivot_rows = triangle
        self.basis = ids
        self.remainder = np.maximum(left, 0.0)
        self.is_exhausted = self.rank >= self.most

    def _append(
        self,
        ids: Ids,
        before: Floats,
        triangle: Floats,
        how: tuple[int, Check | None],
    ) -> None:
        """Add the columns of chosen rows, a panel of rows at a time."""
        threads, check = how
        rank, more, n = self.rank, len(ids), self.source.n_rows
        chunks, places = self._columns.filled(rank), self._columns.places(rank, more)
        cost = more * (rank + more + 1)
        size = max(64, min(_OPERATIONS_A_PANEL // cost, _VALUES_A_PANEL // more))
        left = self.remainder.copy()
        # Values and products in the precision that V is stored in: what rounding adds is of the
        # same size.
        stored = before.astype(self.dtype)
        solved = Substitution(triangle, self.dtype)

        def panel(number: int) -> None:
            first, stop = number * size, min((number + 1) * size, n)
            block = self.source.panel(ids, first, stop, self.dtype)
            begin = 0
            for chunk in chunks:
                block -= stored[:, begin : begin + len(chunk)] @ chunk[:, first:stop]
                begin += len(chunk)
            added = solved(block)
            for place, some in places:
                place[:, first:stop] = added[some]
            left[first:stop] -= np.einsum("ij,ij->j", added, added, dtype=np.float64)

        threads = threads if self.source.is_thread_safe else 1
        map_numbers(panel, -(-n // size), lambda one, _: one, threads=threads, check=check)
        self.source.computed += n * more
        grown = np.zeros((rank + more, rank + more))
        grown[:rank, :rank] = self._pivot_rows
        grown[rank:, :rank], grown[rank:, rank:] = before, triangle
        for place, some in places:
            place[:, ids] = triangle.T[some]
        left[ids] = 0.0
        self._pivot_rows = grown
        self.basis = np.concatenate((self.basis, ids))
        self.remainder = np.maximum(left, 0.0)
        self.is_exhausted = self.rank >= self.most

    def _candidates(self, size: int) -> Ids:
        """Return the rows to look at in a round, in the order of preference."""
        left = self.remainder
        possible = np.flatnonzero(left > self._floor)
        if len(possible) <= size:
            return possible
        keys = left[possible]
        if self.pivots == "random":
            # The largest of log d plus Gumbel noise are a sample without replacement.
            keys = np.log(np.maximum(keys, _FLOOR)) + self._rng.gumbel(size=len(possible))
        best = np.argpartition(-keys, size - 1)[:size]
        best = best[np.lexsort((best, -keys[best]))]
        return np.asarray(possible[best], dtype=np.int64)

    def release(self) -> NDArray[np.floating]:
        """Return the factor as an array of its own; ends the growth."""
        whole = self._columns.released(self.rank)
        self.most = self.rank
        self.is_exhausted = True
        return whole
