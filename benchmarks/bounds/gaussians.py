"""Figure 3: two Gaussians, 100,000 points, and how many of them a noisy hyperplane leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hinge.bounds import SortedMargins

COUNT = 100_000
NOISES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHOWN_NOISE = 0.1
_PLANE = np.array([1.0, 1.0])


def two_gaussians(count: int) -> tuple[Any, Any]:
    """Return points about (-1, -1) and (1, 1), of unit covariance, and their labels."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(count) < count // 2, -1.0, 1.0)
    return rng.normal(size=(count, 2)) + y[:, None], y


def figure3(
    count: int, bounds: tuple[str, ...], repeats: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield, for every noise, how many points each bound leaves open for the zero-one loss."""
    X, y = two_gaussians(count)
    indices = {}
    for bound in bounds:
        indices[bound] = SortedMargins(X, y, bound=bound)
    rng = np.random.default_rng(1)
    for noise in NOISES:
        examined: dict[str, list[int]] = {bound: [] for bound in bounds}
        for _ in range(repeats):
            w = _PLANE + noise * rng.normal(size=2)
            wrong = int(np.count_nonzero(np.where(X @ w > 0.0, 1.0, -1.0) != y))
            for bound, index in indices.items():
                index.sort(_PLANE, 0.0, "zero_one")
                found = index.evaluate(w, 0.0, "zero_one")
                if round(found.value) != wrong:
                    message = f"{bound} counts {found.value} errors, not {wrong}"
                    raise RuntimeError(message)
                examined[bound].append(found.examined)
        means = {bound: float(np.mean(counts)) for bound, counts in examined.items()}
        yield f"{noise:g}", {"noise": noise, "n": count, "repeats": repeats, "examined": means}


def open_points(count: int) -> tuple[Any, Any, Any, Any]:
    """Return points, labels, noisy weights, and which points the sphere leaves open for them."""
    X, y = two_gaussians(count)
    w = _PLANE + SHOWN_NOISE * np.random.default_rng(2).normal(size=2)
    reach = np.linalg.norm(w - _PLANE) * np.max(np.linalg.norm(X, axis=1))
    return X, y, w, np.abs(X @ _PLANE) <= reach
