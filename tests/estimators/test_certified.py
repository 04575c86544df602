"""What a fitted model proves of itself, and where a warm start begins."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.estimators.data import cancer, three_classes, two_classes

import hinge
from hinge import SVC, Certificate, LinearSVC, LinearSVCCV, Point, Problem, Status, Stop


@pytest.mark.parametrize("intercept", [None, "free", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_settled_labels_are_those_of_the_optimum(loss: str, intercept: str | None) -> None:
    X, y = two_classes(n=200)
    kind: dict[str, Any] = {"loss": loss, "intercept": intercept}
    loose = LinearSVC(tol=1e-3, max_iter=10**5, **kind).fit(X, y)
    exact = LinearSVC(tol=1e-9, max_iter=10**6, **kind).fit(X, y)
    settled = loose.settled(X)
    assert settled.dtype == bool
    assert settled.any()
    np.testing.assert_array_equal(loose.predict(X)[settled], exact.predict(X)[settled])


def test_settled_with_several_classes() -> None:
    X, y = three_classes()
    loose = LinearSVC(tol=1e-2).fit(X, y)
    exact = LinearSVC(tol=1e-9, max_iter=10**6).fit(X, y)
    settled = loose.settled(X)
    assert 0 < settled.sum() < len(y)
    assert settled.sum() < exact.settled(X).sum()
    np.testing.assert_array_equal(loose.predict(X)[settled], exact.predict(X)[settled])


def test_settled_agrees_with_the_certificate() -> None:
    X, y = cancer()
    model = LinearSVC().fit(X, y)
    np.testing.assert_array_equal(model.settled(X), model.certificate_.settled(X))
    assert model.certificate_.unsettled(X) == int(np.count_nonzero(~model.settled(X)))


def test_attributes_of_two_classes() -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    assert model.solutions_ == [model.solution_]
    assert model.certificates_ == [model.certificate_]
    assert model.certificate_.dual <= model.certificate_.primal + model.certificate_.rounding
    assert model.n_iter_ == model.solution_.steps
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.coef_[0], model.solution_.coef)
    assert model.intercept_[0] == model.solution_.intercept


def test_no_intercept_is_the_number_zero() -> None:
    X, y = two_classes()
    for parameters in ({"fit_intercept": False}, {"intercept": "none"}):
        model = LinearSVC(**parameters).fit(X, y)
        assert model.intercept_ == 0.0
        assert isinstance(model.intercept_, float)


@pytest.mark.parametrize("data", [cancer, three_classes])
def test_warm_start_at_the_optimum_stays_there(data: Any) -> None:
    X, y = data()
    model = LinearSVC(warm_start=True, tol=1e-8, max_iter=10**6).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.solution_.status is Status.SOLVED
    assert model.n_iter_ < first


def test_warm_start_takes_another_cost() -> None:
    X, y = cancer()
    model = LinearSVC(warm_start=True, loss="hinge", C=1.0, max_iter=10**5).fit(X, y)
    model.set_params(C=0.5).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4


def test_warm_start_forgets_what_does_not_fit() -> None:
    X, y = three_classes()
    model = LinearSVC(warm_start=True).fit(X, y)
    for rows in (slice(0, 100), slice(0, 149)):
        model.fit(X[rows], y[rows])
        cold = LinearSVC().fit(X[rows], y[rows])
        assert model.certificate_.relative_gap <= 1e-4
        assert model.coef_.shape == cold.coef_.shape
    model.fit(X[:, :2], y)
    assert model.coef_.shape == (3, 2)


def test_warm_start_after_a_fit_that_failed() -> None:
    X, y = two_classes()
    three = np.arange(len(y)) % 3
    model = LinearSVC(warm_start=True).fit(X, y)

    def fail(_: Any) -> None:
        message = "from the callback"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="from the callback"):
        model.set_params(callback=fail).fit(X, three)
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(X)) <= {0, 1}
    model.set_params(callback=None).fit(X, three)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, 5)


def test_without_warm_start_fits_repeat() -> None:
    X, y = cancer()
    model = LinearSVC().fit(X, y)
    first = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(),
        LinearSVC(solver="newton"),
        LinearSVC(C=np.inf),
        LinearSVCCV([0.1, 1.0], cv=3),
        SVC(),
        SVC(solver="smo"),
        SVC(approximation=20),
    ],
    ids=str,
)
def test_a_certificate_knows_how_its_run_ended(estimator: Any, data: Any) -> None:
    X, y = data()
    if getattr(estimator, "C", 1.0) == np.inf:
        X = X + 20.0 * np.eye(X.shape[1])[y]  # so that the classes can be separated
    model = clone(estimator).fit(X, y)
    assert model.certificate_.status is model.solution_.status is Status.SOLVED
    statuses = [certificate.status for certificate in model.certificates_]
    assert statuses == [solution.status for solution in model.solutions_]


def test_a_certificate_of_a_run_that_ended_early() -> None:
    X, y = cancer(scaled=False)
    with pytest.warns(match="max_iter=1"):
        model = LinearSVC(max_iter=1).fit(X, y)
    assert model.certificate_.status is Status.ITERATION_LIMIT
    assert "status=<Status.ITERATION_LIMIT" in repr(model.certificate_)
    path = hinge.path(Problem(X, y), [0.1, 1.0], stop=Stop(gap=1e-12, steps=1))
    assert [solution.certificate.status for solution in path] == [Status.ITERATION_LIMIT] * 2


def test_a_certificate_without_a_run_has_no_status() -> None:
    X, y = two_classes()
    problem = Problem(X, y)
    solution = hinge.solve(problem)
    recomputed = hinge.certificates.gap(problem, Point(np.zeros(X.shape[1])))
    assert recomputed.status is None
    told = Certificate(1.0, 0.5, 0.5, 0.5, 0.0, 0.1)
    assert told == replace(told, status=Status.SOLVED)  # it proves the same
    assert replace(solution, status=Status.STALLED).certificate.status is Status.STALLED


def test_certificates_pickled_without_a_status_have_none() -> None:
    old = Certificate.__new__(Certificate)
    numbers = {"primal": 1.0, "dual": 0.5, "gap": 0.5, "relative_gap": 0.5}
    old.__dict__.update({**numbers, "rounding": 0.0, "kkt": 0.1, "notes": (), "region": None})
    again = pickle.loads(pickle.dumps(old))
    assert again.status is None
    assert "status=None" in repr(again)
