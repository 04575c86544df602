"""Kernel machines of every class against the rest: attributes, predictions, limits and bits."""

# ruff: noqa: ARG005 - a callback must take what it is given
from __future__ import annotations

import pickle
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from tests.estimators.data import three_classes, two_classes

from hinge import (
    SVC,
    Interrupted,
    InvalidParameterError,
    Status,
    UnsupportedError,
    accelerate,
    kernels,
)
from hinge.machines.kernel_source import KernelSource

KERNELS: tuple[dict[str, Any], ...] = (
    {"kernel": "rbf"},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
)


def digits(n_rows: int = 600) -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:n_rows] / 16.0, y[:n_rows]


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: options["kernel"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_decision_values_are_those_of_one_machine_for_each_class(options: Any, make: Any) -> None:
    X, y = three_classes()
    ours = SVC(multiclass="ovr", C=2.0, tol=1e-6, **options).fit(make(X), y)
    theirs = OneVsRestClassifier(svm.SVC(C=2.0, tol=1e-6, **options)).fit(X, y)
    values = ours.decision_function(make(X))
    np.testing.assert_allclose(values, theirs.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(make(X)), theirs.predict(X))
    np.testing.assert_array_equal(ours.classes_[values.argmax(axis=1)], ours.predict(make(X)))
    if options["kernel"] == "linear":
        coef = ours.coef_.toarray() if sp.issparse(ours.coef_) else ours.coef_
        wanted = np.concatenate([one.coef_ for one in theirs.estimators_])
        np.testing.assert_allclose(coef, wanted, atol=1e-3)


def test_ten_classes_agree_with_scikit_learn_on_new_rows() -> None:
    X, y = digits(1500)
    options = {"C": 10.0, "gamma": 0.05}
    ours = SVC(multiclass="ovr", **options).fit(X[:1000], y[:1000])
    theirs = OneVsRestClassifier(svm.SVC(**options)).fit(X[:1000], y[:1000])
    wanted = theirs.decision_function(X[1000:])
    assert np.abs(ours.decision_function(X[1000:]) - wanted).max() < 1e-2
    np.testing.assert_array_equal(ours.predict(X[1000:]), theirs.predict(X[1000:]))


def test_attributes_have_a_machine_for_each_class() -> None:
    X, y = three_classes()
    model = SVC(multiclass="ovr").fit(X, y)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.intercept_.shape == model.n_iter_.shape == (3,)
    assert len(model.solutions_) == len(model.certificates_) == 3
    assert model.n_support_.sum() == len(model.support_)
    own = np.repeat(np.arange(3), model.n_support_)
    np.testing.assert_array_equal(y[model.support_], own)
    for number, (row, solution) in enumerate(zip(model.dual_coef_, model.solutions_, strict=True)):
        assert (row[own == number] >= 0.0).all()
        assert (row[own != number] <= 0.0).all()
        assert abs(row.sum()) < 1e-9
        np.testing.assert_array_equal(np.abs(row), solution.dual_coef[model.support_])
        assert solution.certificate.kkt <= 1e-3
    assert all(np.any(model.dual_coef_ != 0.0, axis=0))


def test_two_classes_are_one_problem_either_way() -> None:
    X, y = two_classes()
    pairs, rest = SVC().fit(X, y), SVC(multiclass="ovr").fit(X, y)
    np.testing.assert_array_equal(pairs.dual_coef_, rest.dual_coef_)
    np.testing.assert_array_equal(pairs.decision_function(X), rest.decision_function(X))


@pytest.mark.parametrize("options", [{}, {"cache_size": 1}, {"solver": "smo"}])
def test_bits_do_not_depend_on_threads(options: Any) -> None:
    X, y = digits()
    one, two = (SVC(multiclass="ovr", C=5.0, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def count_values(monkeypatch: pytest.MonkeyPatch) -> list[KernelSource]:
    made: list[KernelSource] = []
    begin = KernelSource.__init__

    def noted(self: Any, *args: Any) -> None:
        begin(self, *args)
        made.append(self)

    monkeypatch.setattr(KernelSource, "__init__", noted)
    return made


@pytest.mark.parametrize("n_rows", [600, 1797])
def test_classes_share_kernel_rows(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = digits(n_rows)
    made = count_values(monkeypatch)
    options = {"C": 10.0, "gamma": 0.05}
    SVC(multiclass="ovr", **options).fit(X, y)
    together = sum(source.computed for source in made)
    made.clear()
    OneVsRestClassifier(SVC(**options)).fit(X, y)
    apart = sum(source.computed for source in made)
    assert together < 0.7 * apart


def test_weights_of_rows_and_of_classes() -> None:
    X, y = three_classes()
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    given = {0: 2.0, 2: 0.5}
    model = SVC(multiclass="ovr", class_weight=given, tol=1e-6).fit(X, y, weights)
    values = model.decision_function(X)
    for number in range(3):
        own = np.where(y == number, given.get(number, 1.0), 1.0) * weights
        one = SVC(tol=1e-6, gamma=model.kernel_.gamma).fit(X, y == number, own)
        np.testing.assert_allclose(values[:, number], one.decision_function(X), atol=1e-4)


def test_a_warm_start_is_of_the_same_kind_of_machines() -> None:
    X, y = three_classes()
    model = SVC(multiclass="ovr", warm_start=True).fit(X, y)
    steps = model.n_iter_.sum()
    assert model.fit(X, y).n_iter_.sum() < 0.2 * steps
    assert model.set_params(multiclass="ovo").fit(X, y).dual_coef_.shape[0] == 2
    assert model.set_params(multiclass="ovr").fit(X, y).dual_coef_.shape[0] == 3


def test_what_belongs_to_pairs_is_refused() -> None:
    X, y = three_classes()
    with pytest.raises(InvalidParameterError, match=r"multiclass must be one of 'ovo', 'ovr'"):
        SVC(multiclass="ovx").fit(X, y)
    with pytest.raises(InvalidParameterError, match=r"multiclass='ovr' trains one machine for eve"):
        SVC(multiclass="ovr", decision_function_shape="ovo").fit(X, y)
    with pytest.raises(UnsupportedError, match=r"approximation is for pairs of classes"):
        SVC(multiclass="ovr", approximation=10).fit(X, y)
    model = SVC(multiclass="ovr").fit(X, y).set_params(decision_function_shape="ovo")
    with pytest.raises(InvalidParameterError, match=r"a decision value of every pair of classes"):
        model.decision_function(X)


def test_damaged_attributes_are_refused() -> None:
    X, y = digits()
    model = SVC(multiclass="ovr").fit(X, y)
    model.intercept_ = model.intercept_[:-1]
    with pytest.raises(InvalidParameterError, match=r"intercept_ must hold numbers in shape \(10,"):
        model.predict(X)


@pytest.mark.filterwarnings("ignore:probability is deprecated")
def test_probabilities_are_shared_out_among_classes() -> None:
    X, y = digits(1200)
    model = SVC(multiclass="ovr", C=10.0, gamma=0.05, probability=True).fit(X[:800], y[:800])
    assert model.probA_.shape == model.probB_.shape == (10,)
    p = model.predict_proba(X[800:])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0.0).all()
    assert np.mean(model.classes_[p.argmax(axis=1)] == y[800:]) > 0.9
    truth = -np.log(p[np.arange(len(p)), y[800:]]).mean()
    assert truth < 0.4


def test_a_limit_of_steps_names_the_worst_class() -> None:
    X, y = three_classes()
    with pytest.warns(ConvergenceWarning, match=r"of 3 classes, class \d being the worst"):
        SVC(multiclass="ovr", max_iter=3, C=100.0).fit(X, y)


def test_a_time_limit_is_for_all_classes() -> None:
    X, y = digits(1797)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(multiclass="ovr", C=1e6, tol=1e-12, time_limit=0.1).fit(X, y)
    assert len(model.solutions_) == 10
    assert model.predict(X).shape == y.shape
    # The first ones may have come as far as rounding lets them.
    ends = [Status.TIME_LIMIT, Status.SOLVED, Status.STALLED]
    assert all(solution.status in ends for solution in model.solutions_)
    assert model.solutions_[-1].status is Status.TIME_LIMIT


def test_a_callback_hears_of_every_class_and_may_end_the_fit() -> None:
    X, y = three_classes()
    heard = set()
    SVC(multiclass="ovr", callback=lambda event: heard.add(event.label)).fit(X, y)
    assert heard == {0, 1, 2}
    ended = SVC(multiclass="ovr", callback=lambda event: True).fit(X, y)
    assert ended.intercept_[2] == -1.0  # a class whose turn never came
    assert ended.predict(X).shape == y.shape


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_fit_keeps_its_model() -> None:
    X, y = digits()
    model = SVC(multiclass="ovr", callback=lambda event: signal.raise_signal(signal.SIGINT))
    with pytest.raises(Interrupted):
        model.fit(X, y)
    assert model.dual_coef_.shape[0] == 10
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("solver", ["decomposition", "smo", "active-set", "gradient-projection"])
def test_every_solver_takes_classes_against_the_rest(solver: str) -> None:
    X, y = three_classes()
    model = SVC(multiclass="ovr", solver=solver).fit(X, y)
    assert model.certificate_.kkt <= 1e-3
    wanted = SVC(multiclass="ovr", tol=1e-6).fit(X, y).decision_function(X)
    assert np.abs(model.decision_function(X) - wanted).max() < 1e-2


def test_kernel_matrices_and_functions() -> None:
    X, y = three_classes()
    wanted = SVC(multiclass="ovr", kernel="linear", tol=1e-6).fit(X, y).decision_function(X)
    for kernel, rows in (("precomputed", X @ X.T), (lambda a, b: a @ b.T, X)):
        model = SVC(multiclass="ovr", kernel=kernel, tol=1e-6).fit(rows, y)
        np.testing.assert_allclose(model.decision_function(rows), wanted, atol=1e-4)


def test_pickles_and_accelerated_machines_predict_the_same() -> None:
    X, y = digits()
    model = SVC(multiclass="ovr", kernel=kernels.RBF(0.05)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(accelerate(model).predict(X), model.predict(X))
