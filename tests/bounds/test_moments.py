"""The squared hinge by second moments: the same sums, with rows on the parabola left alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bounds.exactness import AlwaysPruned
from tests.bounds.wandering import plain, two_clouds, wander

from hinge.bounds import SortedMargins
from hinge.bounds.moments import MOST_FEATURES, Moments
from hinge.rows import Rows


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_below_the_window_are_spared(container, weighted) -> None:
    X, y = two_clouds(0, n=3000, d=12)
    weights = np.random.default_rng(1).choice([0.5, 2.0], size=len(y)) if weighted else None
    index = SortedMargins(container(X), y, sample_weight=weights)
    examined = []
    for w, b in wander(2, X.shape[1], 40):
        got = index.evaluate(w, b, "squared_hinge")
        value, gradient, gradient_b = plain(X, y, w, b, "squared_hinge", weights)
        assert abs(got.value - value) <= 2 * got.bound
        assert np.linalg.norm(got.gradient - gradient) <= 2 * got.gradient_bound
        assert abs(got.gradient_b - gradient_b) <= 2 * got.gradient_bound
        assert got.bound < 1e-6 * value
        examined.append(got.examined)
    below = np.count_nonzero(y * (X @ w + b) < 1.0)
    assert np.median(examined) < 0.1 * below


def test_sums_are_made_anew_before_their_rounding_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_clouds(3, n=400)
    forgotten = []
    original = Moments._forget

    def counted(self):
        forgotten.append(self)
        original(self)

    monkeypatch.setattr(Moments, "_forget", counted)
    index = SortedMargins(X, y, policy=AlwaysPruned())
    flips = 12
    for number in range(flips):
        w = np.full(X.shape[1], (-1.0) ** number)
        index.sort(w, 0.0, "squared_hinge")
        for _ in range(4):
            got = index.evaluate(1.0001 * w, 0.0, "squared_hinge")
        value, *_ = plain(X, y, 1.0001 * w, 0.0, "squared_hinge")
        assert abs(got.value - value) <= 2 * got.bound
    assert flips / 3 <= len(forgotten) <= flips


def test_sums_are_kept_while_few_rows_change(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_clouds(4, n=2000)
    index = SortedMargins(X, y, policy=AlwaysPruned())
    added = []
    original = type(index.passes).add_moments

    def counted(self, numbers, scale, moments, sums):
        added.append(len(numbers))
        original(self, numbers, scale, moments, sums)

    monkeypatch.setattr(type(index.passes), "add_moments", counted)
    for w, b in wander(5, X.shape[1], 5, 1e-2):
        index.sort(w, b, "squared_hinge")
        index.evaluate(w, b, "squared_hinge")
    assert added[0] > 200
    assert 0 < sum(added[1:]) < 200


def test_a_build_waits_until_it_pays() -> None:
    X, y = two_clouds(6, n=9000, d=60)
    index = SortedMargins(X, y, policy=AlwaysPruned())
    examined = [index.evaluate(w, b, "squared_hinge").examined for w, b in wander(7, 60, 12, 1e-6)]
    assert examined[1] > 1000  # a second evaluation is no reason to make sums of squares
    assert examined[-1] < 100


@pytest.mark.parametrize(
    ("shape", "suits"),
    [
        ((10_000, 20), True),
        ((20, 20), False),
        ((1_000_000, MOST_FEATURES), True),
        ((1_000_000, MOST_FEATURES + 1), False),
    ],
)
def test_memory_is_bounded(shape, suits) -> None:
    rows = Rows(np.broadcast_to(np.zeros(1), (1, shape[1])).copy())
    rows.n_rows = shape[0]
    rows.n_stored = shape[0] * shape[1]
    assert Moments.suit(rows) == suits


def test_two_kinks_in_turn() -> None:
    X, y = two_clouds(8, n=500)
    index = SortedMargins(X, y, policy=AlwaysPruned())
    w = np.ones(X.shape[1])
    for _ in range(3):
        for loss in ("squared_hinge", "hinge", "zero_one"):
            got = index.evaluate(w, 0.1, loss)
            value, gradient, _ = plain(X, y, w, 0.1, loss)
            assert abs(got.value - value) <= 2 * got.bound
            assert np.linalg.norm(got.gradient - gradient) <= 2 * got.gradient_bound
            w = 1.0001 * w


def test_squares_that_overflow_leave_it_to_a_pass() -> None:
    X = np.vstack([np.full((50, 1), 1e154), np.full((50, 1), -1e154)])
    y = np.repeat([1, -1], 50)
    index = SortedMargins(X, y, policy=AlwaysPruned())
    w = np.array([-1e-154])
    assert index.evaluate(w, 0.0, "squared_hinge").value == pytest.approx(400.0)
    assert index.evaluate(1.0001 * w, 0.0, "squared_hinge").value == pytest.approx(400.04, rel=1e-5)


def test_an_index_with_moments_is_pickled() -> None:
    X, y = two_clouds(9, n=500)
    index = SortedMargins(X, y, policy=AlwaysPruned())
    w = np.ones(X.shape[1])
    for _ in range(3):
        index.evaluate(w, 0.0, "squared_hinge")
    again = pickle.loads(pickle.dumps(index))
    expected = index.evaluate(1.001 * w, 0.0, "squared_hinge")
    got = again.evaluate(1.001 * w, 0.0, "squared_hinge")
    assert got.value == expected.value
    assert got.examined == expected.examined
