"""Sparse rows made by rule, of kinds that the data sets at hand do not have.

Their features have from thousands of rows down to a few, which is what makes Newton's method with a
corner take many more steps than on dense rows of the same size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def words(n_rows: int, n_features: int, per_row: int, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of ones in some columns, the later a column the rarer, and labels with noise."""
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, n_features + 1) ** -0.7
    lengths = np.maximum(1, rng.poisson(per_row, n_rows))
    columns = rng.choice(n_features, lengths.sum(), p=frequency / frequency.sum())
    places = (np.repeat(np.arange(n_rows), lengths), columns)
    X = sp.csr_array((np.ones(len(columns)), places), shape=(n_rows, n_features))
    X.data[:] = 1.0  # a word that was drawn twice is there once
    scores = X @ rng.normal(scale=1.5, size=n_features) - 2.5
    return X, np.where(scores + rng.logistic(scale=0.5, size=n_rows) > 0, 1, -1)


def categories(n_rows: int, n_groups: int, n_levels: int, seed: int = 0) -> tuple[Any, Any]:
    """Return categories as columns of ones, later levels being rarer; 30 % are positive."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, n_levels + 1)
    levels = rng.choice(n_levels, (n_rows, n_groups), p=frequency / frequency.sum())
    columns = (levels + n_levels * np.arange(n_groups)).ravel()
    starts = np.arange(0, n_rows * n_groups + 1, n_groups)
    X = sp.csr_array((np.ones(len(columns)), columns, starts), shape=(n_rows, n_groups * n_levels))
    scores = X @ rng.normal(size=n_groups * n_levels)
    noisy = scores + 0.3 * np.std(scores) * rng.normal(size=n_rows)
    return X, np.where(noisy > np.quantile(noisy, 0.7), 1, -1)
