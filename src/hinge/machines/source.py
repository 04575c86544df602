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

from hinge.kernels import Kernel
from hinge.machines.native_rows import (
    NativeKernel,
    centre_for,
    compact,
    native_kernel,
    native_rows,
    precision_for,
    scales_of,
    self_sums,
    view,
    with_features_in_use,
)
from hinge.rows import Rows

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ids = NDArray[np.int64]
Check = Callable[[], None]
Terms = tuple[Ids, Floats]  # rows and their coefficients
Points = tuple[Ids | None, int, int]  # columns (None for all), the first of them, and the end

VALUES_A_CALL = 1 << 22  # kernel values that one native call computes: some 10 ms
_LARGEST_UNSCALED = 1e25
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
    native : NativeKernel
        The kernel.
    rows : Rows
        The rows.
    spare_mb : float
        Memory that a compact copy of the rows may take.
    """

    def __init__(self, native: NativeKernel, rows: Rows, spare_mb: float) -> None:
        diagonal = native.kernel.training_diagonal(rows)
        rows = with_features_in_use(rows)
        centre = centre_for(native.kernel, rows)
        matrix = view(rows)
        selfs = self_sums(native, matrix, centre, np.float64)
        precision = precision_for(native.kernel, diagonal, selfs)
        super().__init__(rows.n_rows, 1.0 if native.is_normalised else unit_of(diagonal))
        scales = scales_of(native, rows, self.unit)
        self._sides = centre, scales
        self._native, self._whole = native, rows
        if precision is np.float32:
            matrix, centre, self.copy_mb = compact(rows, matrix, centre, spare_mb)
        self._rows = native_rows(native, matrix, (centre, scales), precision)

    @cached_property
    def _exact_rows(self) -> Any:
        """The rows in float64."""
        return native_rows(self._native, view(self._whole), self._sides, np.float64)

    def _fill(
        self,
        ids: Ids,
        columns: Ids | None,
        first: int,
        stop: int,
        out: Singles | Floats,
        slots: Ids,
    ) -> None:
        rows = self._rows if out.dtype == np.float32 else self._exact_rows
        points = None if columns is None else columns[first:stop]
        rows.block(rows, ids, first, points, out, slots, first, stop - first)

    def _add(self, terms: Terms, points: Points, out: Floats, exact: bool) -> None:
        rows = self._exact_rows if exact else self._rows
        (ids, coef), (columns, first, stop) = terms, points
        where = None if columns is None else columns[first:stop]
        target = out[first:stop].reshape(-1, 1)
        rows.add(rows, ids, coef.reshape(1, -1), first, where, target)


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


def unit_of(diagonal: Floats) -> float:
    """Return what to divide kernel values by: 1, unless they would leave the range of float32."""
    largest = float(np.max(np.abs(diagonal), initial=0.0))
    is_usual = 1.0 / _LARGEST_UNSCALED < largest < _LARGEST_UNSCALED
    return 1.0 if is_usual or largest == 0.0 else largest


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
    return NativeSource(native, rows if present is None else rows.take(present), spare_mb)
