"""The kernel margin index counts the errors that evaluating every row counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from hinge.kernels import RBF, Laplacian, Linear, Polynomial
from hinge.machines import KernelMarginIndex, decision_values
from hinge.rows import Rows

RNG = np.random.default_rng(0)
TRAIN = RNG.standard_normal((150, 3))
TEST = RNG.standard_normal((400, 3))
SIGNS = np.where(TEST[:, 0] + 0.3 * RNG.standard_normal(400) > 0, 1, -1)


def _plain(kernel, rows: Rows, coef, intercept: float, X: Rows, signs) -> int:
    values = decision_values(kernel, rows, coef, X) + intercept
    return int(np.count_nonzero((values > 0.0) != (signs > 0)))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "kernel", [RBF(0.3), Laplacian(0.3), Polynomial(2, 1.0, 1.0), Linear()], ids=lambda k: k.name
)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.0, 1e-12, 1e-3, 0.1, 1.0]))
@settings(max_examples=15, deadline=None)
def test_counts_are_exact_whatever_the_changes(storage, kernel, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    rows, X = Rows(storage(TRAIN)), Rows(storage(TEST))
    index = KernelMarginIndex(kernel, rows, X, SIGNS)
    coef = rng.standard_normal(150) * (rng.random(150) < 0.5)
    for _ in range(4):
        intercept = float(rng.normal() * size)
        found = index.errors(coef, intercept)
        assert found.count == _plain(kernel, rows, coef, intercept, X, SIGNS)
        coef = coef + size * rng.standard_normal(150) * (rng.random(150) < 0.3)


def test_values_of_zero_are_on_the_side_that_predict_says() -> None:
    rows, X = Rows(np.array([[1.0], [-1.0]])), Rows(np.array([[0.0], [0.0], [1.0]]))
    index = KernelMarginIndex(Linear(), rows, X, np.array([1, -1, 1]))
    for coef in (np.array([1.0, 0.0]), np.array([1.0, 1e-3]), np.array([1.0, 1.0])):
        assert index.errors(coef, 0.0).count == _plain(
            Linear(), rows, coef, 0.0, X, np.array([1, -1, 1])
        )


def test_along_a_path_most_rows_are_decided_by_the_bound() -> None:
    y = np.where(TRAIN[:, 0] > 0, 1, -1)
    problem = hinge.Problem(TRAIN, y, kernel=RBF(0.1))
    rows, X = problem.rows, Rows(TEST)
    index = KernelMarginIndex(problem.kernel, rows, X, SIGNS)
    examined, computed, everything = [], 0, 0
    for solution in hinge.path(problem, 10.0 ** np.linspace(0.0, 0.2, 12)):
        coef = problem.signs * solution.dual_coef
        found = index.errors(coef, solution.intercept)
        plain = _plain(problem.kernel, rows, coef, solution.intercept, X, SIGNS)
        assert found.count == plain
        examined.append(found.examined)
        computed += found.computed
        everything += np.count_nonzero(coef) * X.n_rows
    assert np.median(examined[1:]) < 0.4 * X.n_rows
    assert computed < 0.7 * everything
