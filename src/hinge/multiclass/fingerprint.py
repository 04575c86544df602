"""A fingerprint of training data, to tell whether a saved model belongs to them.

It covers the shape, every label and weight, and the values of some rows at equal distances. The
values enter as exact float64 numbers with their columns, zeros left out: dense and sparse, float32
and float64, any block size and any machine give the same digest for the same numbers. It is no
proof of anything; a model on changed data betrays itself by its recomputed objective.
"""

from __future__ import annotations

import hashlib

import numpy as np

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
    numbers = np.unique(np.linspace(0, rows.n_rows - 1, count).astype(np.int64))
    places, columns, values = rows.entries(numbers)
    for column in (places.astype("<i8"), columns.astype("<i8"), values.astype("<f8")):
        digest.update(column.tobytes())
    return digest.hexdigest()
