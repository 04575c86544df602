"""Pivots that were chosen among a sample of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge.kernels import RBF, Polynomial
from hinge.lowrank.cholesky import IncompleteCholesky
from hinge.lowrank.factorise import begin, finished
from hinge.lowrank.sample import adopt_from_sample
from hinge.machines import source
from hinge.multiclass import low_rank
from hinge.rows import Rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1200, 4))
PRESENT = np.flatnonzero(np.arange(1200) % 5)
# The second has values beyond float32, so that its sources divide by a unit.
KERNELS = [RBF(0.2), Polynomial(2, 1e15, 1.0)]


def _growth(kernel, rows: Rows, present, single: bool = False) -> IncompleteCholesky:
    values = source(kernel, rows, present=present)
    return begin(kernel, rows, values, 900, single=single, present=present)


@pytest.mark.parametrize("single", [False, True])
def test_columns_of_one_pass_are_those_of_rounds(single: bool) -> None:
    rows = Rows(X)
    rounds, one = (_growth(RBF(0.2), rows, None, single) for _ in range(2))
    rounds.grow(300)  # more than a chunk
    one.adopt(rounds.basis, rounds.triangle())
    scale = 1e-4 if single else 1e-10
    np.testing.assert_allclose(one.columns, rounds.columns, atol=scale)
    np.testing.assert_allclose(one.remainder, rounds.remainder, atol=scale)
    for growth in (rounds, one):
        growth.grow(340)
        assert growth.rank == 340
        exact = RBF(0.2).block(X, X)
        left = np.diagonal(exact) - np.sum(growth.columns.astype(np.float64) ** 2, axis=1)
        np.testing.assert_allclose(growth.remainder, left, atol=scale)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("present", [None, PRESENT], ids=["all", "some"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_factor_from_a_sample_is_a_projection_that_leaves_little(
    kernel, present, storage
) -> None:
    rows = Rows(storage(X))
    growth = _growth(kernel, rows, present)
    adopt_from_sample(growth, (kernel, rows, present), 0.01, seed=3)
    assert 0 < growth.rank <= 150  # the rows of the sample
    assert growth.relative_error < 0.1
    growth.grow(900, 0.01)
    factor = finished(growth, kernel, rows, "random-cholesky", present)
    assert factor.relative_error <= 0.01
    some = X if present is None else X[present]
    exact = kernel.block(some, some)
    left = exact - factor.values @ factor.values.T
    size = float(np.max(np.diagonal(exact)))
    assert np.min(np.linalg.eigvalsh(left)) > -1e-9 * size * len(some)
    np.testing.assert_allclose(np.diagonal(left), factor.remainder, atol=1e-9 * size)


def test_giving_up_leaves_no_column() -> None:
    rows = Rows(X)
    pilot = _growth(RBF(0.2), rows, None)
    pilot.grow(100)
    growth = _growth(RBF(0.2), rows, None)
    before = growth.remainder.copy()

    def check() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        growth.adopt(pilot.basis, pilot.triangle(), check=check)
    assert growth.rank == 0
    np.testing.assert_array_equal(growth.remainder, before)
    growth.grow(20)
    assert growth.rank == 20


def test_machines_over_such_a_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    machine = hinge.SVC(gamma=0.2, approximation=0.003, random_state=1)
    plain = machine.fit(X, y).approximations_[0]
    monkeypatch.setattr(low_rank, "_WORTH_A_SAMPLE", 1000)
    sampled = machine.fit(X, y).approximations_[0]
    for found in (plain, sampled):
        assert found.relative_error <= 0.003
        assert found.certificate.relative_gap <= 1e-3
    assert sampled.rank < 1.2 * plain.rank
    exact = hinge.SVC(gamma=0.2, tol=1e-6).fit(X, y).certificate_.primal
    assert exact <= sampled.exact.primal
    assert sampled.exact.primal - sampled.exact.gap <= exact
    again = hinge.SVC(gamma=0.2, approximation=0.003, random_state=1, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, machine.dual_coef_)
