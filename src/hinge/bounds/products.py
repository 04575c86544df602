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


def combine(a: float, x: Floats, b: float, y: Floats, total: Floats) -> None:
    """Write a x + b y into an array of its own, in one read of each."""
    core.combine(a, x, b, y, total)
