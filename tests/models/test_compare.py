"""Which of two models is closer to the optimum: the numbers, the words, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tests.estimators.data import cancer, three_classes, two_classes

import hinge
from hinge import InvalidParameterError, LinearSVC, Problem, Stop, UnsupportedError, compare, solve


def test_a_silent_failure_is_found() -> None:
    # No warning from scikit-learn, and an objective more than half as much again as it could be.
    X, y = cancer(scaled=False)
    silent = ScikitLinearSVC(C=100, random_state=0).fit(X, y)
    better = ScikitLinearSVC(C=100, dual=False, tol=1e-8, max_iter=10_000).fit(X, y)
    result = compare(silent, better, X, y)
    assert result.closer == "b"
    assert result.lower_bound == pytest.approx(3467.8193, rel=1e-6)
    assert result.upper_bound == pytest.approx(3467.8193, rel=1e-6)
    assert result.a.objective > 1.3 * result.upper_bound
    assert result.a.relative_gap == pytest.approx(
        result.a.objective / result.upper_bound - 1, abs=1e-5
    )
    assert result.difference == pytest.approx(result.a.objective / result.b.objective - 1)
    assert result.labels_that_differ == np.count_nonzero(silent.predict(X) != better.predict(X))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", [None, "free", "none"])
def test_bounds_hold(loss: str, intercept: str | None) -> None:
    X, y = two_classes(n=100)
    parameters: dict[str, Any] = {"loss": loss, "intercept": intercept, "C": 0.3}
    loose = LinearSVC(tol=0.1, **parameters).fit(X, y)
    tight = LinearSVC(tol=1e-6, max_iter=10**6, **parameters).fit(X, y)
    result = compare(loose, tight, X, y)
    assert result.lower_bound <= result.upper_bound
    assert result.upper_bound <= min(result.a.objective, result.b.objective)
    assert result.a.objective == loose.certificate_.primal
    assert result.b.objective == tight.certificate_.primal
    for standing in (result.a, result.b):
        assert standing.objective - result.lower_bound <= standing.gap * (1 + 1e-9) + 1e-12
        assert standing.labels_proven_right + standing.labels_proven_wrong <= 100
    assert result.b.labels_proven_right >= 90
    assert result.b.relative_gap <= 2e-6


def test_weights_and_several_classes() -> None:
    X, y = three_classes()
    weights = np.linspace(0.5, 2.0, len(y))
    parameters: dict[str, Any] = {"class_weight": {0: 2.0, 2: 0.5}, "C": 0.2}
    theirs = ScikitLinearSVC(**parameters, random_state=0).fit(X, y, weights)
    ours = LinearSVC(**parameters, tol=1e-7, max_iter=10**6).fit(X, y, weights)
    result = compare(theirs, ours, X, y, weights)
    total = sum(certificate.primal for certificate in ours.certificates_)
    assert result.b.objective == pytest.approx(total, rel=1e-12)
    assert result.n_problems == 3
    assert result.a.relative_gap < 1e-2
    assert result.b.relative_gap < 1e-6
    assert result.b.labels_proven_wrong == 0


def test_labels_are_proven_wrong_only_if_they_are() -> None:
    X, y = cancer()
    parameters: dict[str, Any] = {"loss": "hinge", "C": 1.0}
    with pytest.warns(match="max_iter=1"):
        rough = LinearSVC(**parameters, max_iter=1).fit(X, y)
    fine = LinearSVC(**parameters, tol=1e-6, max_iter=10**6).fit(X, y)
    result = compare(rough, fine, X, y)
    problem = Problem(X, y, loss="hinge", C=1.0, intercept="augmented")
    exact = solve(problem, stop=Stop(gap=1e-9, steps=10**6))
    optimal = (X @ exact.coef + exact.intercept > 0).astype(int)
    assert 0 < result.a.labels_proven_wrong <= np.count_nonzero(rough.predict(X) != optimal)
    assert result.b.labels_proven_wrong == 0


def test_svc_with_a_linear_kernel_is_the_free_intercept() -> None:
    X, y = two_classes()
    theirs = SVC(kernel="linear", tol=1e-8).fit(X, y)
    ours = LinearSVC(loss="hinge", intercept="free", tol=1e-7, max_iter=10**6).fit(X, y)
    result = compare(theirs, ours, X, y)
    assert result.a.relative_gap < 1e-5
    assert result.b.relative_gap < 1e-5


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", hinge.kernels.Linear()])
def test_svc_of_hinge_with_a_linear_kernel(loss: str, kernel: Any) -> None:
    X, y = two_classes()
    kernel_machine = hinge.SVC(kernel=kernel, loss=loss, tol=1e-8).fit(X, y)
    linear = LinearSVC(loss=loss, intercept="free", tol=1e-7, max_iter=10**6).fit(X, y)
    result = compare(kernel_machine, linear, X, y)
    assert result.a.name == "hinge.SVC"
    assert result.a.objective == pytest.approx(kernel_machine.certificate_.primal, rel=1e-9)
    assert result.a.relative_gap < 1e-5
    assert result.b.relative_gap < 1e-5


def test_equal_models() -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    result = compare(model, model, X, y)
    assert result.closer == "neither"
    assert result.difference == 0.0
    assert result.labels_that_differ == 0
    assert "differ by no more than rounding" not in str(result)
    assert "Both have the same objective." in str(result)


def test_rounding_makes_no_model_closer() -> None:
    X, y = two_classes()
    model = LinearSVC(tol=1e-3).fit(X, y)
    result = compare(model, model, X, y)
    rounding = result.a.rounding + result.b.rounding
    assert 0 < rounding < 1e-9 * result.a.objective
    moved = replace(result.b, objective=result.a.objective + 0.9 * rounding)
    result = replace(result, b=moved)
    assert result.a.objective != result.b.objective
    assert result.closer == "neither"
    assert "Neither is closer: their objectives differ by no more than rounding." in str(result)
    moved = replace(result.b, objective=result.a.objective + 1.1 * rounding)
    assert replace(result, b=moved).closer == "a"


def test_gaps_are_relative_to_the_lower_bound() -> None:
    X, y = two_classes()
    model = LinearSVC(tol=0.3).fit(X, y)
    result = compare(model, model, X, y)
    assert result.lower_bound > 0
    assert result.a.relative_gap == result.a.gap / result.lower_bound
    unproven = compare(model, model, X, y, stop=Stop(gap=1e-9, steps=0))
    scale = unproven.lower_bound or unproven.a.objective
    assert unproven.a.relative_gap == unproven.a.gap / scale


def test_the_table_says_it_in_words() -> None:
    X, y = cancer(scaled=False)
    silent = ScikitLinearSVC(C=100, random_state=0).fit(X, y)
    better = ScikitLinearSVC(C=100, dual=False, tol=1e-8, max_iter=10_000).fit(X, y)
    text = str(compare(silent, better, X, y))
    assert "Two models on 569 rows: squared_hinge, C=100, intercept augmented, scale 1" in text
    assert "a: sklearn.LinearSVC" in text
    assert "The optimum lies between 3467.8" in text
    assert "b is closer to the optimum: the objective of a is" in text
    assert "Their labels differ on" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_bound_that_was_not_reached_is_not_claimed() -> None:
    X, y = cancer(scaled=False)
    model = ScikitLinearSVC(C=100, random_state=0).fit(X, y)
    result = compare(model, model, X, y, stop=Stop(gap=1e-9, steps=1))
    assert result.lower_bound <= 3467.82
    assert result.a.relative_gap >= 1 - 3467.82 / result.a.objective - 1e-9


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"C": 1.0}, {"C": 2.0}, r"different objectives.*C is 1.0 and 2.0"),
        ({"loss": "hinge"}, {}, r"loss is 'hinge' and 'squared_hinge'"),
        ({"fit_intercept": False}, {}, r"intercept is 'none' and 'augmented'"),
        ({"intercept_scaling": 2.0}, {}, r"intercept_scaling is 2.0 and 1.0"),
        ({"class_weight": "balanced"}, {}, r"class_weight is 'balanced' and None"),
    ],
)
def test_other_objectives_are_refused(one: Any, other: Any, message: str) -> None:
    X, y = two_classes()
    with pytest.raises(InvalidParameterError, match=message):
        compare(LinearSVC(**one).fit(X, y), LinearSVC(**other).fit(X, y), X, y)


def test_other_models_and_data_are_refused() -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    message = r"model_b must be .* of hinge or of sklearn.svm; got sklearn.RidgeClassifier"
    with pytest.raises(InvalidParameterError, match=message):
        compare(model, RidgeClassifier().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        compare(model, LinearSVC(), X, y)
    with pytest.raises(UnsupportedError, match=r"model_b is an SVC with kernel='rbf'"):
        compare(model, SVC().fit(X, y), X, y)
    with pytest.raises(UnsupportedError, match=r"model_b is an SVC with kernel='rbf'"):
        compare(model, hinge.SVC().fit(X, y), X, y)
    with pytest.raises(UnsupportedError, match=r"penalty='l1' is not in this version"):
        compare(ScikitLinearSVC(penalty="l1", dual=False).fit(X, y), model, X, y)
    with pytest.raises(InvalidParameterError, match=r"model_a has classes .* y has"):
        compare(model, model, X, y + 5)
    with pytest.raises(InvalidParameterError, match=r"model_a has 5 features; X has 3"):
        compare(model, model, X[:, :3], y)
    with pytest.raises(InvalidParameterError, match=r"y has 59 labels; X has 60 rows"):
        compare(model, model, X, y[:59])


def test_it_is_public() -> None:
    assert hinge.compare is compare
