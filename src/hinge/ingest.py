"""From whatever the caller has to arrays that ``Rows`` can view: typed, ordered, in range.

Nothing here writes to the caller's arrays, and flags that they carry about themselves
(``has_sorted_indices`` and the like) are not believed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import InvalidDataError

_EXACT_IN_FLOAT32 = ("?", "b", "B", "h", "H", "e")
_CHECK_VALUES = 1 << 20  # how many CSR entries are examined at once


def canonical(X: Any) -> Any:
    """Return X as a C-contiguous array or canonical CSR of float32 or float64, shape (n, d).

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
        The caller's data; it is never changed.

    Returns
    -------
    ndarray or csr_array
        The caller's own memory where it already had this form, else a copy that has.
    """
    if sp.issparse(X):
        return _canonical_csr(X)
    return _canonical_dense(_as_array(X))


def _as_array(X: Any) -> NDArray[Any]:
    """Return the array behind X: itself, a data frame's, or what NumPy makes of it."""
    if isinstance(X, np.ma.MaskedArray):
        message = "X is a masked array; fill or drop the masked values first (X.filled(...))."
        raise InvalidDataError(message)
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        import narwhals as nw  # noqa: PLC0415 - only data frames need it

        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return np.asarray(frame.to_numpy())
    try:
        return np.asarray(X)
    except (ValueError, TypeError) as error:
        message = f"X of type {type(X).__name__} cannot be read as an array: {error}"
        raise InvalidDataError(message) from error


def target_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that values of this type are held in.

    Parameters
    ----------
    dtype : numpy dtype
        Type of the caller's values.

    Returns
    -------
    numpy dtype
        float32 if it holds every value of that type exactly, else float64.
    """
    if dtype.kind == "c":
        message = f"Complex data not supported: X has dtype {dtype}. Split it in real columns."
        raise InvalidDataError(message)
    if dtype.kind not in "biuf":
        message = f"X has dtype {dtype}; hinge takes numbers. Encode other columns first."
        raise InvalidDataError(message)
    exact = dtype.char in _EXACT_IN_FLOAT32 or dtype.newbyteorder("=") == np.float32
    return np.dtype(np.float32 if exact else np.float64)


def _canonical_dense(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 2:
        hint = "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row."
        message = f"Expected 2D array, got {array.ndim}D array of shape {array.shape}. {hint}"
        raise InvalidDataError(message)
    _check_shape(array.shape)
    if array.dtype == object:
        array = _numbers_from_objects(array)
    return np.ascontiguousarray(array, dtype=target_dtype(array.dtype))


def _numbers_from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        for (row, column), value in np.ndenumerate(array):
            try:
                float(value)
            except (TypeError, ValueError):
                message = f"X holds {value!r} in row {row}, column {column}: not a number."
                raise InvalidDataError(message) from error
        raise InvalidDataError(str(error)) from error


def _check_shape(shape: tuple[int, ...]) -> None:
    if shape[0] < 1 or shape[1] < 1:
        message = (
            f"Found array with {shape[0]} sample(s) and {shape[1]} feature(s) "
            f"(shape={tuple(shape)}) while a minimum of 1 is required of each."
        )
        raise InvalidDataError(message)


def _canonical_csr(X: Any) -> Any:
    if X.ndim != 2:
        message = f"Expected a sparse matrix with 2 dimensions; got shape {X.shape}."
        raise InvalidDataError(message)
    _check_shape(X.shape)
    dtype = target_dtype(X.dtype)
    if X.format != "csr":
        X = X.tocsr()
    values, indices, indptr = np.asarray(X.data), np.asarray(X.indices), np.asarray(X.indptr)
    _check_structure(values, indices, indptr, X.shape)
    stored = int(indptr[-1])
    values, indices = values[:stored], indices[:stored]
    index_type = np.int64 if indices.dtype.itemsize > 4 else np.int32
    pieces = (
        np.ascontiguousarray(values, dtype=dtype),
        np.ascontiguousarray(indices, dtype=index_type),
        np.ascontiguousarray(indptr, dtype=np.int64 if indptr.dtype.itemsize > 4 else np.int32),
    )
    is_canonical = _strictly_increasing(pieces[1], pieces[2])
    matrix = _assemble(pieces, X.shape)
    if not is_canonical:
        matrix = matrix.copy()
        matrix.has_sorted_indices = matrix.has_canonical_format = False
        matrix.sum_duplicates()
    return matrix


def _assemble(pieces: tuple[NDArray[Any], ...], shape: tuple[int, int]) -> Any:
    """Return a CSR array of exactly these arrays; the constructor might convert index types."""
    matrix = sp.csr_array(shape, dtype=pieces[0].dtype)
    matrix.data, matrix.indices, matrix.indptr = pieces
    return matrix


def _check_structure(
    values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> None:
    """Refuse CSR arrays that point outside themselves; scipy does not look."""
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            message = f"The CSR matrix has {name} of dtype {array.dtype}, shape {array.shape}."
            raise InvalidDataError(message)
    if len(indptr) != shape[0] + 1 or int(indptr[0]) != 0:
        message = (
            f"The CSR matrix of {shape[0]} rows has {len(indptr)} row pointers starting at "
            f"{indptr[:1].tolist()}; it must have {shape[0] + 1} starting at 0."
        )
        raise InvalidDataError(message)
    falling = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falling):
        message = f"The CSR row pointers decrease after row {falling[0]}."
        raise InvalidDataError(message)
    if values.ndim != 1 or int(indptr[-1]) > min(len(values), len(indices)):
        message = (
            f"The CSR row pointers ask for {int(indptr[-1])} entries; there are "
            f"{len(indices)} column indices and {len(values)} values."
        )
        raise InvalidDataError(message)
    for start in range(0, int(indptr[-1]), _CHECK_VALUES):
        piece = indices[start : min(start + _CHECK_VALUES, int(indptr[-1]))]
        if piece.min() < 0 or piece.max() >= shape[1]:
            place = start + int(np.flatnonzero((piece < 0) | (piece >= shape[1]))[0])
            row = int(np.searchsorted(indptr, place, side="right")) - 1
            message = (
                f"The CSR matrix has column index {int(indices[place])} in row {row}; with "
                f"{shape[1]} features it must lie between 0 and {shape[1] - 1}."
            )
            raise InvalidDataError(message)


def _strictly_increasing(indices: NDArray[Any], indptr: NDArray[Any]) -> bool:
    """Return whether the column indices of every row are sorted and without duplicates."""
    row_starts = indptr[1:-1]
    for start in range(0, len(indices) - 1, _CHECK_VALUES):
        stop = min(start + _CHECK_VALUES, len(indices) - 1)
        falls = indices[start + 1 : stop + 1] <= indices[start:stop]
        # A fall is in order only where a new row begins.
        first, last = np.searchsorted(row_starts, (start + 1, stop + 1))
        falls[row_starts[first:last] - (start + 1)] = False
        if falls.any():
            return False
    return True
