"""The Cholesky factor of a matrix in place, in blocks between which the caller may give up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.threads import single_threaded_blas

_BLOCK_BYTES = 512  # of a row: some 20 ms of three thousand rows in float64, four in float32


def factorise(matrix: NDArray[Any], check: Callable[[], None] | None = None) -> None:
    """Replace the lower triangle of a matrix by its Cholesky factor, some columns at a time.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Positive definite and symmetric, in float32 or float64; changed in place.
    check : callable or None, default=None
        Called between blocks; raises to give up.
    """
    m, block = len(matrix), _BLOCK_BYTES // matrix.itemsize
    with single_threaded_blas():
        for first in range(0, m, block):
            if check is not None:
                check()
            stop = min(first + block, m)
            if first:
                before = matrix[first:stop, :first]
                matrix[first:, first:stop] -= matrix[first:, :first] @ before.T
            matrix[first:stop, first:stop] = corner = np.linalg.cholesky(
                matrix[first:stop, first:stop]
            )
            if stop < m:
                below = matrix[stop:, first:stop].T
                matrix[stop:, first:stop] = scipy.linalg.solve_triangular(
                    corner, below, lower=True, check_finite=False
                ).T
