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

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.machines import KernelSource
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

PIVOTS = ("largest", "random")
_BATCH = 64  # candidates of a round: enough that products of matrices are what it costs
_STILL_LARGE = 0.3  # share of its diagonal that a candidate must have kept to be taken
_NOTHING_LEFT = 1e-13  # of the largest diagonal: a remainder that is rounding
_OPERATIONS_A_PANEL = 1 << 27  # some 10 ms
_VALUES_A_PANEL = 1 << 18
_FIRST_ROOM = 256  # columns, doubled when they are full: rows that lie far apart are slow to reach
_ROWS_A_MOVE = 1024
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
    dtype : type
        ``np.float64`` or ``np.float32``: how V is stored.

    Attributes
    ----------
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
        dtype: type[np.floating] = np.float64,
    ) -> None:
        self.source = source
        self.most = max(0, min(most, source.n_rows))
        self.pivots = pivots
        self.remainder = np.maximum(diagonal, 0.0)
        self.trace = float(np.sum(self.remainder))
        self._floor = _NOTHING_LEFT * float(np.max(self.remainder, initial=0.0))
        self._flat = np.empty(source.n_rows * min(self.most, _FIRST_ROOM), dtype=dtype)
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
        """The factor so far, without a copy; of the source's unit."""
        return self._whole()[:, : self.rank]

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
        while self.rank < goal and not self.is_exhausted and self.relative_error > tolerance:
            self.round(min(_BATCH, goal - self.rank), threads, check)
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
            before = self.columns[candidates].astype(np.float64)
            self.source.check, self.source.threads = check, threads
            among = self.source.exact_block(candidates) - before @ before.T
            least = max(share * float(np.mean(self.remainder[candidates])), self._floor)
            order, triangle = _pivoted(among, least)
            if len(order) == 0:
                self.remainder[candidates] = 0.0  # they are in the span, up to rounding
                return
            self._append(candidates[order], before[order], triangle, (threads, check))

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
        self._make_room(rank + more)
        whole = self._whole()
        cost = more * (rank + more + 1)
        size = max(64, min(_OPERATIONS_A_PANEL // cost, _VALUES_A_PANEL // more))
        left = self.remainder.copy()
        # Products in the precision that V is stored in: what rounding adds is of the same size.
        stored = before.astype(whole.dtype)

        def panel(number: int) -> None:
            first, stop = number * size, min((number + 1) * size, n)
            block = self.source.panel(ids, first, stop)
            if rank:
                block -= stored @ whole[first:stop, :rank].T
            added = scipy.linalg.solve_triangular(triangle, block, lower=True, check_finite=False)
            whole[first:stop, rank : rank + more] = added.T
            left[first:stop] -= np.sum(added * added, axis=0)

        threads = threads if self.source.is_thread_safe else 1
        map_numbers(panel, -(-n // size), lambda one, _: one, threads=threads, check=check)
        self.source.computed += n * more
        grown = np.zeros((rank + more, rank + more))
        grown[:rank, :rank] = self._pivot_rows
        grown[rank:, :rank], grown[rank:, rank:] = before, triangle
        whole[ids, rank : rank + more] = triangle
        left[ids] = 0.0
        self._pivot_rows = grown
        self.basis = np.concatenate((self.basis, ids))
        self.remainder = np.maximum(left, 0.0)
        self.is_exhausted = self.rank >= self.most

    def _whole(self) -> NDArray[np.floating]:
        """Return the memory of the factor as a matrix, with room for more columns."""
        n = self.source.n_rows
        return self._flat.reshape(n, self._flat.size // max(1, n))

    def _make_room(self, wanted: int) -> None:
        """See to it that there is memory for so many columns."""
        whole = self._whole()
        if wanted > whole.shape[1]:
            room = min(self.most, max(wanted, 2 * whole.shape[1]))
            wider = np.empty((len(whole), room), dtype=whole.dtype)
            wider[:, : self.rank] = whole[:, : self.rank]
            self._flat = wider.reshape(-1)

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
        """Return the factor as an array of its own, in the memory that it has; ends the growth."""
        n, rank, whole = self.source.n_rows, self.rank, self._whole()
        flat = self._flat
        if rank < whole.shape[1]:
            for first in range(0, n, _ROWS_A_MOVE):
                some = whole[first : first + _ROWS_A_MOVE, :rank].copy()
                flat[first * rank : first * rank + some.size] = some.reshape(-1)
            flat = flat[: n * rank]
        self.most = rank
        self.is_exhausted = True
        self._flat = flat
        return flat.reshape(n, rank)


def _pivoted(matrix: Floats, least: float) -> tuple[Ids, Floats]:
    """Return a pivoted Cholesky factor of a small matrix, as far as pivots are not too small.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Positive semidefinite up to rounding.
    least : float
        The smallest pivot to take.

    Returns
    -------
    order : ndarray of int64
        The pivots.
    triangle : ndarray of shape (len(order), len(order))
        The lower triangular factor of their part of the matrix.
    """
    m = len(matrix)
    left = np.diagonal(matrix).copy()
    rows = np.zeros((m, m))
    order: list[int] = []
    for step in range(m):
        best = int(np.argmax(left))
        if not left[best] > least:
            break
        column = matrix[:, best] - rows[:, :step] @ rows[best, :step]
        rows[:, step] = column / math.sqrt(left[best])
        left -= rows[:, step] ** 2
        left[best] = -math.inf
        order.append(best)
    chosen = np.array(order, dtype=np.int64)
    return chosen, np.tril(rows[chosen][:, : len(order)])
