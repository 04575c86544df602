"""Best intercepts of several problems at once are those of each of them alone."""

from __future__ import annotations

import numpy as np
import pytest

from hinge.losses import Hinge, Huber, Loss, get_loss, loss_names
from hinge.losses.intercept import largest_intercept, smallest_intercept
from hinge.losses.several_intercepts import largest_intercepts, smallest_intercepts

LOSSES = [*map(get_loss, loss_names()), Huber(h=0.1)]
Case = tuple[np.ndarray, ...]


def _random_problem(rng: np.random.Generator) -> Case:
    """Return scores, labels and costs of one problem, with ties."""
    n = int(rng.integers(2, 40))
    scores = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
    if rng.random() < 0.5:
        scores = np.round(scores * 2) / 2
    signs = rng.choice([-1.0, 1.0], n)
    signs[:2] = [1.0, -1.0]
    return scores, signs, rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize("width", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_each_is_what_it_is_alone(loss: Loss, width: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problems = [_random_problem(rng) for _ in range(200)]
    ends = np.concatenate(((0,), np.cumsum([len(one[0]) for one in problems])))
    rows = [np.concatenate(parts) for parts in zip(*problems, strict=True)]
    low = np.array([smallest_intercept(loss, *one) for one in problems])
    high = np.array([largest_intercept(loss, *one) for one in problems])
    # Windows that hold the place, or not: where it is not, all rows are looked at.
    near = np.where(rng.random(200) < 0.8, 0.5 * (low + high), rng.normal(size=200))
    windows = np.stack((near - width * rng.random(200), near + width * rng.random(200)))
    found = smallest_intercepts(loss, *rows, ends, windows)
    np.testing.assert_allclose(found, low, rtol=1e-9, atol=1e-9)
    found = largest_intercepts(loss, *rows, ends, windows)
    np.testing.assert_allclose(found, high, rtol=1e-9, atol=1e-9)


def test_rounding_makes_the_interval_wider_only() -> None:
    rng = np.random.default_rng(0)
    scores, signs = rng.normal(size=1000), np.repeat([1.0, -1.0], 500)
    costs = rng.random(1000)
    ends, window = np.array([0, 1000]), np.array([[-3.0], [3.0]])
    alone = smallest_intercept(Hinge(), scores, signs, costs)
    assert smallest_intercepts(Hinge(), scores, signs, costs, ends, window)[0] <= alone
    alone = largest_intercept(Hinge(), scores, signs, costs)
    assert largest_intercepts(Hinge(), scores, signs, costs, ends, window)[0] >= alone
