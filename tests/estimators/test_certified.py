"""What a fitted model proves of itself, and where a warm start begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import LinearSVC, Status


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
    assert model.certificate_.dual <= model.certificate_.primal
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
