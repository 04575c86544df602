"""Classes by float32 first are those of the full evaluation, and few rows need it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge.anytime import codes as module
from hinge.anytime.rules import SignRule, VoteRule
from hinge.kernels import RBF, Linear, Polynomial, Precomputed
from hinge.machines import Machine
from hinge.rows import Rows


@pytest.fixture(autouse=True)
def _no_batch_is_small(monkeypatch):
    monkeypatch.setattr(module, "_LEAST_VALUES", 0)


def machine(rng, kernel, n_pairs=1, dtype=np.float64, is_sparse=False):
    support = rng.normal(size=(150, 6)).astype(dtype)
    support[rng.random(support.shape) < 0.3] = 0.0
    coef = rng.normal(size=(150, n_pairs))
    coef[rng.random(coef.shape) < 0.5] = 0.0
    rows = Rows(sp.csr_array(support) if is_sparse else support)
    return Machine(kernel, rows, coef, rng.normal(size=n_pairs))


def codes_and_opened(of, rule, rows, threads=1):
    """Return the codes, and the numbers of the rows that were evaluated in full."""
    opened = []

    def in_full(some, numbers):
        opened.extend(numbers.tolist())
        return of.values(some)

    return module.proven_codes(of, rule, rows, in_full, threads), opened


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Polynomial(degree=3, gamma=0.2), Linear()])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_codes_are_those_of_the_full_evaluation(kernel, dtype, is_sparse, n_classes):
    rng = np.random.default_rng(5)
    of = machine(rng, kernel, n_classes * (n_classes - 1) // 2, dtype, is_sparse)
    rule = SignRule() if n_classes == 2 else VoteRule(n_classes)
    X = rng.normal(size=(500, 6)).astype(dtype)
    rows = Rows(sp.csr_array(X) if is_sparse else X)
    found, opened = codes_and_opened(of, rule, rows)
    np.testing.assert_array_equal(found, rule.codes(of.values(rows)))
    assert len(opened) < 0.1 * rows.n_rows
    for threads in (2, 3):
        again, opened_again = codes_and_opened(of, rule, rows, threads)
        np.testing.assert_array_equal(again, found)
        assert opened_again == opened


def test_ties_are_evaluated_in_full():
    rng = np.random.default_rng(6)
    support = np.repeat(rng.normal(size=(40, 3)), 2, axis=0)
    coef = np.repeat(rng.normal(size=40), 2)[:, None] * np.tile([1.0, -1.0], 40)[:, None]
    of = Machine(RBF(gamma=0.5), Rows(support), coef, np.zeros(1))
    rows = Rows(rng.normal(size=(60, 3)))
    found, opened = codes_and_opened(of, SignRule(), rows)
    assert opened == list(range(60))  # all values are zero but for rounding
    np.testing.assert_array_equal(found, SignRule().codes(of.values(rows)))


def test_a_kernel_of_which_nothing_is_proven_is_evaluated_in_full():
    columns = np.array([0, 2])
    of = Machine(Precomputed(), columns, np.array([[1.0], [-1.0]]), np.zeros(1))
    rows = Rows(np.array([[1.0, 9.0, 2.0], [3.0, 9.0, 2.0]]))
    found, opened = codes_and_opened(of, SignRule(), rows)
    assert opened == [0, 1]
    np.testing.assert_array_equal(found, [0, 1])


def test_the_row_that_overflows_is_named_by_its_place_in_the_batch():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 3
    model = hinge.SVC(kernel="poly", degree=5).fit(X, y)
    model.dual_coef_ = model.dual_coef_ * 1e100
    rows = rng.normal(size=(50, 2))
    rows[17] = 1e60
    with pytest.raises(hinge.InvalidDataError, match="decision values of row 17 overflow"):
        model.predict(rows)
