"""Gaussian sums by differences and in float64: intervals hold true values, and are narrower."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.anytime.few_machines import (
    Bounds,
    assert_labels_near_zero,
    assert_true_values_inside,
    few_predictor,
    few_queries,
    step_bounds,
)

from hinge._native import core
from hinge.anytime import VoteRule, few
from hinge.anytime.functions import Functions
from hinge.anytime.near import MOST_FEATURES, NearSums
from hinge.anytime.queries import Sides
from hinge.anytime.single import SingleSums
from hinge.kernels import RBF, Linear
from hinge.machines import Machine
from hinge.rows import Rows


def clustered(
    gamma: float, d: int, n: int = 70, outputs: int = 1, shift: float = 0.0
) -> tuple[Machine, np.ndarray]:
    """Return a machine whose support vectors lie close together, and queries among them."""
    rng = np.random.default_rng(d)
    places = rng.normal(size=(7, d))
    S = places[rng.integers(7, size=n)] + 0.05 * rng.normal(size=(n, d)) + shift
    X = places[rng.integers(7, size=20)] + 0.05 * rng.normal(size=(20, d)) + shift
    coef = rng.normal(size=(n, outputs)) * rng.choice([1.0, 30.0], size=(n, 1))
    return Machine(RBF(gamma), Rows(S), coef, rng.normal(scale=0.1, size=outputs)), X


def bounds(machine: Machine, X: np.ndarray | sp.csr_array) -> list[Bounds]:
    """Return the intervals by inner products, by differences, and in float64."""
    found = []
    for share, step in ((2.0, 0), (-1.0, 0), (-1.0, 1)):  # whether rows count as full
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(few, "_FULL_SHARE", share)
            proven = step_bounds(few_queries(machine), step, X)
        assert proven is not None
        found.append(proven)
    return found


@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("d", [1, 5, 33, 70])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_intervals_hold_true_values(gamma: float, d: int, is_sparse: bool) -> None:
    machine, X = clustered(gamma, d, outputs=2, shift=0.0 if is_sparse else 3.0)
    found = bounds(machine, sp.csr_array(X) if is_sparse else X)
    assert_true_values_inside(machine, X, found)


def test_bounds_are_narrower_where_support_vectors_are_near() -> None:
    machine, X = clustered(1.0, 60, n=500)
    widths = [upper - lower for lower, upper in bounds(machine, X)]
    assert np.all(widths[1] < 0.05 * widths[0])
    assert np.all(widths[2] < 0.3 * widths[1])


def test_labels_of_a_few_queries_are_those_of_the_full_evaluation() -> None:
    assert_labels_near_zero(*clustered(1.0, 12, n=400), size=5)


def test_votes_of_a_few_queries() -> None:
    machine, X = clustered(0.5, 12, n=300, outputs=6)
    fast = few_predictor(machine, VoteRule(4), 4)
    right = VoteRule(4).codes(machine.values(Rows(X)))
    np.testing.assert_array_equal([fast.predict(X[k : k + 1])[0] for k in range(20)], right)


def test_where_differences_prove_nothing() -> None:
    machine, X = clustered(1.0, 4)
    functions = Functions.of(machine)
    terms = Sides(functions).get("terms", functions.terms, Rows(X), np.float32)
    point = terms.part(np.array([0]))
    sums = SingleSums.of(functions)
    for precision in (np.float32, np.float64):
        assert NearSums.of(sums, 1.0, point, terms, precision) is not None
        assert NearSums.of(sums, 1e14, point, terms, precision) is None
    n = MOST_FEATURES + 1
    rows = Rows(sp.csr_array(np.eye(3, n)))
    machine = Machine(RBF(1.0), rows, np.ones((3, 1)), np.array([-0.5]))
    fast = few_predictor(machine)
    np.testing.assert_array_equal(fast.predict(rows.matrix[:1]), [1])


def test_the_compiled_core_refuses_other_kernels() -> None:
    machine, X = clustered(1.0, 4)
    functions = Functions.of(machine)
    terms = Sides(functions).get("terms", functions.terms, Rows(X), np.float32)
    kept = core.KeptTerms(terms.rows, np.ascontiguousarray(functions.coef.T))
    linear = Functions.of(Machine(Linear(), machine.support, machine.coefficients, np.zeros(1)))
    for precision, call in ((np.float32, kept.near_sums), (np.float64, kept.wide_sums)):
        points = Sides(functions).get("terms", functions.terms, Rows(X), precision).rows
        with pytest.raises(ValueError, match="two for the sizes"):
            call(points, 0, np.empty((1, 2)))
        with pytest.raises(ValueError, match="among the rows"):
            call(points, 0, np.empty((100, 3)))
        points = Sides(linear).get("terms", linear.terms, Rows(X), precision).rows
        with pytest.raises(ValueError, match="Gaussian"):
            call(points, 0, np.empty((1, 3)))
