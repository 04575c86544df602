"""Rows of the kernel matrix that are kept, bounded in megabytes; the least recently used go.

Which rows are kept, and when each was used last, are two arrays that a run may store and begin
again with. The values need not be stored: a row that is kept but not written is computed when it is
asked for, with the same bits. So sums over kept rows come in the order in which a run without a
break has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.machines.kernel_source import KernelSource
from hinge.machines.pages import empty_pages
from hinge.machines.team import Piece

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

ADDED_A_VALUE = 4  # kept values that are added in the time that a kernel value takes


class KernelCache:
    """Kernel rows by number.

    Parameters
    ----------
    n_rows : int
        How many rows the kernel matrix has.
    n_columns : int
        How many columns are kept of a row.
    megabytes : float
        Memory for all of them.
    kept, used : ndarray of int64 of shape (n_slots,) or None, default=None
        The arrays of that name of an earlier cache of the same sizes, to go on with.
    exact : bool, default=False
        Whether values are kept as float64; they are float32 otherwise.

    Attributes
    ----------
    rows : ndarray of float32 or float64 of shape (n_slots, n_columns)
        The kept rows; memory is taken when it is first written.
    kept : ndarray of int64 of shape (n_slots,)
        Which row each slot is for, -1 for none.
    used : ndarray of int64 of shape (n_slots,)
        The round in which each slot was used last.
    hits, misses : int
        How often a wanted row was kept, and how often not.
    """

    def __init__(
        self,
        n_rows: int,
        n_columns: int,
        megabytes: float,
        kept: Ids | None = None,
        used: Ids | None = None,
        *,
        exact: bool = False,
    ) -> None:
        dtype = np.dtype(np.float64 if exact else np.float32)
        slots = int(megabytes * 2**20 // (dtype.itemsize * max(1, n_columns)))
        self.n_slots = max(0, min(slots, n_rows))
        self.rows: NDArray[Any] = empty_pages((self.n_slots, n_columns), dtype)
        self.kept = np.full(self.n_slots, -1, dtype=np.int64) if kept is None else kept
        self.used = np.zeros(self.n_slots, dtype=np.int64) if used is None else used
        self._slot_of = np.full(n_rows, -1, dtype=np.int64)
        taken = np.flatnonzero(self.kept >= 0)
        self._slot_of[self.kept[taken]] = taken
        self._is_written = np.zeros(self.n_slots, dtype=bool)
        self._clock = int(np.max(self.used, initial=0))
        self.hits = 0
        self.misses = 0

    @property
    def slot_of(self) -> Ids:
        """Where every row is kept, -1 where it is not."""
        return self._slot_of

    @property
    def n_free(self) -> int:
        """How many slots keep no row."""
        return int(np.count_nonzero(self.kept < 0))

    @property
    def nbytes(self) -> int:
        """The bytes of kept rows whose values are there."""
        each: int = self.rows.itemsize * self.rows.shape[1]
        return int(np.count_nonzero(self._is_written)) * each

    @property
    def clock(self) -> int:
        """The number of this round."""
        return self._clock

    def used_until(self, clock: int, hits: int) -> None:
        """Note that native code has used kept rows, with rounds up to this one.

        Parameters
        ----------
        clock : int
            The number of the last round.
        hits : int
            How often a row was used.
        """
        self._clock = clock
        self.hits += hits

    def lookup(self, ids: Ids) -> Ids:
        """Return where rows are kept, -1 where they are not."""
        return self._slot_of[ids]

    def pick(self, slots: Ids, columns: Ids) -> NDArray[Any]:
        """Return some columns of kept rows.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        columns : ndarray of int64
            Which of their columns.

        Returns
        -------
        ndarray of shape (len(slots), len(columns))
            A copy.
        """
        picked = np.empty((len(slots), len(columns)), dtype=self.rows.dtype)
        core.pick_cached(self.rows, slots, columns, picked)
        return picked

    def slots(self, ids: Ids) -> Ids:
        """Return where rows are kept, -1 where they are not; those found count as used."""
        found = self._slot_of[ids]
        kept = found[found >= 0]
        self._clock += 1
        self.used[kept] = self._clock
        self.hits += len(kept)
        self.misses += len(ids) - len(kept)
        return found

    def make_room(self, ids: Ids, *, replace: bool = True) -> Ids:
        """Give slots to rows that are not kept, as many as there may be; the first come first.

        Rows used in this round stay. The new ones are to be written.

        Parameters
        ----------
        ids : ndarray of int64
            Rows that are not kept.
        replace : bool, default=True
            Whether others may have to go.

        Returns
        -------
        ndarray of int64
            The slots of the first rows of ``ids``; it may be shorter.
        """
        can_go = self.used < self._clock if replace else self.kept < 0
        replaceable = np.flatnonzero(can_go)
        oldest = np.argsort(self.used[replaceable], kind="stable")[: len(ids)]
        slots = np.sort(replaceable[oldest])
        before = self.kept[slots]
        self._slot_of[before[before >= 0]] = -1
        self.kept[slots] = ids[: len(slots)]
        self._slot_of[ids[: len(slots)]] = slots
        self.used[slots] = self._clock
        self._is_written[slots] = False
        return slots

    def write(self, slots: Ids, source: KernelSource) -> None:
        """Compute those kept rows whose values are not there: new ones, or those of a stored run.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        source : KernelSource
            Where their values come from.
        """
        lost = slots[~self._is_written[slots]]
        if len(lost):
            source.write(self.kept[lost], self.rows, lost)
            self._is_written[lost] = True

    def write_all(self, source: KernelSource) -> None:
        """Compute every kept row whose values are not there, for code that looks rows up itself.

        Parameters
        ----------
        source : KernelSource
            Where their values come from.
        """
        self.write(np.flatnonzero(self.kept >= 0), source)

    def all_slots(self, source: KernelSource) -> core.ResidentSlots:
        """Return the rows as native code keeps them itself; there must be room for all.

        Parameters
        ----------
        source : KernelSource
            Where the values of kept rows that are not there come from.
        """
        self.write_all(source)
        self._clock += 1
        where = self.kept, self.used, self._is_written
        return core.ResidentSlots(self.rows, self._slot_of, *where, self._clock)

    def adding(self, slots: Ids, coef: Floats, out: Floats) -> Piece:
        """Return what adds kept rows, times their coefficients, to some columns of ``out``.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        coef : ndarray of shape (len(slots),)
            Their coefficients.
        out : ndarray of shape (n_columns,)
            What to add to.
        """
        return lambda first, stop, threads: core.add_cached(
            self.rows, slots, coef, first, stop, out, threads
        )

    def add(self, slots: Ids, coef: Floats, out: Floats, source: KernelSource) -> None:
        """Add kept rows, times their coefficients, to ``out``.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        coef : ndarray of shape (len(slots),)
            Their coefficients.
        out : ndarray of shape (n_columns,)
            What to add to.
        source : KernelSource
            How many threads share out the columns; which of them adds to one changes no bit.
        """
        source.share_out(self.adding(slots, coef, out), -(-len(slots) // ADDED_A_VALUE), len(out))

    def note_written(self, slots: Ids) -> None:
        """Note that kept rows have been written by somebody else.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        """
        self._is_written[slots] = True

    def release(self) -> None:
        """Give the memory back; kept rows are computed again when they are asked for."""
        shape, dtype = self.rows.shape, self.rows.dtype
        del self.rows
        self.rows = empty_pages(shape, dtype)
        self._is_written[:] = False

    def forget(self) -> None:
        """Keep no row any more."""
        self._slot_of[:] = -1
        self.kept[:] = -1
        self.used[:] = 0
