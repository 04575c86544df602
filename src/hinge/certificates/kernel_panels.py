r"""Panels of kernel values, as fast as NumPy computes them.

A panel is some rows against some support vectors. Where the kernel is a function of inner products
(:mod:`hinge.kernels.inner_product`) it is one matrix product and one pass of that function, in
float32 or float64:

- dense and sparse rows are prepared as :mod:`hinge.certificates.kernel_operands` says;
- BLAS multiplies a few features at a time in float32, which keeps the bound on the rounding small;
- products of small integers, as of one-hot columns, are exact in float32, and are made there;
- an exponential of a sum is a product of exponentials, so what depends on one row or one support
  vector only, :math:`e^{-\gamma\|a\|^2}`, is a factor of sums and never meets the panel.

Other kernels are evaluated by their reference. Values are summed in the arithmetic that they are in
(:mod:`hinge.certificates.kernel_weights`).
"""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.certificates.kernel_operands import (
    PANEL_ROWS,
    STORED_BYTES,
    DenseOperands,
    Wanted,
    largest_norm,
)
from hinge.certificates.kernel_weights import SINGLE_UNIT
from hinge.certificates.kernel_wide import Halves, operands
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels import InnerProductKernel, Kernel
from hinge.kernels.products import pick_columns
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

PANEL_COLUMNS = 512
_LARGEST_INTEGER = 2.0**24  # integers up to there are exact in float32
_SINGLE_TERMS = 256  # features that are multiplied at a time in float32, at the most
_LARGEST_EXPONENT = 60.0  # exponentials up to there are well inside the range of float32
_SPLITTING = 64.0 * UNIT_ROUNDOFF  # what two more exponentials and products add to a value


@dataclass(frozen=True)
class Columns:
    """Some support vectors, prepared for products.

    Parameters
    ----------
    matrix : object
        What rows are multiplied with.
    used : ndarray of int or None
        The features that it has; None for all.
    shift : ndarray of shape (w,)
        What each adds to the argument of the kernel, if that is not a factor of its value.
    factors : ndarray of shape (w,)
        What each column of values is to be multiplied with.
    """

    matrix: Any
    used: NDArray[Any] | None
    shift: NDArray[Any]
    factors: Floats

    def after(self, first: int) -> Columns:
        """Return the columns from that one on."""
        if first == 0:
            return self
        matrix = self.matrix[first:] if self.matrix.ndim == 1 else self.matrix[..., first:]
        return Columns(matrix, self.used, self.shift[first:], self.factors[first:])

    def some(self, which: Ids) -> Columns:
        """Return some of the columns of a matrix."""
        # Columns are rows of memory, as support vectors are: these are copied whole.
        matrix = np.take(self.matrix.T, which, axis=0).T
        return Columns(matrix, self.used, self.shift[which], self.factors[which])


@dataclass(frozen=True)
class Panel:
    """Some rows, prepared for products; fields as in ``Columns``, and bounds on their norms."""

    matrix: Any
    shift: NDArray[Any]
    factors: Floats
    norms: Floats

    def some(self, which: Ids | slice) -> Panel:
        """Return some of the rows."""
        return Panel(self.matrix[which], self.shift[which], self.factors[which], self.norms[which])


def joined(columns: list[Columns]) -> Columns:
    """Return columns of a matrix, of one list after another, as one list."""
    if len(columns) == 1:
        return columns[0]
    matrix = np.concatenate([some.matrix.T for some in columns]).T
    shift = np.concatenate([some.shift for some in columns])
    return Columns(matrix, columns[0].used, shift, np.concatenate([c.factors for c in columns]))


class Panels(ABC):
    """How panels of one kernel are computed, over rows and support vectors of one kind."""

    @abstractmethod
    def columns(self, rows: Rows, ids: Ids) -> Columns:
        """Prepare some of the training rows as support vectors."""

    @abstractmethod
    def panel(self, rows: Rows, ids: Ids) -> Panel:
        """Prepare some rows."""

    @abstractmethod
    def row_bytes(self, rows: Rows) -> float:
        """Return about how many bytes a row takes that is prepared."""

    def row_width(self, rows: Rows) -> float:
        """Return about how many float64 numbers that is, with what a row has beside its values."""
        return 8.0 + self.row_bytes(rows) / 8.0

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """What the values are in."""

    @abstractmethod
    def values(self, panel: Panel, columns: Columns) -> NDArray[Any]:
        """Return the kernel values, but for the factors; valid until the next call."""

    @abstractmethod
    def error(self, norms: Floats) -> tuple[Floats, Floats]:
        """Return relative and absolute error bounds of the values of rows of such norms."""


class ReferencePanels(Panels):
    """Panels by the reference of a kernel, in float64.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    support, wanted : tuple of Rows and ndarray of int
        The support vectors, and the rows that will be asked for.
    """

    def __init__(self, kernel: Kernel, support: Wanted, wanted: Wanted) -> None:
        self._kernel = kernel
        self._farthest = largest_norm(*support)
        self._terms = max(support[0].longest_row, wanted[0].longest_row)

    def columns(self, rows: Rows, ids: Ids) -> Columns:
        """Prepare some of the training rows as support vectors."""
        operand = self._kernel.operand(rows, ids)
        if sp.issparse(operand) or operand.ndim == 2:
            operand = _Transposed(operand)
        return Columns(operand, None, np.zeros(len(ids)), np.ones(len(ids)))

    def panel(self, rows: Rows, ids: Ids) -> Panel:
        """Prepare some rows."""
        norms = rows.norm_bounds(rows.squared_norms[ids])
        return Panel(rows.take(ids).matrix, np.zeros(0), np.ones(len(ids)), norms)

    def row_bytes(self, rows: Rows) -> float:
        """Return about how many bytes a row takes that is prepared: as many as it has."""
        return STORED_BYTES * rows.n_stored / max(1, rows.n_rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the values are in."""
        return np.dtype(np.float64)

    def values(self, panel: Panel, columns: Columns) -> NDArray[Any]:
        """Return the kernel values."""
        return self._kernel.block(panel.matrix, getattr(columns.matrix, "rows", columns.matrix))

    def error(self, norms: Floats) -> tuple[Floats, Floats]:
        """Return relative and absolute error bounds of the values of rows of such norms."""
        return self._kernel.block_error(norms, self._farthest, self._terms)


class _Transposed:
    """Rows that are cut as if they were columns."""

    ndim = 2

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __getitem__(self, key: tuple[Any, slice]) -> _Transposed:
        return _Transposed(self.rows[key[1]])


class ProductPanels(Panels):
    """Panels of a function of inner products.

    Parameters
    ----------
    kernel : InnerProductKernel
        The kernel.
    support, wanted : tuple of Rows and ndarray of int
        The support vectors, and the rows that will be asked for.
    dtype : dtype, default=float64
        The arithmetic of products and values; shifts are in float64 always.
    """

    def __init__(
        self, kernel: InnerProductKernel, support: Wanted, wanted: Wanted, dtype: Any = np.float64
    ) -> None:
        self._kernel = kernel
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._unit = UNIT_ROUNDOFF if self._dtype == np.float64 else SINGLE_UNIT
        self._is_exact = self._dtype == np.float64 and _products_are_integers(support, wanted)
        may_move = kernel.is_translation_invariant and not self._is_exact
        at_first = np.float64 if self._dtype == np.float64 else None
        self._operands = operands(
            support, wanted, np.float32 if self._is_exact else at_first, may_move
        )
        self._terms = 0 if self._is_exact else self._operands.terms
        if self._unit > UNIT_ROUNDOFF and isinstance(self._operands, DenseOperands):
            self._terms = _piece(self._terms) + -(-self._terms // _SINGLE_TERMS) - 1
        self._farthest = self._operands.reach(*support)
        self._splits = kernel.splits and self._all_moderate(wanted)
        self._buffers = threading.local()

    def columns(self, rows: Rows, ids: Ids) -> Columns:
        """Prepare some of the training rows as support vectors."""
        scale = 1.0 if self._is_exact else self._kernel.scale
        matrix, used, squares = self._operands.columns(rows, ids, scale)
        return Columns(self._in_kind(matrix), used, *self._shares(squares))

    def panel(self, rows: Rows, ids: Ids) -> Panel:
        """Prepare some rows."""
        matrix, squares = self._operands.rows(rows, ids)
        shares = self._shares(squares)
        return Panel(self._in_kind(matrix), *shares, self._operands.norms(squares))

    def row_bytes(self, rows: Rows) -> float:
        """Return about how many bytes a row takes that is prepared."""
        return self._operands.row_bytes(rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the values are in."""
        return self._dtype

    def values(self, panel: Panel, columns: Columns) -> NDArray[Any]:
        """Return the kernel values, but for the factors, in a buffer of this thread."""
        t = self._products(panel, columns)
        if self._is_exact:
            exact = self._buffer("scaled", np.float64, t.shape)
            t = np.multiply(t, self._kernel.scale, out=exact, dtype=np.float64)
        if not self._splits:
            t += columns.shift[None, :]
            t += panel.shift[:, None]
        return np.asarray(self._kernel.apply(t))

    def norms(self, rows: Rows, ids: Ids) -> Floats:
        """Return bounds on the norms of some rows, as they are measured.

        Parameters
        ----------
        rows : Rows
            The data.
        ids : ndarray of int64
            Which rows.
        """
        return self._operands.norms(self._operands.squares(rows, ids))

    def error(self, norms: Floats) -> tuple[Floats, Floats]:
        """Return relative and absolute error bounds of the values of rows of such norms."""
        far, terms = self._farthest, self._terms
        if not self._splits:
            return self._kernel.block_error(norms, far, terms, self._unit)
        # Shifts were kept out of the products, in float64, whatever the arithmetic of these.
        exact_terms = max(terms, self._operands.terms)
        size, error = self._kernel.argument_error(norms, far, exact_terms, UNIT_ROUNDOFF)
        product = abs(self._kernel.scale) * norms * far
        error += rounding_factor(terms + 4, self._unit) * product
        # What underflows in the arithmetic of products: values of rows, the scale, and products.
        lost = float(np.finfo(self._dtype).smallest_subnormal)
        reaches = (1.0 + norms) * (1.0 + far)
        error += 4.0 * (terms + 4) * lost * (1.0 + abs(self._kernel.scale)) * reaches
        relative, absolute = self._kernel.value_error(size, error, self._unit)
        return relative + _SPLITTING, absolute

    def _products(self, panel: Panel, columns: Columns) -> NDArray[Any]:
        """Return the inner products, scaled unless they are exact."""
        rows = panel.matrix
        if isinstance(rows, Halves):
            return self._sums_of_halves(rows, columns.matrix)
        if columns.used is not None:
            rows = pick_columns(rows, columns.used)
        if sp.issparse(rows):
            return np.asarray(rows @ columns.matrix)
        kind, shape = columns.matrix.dtype, (rows.shape[0], columns.matrix.shape[1])
        products = self._buffer("products", kind, shape)
        n = rows.shape[1]
        step = n if kind == np.float64 or self._is_exact else _piece(n)
        np.matmul(rows[:, :step], columns.matrix[:step], out=products)
        for start in range(step, n, step):
            some = slice(start, start + step)
            more = self._buffer("more", kind, shape)
            products += np.matmul(rows[:, some], columns.matrix[some], out=more)
        return products

    def _sums_of_halves(self, rows: Halves, columns: Halves) -> NDArray[Any]:
        kind, shape = rows.frequent.dtype, (rows.rare.shape[0], columns.rare.shape[1])
        names = ("products", "more")
        return rows.times(columns, *(self._buffer(name, kind, shape) for name in names))

    def _in_kind(self, matrix: Any) -> Any:
        """Return an operand in the arithmetic of products."""
        return matrix if self._is_exact else matrix.astype(self._dtype, copy=False)

    def _shares(self, squares: Floats) -> tuple[NDArray[Any], Floats]:
        """Return what rows of these squared norms add to an argument, and multiply a sum with."""
        shift = self._kernel.shift(squares)
        if self._splits:
            return shift, np.asarray(self._kernel.apply(shift.copy()))
        return shift.astype(self._dtype), np.ones(len(squares))

    def _all_moderate(self, wanted: Wanted) -> bool:
        """Return whether every exponential stays far from the ends of the range of float32."""
        return self._is_moderate(self._operands.cheap_reach(*wanted)) or (
            self._is_moderate(0.0) and self._is_moderate(self._operands.reach(*wanted))
        )

    def _is_moderate(self, reach: float) -> bool:
        both = max(self._farthest, reach)
        size, _ = self._kernel.argument_error(np.asarray([both]), both, self._terms, self._unit)
        return bool(size[0] <= _LARGEST_EXPONENT)

    def _buffer(self, name: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return this thread's buffer of that name, as an array of that shape."""
        buffer = self._buffers.__dict__.get(name)
        size = shape[0] * shape[1]
        if buffer is None or buffer.size < size:
            buffer = np.empty(max(size, PANEL_ROWS * PANEL_COLUMNS), dtype=dtype)
            setattr(self._buffers, name, buffer)
        return np.asarray(buffer[:size].reshape(shape))


def _piece(features: int) -> int:
    """Return how many features are multiplied at a time in float32: pieces of equal size."""
    pieces = -(-features // _SINGLE_TERMS)
    return -(-features // pieces)


def _products_are_integers(support: Wanted, wanted: Wanted) -> bool:
    """Return whether all values are integers so small that float32 sums their products exactly."""
    far = largest_norm(*support)
    if far * max(far, largest_norm(*wanted)) > _LARGEST_INTEGER:
        return False
    kinds = [support[0]] if wanted[0] is support[0] else [support[0], wanted[0]]
    return all(_are_integers(rows) for rows in kinds)


def _are_integers(rows: Rows) -> bool:
    """Return whether all stored values are integers; most that are none show it at once."""
    sizes = PANEL_COLUMNS, PANEL_ROWS * PANEL_COLUMNS
    first = itertools.islice(rows.stored(sizes[0]), 1)
    pieces = itertools.chain(first, rows.stored(sizes[1]))
    return all(bool(np.array_equal(piece, np.rint(piece))) for piece in pieces)
