"""Rows as native code evaluates a kernel on them, prepared once for all parts of them.

Where rows are measured from and in which precision depends on all rows of which a part may be
taken: a kernel value has the same bits in every part, whether the part has a copy of its own or
not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.kernels import InnerProductKernel, Kernel
from hinge.kernels.centre import centre_for, some_rows
from hinge.machines.native_rows import (
    NativeKernel,
    compact,
    native_rows,
    precision_for,
    scales_of,
    self_sums,
    view,
    with_features_in_use,
)
from hinge.rows import Rows
from hinge.rows_part import RowsPart, SharedRows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_LARGEST_UNSCALED = 1e25
_STORED_BYTES = 8.0  # of a stored value in a compact copy, at the most


@dataclass(frozen=True)
class Manner:
    """How kernel values of rows are taken.

    Parameters
    ----------
    centre : ndarray of shape (n_features,) or None
        Where rows are measured from.
    precision : type
        ``np.float32`` or ``np.float64``, where exactness is not asked for.
    unit : float
        What every value is divided by.
    """

    centre: Floats | None
    precision: type[np.floating[Any]]
    unit: float


class PreparedRows:
    """Rows for kernel values by the compiled core.

    Parameters
    ----------
    native : NativeKernel
        The kernel.
    rows : Rows
        The rows.
    spare_mb : float
        Memory that a compact copy of the rows may take.
    manner : Manner or None, default=None
        How values are taken; None goes by these rows.

    Attributes
    ----------
    copy_mb : float
        What the copy takes.
    """

    def __init__(
        self, native: NativeKernel, rows: Rows, spare_mb: float, manner: Manner | None = None
    ) -> None:
        rows = with_features_in_use(rows)
        self.manner = manner or manner_of(native, rows)
        self.copy_mb = 0.0
        self._native, self._rows = native, rows
        matrix, centre = view(rows), self.manner.centre
        if self.manner.precision is np.float32:
            matrix, centre, self.copy_mb = compact(rows, matrix, centre, spare_mb)
        sides = centre, self._scales
        self.quick: Any = native_rows(native, matrix, sides, self.manner.precision)

    @cached_property
    def per_row(self) -> float:
        """How many entries that are not zero a row has, in the mean of some rows."""
        if self._rows.is_sparse:
            return self._rows.n_stored / max(1, self._rows.n_rows)
        sample = some_rows(self._rows)
        return np.count_nonzero(sample) / max(1, len(sample))

    @property
    def is_of_products(self) -> bool:
        """Whether values are functions of products: the same bits for either order of two rows."""
        return isinstance(self._native.kernel, InnerProductKernel)

    @cached_property
    def exact(self) -> Any:
        """The rows in float64."""
        sides = self.manner.centre, self._scales
        return native_rows(self._native, view(self._rows), sides, np.float64)

    @cached_property
    def _scales(self) -> Floats | None:
        return scales_of(self._native, self._rows, self.manner.unit)


def manner_of(native: NativeKernel, rows: Rows) -> Manner:
    """Return how kernel values of some rows, and of every part of them, are taken.

    Parameters
    ----------
    native : NativeKernel
        The kernel.
    rows : Rows
        The rows.
    """
    diagonal = native.kernel.training_diagonal(rows)
    centre = centre_for(native.kernel, rows)
    unit = 1.0 if native.is_normalised else unit_of(diagonal)
    return Manner(centre, _precision(native, rows, centre, diagonal), unit)


def _precision(
    native: NativeKernel, rows: Rows, centre: Floats | None, diagonal: Floats
) -> type[np.floating[Any]]:
    """Return the precision of kernel values; rows are read only if their norms do not decide it."""
    if isinstance(native.kernel, InnerProductKernel):
        shift = 0.0 if centre is None else math.sqrt(float(np.sum(np.square(centre))))
        most = np.square(np.sqrt(rows.squared_norms) + shift)
        precision = precision_for(native.kernel, diagonal, most)
        if precision is np.float32 or centre is None:
            return precision
    exact = self_sums(native, view(rows), centre, np.float64)
    return precision_for(native.kernel, diagonal, exact)


def unit_of(diagonal: Floats) -> float:
    """Return what to divide kernel values by: 1, unless they would leave the range of float32.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        The kernel of every row with itself.
    """
    largest = float(np.max(np.abs(diagonal), initial=0.0))
    is_usual = 1.0 / _LARGEST_UNSCALED < largest < _LARGEST_UNSCALED
    return 1.0 if is_usual or largest == 0.0 else largest


def prepare(
    kernel: Kernel, native: NativeKernel, rows: Rows, spare_mb: float, present: Ids | None
) -> tuple[PreparedRows, Ids | None]:
    """Return rows prepared for a kernel, and which of what has been prepared they are.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    native : NativeKernel
        Its native form.
    rows : Rows
        The rows, which may be part of others.
    spare_mb : float
        Memory that a compact copy may take.
    present : ndarray of int64 or None
        Which of the rows are wanted; None for all.
    """
    if not isinstance(rows, RowsPart):
        own = rows if present is None else rows.take(present)
        return PreparedRows(native, own, spare_mb), None
    shared = rows.shared
    numbers = rows.numbers if present is None else rows.numbers[present]
    made = prepare_whole(kernel, native, shared, spare_mb)
    if made is not None:
        return made, np.ascontiguousarray(numbers)
    own = shared.rows.take(numbers)
    if _is_renumbered(shared):
        return PreparedRows(native, own, spare_mb), None
    return PreparedRows(native, own, spare_mb, _shared_manner(kernel, native, shared)), None


def prepare_whole(
    kernel: Kernel, native: NativeKernel, shared: SharedRows, spare_mb: float
) -> PreparedRows | None:
    """Return shared rows prepared for all parts of them; None if every part has a copy of its own.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    native : NativeKernel
        Its native form.
    shared : SharedRows
        The rows.
    spare_mb : float
        Memory that a compact copy may take.
    """
    if _is_renumbered(shared) or _STORED_BYTES * shared.rows.n_stored > spare_mb * 2**20:
        return None
    manner = _shared_manner(kernel, native, shared)
    name = "rows", kernel, spare_mb
    return shared.prepared(name, lambda: PreparedRows(native, shared.rows, spare_mb, manner))


def _is_renumbered(shared: SharedRows) -> bool:
    """Return whether there are so many features that rows keep only those in use."""
    return shared.rows.n_features != with_features_in_use(shared.rows).n_features


def _shared_manner(kernel: Kernel, native: NativeKernel, shared: SharedRows) -> Manner:
    return shared.prepared(("manner", kernel), lambda: manner_of(native, shared.rows))


def quick_rows(prepared: PreparedRows) -> core.KernelRowsFloat | None:
    """Return the rows as native code takes them in float32, None if they are not.

    Parameters
    ----------
    prepared : PreparedRows
        The rows.
    """
    return prepared.quick if isinstance(prepared.quick, core.KernelRowsFloat) else None
