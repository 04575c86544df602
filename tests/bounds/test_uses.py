"""What else the index gives: smallest margins, drawn rows, a bound on the logistic loss."""

from __future__ import annotations

import pickle
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bounds.wandering import plain, two_clouds, wander

from hinge import InvalidDataError, InvalidParameterError, losses
from hinge.bounds import (
    LogisticBound,
    Measured,
    SampledMargins,
    SortedMargins,
    measure,
    smallest_margins,
)


@pytest.mark.parametrize("bound", ["sphere", "tree", "trajectory"])
@pytest.mark.parametrize("k", [1, 7])
def test_smallest_margins_are_those_of_a_pass(bound, k) -> None:
    X, y = two_clouds(0, n=2000)
    index = SortedMargins(X, y, bound)
    examined = []
    for w, b in wander(1, X.shape[1], 6, 1e-2):
        found = smallest_margins(index, w, b, k)
        margins = y * (X @ w + b)
        assert found.rows.tolist() == np.argsort(margins)[:k].tolist()
        np.testing.assert_allclose(found.margins, np.sort(margins)[:k], rtol=1e-12)
        examined.append(found.examined)
    assert max(examined[1:]) < len(y) / 4


@pytest.mark.parametrize("bound", ["sphere", "tree", "trajectory"])
def test_smallest_margins_among_rows_that_were_drawn(bound) -> None:
    X, y = two_clouds(0, n=2000)
    index, rng = SortedMargins(X, y, bound), np.random.default_rng(2)
    examined = []
    for w, b in wander(1, X.shape[1], 8, 1e-2):
        drawn = rng.integers(0, len(y), size=59)
        found = smallest_margins(index, w, b, 2, among=np.append(drawn, drawn[:3]))
        margins = y * (X @ w + b)
        candidates = np.unique(drawn)
        assert found.rows.tolist() == candidates[np.argsort(margins[candidates])[:2]].tolist()
        examined.append(found.examined)
    assert max(examined) <= 59
    assert min(examined) < 20


def test_rows_to_choose_from_must_be_there_and_enough() -> None:
    index = SortedMargins(np.array([[1.0], [1.0], [-2.0]]), [1, 1, 1])
    with pytest.raises(InvalidDataError, match="rows go from 0 to 3; there are rows 0 to 2"):
        smallest_margins(index, [1.0], among=[0, 3])
    with pytest.raises(InvalidParameterError, match="the number of rows, 1; got 2"):
        smallest_margins(index, [1.0], k=2, among=[1, 1])


def test_all_rows_by_margin_and_ties_by_number() -> None:
    index = SortedMargins(np.array([[1.0], [1.0], [-2.0]]), [1, 1, 1])
    found = smallest_margins(index, [1.0], k=3)
    assert found.rows.tolist() == [2, 0, 1]
    assert found.examined == 3


@pytest.mark.parametrize("k", [0, 4])
def test_a_number_of_rows_that_there_is_not(k) -> None:
    index = SortedMargins(np.array([[1.0], [1.0], [-2.0]]), [1, 1, 1])
    with pytest.raises(InvalidParameterError, match="k must lie between 1 and the number of rows"):
        smallest_margins(index, [1.0], k=k)


@pytest.mark.parametrize("loss", ["hinge", losses.Huber(0.1), "zero_one", "squared_hinge"], ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_drawn_rows_count_as_often_as_they_are_drawn(loss, sparse) -> None:
    X, y = two_clouds(2, n=500)
    rng = np.random.default_rng(3)
    weights = rng.choice([0.5, 1.0], size=len(y))
    index = SortedMargins(sp.csr_array(X) if sparse else X, y, sample_weight=weights)
    sampled = SampledMargins(index)
    examined = []
    for w, b in wander(4, X.shape[1], 10):
        drawn = rng.integers(0, len(y), size=200)
        got = sampled.evaluate(w, b, drawn, loss)
        value, gradient, gradient_b = plain(X[drawn], y[drawn], w, b, loss, weights[drawn])
        assert abs(got.value - value) <= 2 * got.bound
        assert np.linalg.norm(got.gradient - gradient) <= 2 * got.gradient_bound
        assert abs(got.gradient_b - gradient_b) <= 2 * got.gradient_bound
        examined.append(got.examined)
    assert min(examined) < 150


def test_rows_drawn_more_often_than_there_are_rows_stay_within_the_bound() -> None:
    n_drawn = 2_000_000
    sampled = SampledMargins(SortedMargins([[0.1], [0.3]], [1, -1]))
    got = sampled.evaluate([1.0], 0.0, np.zeros(n_drawn, dtype=int))
    entry = Fraction(0.1)
    assert abs(Fraction(got.value) - n_drawn * (1 - entry)) <= Fraction(got.bound)
    assert abs(Fraction(float(got.gradient[0])) + n_drawn * entry) <= Fraction(got.gradient_bound)


def test_a_bound_that_spares_nothing_is_left_out_until_the_next_store() -> None:
    X, y = two_clouds(5, n=300)
    sampled = SampledMargins(SortedMargins(X, y), c=2.0)
    drawn = np.arange(100)
    w = np.ones(X.shape[1])
    assert sampled.evaluate(w, 0.0, drawn).examined < 100
    assert sampled.evaluate(-w, 0.0, drawn).examined == 100
    assert sampled.evaluate(w, 0.0, drawn).examined == 100  # not asked
    for _ in range(6):
        last = sampled.evaluate(-w, 0.0, drawn)
    assert last.examined < 100  # margins were stored anew on the way


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 300], "rows go from 0 to 300; there are rows 0 to 299"),
        ([-1], "rows go from -1 to -1"),
        ([0.5], "rows must be a list of row numbers; got dtype float64"),
        ([[1]], r"shape \(1, 1\)"),
    ],
)
def test_rows_that_cannot_be_drawn(rows, message) -> None:
    X, y = two_clouds(5, n=300)
    with pytest.raises(InvalidDataError, match=message):
        SampledMargins(SortedMargins(X, y)).evaluate(np.ones(5), 0.0, rows)


@pytest.mark.parametrize("bound", ["sphere", "clusters", "trajectory"])
def test_the_logistic_bound_is_above_and_near(bound) -> None:
    X, y = two_clouds(6, n=1000)
    index = SortedMargins(X, y, bound)
    upper = LogisticBound(index)
    for w, b in wander(7, X.shape[1], 8):
        index.evaluate(w, b)
        exact = float(np.logaddexp(0.0, -y * (X @ w + b)).sum())
        got = upper.upper_bound(w, b)
        assert exact <= got <= 1.1 * exact + 1e-6
    far = upper.upper_bound(-10.0 * w, b)
    assert far >= float(np.logaddexp(0.0, -y * (X @ (-10.0 * w) + b)).sum())


def test_measured_constants_are_frozen_in_the_policy() -> None:
    X, y = two_clouds(8, n=4000)
    index = SortedMargins(X, y)
    index.evaluate(np.ones(5))
    policy = measure(index)
    measured = repr(policy)
    assert repr(index.policy) == repr(Measured())  # the index itself stays as it was
    again = SortedMargins(X, y, policy=policy)
    for w, b in wander(9, X.shape[1], 6):
        again.evaluate(w, b)
    assert repr(pickle.loads(pickle.dumps(again)).policy) == measured
    assert repr(Measured(1.5, 0.5)) == "Measured(open_row=1.5, store_row=0.5)"


def test_measured_constants_are_costs_per_row_of_a_full_pass(monkeypatch) -> None:
    X, y = two_clouds(8, n=4000)
    index = SortedMargins(X, y)
    index.evaluate(np.ones(5))
    # A full pass, one of 250 listed rows, and storing all 4000.
    durations = iter([4e-3, 5e-4, 2e-3])
    module = import_module("hinge.bounds.measure")
    monkeypatch.setattr(module, "_least", lambda _action, _repeats: next(durations))
    policy = measure(index)
    assert policy.open_row == pytest.approx(2.0)
    assert policy.store_row == pytest.approx(0.5)


def test_measuring_needs_an_evaluation() -> None:
    X, y = two_clouds(8)
    with pytest.raises(InvalidParameterError, match="evaluated once"):
        measure(SortedMargins(X, y))


@pytest.mark.parametrize("size", [1e200, -1e200, 1e308, -1e308])
def test_the_logistic_bound_of_huge_weights_is_above(size) -> None:
    X, y = np.array([[0.0], [2.0], [3.0]]), np.array([-1, 1, 1])
    index = SortedMargins(X, y)
    index.evaluate([1.0], b=-1.5)
    with np.errstate(over="ignore"):
        exact = float(np.logaddexp(0.0, -y * (X @ [size] - 1.5)).sum())
    assert LogisticBound(index).upper_bound([size], b=-1.5) >= exact
