"""Where kernel values come from: blocks of the kernel matrix of some rows, and sums of its rows.

A source gives values as float32, or as float64 where that is asked for. ``unit`` is what they are
divided by, so that float32 holds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.machines.team import Check, Piece, Team

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ids = NDArray[np.int64]
Terms = tuple[Ids, Floats]  # rows and their coefficients

_OWN_ROWS = 64  # of a block of which only the diagonal is wanted: a panel


class KernelSource(ABC):
    """Kernel values of a set of rows with each other.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    unit : float
        What every value is divided by.

    Attributes
    ----------
    computed : int
        Kernel values computed so far.
    copy_mb : float
        Memory that a copy of the rows takes.
    is_thread_safe : bool
        Whether several threads may compute values at once.
    """

    is_thread_safe: ClassVar[bool] = True

    def __init__(self, n_rows: int, unit: float = 1.0) -> None:
        self.n_rows = n_rows
        self.unit = unit
        self.computed = 0
        self.copy_mb = 0.0
        self._team = Team()

    @property
    def threads(self) -> int:
        """How many threads share out the columns of a block."""
        return self._team.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._team.threads = threads

    @property
    def check(self) -> Check | None:
        """What is called between pieces of work."""
        return self._team.check

    @check.setter
    def check(self, check: Check | None) -> None:
        self._team.check = check

    def block(self, ids: Ids, columns: Ids | None = None) -> Singles:
        """Return the kernel of some rows with all, or with those in ``columns``.

        Parameters
        ----------
        ids : ndarray of int64
            The rows of the block.
        columns : ndarray of int64 or None, default=None
            Its columns; None for every row.

        Returns
        -------
        ndarray of float32 of shape (len(ids), n_columns)
            The values, divided by ``unit``.
        """
        n_columns = self.n_rows if columns is None else len(columns)
        block = np.empty((len(ids), n_columns), dtype=np.float32)
        self.write(ids, block, np.arange(len(ids)), columns)
        return block

    def write(
        self, ids: Ids, out: Singles | Floats, slots: Ids, columns: Ids | None = None
    ) -> None:
        """Write the kernel of some rows with all, or with those in ``columns``, to rows of ``out``.

        Parameters
        ----------
        ids : ndarray of int64
            The rows to write.
        out : ndarray of float32 or float64 of shape (n, n_columns)
            Where to write them, in its precision.
        slots : ndarray of int64
            Which rows of ``out`` they are.
        columns : ndarray of int64 or None, default=None
            The columns; None for every row.
        """
        n_columns = self.n_rows if columns is None else len(columns)
        self.computed += len(ids) * n_columns
        self._share(self._filling(ids, columns, out, slots), len(ids), n_columns)

    def square(
        self,
        ids: Ids,
        dtype: np.dtype[Any] | type = np.float32,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return the kernel of some rows with each other.

        Parameters
        ----------
        ids : ndarray of int64
            The rows.
        dtype : dtype, default=np.float32
            The precision of the values, float64 or float32.
        out : ndarray of shape (len(ids), len(ids)) or None, default=None
            Where to write them, in that precision; None is a new array.

        Returns
        -------
        ndarray of shape (len(ids), len(ids))
            The values, divided by ``unit``.
        """
        block = np.empty((len(ids), len(ids)), dtype=dtype) if out is None else out
        self.write(ids, block, np.arange(len(ids)), ids)
        return block

    def exact_block(self, ids: Ids, out: Floats | None = None) -> Floats:
        """Return the kernel of some rows with each other, in float64.

        Parameters
        ----------
        ids : ndarray of int64
            The rows.
        out : ndarray of shape (len(ids), len(ids)) or None, default=None
            Where to write them; None is a new array.

        Returns
        -------
        ndarray of shape (len(ids), len(ids))
            The values, divided by ``unit``.
        """
        return self.square(ids, np.float64, out)

    def panel(
        self, ids: Ids, columns: Ids, dtype: np.dtype[Any] | type = np.float64
    ) -> NDArray[Any]:
        """Return the kernel of some rows with others, as one piece of work.

        Several threads may ask for panels at once if ``is_thread_safe``.

        Parameters
        ----------
        ids, columns : ndarray of int64
            The rows of the block, and its columns.
        dtype : dtype, default=np.float64
            The precision of the values, float64 or float32.

        Returns
        -------
        ndarray of shape (len(ids), len(columns))
            The values, divided by ``unit``; they are not counted in ``computed``.
        """
        block = np.empty((len(ids), len(columns)), dtype=dtype)
        self._filling(ids, columns, block, np.arange(len(ids)))(0, len(columns), 1)
        return block

    @cached_property
    def own_values(self) -> Floats:
        """Every row's kernel with itself, exactly as blocks have it, in float32."""
        own = np.empty(self.n_rows)
        for first in range(0, self.n_rows, _OWN_ROWS):
            ids = np.arange(first, min(first + _OWN_ROWS, self.n_rows))
            own[ids] = np.diagonal(self.block(ids, ids))
        return own

    def add(
        self,
        ids: Ids,
        coef: Floats,
        out: Floats,
        columns: Ids | None = None,
        *,
        exact: bool = False,
    ) -> None:
        """Add ``sum_i coef_i k(x_i, x_j)`` to ``out[j]``, for every row j or those in ``columns``.

        Parameters
        ----------
        ids : ndarray of int64
            The rows of the sum.
        coef : ndarray of shape (len(ids),)
            Their coefficients.
        out : ndarray
            What to add to.
        columns : ndarray of int64 or None, default=None
            The rows at which to evaluate; None for every row.
        exact : bool, default=False
            Whether kernel values are taken in float64.
        """
        n_columns = self.n_rows if columns is None else len(columns)
        self.computed += len(ids) * n_columns
        self._share(self._adding((ids, coef), columns, out, exact), len(ids), n_columns)

    def add_and_keep(
        self,
        ids: Ids,
        coef: Floats,
        out: Floats,
        kept: tuple[Singles, Ids],
        also: tuple[Piece, int],
    ) -> None:
        """Add the kernel functions of some rows at every row, and write the first of them.

        Parameters
        ----------
        ids : ndarray of int64
            The rows of the sum.
        coef : ndarray of shape (len(ids),)
            Their coefficients.
        out : ndarray of shape (n_rows,)
            What to add to.
        kept : tuple of (ndarray of float32 of shape (n, n_rows), ndarray of int64)
            Where the first of the rows are written, and which rows of it these are.
        also : tuple of (callable, int)
            What is done before with every piece of the columns, and the work that this is, in
            kernel values a column.
        """
        before, n_before = also
        if len(ids) == 0:
            self.share_out(before, n_before, self.n_rows)
            return
        adding = self._keeping((ids, coef), out, kept)
        self.computed += len(ids) * self.n_rows

        def work(first: int, stop: int, threads: int) -> None:
            before(first, stop, threads)
            adding(first, stop, threads)

        self._share(work, len(ids) + n_before, self.n_rows)

    @property
    def is_cheap(self) -> bool:
        """Whether half of a square is computed in less time than the whole is gathered."""
        return False

    @property
    def native_rows(self) -> tuple[core.KernelRowsFloat, Ids | None] | None:
        """Rows as native code computes float32 values from, and which of them these are.

        None of the numbers is all of them; None where values come from elsewhere.
        """
        return None

    def share_out(self, work: Piece, n_terms: int, n_columns: int) -> None:
        """Do work that needs no kernel value on pieces of the columns, on this source's threads.

        Parameters
        ----------
        work : callable
            Takes the first column of a piece, its end, and how many threads share it out.
        n_terms, n_columns : int
            What the work is proportional to.
        """
        self._team.over_columns(work, n_terms, n_columns)

    @abstractmethod
    def _filling(self, ids: Ids, columns: Ids | None, out: Singles | Floats, slots: Ids) -> Piece:
        """Return what writes columns of a block, in the precision of ``out``."""

    @abstractmethod
    def _adding(self, terms: Terms, columns: Ids | None, out: Floats, exact: bool) -> Piece:
        """Return what adds the sums at some of the columns."""

    @abstractmethod
    def _keeping(self, terms: Terms, out: Floats, kept: tuple[Singles, Ids]) -> Piece:
        """Return what adds the sums at some rows, and writes the first terms, if any."""

    def _share(self, work: Piece, n_terms: int, n_columns: int) -> None:
        """Do work that needs kernel values on pieces of the columns."""
        self._team.over_columns(work, n_terms, n_columns, alone=not self.is_thread_safe)
