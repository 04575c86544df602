"""Inner products of dense and sparse rows, and what they need: norms, centres, panels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import InvalidDataError

Floats = NDArray[np.float64]

_PANEL_ROWS = 512  # sparse rows that are made dense at a time
_MANY_FEATURES = 2048  # more than that, and only columns in use are made dense


def as_rows(A: Any) -> Any:
    """Return rows as a float64 array, or as CSR with float64 values."""
    if sp.issparse(A):
        return sp.csr_array(A).astype(np.float64, copy=False)
    array = np.asarray(A, dtype=np.float64)
    if array.ndim != 2:
        message = f"a kernel takes rows of shape (n, d); got an array of shape {array.shape}."
        raise InvalidDataError(message)
    return array


def as_pair(A: Any, B: Any) -> tuple[Any, Any]:
    """Return two operands as rows of one width, or raise."""
    first, second = as_rows(A), as_rows(B)
    if first.shape[1] != second.shape[1]:
        message = f"rows of {first.shape[1]} and of {second.shape[1]} features have no kernel."
        raise InvalidDataError(message)
    return first, second


def inner(A: Any, B: Any) -> Floats:
    """Return the inner products of the rows of A with those of B, both from ``as_pair``."""
    if not sp.issparse(B):
        return np.asarray(A @ B.T)
    if not sp.issparse(A):
        return np.ascontiguousarray(np.asarray(B @ A.T).T)
    products = np.empty((A.shape[0], B.shape[0]))
    for start in range(0, B.shape[0], _PANEL_ROWS):
        rows, columns = A, B[start : start + _PANEL_ROWS]
        if B.shape[1] > _MANY_FEATURES:
            used = np.unique(columns.indices)
            rows, columns = pick_columns(A, used), pick_columns(columns, used)
        # At any density faster than a product of two sparse matrices, which is dense after all.
        products[:, start : start + _PANEL_ROWS] = rows @ np.ascontiguousarray(columns.toarray().T)
    return products


def squared_norms(A: Any) -> Floats:
    """Return the squared Euclidean norms of rows from ``as_rows``."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A))


def dense_columns(A: Any, B: Any) -> tuple[Floats, Floats]:
    """Return both operands as dense arrays, without the columns in which neither has a value."""
    if not (sp.issparse(A) and sp.issparse(B)):
        return _dense(A), _dense(B)
    used = np.union1d(A.indices, B.indices)
    return pick_columns(A, used).toarray(), pick_columns(B, used).toarray()


def places_among(used: NDArray[Any], columns: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where columns stand in an ordered list, and which of them are there at all.

    Parameters
    ----------
    used : ndarray of int
        The list, without repeats.
    columns : ndarray of int
        What is looked for, not negative.

    Returns
    -------
    places, found : ndarray
        The place of each, which means something where it was found.
    """
    places = np.searchsorted(used, columns)
    return places, np.append(used, -1)[places] == columns


def pick_columns(rows: Any, used: NDArray[Any]) -> Any:
    """Return some columns of CSR rows, in memory for what is stored, however many there are.

    SciPy's own selection takes four bytes for every column of the matrix.

    Parameters
    ----------
    rows : csr_array
        The rows, each with distinct columns.
    used : ndarray of int
        Which columns, in order and without repeats.

    Returns
    -------
    csr_array
        The rows with as many columns as were picked.
    """
    places, found = places_among(used, rows.indices)
    counted = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(found)))
    pieces = rows.data[found], places[found], counted[rows.indptr]
    return sp.csr_array(pieces, shape=(rows.shape[0], len(used)))


def _dense(A: Any) -> Floats:
    return np.asarray(A.toarray() if sp.issparse(A) else A)
