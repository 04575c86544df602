"""Kernel matrices in LIBSVM's text: feature 0 is the number of the row, the others are values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.data import Dataset
from hinge.errors import DataFileError
from hinge.kernels import Precomputed


def is_matrix_model(model: Any) -> bool:
    """Return whether the rows of a model are rows of a kernel matrix.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model.
    """
    return isinstance(getattr(model, "kernel_", None), Precomputed)


def training_matrix(data: Dataset) -> Dataset:
    """Return a kernel matrix to train on, without the numbers of rows that LIBSVM's text has.

    Parameters
    ----------
    data : Dataset
        What a file holds.
    """
    has_numbers = sp.issparse(data.X) and data.index_base == 0
    numbers = _dense(data.X[:, :1]).ravel() if has_numbers else None
    found = without_numbers(data)
    n_rows, n_columns = found.X.shape
    if numbers is not None and not np.array_equal(numbers, np.arange(1, n_rows + 1)):
        reason = (
            "feature 0 of a kernel matrix must be the number of the row, counted from 1 in order; "
            f"it begins with {', '.join(f'{number:g}' for number in numbers[:5])}."
        )
        raise DataFileError(reason, data.source)
    if n_rows != n_columns:
        reason = (
            f"a kernel matrix has as many columns as rows; this one has {n_rows} rows and "
            f"{n_columns} columns."
        )
        raise DataFileError(reason, data.source)
    return found


def without_numbers(data: Dataset) -> Dataset:
    """Return rows of a kernel matrix without feature 0, if they are LIBSVM text that has it.

    Parameters
    ----------
    data : Dataset
        What a file holds.
    """
    if not sp.issparse(data.X) or data.index_base != 0:
        return data
    return replace(data, X=_dense(data.X[:, 1:]))


def _dense(matrix: Any) -> Any:
    return np.ascontiguousarray(matrix.toarray())
