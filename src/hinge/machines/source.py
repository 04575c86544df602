"""Kernel values by the compiled core, from a matrix, or by a function in Python."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.kernels import Kernel
from hinge.machines.kernel_source import Floats, Ids, KernelSource, Singles, Terms
from hinge.machines.native_rows import native_kernel, terms_of
from hinge.machines.prepared import PreparedRows, prepare, quick_rows, unit_of
from hinge.machines.team import Piece
from hinge.rows import Rows

_CHEAP_ROW = 256  # stored values of a row, whose products take some 5 ns a kernel value


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

    @property
    def is_cheap(self) -> bool:
        """Whether half of a square is computed in less time than the whole is gathered."""
        return self._prepared.is_of_products and self._prepared.per_row <= _CHEAP_ROW

    def square(
        self,
        ids: Ids,
        dtype: np.dtype[Any] | type = np.float32,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return the kernel of some rows with each other; of products half is computed."""
        rows = self._prepared.quick if dtype == np.float32 else self._prepared.exact
        if not self._prepared.is_of_products:
            return super().square(ids, dtype, out)
        numbers = self._terms(ids)
        terms = terms_of(rows, numbers)
        block = np.empty((len(ids), len(ids)), dtype=dtype) if out is None else out
        self.computed += len(ids) * (len(ids) + 1) // 2
        self._team.over_triangle(
            lambda first, stop, threads: terms.square(
                rows, numbers[first:stop], first, block, threads
            ),
            len(ids),
        )
        return block

    def _filling(self, ids: Ids, columns: Ids | None, out: Singles | Floats, slots: Ids) -> Piece:
        rows = self._prepared.quick if out.dtype == np.float32 else self._prepared.exact
        terms = terms_of(rows, self._terms(ids))

        def piece(first: int, stop: int, threads: int) -> None:
            points = self._points(columns, first, stop)
            terms.block(rows, first, points, out, slots, first, stop - first, threads)

        return piece

    def _adding(self, terms: Terms, columns: Ids | None, out: Floats, exact: bool) -> Piece:
        rows = self._prepared.exact if exact else self._prepared.quick
        ids, coef = terms
        prepared, coefficients = terms_of(rows, self._terms(ids)), coef.reshape(1, -1)

        def piece(first: int, stop: int, threads: int) -> None:
            points = self._points(columns, first, stop)
            target = out[first:stop].reshape(-1, 1)
            prepared.add(rows, coefficients, first, points, target, threads)

        return piece

    def _keeping(self, terms: Terms, out: Floats, kept: tuple[Singles, Ids]) -> Piece:
        rows, (ids, coef), (block, slots) = self._prepared.quick, terms, kept
        prepared = terms_of(rows, self._terms(ids))

        def piece(first: int, stop: int, threads: int) -> None:
            points = self._points(None, first, stop)
            target, kept = out[first:stop], (block, slots, first)
            prepared.add_and_keep(rows, coef, first, points, target, *kept, threads)

        return piece

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

    def _filling(self, ids: Ids, columns: Ids | None, out: Singles | Floats, slots: Ids) -> Piece:
        def piece(first: int, stop: int, _threads: int) -> None:
            out[slots, first:stop] = self._values(ids, columns, first, stop).T

        return piece

    def _adding(self, terms: Terms, columns: Ids | None, out: Floats, exact: bool) -> Piece:
        ids, coef = terms

        def piece(first: int, stop: int, _threads: int) -> None:
            values: NDArray[Any] = self._values(ids, columns, first, stop)
            out[first:stop] += (values if exact else values.astype(np.float32)) @ coef

        return piece

    def _keeping(self, terms: Terms, out: Floats, kept: tuple[Singles, Ids]) -> Piece:
        (ids, coef), (block, slots) = terms, kept

        def piece(first: int, stop: int, _threads: int) -> None:
            values = self._values(ids, None, first, stop).astype(np.float32)
            block[slots, first:stop] = values[:, : len(slots)].T
            out[first:stop] += values @ coef

        return piece


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
    kernel = kernel.on(rows)
    native = native_kernel(kernel)
    if native is None:
        return PythonSource(kernel, rows, np.arange(rows.n_rows) if present is None else present)
    return NativeSource(*prepare(kernel, native, rows, spare_mb, present))
