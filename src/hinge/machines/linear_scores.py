"""Decision values of linear machines: one native pass over the rows.

Every value depends on its row and its machine alone, so that it has the same bits in any batch and
for any number of threads. A row that holds NaN or infinity has values that are not finite, so that
finite values prove their rows valid, without another pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge._native import core
from hinge.block_map import map_numbers

Floats = NDArray[np.float64]

_PRODUCTS_A_CALL = 1 << 22  # some milliseconds, so that Ctrl-C is heard between two calls


def linear_scores(data: Any, coef: Floats, intercept: Any, threads: int = 1) -> Floats:
    """Return the decision values of rows under one linear machine or several.

    Parameters
    ----------
    data : ndarray or CSR of shape (n_rows, n_features)
        The rows as ``hinge.ingest.canonical`` leaves them; of their values nothing need be known.
    coef : ndarray of shape (n_machines, n_features)
        Weights.
    intercept : float or ndarray of shape (n_machines,)
        Intercepts.
    threads : int, default=1
        How many threads share out the rows.

    Returns
    -------
    ndarray of shape (n_rows, n_machines)
        The values; not finite where the row is not, or where they overflow.
    """
    table = _table(coef)
    n_rows = data.shape[0]
    scores = np.empty((n_rows, len(coef)))
    pieces = (data.data, data.indices, data.indptr) if sp.issparse(data) else (data, None, None)
    matrix = core.RowsView(*pieces, *data.shape)
    products = len(coef) * max(1, pieces[0].size // max(1, n_rows))  # for a row
    size = max(1, _PRODUCTS_A_CALL // products)

    def score(number: int) -> None:
        first = number * size
        core.score_rows(matrix, table, first, scores[first : first + size])

    calls = -(-n_rows // size)
    if threads <= 1 or calls <= 1:
        for number in range(calls):
            score(number)
    else:
        map_numbers(score, calls, lambda one, _: one, threads=threads)
    with np.errstate(over="ignore", invalid="ignore"):
        scores += intercept
    return scores


def _table(coef: Floats) -> Floats:
    """Return weights feature by feature, those of several machines filled up to whole registers."""
    if len(coef) == 1:
        return np.ascontiguousarray(coef, dtype=np.float64).reshape(-1, 1)
    lanes = core.score_lanes
    table = np.zeros((coef.shape[1], -(-len(coef) // lanes) * lanes))
    table[:, : len(coef)] = coef.T
    return table
