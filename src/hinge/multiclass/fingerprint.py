"""A fingerprint of training data, to tell whether a saved model belongs to them.

It covers the shape, every label and weight, and the values of some rows at equal distances. The
values enter as exact float64 numbers with their columns, zeros left out: dense and sparse, float32
and float64, any block size and any machine give the same digest for the same numbers. It is no
proof of anything; a model on changed data betrays itself by its recomputed objective.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.multiclass.labels import Labels
from hinge.rows import Rows

_LEAST_ROWS, _MOST_ROWS = 4, 256
_MOST_VALUES = 1 << 20  # of the rows that are looked at, if they are dense


def data_fingerprint(rows: Rows, labels: Labels) -> str:
    """Return the fingerprint of rows with their labels and weights.

    Parameters
    ----------
    rows : Rows
        The data.
    labels : Labels
        Labels and weights of the rows; weights of classes are not data and do not count.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256(b"hinge data 1")
    digest.update(np.array([rows.n_rows, rows.n_features], dtype="<i8").tobytes())
    digest.update(labels.codes.astype("<i4").tobytes())
    if labels.sample_weight is not None and np.any(labels.sample_weight != 1.0):
        digest.update(labels.sample_weight.astype("<f8").tobytes())
    count = min(_MOST_ROWS, max(_LEAST_ROWS, _MOST_VALUES // rows.n_features))
    numbers = np.arange(rows.n_rows)
    if rows.n_rows > count:
        numbers = np.unique(np.linspace(0, rows.n_rows - 1, count).astype(np.int64))
    places, columns, values = _entries(rows, numbers)
    for column in (places.astype("<i8"), columns.astype("<i8"), values.astype("<f8")):
        digest.update(column.data)
    return digest.hexdigest()


def _entries(
    rows: Rows, numbers: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Return the non-zero values of some rows: which of them, in which column, and what."""
    if not rows.is_sparse:
        values = rows.values[numbers].astype(np.float64)
        if values.all():  # which takes a fraction of the time of looking for zeros
            places, columns = np.indices(values.shape).reshape(2, -1)
            return places, columns, values.reshape(-1)
    return rows.entries(numbers)
