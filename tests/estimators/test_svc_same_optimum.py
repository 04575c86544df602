"""The kernel classifier and scikit-learn's are within their tolerances of the same optimum."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import SVC, Point, Problem, kernels
from hinge.certificates import gap

KERNELS: list[dict[str, Any]] = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 2.0},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "gamma": "auto"},
]


def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]


def duplicates() -> tuple[Any, Any]:
    X, y = two_classes(3, n=30)
    return np.repeat(X, 4, axis=0), np.repeat(y, 4)


def imbalance() -> tuple[Any, Any]:
    X, y = two_classes(4, n=300)
    rare = np.flatnonzero(y == 1)[8:]
    return np.delete(X, rare, axis=0), np.delete(y, rare)


def judged(model: Any, X: Any, y: Any, weights: Any, kernel: Any, C: float) -> list[Any]:
    """Return the certificates of every pair of classes of either library's model."""
    n, classes = len(y), model.classes_
    dual = np.zeros((len(classes) - 1, n))
    dual[:, model.support_] = model.dual_coef_
    certificates = []
    per_class = dict(zip(classes.tolist(), model.class_weight_, strict=True))
    for number, (i, j) in enumerate(itertools.combinations(range(len(classes)), 2)):
        chosen = np.flatnonzero((y == classes[i]) | (y == classes[j]))
        line = np.where(y[chosen] == classes[i], j - 1, i)
        alpha = np.abs(dual[line, chosen])
        cost = np.array([per_class[label] for label in y[chosen].tolist()])
        cost = cost if weights is None else cost * weights[chosen]
        problem = Problem(X[chosen], y[chosen], C=C, kernel=kernel, sample_weight=cost)
        sign = 1.0 if len(classes) == 2 else -1.0
        alpha = np.minimum(alpha, problem.costs)
        point = Point(np.zeros(0), sign * model.intercept_[number], alpha)
        certificates.append(gap(problem, point))
    return certificates


def compare(ours: Any, theirs: Any, X: Any, y: Any, weights: Any = None) -> None:
    """Compare objectives and decision values as far as both certificates warrant."""
    kernel, C = ours.kernel_, ours.C
    mine, other = (judged(m, X, y, weights, kernel, C) for m in (ours, theirs))
    for own, reported in zip(mine, ours.certificates_, strict=True):
        assert own.primal == pytest.approx(reported.primal, rel=1e-9)
    for a, b in zip(mine, other, strict=True):
        assert abs(a.primal - b.primal) <= max(a.gap, b.gap) * (1 + 1e-9)
    ours.decision_function_shape = theirs.decision_function_shape = "ovo"
    f, g = ours.decision_function(X), theirs.decision_function(X)
    assert f.shape == g.shape
    lengths = np.sqrt(kernel.diagonal(X)) if kernel.name != "precomputed" else np.ones(len(X))
    for k, (a, b) in enumerate(zip(mine, other, strict=True)):
        # Weights differ by no more than this, and with them scores; a support vector that is
        # free fixes the intercept to within the scores' difference and both tolerances.
        radius = math.sqrt(2 * a.gap) + math.sqrt(2 * b.gap)
        own, their = (v if v.ndim == 1 else v[:, k] for v in (f, g))
        slack = ours.tol + theirs.tol
        assert np.max(np.abs(own - their)) <= 2 * radius * np.max(lengths) + slack
        assert np.max(np.abs(own - their)) <= 0.2  # the bound itself must mean something


@pytest.mark.parametrize("options", KERNELS, ids=str)
@pytest.mark.parametrize("data", [three_classes, cancer, digits, duplicates, imbalance])
def test_every_kernel(data: Any, options: dict[str, Any]) -> None:
    X, y = data()
    ours = SVC(**options, tol=1e-4).fit(X, y)
    theirs = svm.SVC(**options, tol=1e-4).fit(X, y)
    assert ours._gamma == pytest.approx(theirs._gamma) or options["kernel"] == "linear"
    compare(ours, theirs, X, y)


@pytest.mark.parametrize("C", [1e-3, 1e-2, 1.0, 1e2, 1e3])
@pytest.mark.parametrize("data", [three_classes, two_classes])
def test_every_C(data: Any, C: float) -> None:
    X, y = data()
    compare(SVC(C=C, tol=1e-4).fit(X, y), svm.SVC(C=C, tol=1e-4).fit(X, y), X, y)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}])
@pytest.mark.parametrize("data", [two_classes, three_classes, imbalance])
def test_weights(data: Any, class_weight: Any) -> None:
    X, y = data()
    weights = None
    if class_weight != "balanced":  # ours counts rows by their weight, scikit-learn's does not
        weights = np.random.default_rng(0).uniform(0.1, 3.0, size=len(y))
    options = {"class_weight": class_weight, "tol": 1e-5}
    ours = SVC(**options).fit(X, y, weights)
    theirs = svm.SVC(**options).fit(X, y, weights)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    compare(ours, theirs, X, y, weights)


@pytest.mark.parametrize("name", ["sigmoid", "laplacian", "chi2"])
def test_kernels_that_scikit_learn_takes_as_functions(name: str) -> None:
    X, y = two_classes()
    X = np.abs(X)
    functions = {
        "laplacian": lambda A, B: laplacian_kernel(A, B, gamma=0.3),
        "chi2": lambda A, B: chi2_kernel(A, B, gamma=0.3),
    }
    ours = SVC(kernel=name, gamma=0.3, tol=1e-6).fit(X, y)
    theirs = svm.SVC(kernel=functions.get(name, name), gamma=0.3, tol=1e-6).fit(X, y)
    if name == "sigmoid":  # not positive semidefinite: any point that nothing pulls at will do
        assert "positive semidefinite" in ours.certificate_.notes[0]
        assert ours.certificate_.kkt <= ours.tol
        return
    difference = ours.decision_function(X) - theirs.decision_function(X)
    assert np.max(np.abs(difference)) < 1e-3


def test_a_known_optimum() -> None:
    # XOR with an RBF kernel: by symmetry every row has the same coefficient a and margin 1, with
    # scores a (1 + e2 - 2 e1) for the kernel values e1 of sides and e2 of diagonals.
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([0, 0, 1, 1])
    model = SVC(C=100.0, gamma=1.0, tol=1e-5).fit(X, y)
    side, diagonal = math.exp(-1.0), math.exp(-2.0)
    wanted = 1.0 / (1.0 + diagonal - 2.0 * side)
    np.testing.assert_allclose(np.abs(model.dual_coef_), wanted, rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, 0.0, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(X), [-1.0, -1.0, 1.0, 1.0], rtol=1e-5)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_sparse_rows_make_the_same_machine(data: Any) -> None:
    X, y = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (SVC(tol=1e-6).fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert sp.issparse(sparse.support_vectors_)
    assert sp.issparse(sparse.dual_coef_)
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(
            sparse.decision_function(rows), dense.decision_function(rows), atol=1e-4
        )


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_matrices_and_functions_are_kernels(data: Any) -> None:
    X, y = data()
    new = X[::3] + 0.1
    by_name = SVC(kernel="rbf", gamma=0.4, tol=1e-6).fit(X, y)
    wanted = by_name.decision_function(new)
    kernel = kernels.RBF(0.4)
    for model in (
        SVC(kernel=kernel, tol=1e-6),
        SVC(kernel=kernel.block, tol=1e-6),
        SVC(kernel=kernels.CallableKernel(kernel.block, psd=True), tol=1e-6, n_jobs=2),
    ):
        np.testing.assert_allclose(model.fit(X, y).decision_function(new), wanted, atol=1e-4)
    weights = np.ones(len(y))
    weights[::7] = 0.0
    for some in (None, weights):
        by_name.fit(X, y, some)
        matrix = SVC(kernel="precomputed", tol=1e-6).fit(kernel.block(X, X), y, some)
        assert matrix.support_vectors_.shape == (0, 0)
        values = matrix.decision_function(kernel.block(new, X))
        np.testing.assert_allclose(values, by_name.decision_function(new), atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_weights_count_rows(data: Any, loss: str) -> None:
    X, y = data()
    counts = np.arange(len(y)) % 3
    options = {"gamma": 0.3, "loss": loss, "tol": 3e-6}
    weighted = SVC(**options).fit(X, y, counts.astype(float))
    repeated = SVC(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = SVC(**options).fit(X[order], y[order], counts[order].astype(float))
    np.testing.assert_allclose(
        weighted.decision_function(X), shuffled.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.filterwarnings("ignore:probability is deprecated:FutureWarning")
def test_threads_never_change_a_bit(probability: bool) -> None:
    X, y = digits()
    one, two = (SVC(n_jobs=n, probability=probability).fit(X, y) for n in (1, 2))
    for name in ("dual_coef_", "intercept_", "support_", "probA_", "probB_", "n_iter_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    whole = one.decision_function(X)
    np.testing.assert_array_equal(two.decision_function(X), whole)
    parts = [one.decision_function(X[k : k + 7]) for k in range(0, len(X), 7)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
