"""Sets that a hyperplane separates, and sets that none does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge import Problem

INTERCEPTS = ("free", "augmented", "none")
XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


def apart(
    n: int = 60, d: int = 5, *, seed: int = 0, width: float = 0.2, sparse: bool = False
) -> tuple[Any, np.ndarray]:
    """Return rows at least ``width`` away from a random hyperplane through the origin."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=d)
    normal /= np.linalg.norm(normal)
    X = rng.normal(size=(n, d))
    side = np.where(np.arange(n) % 2, 1.0, -1.0)
    X += np.outer(side * (width + np.abs(X @ normal)) - X @ normal, normal)
    if sparse:
        X[rng.random((n, d)) < 0.6] = 0.0
        X[:, 0] += 10.0 * side
        X = sp.csr_array(X)
    return X, (side > 0).astype(int)


def hard(X: Any, y: Any, **options: Any) -> Problem:
    """Return a problem with C infinite."""
    return Problem(X, y, C=math.inf, **options)
