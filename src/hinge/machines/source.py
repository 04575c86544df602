"""Where kernel values come from: the compiled core, a matrix, or a function in Python.

A source gives blocks of the kernel matrix of its rows as float32, and sums of its rows' kernel
functions at its rows. ``unit`` is what the values are divided by, so that float32 holds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.kernels import Kernel
from hinge.machines.native_rows import native_kernel
from hinge.machines.prepared import PreparedRows, prepare, quick_rows, unit_of
from hinge.rows import Rows

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ids = NDArray[np.int64]
Check = Callable[[], None]
Terms = tuple[Ids, Floats]  # rows and their coefficients
Points = tuple[Ids | None, int, int]  # columns (None for all), the first of them, and the end

VALUES_A_CALL = 1 << 22  # kernel values that one native call computes: some 10 ms
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
    threads : int
        How many threads share out the columns of a block.
    check : callable or None
        Called between pieces of work; raises to abandon it.
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
        self.threads = 1
        self.check: Check | None = None
        self.copy_mb = 0.0
        self._pool: ThreadPoolExecutor | None = None

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

        def fill(first: int, stop: int) -> None:
            self._fill(ids, columns, first, stop, out, slots)

        self._share(fill, len(ids), n_columns)

    def exact_block(self, ids: Ids) -> Floats:
        """Return the kernel of some rows with each other, in float64.

        Parameters
        ----------
        ids : ndarray of int64
            The rows.

        Returns
        -------
        ndarray of shape (len(ids), len(ids))
            The values, divided by ``unit``.
        """
        block = np.empty((len(ids), len(ids)))
        slots = np.arange(len(ids))
        self.computed += len(ids) ** 2

        def fill(first: int, stop: int) -> None:
            self._fill(ids, ids, first, stop, block, slots)

        self._share(fill, len(ids), len(ids))
        return block

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
        self._fill(ids, columns, 0, len(columns), block, np.arange(len(ids)))
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

        def part(first: int, stop: int) -> None:
            points = (columns, first, stop)
            self._add((ids, coef), points, out, exact)

        self._share(part, len(ids), n_columns)

    @property
    def native_rows(self) -> tuple[core.KernelRowsFloat, Ids | None] | None:
        """Rows as native code computes float32 values from, and which of them these are.

        None of the numbers is all of them; None where values come from elsewhere.
        """
        return None

    def share_out(self, work: Callable[[int, int], None], n_terms: int, n_columns: int) -> None:
        """Do work that needs no kernel value on pieces of the columns, in this source's threads.

        Parameters
        ----------
        work : callable
            Takes the first column of a piece and its end.
        n_terms, n_columns : int
            What the work is proportional to.
        """
        KernelSource._share(self, work, n_terms, n_columns)

    def release(self) -> None:
        """Let go of the threads; they are made anew when needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    @abstractmethod
    def _fill(
        self,
        ids: Ids,
        columns: Ids | None,
        first: int,
        stop: int,
        out: Singles | Floats,
        slots: Ids,
    ) -> None:
        """Write columns ``first`` to ``stop`` of a block, in the precision of ``out``."""

    @abstractmethod
    def _add(self, terms: Terms, points: Points, out: Floats, exact: bool) -> None:
        """Add the sums at columns ``first`` to ``stop``."""

    def _share(self, work: Callable[[int, int], None], n_terms: int, n_columns: int) -> None:
        """Do work on pieces of the columns, in threads if there are several of either."""
        if n_terms == 0 or n_columns == 0:
            return
        size = max(256, VALUES_A_CALL // n_terms)
        if self.threads > 1:
            size = min(size, -(-n_columns // (2 * self.threads)))
        starts = range(0, n_columns, size)
        if self.threads <= 1 or len(starts) == 1:
            for first in starts:
                if self.check is not None:
                    self.check()
                work(first, min(first + size, n_columns))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=self.threads)
        pending = [self._pool.submit(work, s, min(s + size, n_columns)) for s in starts]
        try:
            for piece in pending:
                if self.check is not None:
                    self.check()
                piece.result()
        finally:
            for piece in pending:
                piece.cancel()
            wait(pending)  # nobody may still be writing when the caller goes on


class NativeSource(KernelSource):
    """Values by the compiled core.

    Parameters
    ----------
    prepared : PreparedRows
        Rows as the core takes them.
    numbers : ndarray of int64 or None, default=None
        Which of them the source is of; None for all.
    """

    def __init__(self, prepared: PreparedRows, numbers: Ids | None = None) -> None:
        count = prepared.quick.count if numbers is None else len(numbers)
        super().__init__(count, prepared.manner.unit)
        self._prepared, self._numbers = prepared, numbers
        self.copy_mb = prepared.copy_mb

    @property
    def native_rows(self) -> tuple[core.KernelRowsFloat, Ids | None] | None:
        """Rows as native code computes float32 values from, and which of them these are."""
        rows = quick_rows(self._prepared)
        return None if rows is None else (rows, self._numbers)

    def _fill(
        self,
        ids: Ids,
        columns: Ids | None,
        first: int,
        stop: int,
        out: Singles | Floats,
        slots: Ids,
    ) -> None:
        rows = self._prepared.quick if out.dtype == np.float32 else self._prepared.exact
        points = self._points(columns, first, stop)
        rows.block(rows, self._terms(ids), first, points, out, slots, first, stop - first)

    def _add(self, terms: Terms, points: Points, out: Floats, exact: bool) -> None:
        rows = self._prepared.exact if exact else self._prepared.quick
        (ids, coef), (columns, first, stop) = terms, points
        where = self._points(columns, first, stop)
        target = out[first:stop].reshape(-1, 1)
        rows.add(rows, self._terms(ids), coef.reshape(1, -1), first, where, target)

    def _terms(self, ids: Ids) -> Ids:
        """Return which of the prepared rows some rows are."""
        return ids if self._numbers is None else self._numbers[ids]

    def _points(self, columns: Ids | None, first: int, stop: int) -> Ids | None:
        """Return which of the prepared rows some columns are; None for consecutive ones."""
        if columns is None:
            return None if self._numbers is None else self._numbers[first:stop]
        return self._terms(columns[first:stop])


class PythonSource(KernelSource):
    """Values by the reference kernel: precomputed matrices and functions of the caller.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : Rows
        The training data.
    present : ndarray of int64
        Which of its rows are those of the source: a matrix knows rows by their numbers.
    """

    is_thread_safe: ClassVar[bool] = False  # a caller's function need not be

    def __init__(self, kernel: Kernel, rows: Rows, present: Ids) -> None:
        super().__init__(len(present), unit_of(kernel.training_diagonal(rows)[present]))
        self._kernel = kernel
        self._whole = rows
        self._present = present

    def _values(self, ids: Ids, columns: Ids | None, first: int, stop: int) -> Floats:
        points = np.arange(first, stop) if columns is None else columns[first:stop]
        some = self._whole.take(self._present[points]).matrix
        terms = self._kernel.operand(self._whole, self._present[ids])
        return self._kernel.block(some, terms) / self.unit

    def _fill(
        self,
        ids: Ids,
        columns: Ids | None,
        first: int,
        stop: int,
        out: Singles | Floats,
        slots: Ids,
    ) -> None:
        out[slots, first:stop] = self._values(ids, columns, first, stop).T

    def _add(self, terms: Terms, points: Points, out: Floats, exact: bool) -> None:
        (ids, coef), (columns, first, stop) = terms, points
        values: NDArray[Any] = self._values(ids, columns, first, stop)
        out[first:stop] += (values if exact else values.astype(np.float32)) @ coef

    def _share(self, work: Callable[[int, int], None], n_terms: int, n_columns: int) -> None:
        """Do the work on this thread alone: a caller's function need not be safe in others."""
        threads, self.threads = self.threads, 1
        try:
            super()._share(work, n_terms, n_columns)
        finally:
            self.threads = threads


def source(
    kernel: Kernel, rows: Rows, spare_mb: float = 0.0, present: Ids | None = None
) -> KernelSource:
    """Return where to get the kernel values of some rows from.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    rows : Rows
        The training data.
    spare_mb : float, default=0.0
        Memory that a compact copy of the rows may take; it makes passes faster.
    present : ndarray of int64 or None, default=None
        Which of the rows the source is of; None for all.

    Returns
    -------
    KernelSource
        The source.
    """
    native = native_kernel(kernel)
    if native is None:
        return PythonSource(kernel, rows, np.arange(rows.n_rows) if present is None else present)
    return NativeSource(*prepare(kernel, native, rows, spare_mb, present))
