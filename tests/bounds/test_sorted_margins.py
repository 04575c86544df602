"""The index against a full pass: same value and gradient, fewer rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import losses
from hinge.bounds import SortedMargins

BOUNDS = ["sphere", "centred", "norms", "box", "clusters", "tree", "trajectory"]
LOSSES = ["hinge", "squared_hinge", losses.Huber(0.01), "zero_one"]


def _data(seed: int, n: int = 200, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    return rng.standard_normal((n, d)) + y[:, None], y


def _plain(X, y, w, b, loss):
    """Sum the loss in the plainest way."""
    margins = y * (X @ w + b)
    if loss == "zero_one":
        return np.sum((X @ w + b > 0) != (y > 0)), np.zeros(X.shape[1]), 0.0
    loss = losses.get_loss(loss)
    slopes = loss.subgradient(margins) * y
    return loss.value(margins).sum(), X.T @ slopes, slopes.sum()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    "bound", ["sphere", "centred", "norms", "box", "clusters", "tree", "trajectory"]
)
def test_evaluation_equals_the_plain_sum_while_weights_wander(bound, loss, sparse) -> None:
    X, y = _data(0)
    index = SortedMargins(sp.csr_array(X) if sparse else X, y, bound)
    rng = np.random.default_rng(1)
    w, b = rng.standard_normal(X.shape[1]), 0.1
    fewest = len(y)
    for _ in range(30):
        got = index.evaluate(w, b, loss)
        value, gradient, gradient_b = _plain(X, y, w, b, loss)
        assert abs(got.value - value) <= 2 * got.bound
        assert np.linalg.norm(got.gradient - gradient) <= 2 * got.gradient_bound
        assert abs(got.gradient_b - gradient_b) <= 2 * got.gradient_bound
        fewest = min(fewest, got.examined)
        w = w + 1e-3 * rng.standard_normal(len(w))
        b += 1e-3 * rng.standard_normal()
    assert fewest < 0.9 * len(y)
