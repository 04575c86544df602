"""``hinge.accelerate`` takes machines of several makers, and refuses what is none."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as ProcessRBF  # noqa: N811
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import NuSVC, OneClassSVM

import hinge
from hinge.errors import InvalidDataError, InvalidParameterError, UnsupportedError
from hinge.kernels import RBF

RNG = np.random.default_rng(11)
X = RNG.normal(size=(240, 4))
Y2 = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
Y4 = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
NEW = RNG.normal(size=(500, 4))


@pytest.mark.parametrize("y", [Y2, Y4], ids=["two", "four"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid", "laplacian"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_of_our_machines(y: np.ndarray, kernel: str) -> None:
    model = hinge.SVC(kernel=kernel, max_iter=500).fit(X, y)
    fast = hinge.accelerate(model, candidates=X, queries=NEW[:100])
    np.testing.assert_array_equal(fast.predict(NEW), model.predict(NEW))
    assert fast.explain()


@pytest.mark.parametrize("model", [ScikitSVC(), ScikitSVC(kernel="poly"), NuSVC(nu=0.3)])
@pytest.mark.parametrize("y", [Y2, Y4], ids=["two", "four"])
def test_labels_of_scikit_learns_machines(model, y: np.ndarray) -> None:
    model.set_params(break_ties=True, decision_function_shape="ovr") if y is Y4 else None
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(hinge.accelerate(fitted).predict(NEW), fitted.predict(NEW))
    as_sparse = type(model)(**model.get_params()).fit(sp.csr_matrix(X), y)
    fast = hinge.accelerate(as_sparse)
    np.testing.assert_array_equal(fast.predict(sp.csr_matrix(NEW)), fitted.predict(NEW))


def test_rows_where_the_other_library_differs_are_listed() -> None:
    # Without break_ties scikit-learn gives equal votes to the first class, whatever the values.
    model = ScikitSVC(gamma=0.2, break_ties=False).fit(X, np.arange(240) % 5)
    theirs = model.predict(NEW)
    fast = hinge.accelerate(model)
    found = fast.differences(NEW, theirs)
    wrong = np.flatnonzero(fast.predict(NEW) != theirs)
    assert found.count == len(wrong) > 5
    np.testing.assert_array_equal(found.rows, wrong)
    np.testing.assert_array_equal(found.others, theirs[wrong])
    np.testing.assert_array_equal(found.labels, fast.predict(NEW)[wrong])
    assert found.values.shape == (len(wrong), 10)
    assert str(found).startswith(f"{len(wrong)} of 500 labels differ:\nrow {wrong[0]}: ")
    assert str(found).endswith(f"and {len(wrong) - 5} more.")
    assert str(fast.differences(NEW, fast.predict(NEW))) == "All 500 labels agree."
    with pytest.raises(InvalidDataError, match="one for each of 500 rows; got shape"):
        fast.differences(NEW, theirs[:3])


def test_labels_of_a_one_class_machine() -> None:
    model = OneClassSVM(nu=0.2).fit(X)
    np.testing.assert_array_equal(hinge.accelerate(model).predict(NEW), model.predict(NEW))


def test_labels_of_one_against_the_rest() -> None:
    model = OneVsRestClassifier(ScikitSVC()).fit(X, Y4)
    np.testing.assert_array_equal(hinge.accelerate(model).predict(NEW), model.predict(NEW))


def test_whether_the_mean_of_a_process_is_above_a_threshold() -> None:
    kernel = ConstantKernel(2.0) * ProcessRBF(1.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, X[:, 0])
    fast = hinge.accelerate(model, threshold=0.3)
    mean = model.predict(NEW)
    np.testing.assert_array_equal(fast.predict(NEW), mean >= 0.3)
    lower, upper = fast.decision_bounds(NEW)
    assert np.all((lower <= mean - 0.3 + 1e-9) & (mean - 0.3 - 1e-9 <= upper))


def test_labels_of_a_kernel_fisher_discriminant() -> None:
    K = RBF(0.3).block(X, X)
    side = np.where(Y2 == "yes", 1.0, -1.0)
    dual = np.linalg.solve(K + 0.1 * np.eye(len(K)), side)
    fast = hinge.accelerate((X, dual, -0.1, RBF(0.3)), queries=NEW[:50])
    values = RBF(0.3).block(NEW, X) @ dual - 0.1
    np.testing.assert_array_equal(fast.predict(NEW), np.where(values >= 0.0, 1, -1))


def test_several_functions_as_arrays() -> None:
    dual = RNG.normal(size=(3, 240))
    parts = {"support_vectors": X, "dual_coef": dual, "intercept": np.zeros(3), "kernel": RBF(0.1)}
    values = RBF(0.1).block(NEW, X) @ dual.T
    np.testing.assert_array_equal(hinge.accelerate(parts).predict(NEW), values.argmax(axis=1))


@pytest.mark.parametrize("ordering", ["given", "sgma", "minwz", "meanlh", "hybrid"])
def test_every_order_of_basis_points_proves_the_same_labels(ordering: str) -> None:
    model = hinge.SVC(gamma=0.1).fit(X, Y2)
    fast = hinge.accelerate(model, X, NEW[:60], ordering=ordering, n_points=40)
    np.testing.assert_array_equal(fast.predict(NEW), model.predict(NEW))
    assert fast.parts.embedding is not None
    residuals = np.array([one.residual[0] for one in fast.parts.embedding.exits])
    assert np.all(np.diff(residuals) <= 1e-9)


def test_a_budget_leaves_labels_open_and_says_so() -> None:
    model = hinge.SVC(gamma=5.0).fit(X, Y2)
    fast = hinge.accelerate(model)
    nothing = fast.predict_certified(NEW, max_terms=0)
    assert not nothing.decided.any()
    assert np.isneginf(nothing.lower).all()
    assert nothing.terms.max() == 0
    assert set(nothing.labels) <= {"yes", "no"}
    assert not fast.predict_certified(NEW, seconds=0.0).decided.any()
    right = model.predict(NEW)
    for budget in (20, 100, 10_000):
        found = fast.predict_certified(NEW, max_terms=budget)
        assert found.terms.max() <= budget
        np.testing.assert_array_equal(found.labels[found.decided], right[found.decided])
    assert found.decided.all()


def test_a_predictor_can_be_pickled() -> None:
    fast = hinge.accelerate(hinge.SVC().fit(X, Y2))
    fast.predict(NEW)
    again = pickle.loads(pickle.dumps(fast))
    np.testing.assert_array_equal(again.predict(NEW), fast.predict(NEW))


def test_decision_values_are_those_of_the_machine() -> None:
    model = hinge.SVC().fit(X, Y2)
    fast = hinge.accelerate(model)
    np.testing.assert_array_equal(fast.decision_function(NEW), model.decision_function(NEW))


def test_a_machine_without_support_vectors_is_its_intercept() -> None:
    model = ScikitSVC().fit(X, Y2)
    model.support_vectors_, model.support_ = X[:0], model.support_[:0]
    model.dual_coef_, model._n_support = np.empty((1, 0)), np.zeros(2, dtype=np.int32)
    fast = hinge.accelerate(model)
    assert len(set(fast.predict(NEW))) == 1
    assert "no support vectors" in fast.explain()


@pytest.mark.parametrize(
    ("machine", "error", "words"),
    [
        (object(), UnsupportedError, "accelerate takes"),
        ({"dual_coef": [1.0]}, InvalidParameterError, "support_vectors is missing"),
        ((X, np.ones(3), 0.0, "rbf"), InvalidParameterError, "dual_coef must hold numbers"),
        ((X, np.full(240, np.nan), 0.0, "rbf"), InvalidParameterError, "not finite"),
        ((X, np.ones(240), np.inf, "rbf"), InvalidParameterError, "intercept holds"),
        ((X, np.ones(240), 0.0, "precomputed"), UnsupportedError, "not a kernel matrix"),
        ((np.full((2, 2), np.nan), np.ones(2), 0.0, "rbf"), InvalidDataError, "NaN"),
    ],
)
def test_what_is_no_machine_is_refused(machine, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        hinge.accelerate(machine)


def test_processes_of_other_kernels_are_refused() -> None:
    model = GaussianProcessRegressor(Matern(), optimizer=None).fit(X, X[:, 0])
    with pytest.raises(UnsupportedError, match="must have an RBF kernel"):
        hinge.accelerate(model)
    wide = GaussianProcessRegressor(ProcessRBF(np.ones(4)), optimizer=None).fit(X, X[:, 0])
    with pytest.raises(UnsupportedError, match="one length scale"):
        hinge.accelerate(wide)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ordering": "best"}, "ordering"),
        ({"n_points": -1}, "n_points"),
        ({"n_points": 1.5}, "n_points"),
        ({"threshold": "high"}, "threshold"),
    ],
)
def test_options_out_of_range_are_refused(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        hinge.accelerate((X, np.ones(240), 0.0, "rbf"), **options)


def test_queries_of_another_width_are_refused() -> None:
    fast = hinge.accelerate((X, np.ones(240), 0.0, "rbf"))
    with pytest.raises(InvalidDataError, match="X has 3 features"):
        fast.predict(NEW[:, :3])
    with pytest.raises(InvalidDataError, match="candidates have 3 features"):
        hinge.accelerate((X, np.ones(240), 0.0, "rbf"), candidates=NEW[:, :3])
    for options in ({"seconds": -1.0}, {"max_terms": -1}, {"max_terms": 2.5}):
        with pytest.raises(InvalidParameterError):
            fast.predict_certified(NEW, **options)
    with pytest.raises(InvalidDataError, match="NaN"):
        fast.predict(np.full((1, 4), np.nan))


def test_values_that_overflow_are_refused() -> None:
    fast = hinge.accelerate((X * 1e100, np.full(240, 1e200), 0.0, "linear"))
    with pytest.raises(InvalidDataError, match="row 0 overflow"):
        fast.predict(NEW * 1e100)


def test_a_precomputed_kernel_is_evaluated_in_full() -> None:
    K = RBF(0.3).block(X, X)
    model = hinge.SVC(kernel="precomputed").fit(K, Y2)
    fast = hinge.accelerate(model)
    np.testing.assert_array_equal(fast.predict(K), model.predict(K))
    assert "evaluated in full" in fast.explain()
