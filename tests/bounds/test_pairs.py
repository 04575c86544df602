"""Pairs for SMO through the index: the choice of a full pass, with few rows looked at."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bounds.exactness import AlwaysPruned
from tests.bounds.wandering import two_clouds

from hinge import InvalidDataError, Problem, solve
from hinge.bounds import SortedMargins, ViolatingPair, ViolatingPairs
from hinge.result import Stop


def _by_a_pass(X, y, w, alpha, upper):
    """Return the largest u that can rise and the smallest that can fall."""
    u = y - X @ w
    rises = np.where(y > 0, alpha < upper, alpha > 0.0)
    falls = np.where(y > 0, alpha > 0.0, alpha < upper)
    return u, rises, falls


def _check(pair, X, y, w, alpha, upper) -> None:
    u, rises, falls = _by_a_pass(X, y, w, alpha, upper)
    assert rises[pair.rising]
    assert falls[pair.falling]
    best = float(u[rises].max() - u[falls].min())
    slack = 1e-13 * (1.0 + float(np.abs(u).max()))
    assert pair.violation == pytest.approx(best, abs=slack)
    assert u[pair.rising] - u[pair.falling] == pytest.approx(best, abs=slack)


def _smo(pairs, X, y, upper, steps, tol):
    """Run SMO with chosen pairs; check each choice and return weights, coefficients, counts."""
    dense = X.toarray() if sp.issparse(X) else X
    w, alpha, examined = np.zeros(dense.shape[1]), np.zeros(len(y)), []
    for _ in range(steps):
        pair = pairs.choose(w, 0.3)
        assert pair is not None
        _check(pair, dense, y, w, alpha, upper)
        examined.append(pair.examined)
        if pair.violation <= tol:
            break
        i, j = pair.rising, pair.falling
        between = dense[i] - dense[j]
        room_i = upper[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else upper[j] - alpha[j]
        step = min(pair.violation / max(between @ between, 1e-300), room_i, room_j)
        for row, change in ((i, step * y[i]), (j, -step * y[j])):
            alpha[row] = np.clip(alpha[row] + change, 0.0, upper[row])
        w = w + step * between
        pairs.update([i, j], alpha[[i, j]])
    return w, alpha, examined


@pytest.mark.parametrize("bound", ["sphere", "clusters", "trajectory"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_every_choice_of_a_run_is_that_of_a_pass(bound, container) -> None:
    X, y = two_clouds(0, n=600, d=4)
    rows, upper = container(X), np.full(600, 0.05)
    pairs = ViolatingPairs(SortedMargins(rows, y, bound), 0.05)
    w, alpha, examined = _smo(pairs, rows, y, upper, steps=4000, tol=1e-3)
    assert sum(examined) < 0.6 * len(examined) * len(y)
    problem = Problem(X, y, C=0.05, intercept="free")
    optimum = solve(problem, stop=Stop(gap=1e-6)).certificate
    value = alpha.sum() - 0.5 * w @ w
    assert value == pytest.approx(optimum.dual, rel=1e-3)


def test_bounds_of_each_row_and_a_start() -> None:
    X, y = two_clouds(1, n=300, d=3)
    rng = np.random.default_rng(2)
    upper = rng.choice([0.0, 0.5, 1.0], size=300)
    alpha = upper * rng.choice([0.0, 0.5, 1.0], size=300)
    pairs = ViolatingPairs(SortedMargins(X, y, policy=AlwaysPruned()), upper, alpha)
    w = X.T @ (alpha * y)
    for _ in range(20):
        pair = pairs.choose(w)
        assert pair is not None
        _check(pair, X, y, w, alpha, upper)
        w = w + 0.01 * rng.standard_normal(3)


def test_coefficients_that_can_no_longer_move_are_passed_over() -> None:
    X, y = two_clouds(3, n=200, d=3)
    alpha, upper = np.zeros(200), np.ones(200)
    pairs = ViolatingPairs(SortedMargins(X, y, policy=AlwaysPruned()), 1.0)
    w = np.array([0.5, -0.2, 0.1])
    for _ in range(50):
        pair = pairs.choose(w)
        assert pair is not None
        _check(pair, X, y, w, alpha, upper)
        moved = pair.rising if alpha[pair.rising] == 0.0 else pair.falling
        alpha[moved] = 1.0 - alpha[moved]
        pairs.update(moved, alpha[moved])


def test_no_pair_where_one_side_is_empty() -> None:
    index = SortedMargins([[1.0], [2.0]], [1, 1])
    assert ViolatingPairs(index, 1.0).choose([0.0]) is None
    pairs = ViolatingPairs(index, 1.0, [0.5, 0.0])
    assert pairs.choose([0.0]) == ViolatingPair(0, 0, 0.0, 2)


@pytest.mark.parametrize(
    ("upper", "alpha", "message"),
    [
        ([1.0], None, r"upper has shape \(1,\); there are 2 rows"),
        (-1.0, None, "upper must not be negative; its smallest entry is -1.0"),
        (1.0, [0.0, np.nan], "alpha must not be negative; its smallest entry is nan"),
    ],
)
def test_what_is_refused(upper, alpha, message) -> None:
    index = SortedMargins([[1.0], [2.0]], [1, -1])
    with pytest.raises(InvalidDataError, match=message):
        ViolatingPairs(index, upper, alpha)


def test_margins_that_overflow() -> None:
    pairs = ViolatingPairs(SortedMargins([[1.0], [1e150]], [1, -1]), 1.0)
    with pytest.raises(InvalidDataError, match="row 1 overflows"):
        pairs.choose([1e200])
