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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.lowrank.columns import Columns
from hinge.lowrank.pivots import Coordinates, Substitution, pivoted
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
_OPERATIONS_A_PASS = 1 << 31  # if that is no more than so much, some 20 ms
_FLOOR = 1e-300  # below it a diagonal has no logarithm that matters


@dataclass(frozen=True)
class Pilot:
    """What a factor of some rows knows of a factor of all.

    Parameters
    ----------
    basis : ndarray of int64 of shape (rank,)
        The pivots, in their order.
    triangle : ndarray of shape (rank, rank)
        Their rows of V.
    rows : ndarray of int64
        Rows whose columns are known; there may be none.
    columns : ndarray of shape (len(rows), rank)
        Their rows of V.
    """

    basis: Ids
    triangle: Floats
    rows: Ids
    columns: NDArray[np.floating]


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
    weights : ndarray of shape (n_rows,) or None
        What the remainders are multiplied with where pivots are chosen and growth ends; None for 1.
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
        self.diagonal = self.remainder
        self.weights: Floats | None = None
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
    def weighted_error(self) -> float:
        """The same with every row at its weight."""
        if self.weights is None:
            return self.relative_error
        whole = float(self.weights @ self.diagonal)
        return float(self.weights @ self.remainder) / whole if whole > 0.0 else 0.0

    @property
    def columns(self) -> NDArray[np.floating]:
        """The factor so far, as an array of its own; of the source's unit."""
        return self.first_columns(self.rank)

    def first_columns(self, rank: int) -> NDArray[np.floating]:
        """Return the first columns of the factor, as an array of its own.

        Parameters
        ----------
        rank : int
            How many.
        """
        return self._columns.gathered(rank)

    def weigh(self, weights: Floats | None) -> None:
        """Choose further pivots by weighted remainders.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,) or None
            The weights, not negative; a row of weight 0 is not chosen. None for 1.
        """
        self.weights = weights
        self.is_exhausted = self.rank >= self.most or not self.remainder.any()

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
            Relative trace error, weighted if weights are set, at which to stop before.
        threads : int, default=1
            How many threads share out the rows; never changes a bit.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it, which leaves the factor as it was
            before the round.
        """
        goal = min(rank, self.most)
        missing = math.inf  # columns, as the last round forecasts it
        while self.rank < goal and not self.is_exhausted and self.weighted_error > tolerance:
            batch = min(max(_BATCH, int(_BATCH_SHARE * self.rank)), _MOST_BATCH)
            batch = int(min(batch, max(missing, _LAST_BATCH), goal - self.rank))
            had, left = self.rank, self.weighted_error
            self.round(batch, threads, check)
            gained = (left - self.weighted_error) / max(1, self.rank - had)
            missing = (self.weighted_error - tolerance) / gained if gained > 0.0 else math.inf
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

    def adopt(self, pilot: Pilot, threads: int = 1, check: Check | None = None) -> None:
        """Take the columns of pivots that a factor of some of the rows has chosen, in one pass.

        One product for all columns of a few rows: what rounds read again is in the cache here.

        Parameters
        ----------
        pilot : Pilot
            The pivots, and what is known of the columns.
        threads : int, default=1
            How many threads share out the rows.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it, which leaves no column.
        """
        assert self.rank == 0
        ids, triangle = pilot.basis, pilot.triangle
        r, n = len(ids), self.source.n_rows
        whole = self._columns.begin_whole(r)
        is_known = np.zeros(n, dtype=np.bool_)
        is_known[pilot.rows] = True
        new = np.flatnonzero(~is_known)
        size = max(64, min(_OPERATIONS_A_PASS // max(1, r * r), _ROWS_A_PASS))
        squares = np.zeros(n)

        def panel(number: int) -> None:
            some = new[number * size : (number + 1) * size]
            found = coordinates(self.source.panel(ids, some, self.dtype))
            whole[some] = found
            squares[some] = np.einsum("ij,ij->i", found, found, dtype=np.float64)

        threads = threads if self.source.is_thread_safe else 1
        with single_threaded_blas():
            coordinates = Coordinates(triangle, self.dtype)
            count = -(-len(new) // size)
            if count:
                map_numbers(panel, count, lambda one, _: one, threads=threads, check=check)
        self.source.computed += len(new) * r
        for first in range(0, len(pilot.rows), _ROWS_A_PASS):
            some = pilot.rows[first : first + _ROWS_A_PASS]
            found = pilot.columns[first : first + _ROWS_A_PASS]
            whole[some] = found
            squares[some] = np.einsum("ij,ij->i", found, found, dtype=np.float64)
        whole[ids] = triangle
        left = self.remainder - squares
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
            block = self.source.panel(ids, np.arange(first, stop), self.dtype)
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
        left = self.remainder if self.weights is None else self.weights * self.remainder
        possible = np.flatnonzero((self.remainder > self._floor) & (left > 0.0))
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
