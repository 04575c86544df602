"""The meta-estimator: scikit-learn's checks, and the labels of the classifier inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from hinge import SVC, AnytimeClassifier
from hinge.kernels import RBF

WEIGHT_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": "compares decision values to 1e-7",
    "check_sample_weight_equivalence_on_sparse_data": "compares decision values to 1e-7",
}
RNG = np.random.default_rng(2)
X = RNG.normal(size=(150, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]


def every_check() -> pytest.MarkDecorator:
    """Return ``parametrize_with_checks``, whose older versions pass pytest 9 a generator."""
    mark = parametrize_with_checks(
        [AnytimeClassifier(n_points=32)], expected_failed_checks=lambda _: dict(WEIGHT_CHECKS)
    )
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


@every_check()
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_no_check_drops_out() -> None:
    assert len(list(estimator_checks_generator(AnytimeClassifier()))) >= 50


@pytest.mark.parametrize("inner", [SVC(C=3.0), ScikitSVC(break_ties=True), None])
def test_labels_are_those_of_the_classifier_inside(inner: Any) -> None:
    model = AnytimeClassifier(inner).fit(X, Y)
    new = RNG.normal(size=(400, 3))
    np.testing.assert_array_equal(model.predict(new), model.estimator_.predict(new))
    found = model.predict_certified(new)
    assert found.decided.all()
    lower, upper = model.decision_bounds(new)
    assert np.all(lower <= upper)
    assert model.explain()
    assert model.decision_function(new).shape == (400, 3)


def test_a_few_queries_take_the_shorter_way(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AnytimeClassifier(SVC(gamma=20.0), n_points=8).fit(X, Y)
    assert model.predictor_.parts.plan.shares["float32"] < 0.5
    new = RNG.normal(size=(10, 3))
    want = model.predict_certified(new).labels
    monkeypatch.setattr(model.predictor_, "predict_certified", None)
    np.testing.assert_array_equal([model.predict(new[k : k + 1])[0] for k in range(10)], want)
    np.testing.assert_array_equal(model.predict(new), want)


def test_kernel_matrices_and_cross_validation() -> None:
    K = RBF(0.5).block(X, X)
    model = AnytimeClassifier(SVC(kernel="precomputed"))
    scores = cross_val_score(model, K, Y, cv=3)
    np.testing.assert_array_equal(scores, cross_val_score(SVC(kernel="precomputed"), K, Y, cv=3))
