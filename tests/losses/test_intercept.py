"""The intercepts that minimise the losses for given scores."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from hinge.losses import Hinge, Huber, Loss, get_loss, loss_names, optimal_intercepts

LOSSES = [*map(get_loss, loss_names()), Huber(h=0.1)]

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def _objective(loss: Loss, case: tuple[np.ndarray, ...], intercept: float) -> float:
    scores, signs, costs = case
    return float(np.sum(costs * loss.value(signs * (scores + intercept))))


def _random_case(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return scores, signs and costs; ties, zero costs and far-away scores included."""
    n = int(rng.integers(2, 30))
    scores = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
    if rng.random() < 0.5:
        scores = np.round(scores * 2) / 2
    signs = rng.choice([-1.0, 1.0], n)
    signs[:2] = [1.0, -1.0]
    costs = rng.choice([0.0, 0.5, 1.0, 2.0], n) if rng.random() < 0.5 else np.ones(n)
    costs[:2] = np.maximum(costs[:2], 0.5)
    return scores, signs, costs


@each_loss
def test_no_intercept_is_better(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        case = _random_case(rng)
        low, high = optimal_intercepts(loss, *case)
        best = _objective(loss, case, low)
        slack = 1e-12 * (1.0 + best)
        reach = 3.0 + float(np.max(np.abs(case[0])))
        found = minimize_scalar(
            lambda b, case=case: _objective(loss, case, b),
            bounds=(-reach, reach),
            method="bounded",
            options={"xatol": 1e-10},
        )
        grid = np.linspace(-reach, reach, 401)
        brute = min(_objective(loss, case, b) for b in grid)
        assert best <= min(found.fun, brute) + slack
        assert _objective(loss, case, high) <= best + slack


@each_loss
def test_the_interval_holds_every_minimiser_and_nothing_else(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed + 1000)
    flat = 0
    for _ in range(200):
        case = _random_case(rng)
        low, high = optimal_intercepts(loss, *case)
        assert low <= high
        best = _objective(loss, case, low)
        for share in (0.25, 0.5, 0.75):
            inside = _objective(loss, case, low + share * (high - low))
            assert inside <= best + 1e-12 * (1.0 + best)
        flat += high - low > 1e-3
        for outside in (low - 1e-3, high + 1e-3):
            assert _objective(loss, case, outside) > best
    if isinstance(loss, Hinge):
        assert flat >= 20


def test_the_interval_of_the_worked_example() -> None:
    # x = 0, 4, -4, 0 with two positives, C = 1e-3: w* = 8e-3 and every b in the interval is best.
    x = np.asarray([0.0, 4.0, -4.0, 0.0])
    signs = np.asarray([1.0, 1.0, -1.0, -1.0])
    low, high = optimal_intercepts(Hinge(), 8e-3 * x, signs, np.full(4, 1e-3))
    assert low == pytest.approx(-0.968, abs=1e-15)
    assert high == pytest.approx(0.968, abs=1e-15)


@given(
    positives=st.lists(st.integers(-8, 8), min_size=1, max_size=12),
    negatives=st.lists(st.integers(-8, 8), min_size=1, max_size=12),
)
def test_the_hinge_gives_order_statistics(positives: list[int], negatives: list[int]) -> None:
    scores = np.asarray(positives + negatives, dtype=np.float64)
    signs = np.asarray([1.0] * len(positives) + [-1.0] * len(negatives))
    ordered = np.sort(signs - scores)
    n = len(positives)
    interval = optimal_intercepts(Hinge(), scores, signs, np.ones(len(scores)))
    assert interval == (ordered[n - 1], ordered[n])


@each_loss
@given(shift=st.integers(-64, 64), seed_of_case=st.integers(0, 2**32 - 1))
def test_shifted_scores_shift_the_interval(loss: Loss, shift: int, seed_of_case: int) -> None:
    scores, signs, costs = _random_case(np.random.default_rng(seed_of_case))
    low, high = optimal_intercepts(loss, scores, signs, costs)
    shifted = optimal_intercepts(loss, scores + shift, signs, costs)
    np.testing.assert_allclose(shifted, (low - shift, high - shift), rtol=0, atol=1e-9)


@each_loss
def test_exchanged_classes_mirror_the_interval(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed + 2000)
    for _ in range(50):
        scores, signs, costs = _random_case(rng)
        low, high = optimal_intercepts(loss, scores, signs, costs)
        mirrored = optimal_intercepts(loss, -scores, -signs, costs)
        np.testing.assert_allclose(mirrored, (-high, -low), rtol=0, atol=1e-9)


@each_loss
def test_rows_without_cost_do_not_count(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed + 3000)
    for _ in range(50):
        scores, signs, costs = _random_case(rng)
        kept = costs > 0
        with_them = optimal_intercepts(loss, scores, signs, costs)
        without = optimal_intercepts(loss, scores[kept], signs[kept], costs[kept])
        np.testing.assert_allclose(with_them, without, rtol=0, atol=1e-9)


@each_loss
def test_many_rows_do_not_narrow_the_interval(loss: Loss, seed: int) -> None:
    """Sums over many rows are rounded; no true minimiser may fall outside for that."""
    rng = np.random.default_rng(seed)
    n = 100_001
    scores = rng.normal(size=2 * n)
    signs = np.repeat([1.0, -1.0], n)
    costs = np.full(2 * n, 0.1)
    # Two classes far apart on the wrong sides of nothing: between them no row has a loss.
    scores += 10.0 * signs
    low, high = optimal_intercepts(loss, scores, signs, costs)
    first = np.min(scores[:n]) - loss.zero_from
    last = -np.max(scores[n:]) - loss.zero_from
    assert low <= -first + 1e-9
    assert high >= last - 1e-9
    assert _objective(loss, (scores, signs, costs), 0.5 * (low + high)) <= 1e-9 * n


def _slope(loss: Loss, case: tuple[np.ndarray, ...], intercept: float) -> float:
    scores, signs, costs = case
    terms = costs * signs * loss.subgradient(signs * (scores + intercept))
    return math.fsum(terms.tolist())


def _large_case(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return more rows than are sorted at once."""
    signs = rng.choice([-1.0, 1.0], n, p=[0.3, 0.7])
    scores = rng.normal(size=n) + 0.7 * signs
    costs = np.ones(n)
    if kind == "ties":
        scores = np.round(scores)
    elif kind == "all equal":
        scores[:] = 0.25
    elif kind == "one row outweighs the others":
        costs[n // 3] = 1e7  # a sample that misses it looks in the wrong place
    elif kind == "weights of every size":
        costs = rng.exponential(size=n) ** 8
    elif kind == "most rows without cost":
        costs = (rng.random(n) < 0.001).astype(np.float64)
    return scores, signs, costs


@each_loss
@pytest.mark.parametrize(
    "kind",
    [
        "plain",
        "ties",
        "all equal",
        "one row outweighs the others",
        "weights of every size",
        "most rows without cost",
    ],
)
@pytest.mark.parametrize("n", [20_000, 150_000])
def test_the_slope_changes_its_sign_at_both_ends(loss: Loss, kind: str, n: int, seed: int) -> None:
    case = _large_case(kind, n, np.random.default_rng(seed))
    low, high = optimal_intercepts(loss, *case)
    assert low <= high
    near = 1e-7 * (1.0 + abs(low))
    assert _slope(loss, case, low - near) < 0.0 < _slope(loss, case, high + near)
    if high - low > 2.0 * near:
        assert abs(_slope(loss, case, 0.5 * (low + high))) <= 1e-9 * float(np.sum(case[2]))


@pytest.mark.parametrize("n", [20_001, 200_001])
def test_order_statistics_of_many_rows_are_exact(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-(2**40), 2**40, n).astype(np.float64)
    signs = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    ordered = np.sort(signs - scores)
    k = int(np.count_nonzero(signs > 0))
    for types in (np.float64, np.int8):
        interval = optimal_intercepts(Hinge(), scores, signs.astype(types), np.ones(n))
        assert interval == (ordered[k - 1], ordered[k])


@each_loss
def test_many_rows_take_little_memory_beside_the_scores(loss: Loss) -> None:
    case = _large_case("plain", 150_000, np.random.default_rng(0))
    case = tuple(np.tile(array, 4) for array in case)
    tracemalloc.start()
    try:
        optimal_intercepts(loss, *case)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 12 * len(case[0])


@each_loss
def test_scores_beyond_floating_point_bound_nothing(loss: Loss) -> None:
    scores = np.asarray([np.inf, 0.0, -np.inf])
    signs = np.asarray([1.0, -1.0, 1.0])
    assert optimal_intercepts(loss, scores, signs, np.ones(3)) == (-np.inf, np.inf)
