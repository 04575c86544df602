"""Rows of the kernel matrix that are kept: float32, bounded in megabytes, least recently used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge._native import core

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ids = NDArray[np.int64]

_COLUMNS_A_CALL = 1 << 22  # values that one native call adds up, over its rows


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

    Attributes
    ----------
    rows : ndarray of float32 of shape (n_slots, n_columns)
        The kept rows; memory is taken when it is first written.
    hits, misses : int
        How often a wanted row was kept, and how often not.
    """

    def __init__(self, n_rows: int, n_columns: int, megabytes: float) -> None:
        slots = int(megabytes * 2**20 // (4 * max(1, n_columns)))
        self.n_slots = max(0, min(slots, n_rows))
        self.rows: Singles = np.empty((self.n_slots, n_columns), dtype=np.float32)
        self._slot_of = np.full(n_rows, -1, dtype=np.int64)
        self._row_in = np.full(self.n_slots, -1, dtype=np.int64)
        self._used = np.zeros(self.n_slots, dtype=np.int64)
        self._clock = 0
        self.hits = 0
        self.misses = 0

    def lookup(self, ids: Ids) -> Ids:
        """Return where rows are kept, -1 where they are not."""
        return self._slot_of[ids]

    def pick(self, slots: Ids, columns: Ids) -> Singles:
        """Return some columns of kept rows.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        columns : ndarray of int64
            Which of their columns.

        Returns
        -------
        ndarray of float32 of shape (len(slots), len(columns))
            A copy.
        """
        picked = np.empty((len(slots), len(columns)), dtype=np.float32)
        core.pick_cached(self.rows, slots, columns, picked)
        return picked

    def slots(self, ids: Ids) -> Ids:
        """Return where rows are kept, -1 where they are not; those found count as used."""
        found = self._slot_of[ids]
        kept = found[found >= 0]
        self._clock += 1
        self._used[kept] = self._clock
        self.hits += len(kept)
        self.misses += len(ids) - len(kept)
        return found

    def make_room(self, ids: Ids) -> Ids:
        """Give slots to rows that are not kept, as many as there may be; the first come first.

        Rows used in this round stay.

        Parameters
        ----------
        ids : ndarray of int64
            Rows that are not kept.

        Returns
        -------
        ndarray of int64
            The slots of the first rows of ``ids``; it may be shorter.
        """
        replaceable = np.flatnonzero(self._used < self._clock)
        oldest = np.argsort(self._used[replaceable], kind="stable")[: len(ids)]
        slots = np.sort(replaceable[oldest])
        before = self._row_in[slots]
        self._slot_of[before[before >= 0]] = -1
        self._row_in[slots] = ids[: len(slots)]
        self._slot_of[ids[: len(slots)]] = slots
        self._used[slots] = self._clock
        return slots

    def add(self, slots: Ids, coef: Floats, out: Floats) -> None:
        """Add kept rows, times their coefficients, to ``out``.

        Parameters
        ----------
        slots : ndarray of int64
            Where the rows are kept.
        coef : ndarray of shape (len(slots),)
            Their coefficients.
        out : ndarray of shape (n_columns,)
            What to add to.
        """
        if len(slots) == 0:
            return
        width = max(2048, _COLUMNS_A_CALL // len(slots))
        for first in range(0, len(out), width):
            core.add_cached(self.rows, slots, coef, first, min(first + width, len(out)), out)

    def forget(self) -> None:
        """Keep no row any more."""
        self._slot_of[:] = -1
        self._row_in[:] = -1
        self._used[:] = 0
