"""Dot products in a fixed order of summation: BLAS would split long ones among its threads."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hinge._native import core

Floats = NDArray[np.float64]


def dots(matrix: Floats, vector: Floats) -> Floats:
    """Return the dot product of every row of the matrix with the vector."""
    products = np.empty(len(matrix))
    core.dots(matrix, vector, products)
    return products


def dot(a: Floats, b: Floats) -> float:
    """Return the dot product of two vectors."""
    return float(dots(a[None, :], b)[0])


def norm(a: Floats) -> float:
    """Return the Euclidean norm of a vector."""
    return math.sqrt(dot(a, a))
