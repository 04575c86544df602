"""The same arguments mean the same objective, and so the same optimum, as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tests.estimators.data import three_classes, two_classes

from hinge import LinearSVC, Point, Problem, certificates

TIGHT = {"tol": 1e-10, "max_iter": 200_000}
# LIBLINEAR's own stopping rule is not always met at that tolerance; what it returns is judged.
pytestmark = pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
WEIGHTS = [None, "rows", "classes", "balanced", "both"]
INTERCEPTS = [{"fit_intercept": False}, {"intercept_scaling": 1}, {"intercept_scaling": 7.5}]


def row_and_class_weights(weights: str | None, y: Any) -> tuple[Any, Any]:
    """Return what to pass as ``sample_weight`` and as ``class_weight``."""
    random = np.random.default_rng(1)
    by_row = random.integers(0, 4, size=len(y)) / 2 if weights in ("rows", "both") else None
    by_class = {"classes": {0: 2.0, 1: 0.5}, "both": {1: 3.0}, "balanced": "balanced"}.get(
        str(weights)
    )
    return by_row, by_class


def stated_problem(X: Any, y: Any, positive: int, weights: Any, parameters: Any) -> Problem:
    """Return the objective as scikit-learn documents it, of one class against the rest."""
    by_row, by_class = weights
    total = np.ones(len(y)) if by_row is None else by_row
    classes = np.unique(y)
    if by_class == "balanced":
        counts = {label: total[y == label].sum() for label in classes}
        by_class = {label: total.sum() / (len(classes) * counts[label]) for label in classes}
    for label, factor in (by_class or {}).items():
        if label == positive or len(classes) == 2:  # LIBLINEAR weighs the positive class only
            total = np.where(y == label, factor * total, total)
    augmented = parameters.get("fit_intercept", True)
    return Problem(
        X,
        y == positive,
        loss=parameters["loss"],
        C=parameters["C"],
        intercept="augmented" if augmented else "none",
        intercept_scale=parameters.get("intercept_scaling", 1.0),
        sample_weight=total,
    )


def assert_same_optimum(X: Any, y: Any, weights: str | None, **parameters: Any) -> None:
    """Assert that both libraries' models are optimal for the stated objective, and so agree."""
    by_row, by_class = row_and_class_weights(weights, y)
    theirs = ScikitLinearSVC(**TIGHT, **parameters, class_weight=by_class, random_state=0)
    ours = LinearSVC(tol=1e-10, max_iter=1_000_000, **parameters, class_weight=by_class)
    theirs.fit(X, y, by_row)
    ours.fit(X, y, by_row)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    values = [model.decision_function(X).reshape(len(y), -1) for model in (ours, theirs)]
    positives = [1] if len(ours.classes_) == 2 else list(ours.classes_)
    for number, positive in enumerate(positives):
        problem = stated_problem(X, y, positive, (by_row, by_class), parameters)
        reach = 0.0
        for model in (ours, theirs):
            intercept = float(np.broadcast_to(model.intercept_, len(positives))[number])
            point = Point(model.coef_[number], intercept, ours.solutions_[number].dual_coef)
            certificate = certificates.gap(problem, point)
            assert certificate.relative_gap <= 1e-7
            reach += np.sqrt(2 * certificate.gap)
        norms = np.sqrt(problem.rows.squared_norms + problem.constant_feature**2)
        difference = np.abs(values[0][:, number] - values[1][:, number])
        assert (difference <= reach * norms + 1e-12).all()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_two_classes(
    loss: str, intercept: dict[str, Any], container: Any, weights: str | None
) -> None:
    X, y = two_classes()
    assert_same_optimum(container(X), y, weights, loss=loss, C=0.7, **intercept)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_three_classes(loss: str, weights: str | None) -> None:
    X, y = three_classes()
    assert_same_optimum(X, y, weights, loss=loss, C=0.1)


def test_free_intercept_is_that_of_svc() -> None:
    X, y = two_classes()
    theirs = SVC(kernel="linear", C=0.7, tol=1e-10).fit(X, y)
    ours = LinearSVC(loss="hinge", C=0.7, intercept="free", tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", [None, "free", "none"])
def test_certificate_is_that_of_the_stated_objective(loss: str, intercept: str | None) -> None:
    X, y = two_classes()
    model = LinearSVC(loss=loss, intercept=intercept, C=2.0, intercept_scaling=3.0).fit(X, y)
    kind = intercept or "augmented"
    problem = Problem(X, y, loss=loss, C=2.0, intercept=kind, intercept_scale=3.0)
    point = Point(model.coef_[0], float(np.ravel(model.intercept_)[0]), model.solution_.dual_coef)
    recomputed = certificates.gap(problem, point)
    assert recomputed.primal == model.certificate_.primal
    assert recomputed.gap == model.certificate_.gap
    assert recomputed.relative_gap <= model.tol


@pytest.mark.parametrize("dual", [True, False, "auto"])
def test_dual_changes_nothing(dual: Any) -> None:
    X, y = two_classes()
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, dual=dual).fit(X, y)
        np.testing.assert_array_equal(model.coef_, LinearSVC(loss=loss).fit(X, y).coef_)


def test_second_label_is_the_positive_one() -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, np.where(y == 1, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    values = model.decision_function(X)
    assert values.shape == (60,)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(values > 0).astype(int)])


def test_prediction_is_the_largest_decision_value() -> None:
    X, y = three_classes()
    model = LinearSVC().fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (150, 3)
    np.testing.assert_array_equal(model.predict(X), model.classes_[values.argmax(axis=1)])


def test_sparse_weights_predict_the_same() -> None:
    X, y = three_classes()
    model = LinearSVC().fit(X, y)
    values = model.decision_function(X)
    for data in (X, sp.csr_matrix(X), sp.csr_array(X)):
        sparse = model.sparsify().decision_function(data)
        np.testing.assert_allclose(sparse, values, rtol=1e-12, atol=1e-13)
    assert sp.issparse(model.coef_)
    np.testing.assert_array_equal(model.densify().decision_function(X), values)
