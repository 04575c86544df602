"""Sums over whole multiples of a number: intervals hold true values, other rows are left alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.anytime.few_machines import (
    assert_labels_near_zero,
    assert_true_values_inside,
    few_queries,
    step_bounds,
)

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.single import SingleSums
from hinge.anytime.whole import WholeSums
from hinge.kernels import RBF
from hinge.machines import Machine
from hinge.rows import Rows


def multiples(
    q: int, d: int, dtype: type = np.float64, n: int = 70, outputs: int = 1
) -> tuple[Machine, np.ndarray]:
    """Return a machine over multiples of 1/q, and queries of that kind."""
    rng = np.random.default_rng(d)
    S = (rng.integers(-q, q + 1, size=(n, d)) / q).astype(dtype)
    X = (rng.integers(-q, q + 1, size=(15, d)) / q).astype(dtype)
    coef = rng.normal(size=(n, outputs))
    return Machine(RBF(0.5 / d), Rows(S), coef, rng.normal(scale=0.1, size=outputs)), X


def whole_sums(machine: Machine) -> WholeSums | None:
    """Return the sums of a machine."""
    return WholeSums.of(SingleSums.of(Functions.of(machine)), machine.kernel.gamma)


@pytest.mark.parametrize("q", [1, 100, 255, 1000])
@pytest.mark.parametrize("d", [1, 2, 21])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_intervals_hold_true_values(q: int, d: int, dtype: type) -> None:
    machine, X = multiples(q, d, dtype, outputs=2)
    X[:, ::3] = 0.0  # features that are skipped
    sums = whole_sums(machine)
    assert sums is not None
    assert sums.multiple % q == 0
    found = step_bounds(few_queries(machine), 0, X)
    assert found is not None
    size = np.abs(machine.coefficients).sum()
    assert np.all(found[1] - found[0] < 200.0 * 2.0**-24 * size)
    assert_true_values_inside(machine, X, [found])


def test_other_terms_and_queries_are_left_alone() -> None:
    machine, X = multiples(255, 6)
    few = few_queries(machine)
    assert step_bounds(few, 0, X) is not None
    for change in (1e-4, 1000.0 / 255.0 * 300.0):
        other = X.copy()
        other[3, 2] += change
        assert step_bounds(few, 0, other) is None
    assert whole_sums(machine) is not None
    rng = np.random.default_rng(0)
    for S in (rng.normal(size=(20, 6)), 1e6 * np.ones((3, 6)), sp.csr_array(np.eye(6))):
        coef = np.ones((S.shape[0], 1))
        assert whole_sums(Machine(RBF(0.1), Rows(S), coef, np.zeros(1))) is None


def test_labels_of_a_few_queries_are_those_of_the_full_evaluation() -> None:
    machine, X = multiples(1000, 9, np.float32, n=300)
    assert_labels_near_zero(machine, np.concatenate((X, X[:5] + np.float32(1e-5))), size=4)


def test_the_compiled_core_refuses_what_would_overflow() -> None:
    small, coef = np.ones((2, 3), dtype=np.int16), np.ones((1, 2))
    kept = core.WholeTerms(small, coef)
    large = np.full((1, 3), 20000, dtype=np.int16)
    with pytest.raises(ValueError, match="below 2\\^29"):
        kept.sums(1.0, large, np.empty((1, 3)))
    with pytest.raises(ValueError, match="below 2\\^29"):
        core.WholeTerms(np.concatenate((large, large)), coef)
    with pytest.raises(ValueError, match="one coefficient"):
        core.WholeTerms(small, np.ones((1, 3)))
    with pytest.raises(ValueError, match="two for the sizes"):
        kept.sums(1.0, small, np.empty((2, 2)))
    with pytest.raises(ValueError, match="as many features"):
        kept.sums(1.0, np.ones((1, 2), dtype=np.int16), np.empty((1, 3)))
