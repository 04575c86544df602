"""Small triangles: a pivoted Cholesky factor of a few candidates, and systems with one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_ONE_SIZE = 0.1  # of the largest pivot: the least one of a triangle that is easy to invert
_NOT_TOO_SMALL = 0.01  # the same of all pivots of a factor
_COLUMNS_AT_ONCE = 256  # of a triangular product: the rest of its zeros is not computed


class Substitution:
    """Solves systems with a small triangle.

    In float32 a product with the inverse of a triangle whose pivots are of one size will do, at a
    fraction of the time.

    Parameters
    ----------
    triangle : ndarray of shape (m, m)
        Lower triangular.
    dtype : dtype
        Precision of the right-hand sides.
    """

    def __init__(self, triangle: Floats, dtype: np.dtype[Any]) -> None:
        self._triangle = triangle
        self._inverse: NDArray[np.floating] | None = None
        pivots = np.diagonal(triangle)
        if dtype == np.float32 and np.min(pivots) > _ONE_SIZE * np.max(pivots):
            identity = np.eye(len(triangle))
            inverse = scipy.linalg.solve_triangular(triangle, identity, lower=True)
            self._inverse = inverse.astype(dtype)

    def __call__(self, right: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the solutions for right-hand sides that are columns."""
        if self._inverse is not None:
            return np.asarray(self._inverse @ right)
        solved = scipy.linalg.solve_triangular(
            self._triangle, right, lower=True, check_finite=False
        )
        return np.asarray(solved)


def inverse_of(triangle: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix without zeros on its diagonal."""
    if not len(triangle):
        return np.zeros((0, 0))
    inverse, _ = scipy.linalg.lapack.dtrtri(triangle, lower=1)
    return np.asarray(inverse)


class Coordinates:
    """Takes kernel values with the pivots to coordinates, for many rows at a time.

    By products with the inverse of the triangle, which is triangular, in blocks of columns; where
    pivots are too small for that, by substitution.

    Parameters
    ----------
    triangle : ndarray of shape (r, r)
        The rows of V at the pivots, lower triangular.
    dtype : dtype
        Precision of kernel values and coordinates.
    """

    def __init__(self, triangle: Floats, dtype: np.dtype[Any]) -> None:
        self._triangle = triangle.astype(dtype)
        self._inverse: NDArray[np.floating] | None = None
        pivots = np.diagonal(triangle)
        if np.min(pivots) > _NOT_TOO_SMALL * np.max(pivots):
            self._inverse = np.ascontiguousarray(inverse_of(triangle).T, dtype=dtype)

    def __call__(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return coordinates.

        Parameters
        ----------
        values : ndarray of shape (r, m)
            Kernel values of the pivots with m rows.

        Returns
        -------
        ndarray of shape (m, r)
            Coordinates of these rows.
        """
        if self._inverse is None:
            solved = scipy.linalg.solve_triangular(
                self._triangle, values, lower=True, check_finite=False
            )
            return np.asarray(solved.T)
        found = np.empty(values.shape[::-1], dtype=values.dtype)
        for first in range(0, len(values), _COLUMNS_AT_ONCE):
            stop = min(first + _COLUMNS_AT_ONCE, len(values))
            some = self._inverse[:stop, first:stop]
            np.matmul(values[:stop].T, some, out=found[:, first:stop])
        return found


def pivoted(matrix: Floats, least: float) -> tuple[Ids, Floats]:
    """Return a pivoted Cholesky factor of a small matrix, as far as pivots are not too small.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Positive semidefinite up to rounding.
    least : float
        The smallest pivot to take.

    Returns
    -------
    order : ndarray of int64
        The pivots.
    triangle : ndarray of shape (len(order), len(order))
        The lower triangular factor of their part of the matrix.
    """
    m = len(matrix)
    left = np.diagonal(matrix).copy()
    rows = np.zeros((m, m))
    order: list[int] = []
    for step in range(m):
        best = int(np.argmax(left))
        if not left[best] > least:
            break
        column = matrix[:, best] - rows[:, :step] @ rows[best, :step]
        rows[:, step] = column / math.sqrt(left[best])
        left -= rows[:, step] ** 2
        left[best] = -math.inf
        order.append(best)
    chosen = np.array(order, dtype=np.int64)
    return chosen, np.tril(rows[chosen][:, : len(order)])
