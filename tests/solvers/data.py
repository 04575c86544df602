"""Small data sets that look a little like real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge import Problem


def two_clouds(
    n: int = 80, d: int = 6, *, seed: int = 0, noise: float = 1.0, sparse: bool = False
) -> tuple[Any, np.ndarray]:
    """Return rows of two overlapping clouds and their labels, half of the values zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    X = noise * rng.normal(size=(n, d)) + np.outer(2.0 * y - 1.0, rng.normal(size=d)) + 0.5
    X[rng.random((n, d)) < 0.5] = 0.0
    return (sp.csr_array(X) if sparse else X), y


def some_weights(n: int, seed: int = 0) -> np.ndarray:
    """Return weights, some of them zero, none of the first two."""
    weights = np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 3.0], n)
    weights[:2] = 1.0
    return weights


def as_dense(problem: Problem) -> np.ndarray:
    """Return the rows as one float64 array."""
    blocks = [block.matrix for block in problem.rows.blocks()]
    return np.concatenate([m.toarray() if sp.issparse(m) else np.array(m) for m in blocks])
