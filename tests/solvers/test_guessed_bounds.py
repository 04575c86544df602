"""Working sets whose bounds are guessed, and the systems that take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hinge._native import core
from hinge.solvers.kernel.guessed_bounds import GuessedBounds
from hinge.solvers.kernel.nearby_systems import NearbySystems


def matrix_of(n: int, seed: int = 0, features: int = 4, gamma: float = 0.3) -> Any:
    X = np.random.default_rng(seed).normal(size=(n, features))
    squares = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return np.exp(-gamma * squares).astype(np.float32)


def expected(system: Any, is_free: Any, right: Any) -> Any:
    found = np.zeros(right.shape)
    part = np.ix_(is_free, is_free)
    found[is_free] = np.linalg.solve(system.astype(np.float64)[part], right[is_free])
    return found


@pytest.mark.parametrize("moved", [0, 1, 7, 60])
def test_systems_that_differ_from_the_base(moved: int) -> None:
    """Rows leave and enter, until the base is made anew."""
    n, rng = 200, np.random.default_rng(1)
    kernel, diagonal = matrix_of(n), np.full(n, 0.1)
    ids = np.sort(rng.choice(1000, n, replace=False))
    is_base = rng.random(n) < 0.6
    systems = NearbySystems(ids[is_base])
    systems.enter(ids, kernel, diagonal)
    system = kernel + np.diag(diagonal)
    for _ in range(3):
        is_free = is_base.copy()
        is_free[rng.choice(n, moved, replace=False)] ^= True
        right = rng.normal(size=(n, 2))
        found = systems.solve(is_free, right)
        np.testing.assert_allclose(found, expected(system, is_free, right), atol=2e-3)
        assert not found[~is_free].any()
    is_anew = not np.array_equal(systems.base, ids[is_base])
    assert is_anew == (moved == 60)
    assert (len(systems.borders) > 0) == (0 < moved < 60)


def test_borders_are_made_again_with_the_same_bits() -> None:
    n, rng = 150, np.random.default_rng(2)
    kernel, diagonal, ids = matrix_of(n), np.full(n, 0.05), np.arange(n)
    is_free, systems = np.ones(n, dtype=bool), NearbySystems(ids[:140])
    systems.enter(ids, kernel, diagonal)
    right = rng.normal(size=(n, 1))
    for row in (3, 145, 80):
        is_free[row] = not is_free[row]
        found = systems.solve(is_free, right)
    again = NearbySystems(systems.base, systems.borders)
    again.enter(ids, kernel, diagonal)
    np.testing.assert_array_equal(again.solve(is_free, right), found)
    # A larger set that holds them changes nothing.
    more = matrix_of(n + 5)
    systems.enter(np.arange(n + 5), more, np.full(n + 5, 0.05))
    wider = systems.solve(np.append(is_free, np.zeros(5, dtype=bool)), np.zeros((n + 5, 1)) + 1.0)
    other = again.solve(is_free, np.ones((n, 1)))
    np.testing.assert_array_equal(wider[:n], other)


def test_a_matrix_that_is_not_definite_is_refused() -> None:
    kernel = matrix_of(30)
    kernel[7, 7] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        NearbySystems(np.arange(30)).enter(np.arange(30), kernel, np.zeros(30))


def program(n: int, seed: int, is_balanced: bool) -> tuple[Any, ...]:
    """Return a program where pairs have left it."""
    rng = np.random.default_rng(seed)
    kernel, y = matrix_of(n, seed), rng.choice([-1.0, 1.0], n)
    cost = 10.0 ** rng.uniform(0.5, 2)
    lower, upper = np.minimum(0.0, y * cost), np.maximum(0.0, y * cost)
    beta = np.zeros(n)
    if is_balanced:
        for i, j in zip(np.flatnonzero(y > 0), np.flatnonzero(y < 0), strict=False):
            beta[i], beta[j] = (size := cost * rng.choice([0.0, 0.3, 1.0])), -size
    slope, tolerance = kernel @ beta - y, 0.3
    parts = np.zeros(n), lower, upper, beta, slope
    core.solve_working_set(kernel, *parts, is_balanced, True, tolerance, 100_000)
    return kernel, lower, upper, beta, kernel @ beta - y


def violation(beta: Any, slope: Any, lower: Any, upper: Any, is_balanced: bool) -> float:
    up = np.min(slope, where=beta < upper, initial=np.inf)
    down = np.max(slope, where=beta > lower, initial=-np.inf)
    return float(down - up) if is_balanced else float(max(down, -up))


def solver(kernel: Any, bounds: Any, damping: float, is_balanced: bool) -> GuessedBounds:
    n = len(kernel)
    systems, damped = NearbySystems(np.arange(n)), np.full(n, damping)
    systems.enter(np.arange(n), kernel, damped)
    return GuessedBounds(systems, kernel, np.zeros(n), bounds, damped, is_balanced)


@pytest.mark.parametrize("is_balanced", [True, False])
@pytest.mark.parametrize("number", range(12))
def test_the_program_is_solved(number: int, is_balanced: bool) -> None:
    kernel, lower, upper, beta, slope = program(120, number, is_balanced)
    linear, total = kernel @ beta - slope, float(np.sum(beta))
    assert violation(beta, slope, lower, upper, is_balanced) > 0.04
    guessed = solver(kernel, (lower, upper), 1e-2, is_balanced)
    for _ in range(40):  # damping shortens the way
        if violation(beta, slope, lower, upper, is_balanced) <= 2e-2:
            break
        assert guessed.step(beta, slope, 1e-2)
    assert np.all((beta >= lower) & (beta <= upper))
    np.testing.assert_allclose(slope, kernel @ beta - linear, atol=1e-3)
    assert violation(beta, slope, lower, upper, is_balanced) <= 2e-2
    assert not is_balanced or abs(np.sum(beta) - total) <= 1e-9 * np.sum(np.abs(beta))


@pytest.mark.parametrize("rank", [1, 3, 10])
@pytest.mark.parametrize("damping", [1e-5, 1e-3])
def test_the_objective_never_rises(rank: int, damping: float) -> None:
    """Whatever becomes of guesses about a singular matrix."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=(100, rank))
        kernel = (factor @ factor.T).astype(np.float32)
        y = rng.choice([-1.0, 1.0], 100)
        lower, upper = np.minimum(0.0, 50.0 * y), np.maximum(0.0, 50.0 * y)
        beta, slope = np.zeros(100), -y
        try:
            guessed = solver(kernel, (lower, upper), damping * rank, True)
            guessed.step(beta, slope, 1e-3)
        except np.linalg.LinAlgError:
            pass
        assert np.all((beta >= lower) & (beta <= upper))
        assert abs(np.sum(beta)) <= 1e-9
        assert 0.5 * beta @ kernel.astype(np.float64) @ beta - y @ beta <= 1e-9


def test_rows_without_room_stay() -> None:
    kernel, lower, upper, beta, slope = program(80, 3, True)
    fixed = np.arange(80) % 4 == 0
    lower[fixed] = upper[fixed] = beta[fixed]
    before = beta.copy()
    assert solver(kernel, (lower, upper), 1e-2, True).step(beta, slope, 1e-2)
    np.testing.assert_array_equal(beta[fixed], before[fixed])
    assert violation(beta, slope, lower, upper, True) <= 2e-2


def test_bounds_may_be_infinite() -> None:
    kernel, lower, upper, beta, slope = program(60, 4, False)
    upper[upper > 0.0], lower[lower < 0.0] = np.inf, -np.inf
    kernel += 0.1 * np.eye(60, dtype=np.float32)
    assert solver(kernel, (lower, upper), 1e-4, False).step(beta, slope, 1e-3)
    assert np.isfinite(beta).all()
    assert violation(beta, slope, lower, upper, False) <= 2e-3
