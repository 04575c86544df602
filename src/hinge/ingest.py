"""From whatever the caller has to arrays that ``Rows`` can view: typed, ordered, in range.

Nothing here writes to the caller's arrays, and flags that they carry about themselves
(``has_sorted_indices`` and the like) are not believed.
"""

from __future__ import annotations

import copy
import functools
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


def refuse_unreadable(X: Any) -> None:
    """Refuse what scikit-learn would refuse with less help: text, complex numbers, lazy frames.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
        The caller's data; whatever else may be wrong with it is for others to say.
    """
    if sp.issparse(X):
        return
    array = _as_array(X)
    if array.ndim == 2 and array.dtype.kind in "OSUc":
        _canonical_dense(array)


def _as_array(X: Any) -> NDArray[Any]:
    """Return the array behind X: itself, a data frame's, or what NumPy makes of it."""
    if isinstance(X, np.ma.MaskedArray):
        message = "X is a masked array; fill or drop the masked values first (X.filled(...))."
        raise InvalidDataError(message)
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if hasattr(type(X), "columns") or hasattr(type(X), "column_names"):
        import narwhals as nw  # noqa: PLC0415 - only data frames need it

        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            message = (
                f"X is a {type(X).__name__} of {type(X).__module__.split('.')[0]}, whose rows are "
                "not in memory; collect() it first."
            )
            raise InvalidDataError(message)
        if isinstance(frame, nw.DataFrame):
            return np.asarray(frame.to_numpy())
    try:
        return np.asarray(X)
    except (ValueError, TypeError) as error:
        message = f"X of type {type(X).__name__} cannot be read as an array: {error}"
        raise InvalidDataError(message) from error


def _refuse_complex(X: Any) -> None:
    if X.dtype.kind == "c":
        message = (
            f"Complex data not supported: X has dtype {X.dtype} and shape {X.shape}. Split it in "
            "real columns."
        )
        raise InvalidDataError(message)


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
    _refuse_complex(array)
    if array.dtype == object:
        array = _numbers_from_objects(array)
    elif array.dtype.kind in "SU":
        _numbers_from_objects(array)  # says where the first word is; text of numbers is text
    return _held(array, target_dtype(array.dtype))


def _held(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return the array itself if it is C-contiguous, aligned and of that type, else a copy."""
    with np.errstate(over="ignore"):  # what overflows becomes infinite, and is refused as such
        return np.require(array, dtype=dtype, requirements=["C", "A"])


def _numbers_from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        for (row, column), value in np.ndenumerate(array):
            try:
                float(value)
            except (TypeError, ValueError, OverflowError):
                plain = value.item() if isinstance(value, np.generic) else value
                shown = repr(plain)[:40]
                message = f"X holds {shown} in row {row}, column {column}: not a usable number."
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
    _refuse_complex(X)
    dtype = target_dtype(X.dtype)
    if X.format != "csr":
        X = _to_csr(X)
    values, indices, indptr = np.asarray(X.data), np.asarray(X.indices), np.asarray(X.indptr)
    check_compressed((values, indices, indptr), X.shape, ("row", "column"))
    stored = int(indptr[-1])
    values, indices = values[:stored], indices[:stored]
    pieces = (
        _held(values, dtype),
        _held(indices, _index_type(indices)),
        _held(indptr, _index_type(indptr)),
    )
    is_canonical = strictly_increasing(pieces[1], pieces[2])
    matrix = assemble(pieces, X.shape)
    if not is_canonical:
        matrix = matrix.copy()
        matrix.has_sorted_indices = matrix.has_canonical_format = False
        matrix.sum_duplicates()
    return matrix


def _to_csr(X: Any) -> Any:
    """Return another sparse format as CSR, after checks that its own conversion leaves out."""
    try:
        if X.format == "csc":
            pieces = (np.asarray(X.data), np.asarray(X.indices), np.asarray(X.indptr))
            check_compressed(pieces, X.shape[::-1], ("column", "row"))
            return X.tocsr()
        if X.format == "lil" and any(
            len(columns) != len(values) for columns, values in zip(X.rows, X.data, strict=True)
        ):
            message = "The LIL matrix has rows with more values than columns, or fewer."
            raise InvalidDataError(message)
        triples = X.tocoo()
        rows, columns, values = (np.asarray(a) for a in (triples.row, triples.col, triples.data))
        if not len(rows) == len(columns) == len(values):
            message = f"The {X.format} matrix has index and value arrays of different lengths."
            raise InvalidDataError(message)
        for name, places, extent in (("row", rows, X.shape[0]), ("column", columns, X.shape[1])):
            if len(places) and not (places.min() >= 0 and places.max() < extent):
                message = (
                    f"The {X.format} matrix has {name} indices from {places.min()} to "
                    f"{places.max()}; they must lie between 0 and {extent - 1}."
                )
                raise InvalidDataError(message)
        return triples.tocsr()
    except (ValueError, TypeError, IndexError) as error:
        if isinstance(error, InvalidDataError):
            raise
        message = f"The {X.format} matrix cannot be converted to CSR: {error}"
        raise InvalidDataError(message) from error


def _index_type(indices: NDArray[Any]) -> Any:
    """Return the narrower of the two index types that hold every value of this one."""
    return np.int32 if np.can_cast(indices.dtype, np.int32) else np.int64


def assemble(
    pieces: tuple[NDArray[Any], ...], shape: tuple[int, int], kind: Any = sp.csr_array
) -> Any:
    """Return a compressed sparse array of exactly these arrays.

    The constructor of scipy would convert index types, and copies arrays that are a small part
    of their base.
    """
    matrix = copy.copy(_empty(kind, shape))
    matrix.data, matrix.indices, matrix.indptr = pieces
    return matrix


@functools.lru_cache(maxsize=16)
def _empty(kind: Any, shape: tuple[int, int]) -> Any:
    """Return an array of that shape whose parts are still to be set; copying one is quick."""
    matrix = kind(shape)
    matrix.data, matrix.indices, matrix.indptr = np.zeros(0), np.zeros(0), np.zeros(0)
    return matrix


def check_compressed(
    pieces: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    shape: tuple[int, int],
    axes: tuple[str, str],
) -> None:
    """Refuse compressed arrays that point outside themselves; scipy does not look.

    ``shape`` and ``axes`` begin with the axis that is compressed: rows for CSR, columns for CSC.
    """
    values, indices, indptr = pieces
    outer, inner = axes
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            message = f"The sparse matrix has {name} of dtype {array.dtype}, shape {array.shape}."
            raise InvalidDataError(message)
    if len(indptr) != shape[0] + 1 or int(indptr[0]) != 0:
        message = (
            f"The sparse matrix has {len(indptr)} {outer} pointers starting at "
            f"{indptr[:1].tolist()}; it must have {shape[0] + 1} starting at 0."
        )
        raise InvalidDataError(message)
    falling = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falling):
        message = f"The {outer} pointers of the sparse matrix decrease after {outer} {falling[0]}."
        raise InvalidDataError(message)
    stored = int(indptr[-1])
    if values.ndim != 1 or stored > min(len(values), len(indices)):
        message = (
            f"The {outer} pointers of the sparse matrix ask for {stored} entries; there are "
            f"{len(indices)} {inner} indices and {len(values)} values."
        )
        raise InvalidDataError(message)
    # As one without a sign, a negative number is beyond every positive one of its type.
    extent = min(shape[1], np.iinfo(indices.dtype).max + 1)
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    for start in range(0, stored, _CHECK_VALUES):
        piece = unsigned[start : min(start + _CHECK_VALUES, stored)]
        if piece.max() >= extent:
            place = start + int(np.flatnonzero(piece >= extent)[0])
            where = int(np.searchsorted(indptr, place, side="right")) - 1
            message = (
                f"The sparse matrix has {inner} index {int(indices[place])} in {outer} {where}; "
                f"it must lie between 0 and {shape[1] - 1}."
            )
            raise InvalidDataError(message)


def strictly_increasing(indices: NDArray[Any], indptr: NDArray[Any]) -> bool:
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
