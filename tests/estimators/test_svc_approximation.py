"""SVC over low-rank factors: what it states, and what it cannot do."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import SVC, Problem, Status, Stop, solve

X, Y = make_classification(400, 8, n_informative=5, flip_y=0.1, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)


def _best() -> hinge.Certificate:
    problem = Problem(X, Y, kernel=SVC().fit(X, Y).kernel_)
    return solve(problem, stop=Stop(gap=1e-8)).certificate


@pytest.mark.parametrize("approximation", [5, 60, 400, 0.2, 1e-3])
def test_both_statements_hold(approximation: float) -> None:
    model = SVC(approximation=approximation).fit(X, Y)
    (stated,) = model.approximations_
    best = _best()
    assert model.solution_.status is Status.SOLVED
    assert stated.certificate.relative_gap <= model.tol
    assert model.certificate_ == stated.exact
    assert stated.exact.primal == pytest.approx(stated.certificate.primal, rel=1e-6)
    assert stated.exact.primal - stated.exact.gap <= best.primal <= stated.exact.primal
    if isinstance(approximation, int):
        assert stated.rank <= approximation
    else:
        assert stated.relative_error <= approximation
    assert len(model.support_) <= stated.rank


def test_predictions_are_those_of_the_function_that_was_certified() -> None:
    model = SVC(approximation=50).fit(X, Y)
    values = model.decision_function(X)
    signs = np.where(Y == 1, 1.0, -1.0)
    kernel = model.kernel_
    among = kernel.block(X[model.support_], X[model.support_])
    coef = model.dual_coef_[0]
    primal = 0.5 * coef @ among @ coef + np.sum(np.maximum(0.0, 1.0 - signs * values))
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.where(values > 0, 1, 0))


def test_a_factor_of_full_rank_is_the_exact_machine() -> None:
    exact = SVC(tol=1e-6).fit(X, Y)
    model = SVC(approximation=400, tol=1e-7).fit(X, Y)
    assert model.certificate_.relative_gap <= 1e-5
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_every_loss_and_storage(storage, loss: str) -> None:
    model = SVC(approximation=40, loss=loss).fit(storage(X), Y)
    assert model.solution_.status is Status.SOLVED
    assert model.score(storage(X), Y) > 0.85
    assert np.isfinite(model.certificate_.gap)


def test_several_classes_have_a_factor_each() -> None:
    model = SVC(approximation=0.01).fit(IRIS, SPECIES)
    assert len(model.approximations_) == 3
    assert model.score(IRIS, SPECIES) > 0.94
    exact = SVC().fit(IRIS, SPECIES)
    for ours, theirs in zip(model.certificates_, exact.certificates_, strict=True):
        assert ours.primal - ours.gap <= theirs.primal <= ours.primal * (1.0 + 1e-9)


def test_rows_of_weight_zero_are_absent() -> None:
    weights = np.where(np.arange(400) % 3 == 0, 0.0, 1.5)
    model = SVC(approximation=30, gamma=0.1).fit(X, Y, weights)
    kept = weights > 0
    other = SVC(approximation=30, gamma=0.1).fit(X[kept], Y[kept], weights[kept])
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-9)
    assert not np.intersect1d(model.support_, np.flatnonzero(~kept)).size


def test_a_precomputed_kernel() -> None:
    matrix = hinge.kernels.RBF(0.1).block(X, X)
    kernel = hinge.kernels.Precomputed(psd=True)
    model = SVC(kernel=kernel, approximation=400, tol=1e-9).fit(matrix, Y)
    other = SVC(gamma=0.1, approximation=400, tol=1e-9).fit(X, Y)
    values = model.decision_function(matrix)
    np.testing.assert_allclose(values, other.decision_function(X), atol=1e-3)


def test_threads_and_repetitions_have_the_same_bits() -> None:
    one = SVC(approximation=0.05).fit(IRIS, SPECIES)
    two = SVC(approximation=0.05, n_jobs=3).fit(IRIS, SPECIES)
    assert one.dual_coef_.tobytes() == two.dual_coef_.tobytes()


def test_an_exact_finish_is_an_ordinary_machine(tmp_path) -> None:
    model = SVC(approximation=50, exact_finish=True).fit(X, Y)
    assert model.approximations_ is None
    assert model.certificate_.kkt <= model.tol
    assert model.certificate_.primal == pytest.approx(_best().primal, rel=1e-4)
    hinge.save(model, tmp_path / "model.hinge")
    loaded = hinge.load(tmp_path / "model.hinge")
    assert loaded.approximation == 50
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_an_approximation_is_pickled_but_not_saved(tmp_path) -> None:
    model = SVC(approximation=20).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(hinge.UnsupportedError, match="low-rank approximation"):
        hinge.save(model, tmp_path / "model.hinge")
    assert not list(tmp_path.iterdir())


def test_a_limit_is_said_plainly() -> None:
    with pytest.warns(ConvergenceWarning, match="relative gap of .* of the approximate problem"):
        SVC(approximation=20, max_iter=1, tol=1e-9, C=100.0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(approximation=20, max_iter=1, tol=0.0).fit(X, Y)


def test_time_that_is_over_leaves_a_model() -> None:
    with pytest.warns(ConvergenceWarning):
        model = SVC(approximation=400, time_limit=1e-9, tol=1e-9).fit(X, Y)
    assert model.predict(X).shape == (400,)


@pytest.mark.parametrize("value", [0, -3, 0.0, 1.0, 2.5, "50", True, np.nan])
def test_values_that_mean_nothing_are_refused(value) -> None:
    with pytest.raises(hinge.InvalidParameterError, match="approximation must be None, a rank"):
        SVC(approximation=value).fit(X, Y)


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(hinge.InvalidParameterError, match="goes on from an approximation"):
        SVC(exact_finish=True).fit(X, Y)
    with pytest.raises(hinge.UnsupportedError, match="positive semidefinite"):
        SVC(kernel="sigmoid", approximation=5).fit(X, Y)
    with pytest.raises(hinge.UnsupportedError, match="needs the exact problem"):
        SVC(probability=True, approximation=5).fit(X, Y)
