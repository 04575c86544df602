"""Rows of data: read-only views in fixed blocks, validated once.

``Rows`` wraps a dense array or a CSR matrix without copying it and offers it in blocks whose
size depends only on the number of features (dense) or of non-zeros (CSR), for the passes of
:mod:`hinge.block_map`.

What happens to input, once and by rule:

- C-contiguous float32 and float64 arrays, and canonical CSR of those types, are used in place;
- other orders, byte orders and unsorted or duplicate CSR entries are put right in a copy;
- types whose every value float32 holds exactly (bool, integers of 8 and 16 bits, float16) become
  float32, all others float64.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.block_map import map_runs
from hinge.errors import InvalidDataError
from hinge.inequality import rounding_factor
from hinge.ingest import assemble, canonical, check_compressed

Floats = NDArray[np.float64]

BLOCK_VALUES = 1 << 17  # 1 MB as float64: a block and its products stay in the second-level cache
_SMALLEST = 5e-324  # what a square that underflows may have lost
_LOCKED = 500  # products up to which NumPy keeps the interpreter's lock, so that threads wait
_FEW_VALUES = 1 << 13  # which are looked through sooner than threads are made ready
_MOST_TOGETHER = 8  # blocks that are looked through at a time to be above that
# Dense rows of so many values are read faster by a product for each row than by one for all, which
# reads several side by side: those of MNIST, of 784, in 13 ms and not in 21.
_ONE_BY_ONE = range(48, 1536)
_SPARSE_RUN = 4  # sparse blocks that are multiplied at once: text is certified a tenth sooner
_FEW_USED = 0.5  # share of sparse rows with a weight up to which these are summed up alone
_NARROW = 32  # values of a dense row from which a call of BLAS for its squared norm is worth it
DENSE_REDUCTION = 4  # a sparse block holds this many times n_features values at the least


@dataclass(frozen=True)
class Block:
    """Consecutive rows as float64, for NumPy code; valid until the next block is made.

    Parameters
    ----------
    start, stop : int
        Which rows of the whole these are.
    values : ndarray
        Dense rows of shape (stop - start, n_features), or the stored values of sparse ones.
    n_features : int
        Number of features.
    structure : tuple of two ndarray, or None
        Column indices and row pointers of sparse rows.
    """

    start: int
    stop: int
    values: Floats
    n_features: int
    structure: tuple[NDArray[Any], NDArray[Any]] | None = None

    @property
    def rows(self) -> slice:
        """The rows as a slice of the whole."""
        return slice(self.start, self.stop)

    @property
    def matrix(self) -> Any:
        """The rows as a dense array or a CSR array, without a copy."""
        if self.structure is None:
            return self.values
        shape = (self.stop - self.start, self.n_features)
        return assemble((self.values, *self.structure), shape)

    def dot(self, coef: Floats) -> Floats:
        """Return the scores of the rows, ``X @ coef``, for a vector or a matrix of weights."""
        if self.structure is None:
            is_wide = coef.ndim == 1 and self.n_features in _ONE_BY_ONE
            if is_wide and len(self.values) > _LOCKED:
                products = np.matmul(self.values[:, None, :], coef[:, None])
                return np.asarray(products.reshape(-1))
            # Unlike @, dot lets go of the interpreter's lock however short the result is.
            return np.asarray(np.dot(self.values, coef))
        return np.asarray(self.matrix @ coef)

    def transpose_dot(self, weights: Floats) -> Floats:
        """Return the weighted sum of the rows, ``X.T @ weights``."""
        if self.structure is None:
            return np.asarray(np.dot(self.values.T, weights))
        pieces = (self.values, *self.structure)
        used = np.flatnonzero(weights)
        if len(used) <= _FEW_USED * len(weights):
            # Sums have the same bits without the rows that add nothing.
            taken = self.matrix[used]
            pieces, weights = (taken.data, taken.indices, taken.indptr), weights[used]
        columns = assemble(pieces, (self.n_features, len(weights)), sp.csc_array)
        return np.asarray(columns @ weights)

    def squared_norms(self) -> Floats:
        """Return the squared Euclidean norm of each row."""
        if self.structure is None:
            return _squared_norms(self.values)
        starts = self.structure[1]
        filled = starts[1:] > starts[:-1]  # reduceat gives an empty row its neighbour's value
        if filled.all():
            return np.asarray(np.add.reduceat(np.square(self.values), starts[:-1]))
        norms = np.zeros(self.stop - self.start)
        if filled.any():
            norms[filled] = np.add.reduceat(np.square(self.values), starts[:-1][filled])
        return norms

    def row(self, number: int) -> Floats:
        """Return one row of the block as a dense vector."""
        if self.structure is None:
            return np.asarray(self.values[number])
        indices, starts = self.structure
        stored = slice(int(starts[number]), int(starts[number + 1]))
        row = np.zeros(self.n_features)
        row[indices[stored]] = self.values[stored]
        return row


class Rows:
    """Read-only rows in fixed blocks.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data; see the module for what is copied and what is not.
    threads : int, default=1
        How many threads share out the blocks while they are validated.
    is_canonical : bool, default=False
        Whether X has come out of ``canonical`` and need not go through it again.
    """

    def __init__(self, X: Any, threads: int = 1, *, is_canonical: bool = False) -> None:
        data = X if is_canonical else canonical(X)
        self.is_sparse = bool(sp.issparse(data))
        if self.is_sparse:
            self.values = _read_only(data.data)
            self.indices = _read_only(data.indices)
            self.indptr = _read_only(data.indptr)
            self.n_stored = len(self.values)
        else:
            self.values = _read_only(data)
            self.n_stored = int(data.size)
        self.n_rows, self.n_features = (int(extent) for extent in data.shape)
        self.dtype = self.values.dtype
        # The most stored values that one row has: what bounds the rounding of a dot product.
        self.longest_row = self.n_features
        if self.is_sparse:
            self.longest_row = int(np.max(np.diff(self.indptr), initial=0))
        self._buffers = threading.local()
        self.squared_norms = self._checked_squared_norms(threads)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_buffers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._buffers = threading.local()

    def norm_bounds(self, squared_norms: Floats) -> Floats:
        """Return upper bounds on norms from computed squares, rounding and underflow included."""
        above = squared_norms * (1.0 + 2.0 * rounding_factor(self.longest_row))
        return np.sqrt(above + self.longest_row * _SMALLEST)

    @property
    def block_rows(self) -> int:
        """Rows in a block; the last one may be shorter."""
        if not self.is_sparse:
            return max(1, BLOCK_VALUES // max(1, self.n_features))
        values = max(BLOCK_VALUES, DENSE_REDUCTION * self.n_features)
        return max(1, values * self.n_rows // max(1, self.n_stored))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.n_rows // self.block_rows)

    def block(self, number: int) -> Block:
        """Return block ``number``; its values may live in a buffer that this thread reuses."""
        return self._rows_between(number, number + 1)

    def _rows_between(self, first_block: int, end_block: int) -> Block:
        """Return some neighbouring blocks as one."""
        start = first_block * self.block_rows
        stop = min(end_block * self.block_rows, self.n_rows)
        if not self.is_sparse:
            values = self._as_float64(self.values[start:stop])
            return Block(start, stop, values, self.n_features)
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        values = self.values[first:last].astype(np.float64, copy=False)
        indices = self.indices[first:last]
        starts = (self.indptr[start : stop + 1] - first).astype(indices.dtype, copy=False)
        return Block(start, stop, values, self.n_features, (indices, starts))

    @property
    def run_blocks(self) -> int:
        """Blocks in a run: so many that products with them are at their fastest."""
        if self.dtype != np.float64:
            return 1
        if self.is_sparse:
            return _SPARSE_RUN
        return 1 + _LOCKED // self.block_rows if self.n_features in _ONE_BY_ONE else 1

    def run(self, numbers: range) -> Block:
        """Return the blocks of a run as one block."""
        return self._rows_between(numbers.start, numbers.stop)

    def stored(self, most: int) -> Iterator[NDArray[Any]]:
        """Yield all stored values as they are, one after another.

        Parameters
        ----------
        most : int
            How many at a time, at the most.
        """
        flat = self.values.reshape(-1)
        for start in range(0, len(flat), most):
            yield flat[start : start + most]

    def whole_of(self, ids: NDArray[np.int64]) -> tuple[Rows, NDArray[np.int64]]:
        """Return rows that have these among them for as long as the data are there, and which.

        Parameters
        ----------
        ids : ndarray of int64
            Numbers of some rows.
        """
        return self, ids

    def entries(self, numbers: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], Floats]:
        """Return the non-zero values of some rows: which of them, in which column, and what."""
        if not self.is_sparse:
            values = self.values[numbers].astype(np.float64)
            rows, columns = np.nonzero(values)
            return rows, columns, values[rows, columns]
        starts, stops = self.indptr[numbers].astype(np.int64), self.indptr[numbers + 1]
        lengths = stops - starts
        rows = np.repeat(np.arange(len(numbers)), lengths)
        before = np.cumsum(lengths) - lengths
        places = np.arange(len(rows)) + (starts - before)[rows]
        values = self.values[places].astype(np.float64)
        filled = values != 0.0
        return rows[filled], self.indices[places][filled], values[filled]

    @property
    def matrix(self) -> Any:
        """All rows as a dense array or a CSR array, as they are stored, without a copy."""
        if not self.is_sparse:
            return self.values
        pieces = (self.values, self.indices, self.indptr)
        return assemble(pieces, (self.n_rows, self.n_features))

    def take(self, ids: NDArray[np.int64]) -> Rows:
        """Return copies of some rows, in that order, as rows that need no validation again.

        Parameters
        ----------
        ids : ndarray of int
            Numbers of the rows; one may be there more than once.

        Returns
        -------
        Rows
            The rows, with the norms that they have here.
        """
        numbers = np.asarray(ids, dtype=np.int64)
        taken = object.__new__(Rows)
        taken.__dict__.update(self.__getstate__())
        taken._buffers = threading.local()
        taken.n_rows = len(numbers)
        taken.squared_norms = _read_only(self.squared_norms[numbers])
        if not self.is_sparse:
            taken.values = _read_only(self.values[numbers])
            taken.n_stored = int(taken.values.size)
            return taken
        starts = self.indptr[numbers].astype(np.int64)
        lengths = self.indptr[numbers + 1] - starts
        ends = np.cumsum(lengths)
        places = np.arange(int(ends[-1]) if len(ends) else 0)
        places += np.repeat(starts - (ends - lengths), lengths)
        taken.values = _read_only(self.values[places])
        taken.indices = _read_only(self.indices[places])
        pointers = np.concatenate((np.zeros(1, dtype=np.int64), ends))
        taken.indptr = _read_only(pointers.astype(self.indptr.dtype))
        taken.n_stored = len(places)
        taken.longest_row = int(np.max(lengths, initial=0))
        return taken

    def check_structure(self) -> None:
        """Refuse sparse rows whose arrays the caller has broken since they were validated.

        The arrays are the caller's own: native code, which does not look where it reads, asks
        before every run.
        """
        if self.is_sparse:
            pieces = (self.values, self.indices, self.indptr)
            check_compressed(pieces, (self.n_rows, self.n_features), ("row", "column"))

    def blocks(self) -> Iterator[Block]:
        """Yield every block in order."""
        for number in range(self.n_blocks):
            yield self.block(number)

    def _as_float64(self, values: NDArray[Any]) -> Floats:
        """Return dense rows as float64, through this thread's buffer if they are not."""
        if values.dtype == np.float64:
            return values
        buffer = getattr(self._buffers, "dense", None)
        if buffer is None:
            buffer = self._buffers.dense = np.empty((self.block_rows, self.n_features))
        target: Floats = buffer[: len(values)]
        target[...] = values
        return target

    def _checked_squared_norms(self, threads: int) -> Floats:
        """Return the squared norms, which are finite only if every value is usable."""
        norms = np.empty(self.n_rows)

        def kernel(numbers: range) -> None:
            if whole:
                here = slice(numbers.start * self.block_rows, numbers.stop * self.block_rows)
                norms[here] = _squared_norms(self.values[here])
            for number in numbers:
                block = self.block(number)
                if not whole:
                    norms[block.rows] = block.squared_norms()
                if not np.isfinite(norms[block.rows]).all():
                    raise _not_finite(block, norms[block.rows])

        whole = not self.is_sparse and self.dtype == np.float64
        size = min(_MOST_TOGETHER, 1 + _LOCKED // self.block_rows)
        if self.n_rows and self.n_stored <= _FEW_VALUES:
            # Threads, and holding those of BLAS, would cost more than the rows.
            with np.errstate(over="ignore", invalid="ignore"):
                kernel(range(self.n_blocks))
        elif self.n_rows:
            map_runs(kernel, self, size, lambda one, _: one, threads=threads)
        return _read_only(norms)


def _squared_norms(values: Floats) -> Floats:
    """Return the squared norms of dense rows.

    A product of 1 x d and d x 1 matrices per row: BLAS reads memory faster than einsum. Where rows
    are short its calls would take longer than their squares.
    """
    if values.shape[1] < _NARROW:
        return np.asarray(np.einsum("ij,ij->i", values, values))
    return np.asarray(np.matmul(values[:, None, :], values[:, :, None]).reshape(-1))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def _not_finite(block: Block, norms: Floats) -> InvalidDataError:
    """Return the error for the first row of the block whose squared norm is not finite."""
    row = int(np.flatnonzero(~np.isfinite(norms))[0])
    values = block.row(row)
    bad = np.flatnonzero(~np.isfinite(values))
    where = f"row {block.start + row}"
    if len(bad):
        kind = "NaN" if np.isnan(values[bad[0]]) else "infinity (inf)"
        message = (
            f"Input X contains {kind} in {where}, column {bad[0]}. "
            "Remove the row, or impute the value, for example with sklearn.impute.SimpleImputer."
        )
    else:
        column = int(np.argmax(np.abs(values)))
        message = (
            f"The squared norm of {where} of X is infinity (inf): it overflows float64; its "
            f"largest value is {float(values[column])!r} in column {column}. Scale the features, "
            "for example with sklearn.preprocessing.StandardScaler."
        )
    return InvalidDataError(message)
