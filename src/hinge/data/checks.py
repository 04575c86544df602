"""Values that are finite and of the type asked for, wherever they were read from."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.errors import DataFileError
from hinge.ingest import assemble


def check_values(X: Any, first_row: int, path: str, dtype: np.dtype[Any] | None) -> Any:
    """Return rows of the type asked for whose every value is finite.

    Parameters
    ----------
    X : ndarray or csr_array
        Rows of float32 or float64, in order.
    first_row : int
        The number of the first of them in the file, from zero.
    path : str
        The file.
    dtype : dtype or None
        float32, float64, or None to keep what they have.

    Returns
    -------
    ndarray or csr_array
        The rows; the same object where nothing had to be converted.
    """
    before = X.data if sp.issparse(X) else X
    _check_finite(X, before, before, first_row, path)
    if dtype is None or before.dtype == dtype:
        return X
    with np.errstate(over="ignore"):
        values = before.astype(dtype)
    _check_finite(X, values, before, first_row, path)
    return assemble((values, X.indices, X.indptr), X.shape) if sp.issparse(X) else values


def _check_finite(X: Any, values: Any, before: Any, first_row: int, path: str) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    place = int(np.argmin(finite))
    if sp.issparse(X):
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column = int(X.indices[place])
    else:
        row, column = divmod(place, X.shape[1])
    bad = before.reshape(-1)[place]
    if np.isfinite(bad):
        reason = f"the value {bad} is too large for float32; read with dtype=float64."
    else:
        reason = (
            f"the value is {bad}, and values must be finite; drop the row, or fill it in, for "
            "example with sklearn.impute.SimpleImputer."
        )
    raise DataFileError(reason, path, first_row + row + 1, column + 1)
