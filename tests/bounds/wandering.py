"""Data and weights that wander, for tests of the index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hinge import losses


def two_clouds(seed: int, n: int = 200, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return two overlapping classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    return rng.standard_normal((n, d)) + 0.5 * y[:, None], y


def wander(seed: int, d: int, steps: int, size: float = 1e-3) -> Iterator[tuple[np.ndarray, float]]:
    """Yield weights and intercepts that keep a direction and drift from it."""
    rng = np.random.default_rng(seed)
    w, b, direction = rng.standard_normal(d), 0.1, rng.standard_normal(d)
    for _ in range(steps):
        yield w, b
        w = w + size * (direction + 0.1 * rng.standard_normal(d))
        b += size * rng.standard_normal()


def plain(X, y, w, b, loss, weights=None):
    """Sum the loss in the plainest way: value, gradient, derivative by b."""
    weights = np.ones(len(y)) if weights is None else weights
    margins = y * (X @ w + b)
    if loss == "zero_one":
        wrong = (X @ w + b > 0) != (y > 0)
        return float(weights @ wrong), np.zeros(X.shape[1]), 0.0
    loss = losses.get_loss(loss)
    slopes = weights * loss.subgradient(margins) * y
    return float(weights @ loss.value(margins)), X.T @ slopes, float(slopes.sum())
