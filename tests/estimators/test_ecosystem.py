"""Life among scikit-learn's tools: cloning, pickling, searching, calibrating, routing, joblib."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tests.estimators.data import cancer, three_classes, two_classes
from threadpoolctl import threadpool_limits

import hinge
from hinge import LinearSVC
from hinge.threads import thread_count


def test_parameters_are_those_of_scikit_learn_and_more() -> None:
    ours, theirs = LinearSVC().get_params(), ScikitLinearSVC().get_params()
    assert {name: ours[name] for name in theirs} == theirs
    assert set(ours) - set(theirs) == {
        "solver",
        "intercept",
        "warm_start",
        "n_jobs",
        "time_limit",
        "callback",
    }


def test_pickle_and_clone() -> None:
    X, y = three_classes()
    model = LinearSVC(C=0.5).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(copy.settled(X), model.settled(X))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "coef_")


def test_a_fitted_model_holds_no_training_data() -> None:
    X, y = two_classes(n=50, d=400)
    model = LinearSVC().fit(X, y)
    assert all(solution.state is None for solution in model.solutions_)
    assert len(pickle.dumps(model)) < X.nbytes / 2


def test_html_and_text_representations() -> None:
    X, y = two_classes()
    model = LinearSVC(C=3.0).fit(X, y)
    assert repr(model) == "LinearSVC(C=3.0)"
    assert "LinearSVC" in model._repr_html_()
    assert is_classifier(model)


def test_search_in_a_pipeline() -> None:
    X, y = cancer(scaled=False)
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_search_gives_the_same(backend: str) -> None:
    X, y = cancer()
    grid = {"C": [0.1, 1.0], "loss": ["hinge", "squared_hinge"]}
    alone = GridSearchCV(LinearSVC(max_iter=100_000), grid, cv=3).fit(X, y)
    with joblib.parallel_backend(backend, n_jobs=2):
        together = GridSearchCV(LinearSVC(max_iter=100_000, n_jobs=2), grid, cv=3, n_jobs=2)
        together.fit(X, y)
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(alone.best_estimator_.coef_, together.best_estimator_.coef_)


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration(ensemble: bool) -> None:
    X, y = cancer()
    model = CalibratedClassifierCV(LinearSVC(), ensemble=ensemble, cv=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.95


def test_bagging_and_one_vs_rest() -> None:
    X, y = three_classes()
    assert BaggingClassifier(LinearSVC(), 3, random_state=0).fit(X, y).score(X, y) > 0.8
    wrapped = OneVsRestClassifier(LinearSVC(tol=1e-10, max_iter=10**6)).fit(X, y)
    ours = LinearSVC(tol=1e-10, max_iter=10**6).fit(X, y)
    np.testing.assert_array_equal(wrapped.predict(X), ours.predict(X))


def test_metadata_routing() -> None:
    X, y = cancer()
    weights = np.linspace(0.1, 2.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        scores = cross_val_score(model, X, y, cv=3, params={"sample_weight": weights})
    assert scores.shape == (3,)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_any_number_of_jobs_gives_the_same_bits(data: Any, loss: str) -> None:
    X, y = data()
    expected = LinearSVC(loss=loss).fit(X, y)
    for n_jobs in (2, 3, -1):
        model = LinearSVC(loss=loss, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.intercept_, expected.intercept_)
        np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
        for ours, theirs in zip(model.solutions_, expected.solutions_, strict=True):
            assert ours.certificate.gap == theirs.certificate.gap
            assert ours.steps == theirs.steps


def test_concurrent_fits_do_not_disturb_each_other() -> None:
    X, y = three_classes()
    costs = [0.01, 0.1, 1.0, 10.0] * 2
    alone = [LinearSVC(C=C, max_iter=10**5).fit(X, y).coef_ for C in costs]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(
            lambda C: LinearSVC(C=C, max_iter=10**5, n_jobs=2).fit(X, y).coef_, costs
        )
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)


def test_one_model_may_predict_in_many_threads() -> None:
    X, y = three_classes()
    model = LinearSVC().fit(X.astype(np.float32), y)
    expected = model.decision_function(X.astype(np.float32))
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(model.decision_function, [X.astype(np.float32)] * 16)
        for result in results:
            np.testing.assert_array_equal(result, expected)


def test_thread_limits_are_honoured() -> None:
    X, y = three_classes()
    with threadpool_limits(1):
        assert thread_count(2) == 1
        limited = LinearSVC(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(limited.coef_, LinearSVC(n_jobs=2).fit(X, y).coef_)


def test_package_names_the_estimator() -> None:
    assert hinge.LinearSVC is LinearSVC
