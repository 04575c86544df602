"""Rows as the compiled core evaluates kernels on them: which kernel, which precision, from where.

Values are taken in float32 where that loses nothing that matters, else in float64 (see
``precision_for``). Where a kernel depends on differences alone, full dense rows are measured from
their mean: far from the origin the squares of the norms would swallow the distances. Rows that are
mostly zeros stay where they are, since zeros are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge._native import core
from hinge.kernels import ChiSquared, InnerProductKernel, Kernel, Laplacian, Normalised
from hinge.kernels.centre import FULL_SHARE, some_rows
from hinge.rows import Rows

Floats = NDArray[np.float64]

VERY_MANY_FEATURES = 1 << 20  # the compiled core keeps a number for each, panel by panel
_SINGLE_EXPONENT = 200.0  # gamma times a squared norm up to which float32 keeps four digits
_SINGLE_VALUE = 1e30  # kernel values beyond it, or below its inverse, are for float64
_ROWS_A_CALL = 1 << 14


@dataclass(frozen=True)
class NativeKernel:
    """A kernel that the compiled core knows.

    Parameters
    ----------
    choice : core.KernelChoice
        Its name and parameters.
    kernel : Kernel
        The kernel itself, without any normalisation.
    is_normalised : bool
        Whether values are divided by the lengths of the two rows' images.
    """

    choice: core.KernelChoice
    kernel: Kernel
    is_normalised: bool


def native_kernel(kernel: Kernel) -> NativeKernel | None:
    """Return the kernel as the compiled core takes it; None if it has no such kernel.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.

    Returns
    -------
    NativeKernel or None
        Its native form.
    """
    inner = kernel.kernel if isinstance(kernel, Normalised) else kernel
    if not isinstance(inner, (InnerProductKernel, Laplacian, ChiSquared)):
        return None
    values: Any = inner
    choice = core.KernelChoice(
        inner.name,
        float(getattr(values, "gamma", 1.0)),
        float(getattr(values, "coef0", 0.0)),
        int(getattr(values, "degree", 1)),
    )
    return NativeKernel(choice, inner, isinstance(kernel, Normalised))


def with_features_in_use(rows: Rows) -> Rows:
    """Return rows of very many features with those that any of them has, numbered anew.

    The compiled core keeps a number for every feature.

    Parameters
    ----------
    rows : Rows
        The rows.

    Returns
    -------
    Rows
        Rows with the same products; the same object where features are not so many.
    """
    if not rows.is_sparse or rows.n_features < VERY_MANY_FEATURES:
        return rows
    used, places = np.unique(rows.indices, return_inverse=True)
    pieces = (rows.values, places.astype(rows.indices.dtype), rows.indptr)
    return Rows(sp.csr_array(pieces, shape=(rows.n_rows, max(1, len(used)))))


def view(rows: Rows) -> core.RowsView:
    """Return the compiled core's view of rows, whose structure is checked once more.

    Parameters
    ----------
    rows : Rows
        The rows.

    Returns
    -------
    core.RowsView
        The view; it owns nothing.
    """
    rows.check_structure()
    columns, offsets = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
    return core.RowsView(rows.values, columns, offsets, rows.n_rows, rows.n_features)


def precision_for(kernel: Kernel, diagonal: Floats, selfs: Floats) -> type[np.floating[Any]]:
    """Return the precision in which kernel values keep the digits that matter.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    diagonal : ndarray of shape (n,)
        The kernel of every row with itself.
    selfs : ndarray of shape (n,)
        Each row's sum with itself.

    Returns
    -------
    type
        ``np.float32`` or ``np.float64``.
    """
    largest = float(np.max(np.abs(diagonal), initial=0.0))
    if not 1.0 / _SINGLE_VALUE < largest < _SINGLE_VALUE:
        return np.float64
    gamma = abs(float(getattr(kernel, "gamma", 0.0)))
    exponent = gamma * float(np.max(np.abs(selfs), initial=0.0))
    return np.float32 if exponent <= _SINGLE_EXPONENT else np.float64


def compact(
    rows: Rows, matrix: core.RowsView, centre: Floats | None, limit_mb: float
) -> tuple[core.RowsView, Floats | None, float]:
    """Return rows as passes in float32 read them without a copy, if there is memory for that.

    Dense rows that are mostly zeros become lists of their entries, other dense rows are moved to
    the centre, sparse ones become float32. Kernel values have the same bits from either.

    Parameters
    ----------
    rows : Rows
        The rows.
    matrix : core.RowsView
        The compiled core's view of them.
    centre : ndarray or None
        Where to measure them from.
    limit_mb : float
        Memory that the copy may take.

    Returns
    -------
    matrix : core.RowsView
        A view of the copy, or the one given.
    centre : ndarray or None
        Where to measure its rows from.
    megabytes : float
        What the copy takes.
    """
    if rows.is_sparse:
        return _in_singles(rows, matrix, limit_mb)
    if centre is not None:
        return _moved(rows, matrix, centre, limit_mb)
    lists, megabytes = _lists(rows, matrix, limit_mb)
    return lists, None, megabytes


def _in_singles(
    rows: Rows, matrix: core.RowsView, limit_mb: float
) -> tuple[core.RowsView, None, float]:
    """Return sparse rows as float32 with int32 columns."""
    is_new = [rows.values.dtype != np.float32, rows.indices.dtype != np.int32]
    megabytes = sum(is_new) * 4.0 * rows.n_stored / 2**20
    if megabytes == 0.0 or megabytes > limit_mb or rows.n_features > np.iinfo(np.int32).max:
        return matrix, None, 0.0
    with np.errstate(over="ignore", under="ignore"):
        values = rows.values.astype(np.float32, copy=False)
    columns = rows.indices.astype(np.int32, copy=False)
    view = core.RowsView(values, columns, rows.indptr, rows.n_rows, rows.n_features)
    return view, None, megabytes


def _moved(
    rows: Rows, matrix: core.RowsView, centre: Floats, limit_mb: float
) -> tuple[core.RowsView, Floats | None, float]:
    """Return dense rows measured from the centre, as float32."""
    megabytes = 4.0 * rows.n_stored / 2**20
    if megabytes > limit_mb:
        return matrix, centre, 0.0
    moved = np.empty((rows.n_rows, rows.n_features), dtype=np.float32)
    with np.errstate(over="ignore", under="ignore"):
        for block in rows.blocks():
            moved[block.rows] = block.values - centre
    return core.RowsView(moved, None, None, rows.n_rows, rows.n_features), None, megabytes


def _lists(rows: Rows, matrix: core.RowsView, limit_mb: float) -> tuple[core.RowsView, float]:
    """Return dense rows that are mostly zeros as float32 lists of their entries."""
    sample = some_rows(rows)
    share = np.count_nonzero(sample) / max(1, sample.size)
    if share > 0.5 * FULL_SHARE or 8.0 * share * rows.n_stored > limit_mb * 2**20:
        return matrix, 0.0
    counts = np.empty(rows.n_rows, dtype=np.int64)
    for first in range(0, rows.n_rows, _ROWS_A_CALL):
        core.count_entries(matrix, first, counts[first : first + _ROWS_A_CALL])
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    megabytes = 8.0 * float(offsets[-1]) / 2**20
    if megabytes > limit_mb:
        return matrix, 0.0
    values = np.empty(offsets[-1], dtype=np.float32)
    columns = np.empty(offsets[-1], dtype=np.int32)
    for first in range(0, rows.n_rows, _ROWS_A_CALL):
        some = offsets[first : first + _ROWS_A_CALL + 1]
        core.copy_entries(matrix, first, some, values, columns)
    return core.RowsView(values, columns, offsets, rows.n_rows, rows.n_features), megabytes


def native_rows(
    native: NativeKernel,
    matrix: core.RowsView,
    sides: tuple[Floats | None, Floats | None],
    precision: type[np.floating[Any]],
    paired: core.RowsView | None = None,
) -> Any:
    """Return rows as the terms and points of kernel values.

    Parameters
    ----------
    native : NativeKernel
        The kernel.
    matrix : core.RowsView
        The rows.
    sides : tuple of (ndarray or None, ndarray or None)
        Where to measure the rows from, and the factors of their kernel values.
    precision : type
        ``np.float32`` or ``np.float64``.
    paired : core.RowsView or None, default=None
        The rows without features that the rows they meet do not have; None for the rows.

    Returns
    -------
    core.KernelRowsFloat or core.KernelRowsDouble
        The rows in that precision.
    """
    centre, scales = sides
    selfs = self_sums(native, matrix, centre, precision)
    kind = core.KernelRowsFloat if precision is np.float32 else core.KernelRowsDouble
    factors = None if scales is None else scales.astype(precision)
    return kind(paired or matrix, native.choice, selfs, factors, centre)


def terms_of(rows: Any, numbers: NDArray[np.int64]) -> Any:
    """Return some rows as terms, prepared once for all pieces of a pass.

    Parameters
    ----------
    rows : core.KernelRowsFloat or core.KernelRowsDouble
        The rows.
    numbers : ndarray of int64
        Which of them.

    Returns
    -------
    core.KernelTermsFloat or core.KernelTermsDouble
        The terms, in the same precision.
    """
    is_single = isinstance(rows, core.KernelRowsFloat)
    return (core.KernelTermsFloat if is_single else core.KernelTermsDouble)(rows, numbers)


def self_sums(
    native: NativeKernel,
    matrix: core.RowsView,
    centre: Floats | None,
    precision: type[np.floating[Any]],
) -> NDArray[Any]:
    """Return each row's sum with itself, as the core takes it.

    Parameters
    ----------
    native : NativeKernel
        The kernel.
    matrix : core.RowsView
        The rows.
    centre : ndarray or None
        Where to measure them from.
    precision : type
        ``np.float32`` or ``np.float64``.

    Returns
    -------
    ndarray of shape (n_rows,)
        The sums.
    """
    sums = np.empty(matrix.count, dtype=precision)
    for first in range(0, matrix.count, _ROWS_A_CALL):
        part = sums[first : first + _ROWS_A_CALL]
        core.kernel_self_sums(matrix, native.choice, centre, first, part)
    return sums


def scales_of(native: NativeKernel, rows: Rows, unit: float) -> Floats | None:
    """Return the factor of every row's kernel values; None if it is 1.

    Parameters
    ----------
    native : NativeKernel
        The kernel.
    rows : Rows
        The rows.
    unit : float
        What kernel values are divided by.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        The factors.
    """
    if not native.is_normalised:
        return None if unit == 1.0 else np.full(rows.n_rows, 1.0 / np.sqrt(unit))
    lengths = np.sqrt(np.abs(native.kernel.training_diagonal(rows)))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    return np.asarray(inverse / np.sqrt(unit))
