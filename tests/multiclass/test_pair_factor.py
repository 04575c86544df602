"""Factors of pairs: pivots by what machines of a sample need, and limits on time."""

from __future__ import annotations

import itertools
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import SVC, Problem, Status, Stop
from hinge.certificates.basis_gap import basis_gap
from hinge.kernels import RBF
from hinge.lowrank.sample import SampledPivots
from hinge.multiclass import pair_factor
from hinge.multiclass.pair_factor import PairFactor, Target
from hinge.solvers import Settings, StopFlag

RNG = np.random.default_rng(0)
X = RNG.uniform(0.0, 4.0, (3000, 2))
# Labels change from strip to strip where the first feature is below 1; beyond, they do not.
Y = np.where((X[:, 0] < 1.0) & (np.floor(4.0 * X[:, 1]) % 2 == 1), 1, -1)
Y[RNG.random(3000) < 0.02] *= -1


@pytest.fixture(autouse=True)
def _many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_factor, "_WORTH_A_SAMPLE", 500)


def _pair(y=Y, target: Target | None = None, seconds: float | None = None, **options) -> PairFactor:
    problem = Problem(X[: len(y)], y, kernel=RBF(2.0), C=10.0, **options)
    settings = Settings(stop=Stop(seconds=seconds))
    return PairFactor(problem, target or Target(None, 0.1), settings, StopFlag())


def _clock(monkeypatch: pytest.MonkeyPatch, tick: float = 1.0) -> None:
    """Let time pass by one tick whenever a factor looks at it."""
    ticks = itertools.count()
    monkeypatch.setattr(pair_factor.time, "perf_counter", lambda: tick * next(ticks))


def test_pivots_are_where_coefficients_are(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = _pair()
    factor = pair.make()
    assert not pair.is_cut_short
    assert factor.relative_error <= 0.1
    monkeypatch.setattr(PairFactor, "_weights", lambda *_: np.ones(375))
    evenly = _pair().make()
    assert factor.rank < evenly.rank
    share, even = (float(np.mean(X[each.basis, 0] < 1.0)) for each in (factor, evenly))
    assert share > 1.2 * even


def test_such_a_factor_loses_less_for_its_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = SVC(gamma=2.0, C=10.0, approximation=60)
    weighted = machine.fit(X, Y).approximations_[0]
    monkeypatch.setattr(PairFactor, "_weights", lambda *_: None)
    plain = machine.fit(X, Y).approximations_[0]
    assert weighted.rank == plain.rank == 60
    assert weighted.exact.primal < plain.exact.primal
    assert weighted.relative_error > plain.relative_error


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_what_is_stated_is_what_the_judge_finds(loss: str, storage) -> None:
    model = SVC(gamma=2.0, C=10.0, loss=loss, approximation=0.2).fit(storage(X), Y)
    stated = model.approximations_[0]
    assert stated.relative_error <= 0.2
    assert stated.certificate.relative_gap <= model.tol
    problem = Problem(X, Y, kernel=RBF(2.0), C=10.0, loss=loss)
    again = basis_gap(problem, model.solution_.point)
    assert again.primal == pytest.approx(stated.exact.primal, rel=1e-9)
    assert again.gap == pytest.approx(stated.exact.gap, rel=1e-6, abs=1e-9 * again.primal)
    best = hinge.solve(problem, stop=Stop(gap=1e-6)).certificate
    assert stated.exact.primal - stated.exact.gap <= best.primal <= stated.exact.primal * (1 + 1e-6)


def test_a_full_factor_is_the_one_that_rounds_make(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = X[:600], Y[:600]
    machine = SVC(gamma=2.0, approximation=1e-7, tol=1e-8)
    values = machine.fit(rows, labels).decision_function(X)
    objective = machine.approximations_[0].certificate.primal
    monkeypatch.setattr(pair_factor, "_WORTH_A_SAMPLE", 1000)
    other = SVC(gamma=2.0, approximation=1e-7, tol=1e-8).fit(rows, labels)
    assert objective == pytest.approx(other.approximations_[0].certificate.primal, rel=1e-5)
    np.testing.assert_allclose(values, other.decision_function(X), atol=5e-3)


def test_no_bit_depends_on_the_number_of_threads() -> None:
    one = SVC(gamma=2.0, approximation=0.1).fit(X, Y)
    two = SVC(gamma=2.0, approximation=0.1, n_jobs=2).fit(X, Y)
    assert one.dual_coef_.tobytes() == two.dual_coef_.tobytes()
    np.testing.assert_array_equal(one.support_, two.support_)


def test_rows_that_are_all_the_same_need_one_column() -> None:
    rows = np.repeat(X[:2], 400, axis=0)
    model = SVC(gamma=2.0, approximation=0.01).fit(rows, np.arange(800) % 2)
    assert model.approximations_[0].rank == 2
    assert model.certificate_.relative_gap <= 1e-3


def test_a_sample_of_one_class_says_nothing_of_coefficients() -> None:
    labels = np.where(np.arange(600) == 17, 1, -1)
    pair = _pair(labels, Target(40, 0.0))
    assert pair._weights(np.ones((20, 3)), np.arange(20, 40)) is None
    assert pair.make().rank == 40


def test_rows_without_weight_are_not_in_the_sample() -> None:
    weights = np.where(np.arange(3000) % 3 == 0, 0.0, 1.0)
    pair = _pair(sample_weight=weights)
    factor = pair.make()
    assert np.all(weights[factor.basis] > 0.0)
    assert len(factor.values) == 2000


def test_a_rank_beyond_the_sample_is_filled_from_all_rows() -> None:
    factor = _pair(Y[:600], Target(100, 0.0)).make()  # 75 rows are drawn
    assert factor.rank == 100


@pytest.mark.parametrize("seconds", [0.0, 20.0, 60.0, 120.0])
def test_time_that_is_over_leaves_columns(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _pair(target=Target(None, 0.01)).make().rank
    monkeypatch.setattr(pair_factor, "_AT_ONCE", 8)
    pair = _pair(target=Target(None, 0.01), seconds=1.0)
    pair._deadline, pair._choice_deadline = seconds, 0.1 * seconds
    _clock(monkeypatch)
    factor = pair.make()
    assert pair.is_cut_short
    assert 0 < factor.rank < whole
    left = 1.0 - np.sum(factor.values**2, axis=1)
    np.testing.assert_allclose(left, factor.remainder, atol=1e-9)


def test_a_factor_that_was_cut_short_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    real = PairFactor.make

    def make(self: PairFactor):
        factor = real(self)
        self.is_cut_short = True
        return factor

    monkeypatch.setattr(PairFactor, "make", make)
    with pytest.warns(ConvergenceWarning, match="time_limit ended a low-rank factor .* at rank 5"):
        model = SVC(gamma=2.0, approximation=5, time_limit=100.0).fit(X, Y)
    assert model.approximations_[0].is_cut_short
    assert model.approximations_[0].certificate.relative_gap <= model.tol


def test_a_flag_ends_a_factor_at_once() -> None:
    pair = _pair()
    pair.flag.set()
    assert pair.make().rank == 0
    assert pair.is_cut_short


def test_ctrl_c_in_a_factor_ends_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SampledPivots.adopt

    def adopt(self: SampledPivots, *how, **options) -> None:
        if "most" not in options:  # the first time
            signal.raise_signal(signal.SIGINT)
        real(self, *how, **options)

    monkeypatch.setattr(SampledPivots, "adopt", adopt)
    model = SVC(gamma=2.0, approximation=0.1)
    with pytest.raises(hinge.Interrupted):
        model.fit(X, Y)
    assert model.solution_.status is Status.INTERRUPTED
    assert model.predict(X).shape == (3000,)


@pytest.mark.parametrize("n_rows", [2, 3, 9, 20])
@pytest.mark.parametrize("approximation", [1, 5, 0.01])
def test_tiny_sets(n_rows: int, approximation: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_factor, "_WORTH_A_SAMPLE", 1)
    labels = np.arange(n_rows) % 2
    model = SVC(gamma=2.0, approximation=approximation).fit(X[:n_rows], labels)
    stated = model.approximations_[0]
    assert 1 <= stated.rank <= n_rows
    assert stated.certificate.relative_gap <= model.tol
    if approximation < 1:
        assert stated.relative_error <= approximation


def test_rows_of_zeros_have_no_columns() -> None:
    model = SVC(kernel="linear", approximation=3).fit(np.zeros((600, 2)), np.arange(600) % 2)
    assert model.approximations_[0].rank == 0
