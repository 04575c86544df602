"""The intercept between two given ones that makes the losses least."""

from __future__ import annotations

import numpy as np
import pytest

from hinge._native import core
from hinge.losses import Hinge, Huber, Loss, SquaredHinge
from hinge.solvers.kernel.intercept import intercept_between


def _random_case(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return scores, signs and costs; ties and rows without cost included."""
    n = int(rng.integers(2, 30))
    scores = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
    if rng.random() < 0.5:
        scores = np.round(scores * 2) / 2
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    costs = rng.choice([0.0, 0.5, 1.0, 2.0], n) if rng.random() < 0.5 else np.ones(n)
    return scores, signs, costs


def _objective(loss: Loss, case: tuple[np.ndarray, ...], intercept: float) -> float:
    scores, signs, costs = case
    return float(np.sum(costs * loss.value(signs * (scores + intercept))))


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Huber(), Huber(h=0.1)], ids=repr)
def test_none_between_the_two_is_better(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        case = _random_case(rng)
        least, most = np.sort(rng.normal(size=2) * rng.choice([0.1, 1.0, 10.0]))
        if rng.random() < 0.3:  # at kinks of rows
            least, most = np.sort(case[1][:2] - case[0][:2])
        found = intercept_between(loss, *case, (least, most))
        assert least <= found <= most
        best = _objective(loss, case, found)
        grid = np.append(np.linspace(least, most, 201), case[1] - case[0])
        values = [_objective(loss, case, b) for b in np.clip(grid, least, most)]
        assert best <= min(values) + 1e-12 * (1.0 + best)


def test_it_is_the_middle_of_the_best() -> None:
    scores, signs = np.array([-3.0, 3.0]), np.array([-1, 1], dtype=np.int8)

    def between(least: float, most: float) -> float:
        return intercept_between(Hinge(), scores, signs, np.ones(2), (least, most))

    assert between(-10.0, 10.0) == pytest.approx(0.0)
    assert between(1.0, 10.0) == pytest.approx(1.5)
    assert between(3.0, 4.0) == pytest.approx(3.0)
    assert between(0.5, 0.5) == pytest.approx(0.5)


def test_arrays_must_belong_together() -> None:
    kinks, pieces = np.ones((3, 1)), np.ones((2, 2))
    scores, signs = np.zeros(4), np.ones(4, dtype=np.int8)
    core.best_intercept(kinks, pieces, scores, signs, np.ones(4), 0.0, 1.0)
    with pytest.raises(ValueError, match="three numbers of every kink"):
        core.best_intercept(kinks, np.ones((2, 3)), scores, signs, np.ones(4), 0.0, 1.0)
    with pytest.raises(ValueError, match="signs has 3 entries, not 4"):
        core.best_intercept(kinks, pieces, scores, signs[:3], np.ones(4), 0.0, 1.0)
    with pytest.raises(ValueError, match="costs has 3 entries, not 4"):
        core.best_intercept(kinks, pieces, scores, signs, np.ones(3), 0.0, 1.0)
