"""Which of two kernel machines is closer to the optimum of all their pairs of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import cancer, three_classes, two_classes

import hinge
from hinge import InvalidParameterError, Stop, UnsupportedError, compare

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
}


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_patient_one_is_closer(kernel: str, data: Any) -> None:
    X, y = data()
    hasty = svm.SVC(C=5.0, tol=0.5, **KERNELS[kernel]).fit(X, y)
    patient = hinge.SVC(C=5.0, tol=1e-7, **KERNELS[kernel]).fit(X, y)
    result = compare(hasty, patient, X, y)
    total = sum(certificate.primal for certificate in patient.certificates_)
    assert result.closer == "b"
    assert result.b.objective == pytest.approx(total, rel=1e-9)
    assert result.a.objective > result.b.objective
    assert result.lower_bound <= total <= result.upper_bound * (1 + 1e-12)
    assert result.lower_bound == pytest.approx(total, rel=1e-5)
    assert result.a.objective - result.lower_bound <= result.a.gap
    assert result.b.relative_gap < 1e-5
    assert result.n_problems == (1 if len(np.unique(y)) == 2 else 3)
    assert result.labels_that_differ == np.count_nonzero(hasty.predict(X) != patient.predict(X))
    assert result.b.labels_proven_right > 0.8 * len(y)
    assert result.b.labels_proven_wrong == 0
    if result.n_problems == 3 or kernel != "linear":
        assert result.a.violation > 1e-3 > result.b.violation


def test_two_machines_of_scikit_learn_of_sparse_rows() -> None:
    X, y = three_classes()
    sparse: Any = sp.csr_matrix(X)
    parameters: dict[str, Any] = {"C": 2.0, "gamma": "scale", "class_weight": "balanced"}
    hasty = svm.SVC(tol=1.0, **parameters).fit(sparse, y)
    patient = svm.SVC(tol=1e-6, **parameters).fit(sparse, y)
    ours = hinge.SVC(tol=1e-6, **parameters).fit(sparse, y)
    assert compare(hasty, patient, sparse, y).closer == "b"
    result = compare(patient, ours, sparse, y)
    assert result.a.objective == pytest.approx(result.b.objective, rel=1e-6)
    assert result.a.relative_gap < 1e-5


def test_weights_count() -> None:
    X, y = three_classes()
    weights = np.linspace(0.0, 2.0, len(y))
    parameters: dict[str, Any] = {"gamma": 0.2, "class_weight": {0: 2.0, 2: 0.3}, "C": 0.7}
    theirs = svm.SVC(tol=1e-6, **parameters).fit(X, y, weights)
    ours = hinge.SVC(tol=1e-6, **parameters).fit(X, y, weights)
    result = compare(theirs, ours, X, y, weights)
    total = sum(certificate.primal for certificate in ours.certificates_)
    assert result.b.objective == pytest.approx(total, rel=1e-12)
    assert result.a.relative_gap < 1e-5
    assert result.b.relative_gap < 1e-5


def test_classes_against_the_rest() -> None:
    X, y = three_classes()
    parameters: dict[str, Any] = {"C": 5.0, "multiclass": "ovr"}
    hasty, patient = (hinge.SVC(tol=tol, **parameters).fit(X, y) for tol in (0.5, 1e-6))
    result = compare(hasty, patient, X, y)
    assert result.closer == "b"
    assert result.n_problems == 3
    assert result.b.labels_proven_right > 130
    pairs = hinge.SVC(C=5.0).fit(X, y)
    with pytest.raises(InvalidParameterError, match=r"multiclass is 'ovr' and 'ovo'"):
        compare(hasty, pairs, X, y)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_a_kernel_matrix(data: Any) -> None:
    X, y = data()
    matrix = X @ X.T
    hasty = svm.SVC(kernel="precomputed", tol=0.5).fit(matrix, y)
    patient = hinge.SVC(kernel="precomputed", tol=1e-6).fit(matrix, y)
    result = compare(hasty, patient, matrix, y)
    assert result.closer == "b"
    assert result.b.relative_gap < 1e-5
    assert result.b.labels_proven_right == 0
    assert "takes the kernel matrix for positive semidefinite" in str(result)
    indefinite = matrix - 5.0 * np.eye(len(y))
    model = svm.SVC(kernel="precomputed").fit(indefinite, y)
    result = compare(model, model, indefinite, y)
    assert result.closer == "neither"
    assert result.lower_bound == -np.inf


def test_an_indefinite_kernel_is_judged_by_violations() -> None:
    X, y = three_classes()
    parameters: dict[str, Any] = {"kernel": "sigmoid", "gamma": 0.05, "coef0": -0.5}
    hasty = svm.SVC(tol=0.5, **parameters).fit(X, y)
    patient = hinge.SVC(tol=1e-4, **parameters).fit(X, y)
    result = compare(hasty, patient, X, y)
    assert result.closer == "b"
    assert np.isnan(result.difference)
    assert result.a.relative_gap == np.inf
    text = str(result)
    assert "b is closer to meeting the optimality conditions." in text
    assert "The kernel is not positive semidefinite" in text
    assert "The optimum lies" not in text


def test_the_table_names_the_kernel() -> None:
    X, y = cancer()
    hasty = svm.SVC(tol=0.5).fit(X, y)
    patient = hinge.SVC().fit(X, y)
    text = str(compare(hasty, patient, X, y))
    assert "Two models on 569 rows: hinge, C=1, intercept free\nKernel: rbf, gamma=0.0333" in text
    assert "b is closer to the optimum: the objective of a is" in text
    assert "violation of conditions" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_rows_that_are_not_those_of_the_fit() -> None:
    # The objective is known of any rows; the reference alone bounds the optimum.
    X, y = two_classes()
    models = [svm.SVC(gamma=0.2, tol=tol).fit(X[:40], y[:40]) for tol in (0.5, 1e-3)]
    result = compare(*models, X[20:], y[20:])
    assert result.a.violation == np.inf
    assert 0.0 < result.lower_bound <= result.upper_bound <= result.b.objective
    assert result.a.gap >= result.a.objective - result.upper_bound
    matrix = X @ X.T
    model = svm.SVC(kernel="precomputed").fit(matrix, y)
    with pytest.raises(InvalidParameterError, match=r"model_a has support_ that are not rows of"):
        compare(model, model, matrix, np.roll(y, 1))


def test_a_bound_that_was_not_reached_is_not_claimed() -> None:
    X, y = two_classes()
    hasty = svm.SVC(tol=0.5).fit(X, y)
    exact = hinge.SVC(tol=1e-9).fit(X, y)
    result = compare(hasty, hasty, X, y, stop=Stop(gap=1e-9, steps=0))
    assert result.lower_bound <= exact.certificate_.primal <= result.upper_bound


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"C": 1.0}, {"C": 2.0}, r"different objectives.*C is 1.0 and 2.0"),
        ({"gamma": 0.1}, {"gamma": 0.2}, r"kernel is RBF\(gamma=0.1\) and RBF\(gamma=0.2\)"),
        ({}, {"kernel": "linear"}, r"kernel is RBF\(.*\) and Linear\(\)"),
        ({}, {"loss": "squared_hinge"}, r"loss is 'hinge' and 'squared_hinge'"),
        ({}, {"class_weight": {1: 2.0}}, r"class_weight_ is \[1.0, 1.0\] and \[1.0, 2.0\]"),
    ],
)
def test_other_objectives_are_refused(one: Any, other: Any, message: str) -> None:
    X, y = two_classes()
    a, b = (hinge.SVC(**parameters).fit(X, y) for parameters in (one, other))
    with pytest.raises(InvalidParameterError, match=message):
        compare(a, b, X, y)


def test_other_models_are_refused() -> None:
    X, y = two_classes()
    model = hinge.SVC().fit(X, y)
    with pytest.raises(InvalidParameterError, match=r"model_b must be .* got sklearn.NuSVC"):
        compare(model, svm.NuSVC().fit(X, y), X, y)
    with pytest.raises(UnsupportedError, match=r"Compare it with another SVC"):
        compare(model, hinge.LinearSVC().fit(X, y), X, y)
    pipeline = make_pipeline(StandardScaler(), svm.SVC()).fit(X, y)
    message = r"model_a is a Pipeline.*model_a\[-1\].*model_a\[:-1\]\.transform\(X\)"
    with pytest.raises(InvalidParameterError, match=message):
        compare(pipeline, model, X, y)
    result = compare(pipeline[-1], pipeline[-1], pipeline[:-1].transform(X), y)
    assert result.a.relative_gap < 1e-2
    function = hinge.SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(UnsupportedError, match=r"model_a has a function as its kernel"):
        compare(function, function, X, y)
