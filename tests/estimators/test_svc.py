"""The kernel classifier: its attributes, its parameters, and everything that may happen to it."""

# ruff: noqa: ARG001, ARG005 - a callback must take what it is given
from __future__ import annotations

import pickle
import signal
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context, svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import (
    SVC,
    Interrupted,
    InvalidDataError,
    InvalidParameterError,
    InvalidWeightsError,
    Status,
    UnsupportedError,
    kernels,
)
from hinge.errors import HingeError
from hinge.estimators._kernel_options import problems_at_once, solver_of
from hinge.rows import Rows
from hinge.solvers import Decomposition, DualCoordinate

LONG: dict[str, Any] = {"C": 1e6, "tol": 1e-12}


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_attributes_are_those_of_scikit_learn(data: Any, make: Any) -> None:
    X, y = data()
    labels = np.array(["a", "b", "c"])[y]
    ours, theirs = SVC().fit(make(X), labels), svm.SVC().fit(make(X), labels)
    for name in (
        *("support_", "support_vectors_", "dual_coef_", "intercept_", "n_support_", "n_iter_"),
        *("classes_", "class_weight_", "shape_fit_", "fit_status_", "n_features_in_"),
    ):
        mine, their = getattr(ours, name), getattr(theirs, name)
        assert np.ndim(mine) == np.ndim(their), name
        assert sp.issparse(mine) == sp.issparse(their), name
        if name not in ("support_", "support_vectors_", "dual_coef_"):
            assert np.shape(mine) == np.shape(their), name
        if hasattr(their, "dtype") and their.dtype.kind == "i":
            assert mine.dtype == their.dtype, name
    n_support = len(ours.support_)
    assert ours.n_support_.sum() == n_support
    assert ours.dual_coef_.shape == (len(ours.classes_) - 1, n_support)
    codes = np.searchsorted(ours.classes_, labels[ours.support_])
    assert np.all(np.diff(codes) >= 0)
    np.testing.assert_array_equal(np.bincount(codes), ours.n_support_)
    assert ours.fit_status_ == 0
    assert ours.probA_.shape == ours.probB_.shape == (0,)
    assert len(ours.solutions_) == len(ours.certificates_) == len(ours.intercept_)
    worst = max(c.relative_gap for c in ours.certificates_)
    assert ours.certificate_.relative_gap == worst
    assert all(c.kkt <= 1e-3 for c in ours.certificates_)
    assert not hasattr(ours, "predict_proba")


def test_support_vectors_keep_what_was_given() -> None:
    X, y = two_classes()
    model = SVC().fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    np.testing.assert_array_equal(model.support_vectors_, X.astype(np.float32)[model.support_])


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_weights_of_linear_kernels(data: Any, make: Any) -> None:
    X, y = data()
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(make(X), y)
    values = np.atleast_2d(model.decision_function(make(X)).T).T
    np.testing.assert_allclose(make(X) @ model.coef_.T + model.intercept_, values, atol=1e-9)
    theirs = svm.SVC(kernel="linear").fit(make(X), y).coef_
    assert model.coef_.shape == theirs.shape
    assert sp.issparse(model.coef_) == sp.issparse(theirs)
    with pytest.raises(AttributeError, match="linear kernel only"):
        _ = SVC().fit(X, y).coef_


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"C": 0}, r"C must be greater than 0; got 0"),
    ({"C": float("inf")}, r"C must be finite; got inf\. A hard margin .* hinge\.LinearSVC"),
    ({"kernel": "rfb"}, r"kernel must be one of .* got 'rfb'. Did you mean 'rbf'\?"),
    ({"kernel": 3}, r"kernel must be one of .* got 3"),
    ({"degree": -1}, r"degree must be an integer of at least 0; got -1"),
    ({"gamma": "large"}, r"gamma must be one of 'auto', 'scale'; got 'large'"),
    ({"gamma": -1.0}, r"gamma must not be negative; got -1.0"),
    ({"coef0": "one"}, r"coef0 must be a number; got 'one'"),
    ({"tol": -1.0}, r"tol must not be negative; got -1.0"),
    ({"cache_size": 0}, r"cache_size must be greater than 0; got 0"),
    ({"shrinking": "yes"}, r"shrinking must be True or False; got 'yes'"),
    ({"probability": "maybe"}, r"probability must be True or False; got 'maybe'"),
    ({"max_iter": -2}, r"max_iter must be -1 \(no limit\) or a whole number at least 0; got -2"),
    ({"decision_function_shape": "ov"}, r"decision_function_shape must be one of 'ovo', 'ovr'"),
    ({"break_ties": 1}, r"break_ties must be True or False; got 1"),
    ({"loss": "logistic"}, r"loss must be one of 'hinge', 'huber', 'squared_hinge'"),
    ({"solver": "decomposition2"}, r"solver must be one of .* Did you mean 'decomposition'\?"),
    ({"class_weight": {0: 0.0}}, r"class_weight gives class .* the weight 0.0"),
    ({"n_jobs": 0}, r"n_jobs must be None or a whole number other than 0"),
    ({"time_limit": -1}, r"time_limit must be greater than 0; got -1"),
    ({"callback": 3}, r"callback must be None or callable with an event; got 3"),
    ({"warm_start": 1}, r"warm_start must be True or False; got 1"),
]


@pytest.mark.parametrize(("parameters", "message"), INVALID, ids=lambda value: str(value)[:40])
def test_refused_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = two_classes()
    with pytest.raises(InvalidParameterError, match=message):
        SVC(**parameters).fit(X, y)


def test_a_solver_that_does_not_take_kernels_says_so() -> None:
    X, y = two_classes()
    with pytest.raises(UnsupportedError, match="for linear machines, and the problem has a kernel"):
        SVC(solver=DualCoordinate()).fit(X, y)
    by_name, by_object = SVC(solver="decomposition"), SVC(solver=Decomposition(50.0))
    np.testing.assert_array_equal(
        by_name.fit(X, y).decision_function(X), by_object.fit(X, y).decision_function(X)
    )


def test_data_that_a_kernel_cannot_take() -> None:
    X, y = two_classes()
    with pytest.raises(InvalidDataError, match="must be square"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(InvalidDataError, match="takes values of at least 0"):
        SVC(kernel="chi2").fit(X, y)
    with pytest.raises(InvalidDataError, match="must return numbers of shape"):
        SVC(kernel=lambda A, B: np.ones(3)).fit(X, y)
    model = SVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X)
    assert model.__sklearn_tags__().input_tags.pairwise
    assert not SVC().__sklearn_tags__().input_tags.pairwise
    assert cross_val_score(SVC(kernel="precomputed"), X @ X.T, y).shape == (5,)


def test_a_class_without_weight_is_refused() -> None:
    X, y = three_classes()
    with pytest.raises(InvalidWeightsError, match=r"^class '?2'? has no row of positive weight"):
        SVC().fit(X, y, np.where(y == 2, 0.0, 1.0))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_of_weight_zero_are_absent(n_jobs: int) -> None:
    X, y = three_classes()
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0)
    kept = weights > 0
    part = SVC(gamma=0.3, n_jobs=n_jobs).fit(X[kept], y[kept])
    whole = SVC(gamma=0.3, n_jobs=n_jobs).fit(X, y, weights)
    np.testing.assert_array_equal(whole.decision_function(X), part.decision_function(X))
    assert np.all(kept[whole.support_])


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_clones_pickles_and_names(data: Any) -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    model = SVC(C=2.0, kernel=kernels.Laplacian(0.2)).fit(frame, y)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"x0": "y0"}))
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.decision_function(frame), model.decision_function(frame))
    assert twin.certificate_.gap == model.certificate_.gap
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_certificates_hold_no_row_but_support_vectors() -> None:
    X, y = three_classes()
    model = SVC(C=10.0).fit(X, y)
    for certificate, (i, j) in zip(model.certificates_, [(0, 1), (0, 2), (1, 2)], strict=True):
        region: Any = certificate.region
        assert region.rows.n_rows < np.count_nonzero((y == i) | (y == j))
        # Pairs share them; what is stored of one has its own alone.
        assert region.rows.n_rows == len(model.support_)
        stored = pickle.loads(pickle.dumps(region))
        assert stored.rows.n_rows == len(region.support)


def test_routing_of_weights() -> None:
    X, y = two_classes()
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, SVC().set_fit_request(sample_weight=True))
        weights = np.where(y == 1, 3.0, 1.0)
        routed = pipeline.fit(X, y, sample_weight=weights)
    alone = SVC().fit(StandardScaler().fit_transform(X), y, weights)
    np.testing.assert_array_equal(routed[-1].dual_coef_, alone.dual_coef_)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_warm_starts(data: Any) -> None:
    X, y = data()
    model = SVC(warm_start=True, gamma=0.3).fit(X, y)
    cold = sum(solution.steps for solution in model.solutions_)
    model.fit(X, y)
    assert sum(solution.steps for solution in model.solutions_) < 0.5 * cold
    fresh = SVC(gamma=0.3, C=3.0).fit(X, y)
    model.set_params(C=3.0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=2e-2)
    # Other rows and other classes are begun anew.
    model.fit(X[:50], np.arange(50) % 2)
    np.testing.assert_array_equal(
        model.dual_coef_, SVC(C=3.0, gamma=0.3).fit(X[:50], np.arange(50) % 2).dual_coef_
    )


def test_limits_warn_and_say_what_is_known() -> None:
    X, y = cancer()
    message = r"SVC stopped at max_iter=3 .* violation .* \(tol=0.001\).*raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = SVC(max_iter=3).fit(X, y)
    assert caught[0].filename == __file__
    assert model.fit_status_ == 1
    assert model.n_iter_.tolist() == [3]
    X, y = three_classes()
    with pytest.warns(ConvergenceWarning, match=r"for 3 of 3 pairs of classes, 0 and 1 being"):
        SVC(max_iter=1).fit(X, y)
    assert SVC(tol=1e-12).fit(X, y).certificate_.kkt <= 1e-12  # in float64
    with pytest.warns(ConvergenceWarning, match=r"Rounding is what is left, .* loosen tol"):
        SVC(tol=1e-18).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVC(tol=0).fit(X, y).certificate_.kkt < 1e-5
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .* \(tol=0\)"):
        SVC(tol=0, max_iter=3).fit(X, y)


@pytest.mark.parametrize("of_size", [1, 7, 90])
def test_a_precomputed_row_has_the_same_bits_in_any_batch(of_size: int) -> None:
    X, y = two_classes(n=90)
    K = X @ X.T
    model = SVC(kernel="precomputed").fit(K, y)
    batches = [model.decision_function(K[k : k + of_size]) for k in range(0, len(K), of_size)]
    np.testing.assert_array_equal(np.concatenate(batches), model.decision_function(K))


def test_a_time_limit_ends_a_fit() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 5)), random.integers(0, 3, size=3000)
    with pytest.warns(ConvergenceWarning, match="stopped at the time limit"):
        model = SVC(C=1e8, kernel="poly", degree=5, time_limit=0.2).fit(X, y)
    assert Status.TIME_LIMIT in {solution.status for solution in model.solutions_}
    assert set(model.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_see_pairs_on_the_calling_thread(n_jobs: int) -> None:
    X, y = three_classes()
    seen: list[tuple[int, Any]] = []
    threads = set()

    def note(event: Any) -> None:
        threads.add(threading.get_ident())
        seen.append((event.number, event.label))
        assert event.point().dual_coef.shape == (100,)

    model = SVC(callback=note, n_jobs=n_jobs).fit(X, np.array(["a", "b", "c"])[y])
    assert threads == {threading.get_ident()}
    assert set(seen) == {(0, ("a", "b")), (1, ("a", "c")), (2, ("b", "c"))}
    plain = SVC().fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)


def test_a_callback_ends_everything_without_a_warning() -> None:
    X, y = three_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(callback=lambda event: True).fit(X, y)
    # The first pair may have arrived in the very step after which it was told to end.
    assert {s.status for s in model.solutions_[1:]} == {Status.INTERRUPTED}
    assert "before this pair of classes began" in model.certificates_[1].notes[0]
    assert set(model.predict(X)) <= {0, 1, 2}


def test_progress_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    X, y = three_classes()
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    SVC(verbose=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 3
    assert lines[0].startswith("SVC, classes 0 and 1 (1 of 3): solved, pass ")
    assert "violation" in lines[0]


@pytest.fixture
def _default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_default_handler")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.filterwarnings("ignore:probability is deprecated:FutureWarning")
def test_ctrl_c_keeps_the_model(data: Any, n_jobs: int) -> None:
    X, y = data()
    pressed = []

    def press_once(event: Any) -> None:
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    model = SVC(n_jobs=n_jobs, callback=press_once, probability=True)
    with pytest.raises(Interrupted, match="the model found so far is kept") as caught:
        model.fit(X, y)
    assert len(caught.value.solutions) >= 1
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict(X).shape == y.shape
    assert model.fit_status_ == 1
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(X)


@pytest.mark.usefixtures("_default_handler")
def test_ctrl_c_arrives_while_native_code_runs() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(6000, 20)), random.integers(0, 2, size=6000)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(Interrupted):
        SVC(**LONG).fit(X, y)
    timer.join()


TAMPERINGS: dict[str, Any] = {
    "support_vectors_": [np.zeros((3, 4)), np.full((2, 2), np.nan), None, "x", [[1], [2, 3]]],
    "dual_coef_": [np.zeros((1, 1)), np.inf, None, "text", [[1], [2, 3]], sp.csr_array((2, 5))],
    "intercept_": [np.zeros(2), [np.nan], None, "text"],
    "n_support_": [[-5, 100], [1, 1], [2**62, 2**62], [1.5, 2.5], None, "x"],
    "classes_": [[0], np.zeros((2, 2)), np.arange(7), None],
    "kernel_": [None, "rbf", 3, kernels.RBF()],
    "n_features_in_": [3.5, None, 10**9, True],
}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampered_attributes_are_refused(name: str, make: Any) -> None:
    X, y = two_classes()
    for value in TAMPERINGS[name]:
        model = SVC().fit(make(X), y)
        setattr(model, name, value)
        with pytest.raises((HingeError, ValueError, TypeError)):
            model.predict(make(X))


def test_tampered_structure_is_refused() -> None:
    X, y = two_classes()
    for name, value in (("indices", 2**30), ("indices", -3), ("indptr", 10**9)):
        model = SVC().fit(sp.csr_array(X), y)
        vectors = sp.csr_array(model.support_vectors_, copy=True)
        getattr(vectors, name)[-1] = value
        model.support_vectors_ = vectors
        with pytest.raises((InvalidDataError, ValueError)):
            model.predict(X)
    matrix = SVC(kernel="precomputed").fit(X @ X.T, y)
    for columns in (matrix.support_ + 10**6, matrix.support_ - 100, matrix.support_ * 1.5):
        matrix.support_ = columns
        with pytest.raises(InvalidParameterError, match="support_ must hold numbers"):
            matrix.predict(X @ X.T)


def test_values_that_overflow_are_refused() -> None:
    X, y = two_classes()
    model = SVC(kernel="poly", degree=3).fit(X, y)
    with pytest.raises(InvalidDataError, match="decision values of row 0 overflow"):
        model.predict(1e150 * np.ones((1, X.shape[1])))


def test_threads_on_one_problem_share_its_cache() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = (np.sin(3.0 * X[:, 0]) + X[:, 1] > 0.3 * rng.normal(size=800)).astype(int)
    one, two = (SVC(C=10.0, cache_size=1.5, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.parametrize(("cache_size", "at_once"), [(0.7, 1), (3.0, 2), (200.0, 3)])
def test_what_pairs_keep_does_not_depend_on_threads(cache_size: float, at_once: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.digitize(np.sin(3.0 * X[:, 0]) + 0.5 * rng.normal(size=600), (-0.5, 0.5))
    models = [SVC(C=10.0, cache_size=cache_size, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    sizes = [int(np.sum((y == a) | (y == b))) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert problems_at_once(models[0], sizes, Rows(X)) == at_once
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].support_, other.support_)
        np.testing.assert_array_equal(models[0].dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(models[0].intercept_, other.intercept_)


@pytest.mark.parametrize(
    "solver", ["auto", "decomposition", "smo", "active-set", "gradient-projection"]
)
def test_every_solver_that_keeps_kernel_rows_has_its_share_of_the_cache(solver: str) -> None:
    found: Any = solver_of(SVC(solver=solver, cache_size=50, shrinking=False), at_once=2)
    assert found.cache_mb == 25.0
    assert getattr(found, "shrinking", False) is False
    X, y = three_classes()
    model = SVC(solver=solver, cache_size=1, tol=1e-2).fit(X, y)
    assert {solution.status for solution in model.solutions_} == {Status.SOLVED}


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_a_matrix_that_is_not_symmetric_is_refused(form: Any) -> None:
    X, y = two_classes()
    K = X @ X.T
    K[3, 7], K[7, 3] = 2.0, -1.5
    K[5, 2] += 0.1
    one, other = r"X\[3, 7\] is 2", r"X\[7, 3\] is -1.5"
    message = f"must be symmetric; ({one} but {other}|{other} but {one})"
    with pytest.raises(HingeError, match=message):
        SVC(kernel="precomputed").fit(form(K), y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rounding_is_no_lack_of_symmetry(form: Any) -> None:
    X, y = two_classes()
    X = np.hstack((X, np.random.default_rng(0).normal(size=(len(y), 3000)))).astype(np.float32)
    K = X @ X.T
    backwards = np.ascontiguousarray(X[:, ::-1])
    K = np.tril(K) + np.triu(backwards @ backwards.T, 1)  # other sums, other rounding
    K[0, 1] *= 1.001
    model = SVC(kernel="precomputed").fit(form(K), y)
    assert model.solution_.status is Status.SOLVED
    SVC(kernel="precomputed").fit(
        form(np.diag(np.where(y == 1, 1.0, 2.0))), y
    )  # rows of zeros but one
