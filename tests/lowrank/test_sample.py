"""Pivots that were chosen among a sample of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge.kernels import RBF, Polynomial
from hinge.lowrank.cholesky import IncompleteCholesky, Pilot
from hinge.lowrank.factorise import begin, finished
from hinge.lowrank.pivots import Coordinates
from hinge.lowrank.sample import WEIGHTED_SHARE, SampledPivots
from hinge.machines.source import source
from hinge.multiclass import pair_factor
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
    known = np.arange(0, 1200, 7)
    one.adopt(Pilot(rounds.basis, rounds.triangle(), known, rounds.columns[known]))
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
    pivots = SampledPivots(growth, (kernel, rows, present), seed=3)
    pivots.choose(0.01)
    pivots.adopt()
    pivots.count_values()
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
    known = Pilot(pilot.basis, pilot.triangle(), np.arange(3), pilot.columns[:3])
    growth = _growth(RBF(0.2), rows, None)
    before = growth.remainder.copy()

    def check() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        growth.adopt(known, check=check)
    assert growth.rank == 0
    np.testing.assert_array_equal(growth.remainder, before)
    growth.grow(20)
    assert growth.rank == 20


def test_machines_over_such_a_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    machine = hinge.SVC(gamma=0.2, approximation=0.003, random_state=1)
    plain = machine.fit(X, y).approximations_[0]
    monkeypatch.setattr(pair_factor, "_WORTH_A_SAMPLE", 1000)
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


def test_weights_say_where_pivots_are() -> None:
    growth = _growth(RBF(0.2), Rows(X), None)
    growth.grow(10)
    weights = np.where(X[:, 0] > 0.0, 2.0, 0.0)
    growth.weigh(weights)
    growth.grow(900, 0.01)
    assert np.all(X[growth.basis[10:], 0] > 0.0)
    left = 1.0 - np.sum(growth.columns**2, axis=1)
    assert growth.weighted_error == pytest.approx(weights @ left / np.sum(weights), rel=1e-9)
    assert growth.weighted_error <= 0.01 < growth.relative_error
    growth.weigh(None)
    growth.grow(900, 0.01)
    assert growth.relative_error <= 0.01


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_weighted_choice_leaves_little_of_what_counts(kernel) -> None:
    growth = _growth(kernel, Rows(X), None)
    pivots = SampledPivots(growth, (kernel, Rows(X), None), seed=1)
    asked = []

    def weighing(columns, drawn):
        asked.append((columns.shape, len(drawn)))
        return (X[drawn, 0] > 0.5).astype(np.float64)

    pivots.choose(0.2, weighing=weighing)
    first = asked[0][0][1]
    pivots.adopt()
    pivots.count_values()
    assert asked == [((150, first), 150)]
    assert np.all(X[growth.basis[first:], 0] > 0.5)
    counts = np.intersect1d(pivots.drawn, np.flatnonzero(X[:, 0] > 0.5))
    others = np.setdiff1d(counts, growth.basis)
    share = np.sum(growth.remainder[counts]) / np.sum(growth.diagonal[others])
    assert share <= 0.2 * WEIGHTED_SHARE * (1.0 + 1e-6)


@pytest.mark.parametrize("smallest", [0.5, 1e-3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coordinates_solve_the_triangle(smallest: float, dtype) -> None:
    rng = np.random.default_rng(5)
    triangle = np.tril(rng.standard_normal((300, 300)) / 40.0)
    np.fill_diagonal(triangle, np.linspace(1.0, smallest, 300))
    known = rng.standard_normal((7, 300))
    found = Coordinates(triangle, np.dtype(dtype))((triangle @ known.T).astype(dtype))
    assert found.shape == (7, 300)
    scale = 1e3 * float(np.finfo(dtype).eps) / smallest
    np.testing.assert_allclose(found, known, atol=scale)
