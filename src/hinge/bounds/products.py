"""Dot products in a fixed order of summation: BLAS would split long ones among its threads."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hinge._native import core

Floats = NDArray[np.float64]

SMALLEST = 5e-324  # what a square that underflows may have lost


def dots(matrix: Floats, vector: Floats) -> Floats:
    """Return the dot product of every row of the matrix with the vector."""
    products = np.empty(len(matrix))
    core.dots(matrix, vector, products)
    return products


def dot(a: Floats, b: Floats) -> float:
    """Return the dot product of two vectors."""
    return float(dots(a[None, :], b)[0])


def norm(a: Floats) -> float:
    """Return the Euclidean norm of a vector, none too small where squares underflow."""
    return math.sqrt(dot(a, a) + len(a) * SMALLEST)


def combine(
    total: Floats,
    a: float,
    x: Floats,
    b: float,
    y: Floats,
    third: tuple[float, Floats] | None = None,
) -> float:
    """Write a x + b y into an array of its own, in one read of each, and return its square.

    Parameters
    ----------
    total : ndarray of shape (n,)
        Where to; it shares no memory with the terms.
    a, b : float
        What to multiply with.
    x, y : ndarray of shape (n,)
        The vectors.
    third : tuple of float and ndarray of shape (n,), or None, default=None
        A term more.

    Returns
    -------
    float
        The square of the length of the total.
    """
    if third is None:
        return core.combine(total, a, x, b, y)
    return core.combine(total, a, x, b, y, *third)
