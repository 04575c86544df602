"""``LinearSVCCV``: the scores are those of single fits, the chosen model is certified."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import hinge
from hinge import Interrupted, InvalidParameterError, LinearSVC, LinearSVCCV
from hinge.estimators import _folds, _options, linear_svc_cv
from hinge.estimators._folds import FoldEvent
from hinge.solvers import path_walk

CS = [1.0, 0.01, 0.1]


def _binary(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, n_features=6, flip_y=0.2, random_state=1)


def _single_scores(X: Any, y: Any, parameters: dict[str, Any], weight: Any = None) -> np.ndarray:
    """Return what a loop of single fits scores, with copies of the rows."""
    scores = []
    for train, test in StratifiedKFold(5).split(X, y):
        row = []
        for C in CS:
            model = LinearSVC(C=C, tol=1e-8, **parameters)
            own = None if weight is None else weight[train]
            model.fit(X[train], y[train], own)
            row.append(model.score(X[test], y[test], None if weight is None else weight[test]))
        scores.append(row)
    return np.array(scores)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"loss": "hinge", "intercept": "free"}, {"class_weight": "balanced"}],
    ids=["plain", "free", "balanced"],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_those_of_single_fits(
    classes: int, parameters: dict[str, Any], kind: str
) -> None:
    X, y = _binary() if classes == 2 else load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X = sp.csr_matrix(X) if kind == "sparse" else X
    model = LinearSVCCV(CS, tol=1e-8, max_iter=100_000, **parameters).fit(X, y)
    expected = _single_scores(X, y, {"max_iter": 100_000, **parameters})
    np.testing.assert_array_equal(model.scores_, expected)
    means = expected.mean(axis=0)
    best = [C for C, mean in zip(CS, means, strict=True) if mean == means.max()]
    assert min(best) == model.C_
    assert model.gaps_.shape == model.seconds_.shape == model.scores_.shape == (5, 3)
    assert model.gaps_.max() <= 1e-8


def test_the_model_is_that_of_all_rows_and_certified() -> None:
    X, y = _binary()
    model = LinearSVCCV(CS, tol=1e-8).fit(X, y)
    alone = LinearSVC(C=model.C_, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-3)
    assert model.certificate_.relative_gap <= 1e-8
    assert model.certificates_ == [model.certificate_]
    assert isinstance(model.best_estimator_, LinearSVC)
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))
    assert model.best_estimator_.C == model.C_
    assert model.settled(X).mean() > 0.9


def test_the_model_of_the_best_C_can_be_saved(tmp_path: Any) -> None:
    X, y = _binary()
    model = LinearSVCCV(CS).fit(X, y)
    hinge.save(model.best_estimator_, tmp_path / "best.hinge")
    again = hinge.load(tmp_path / "best.hinge")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_weights_count_in_training_and_in_the_score() -> None:
    X, y = _binary()
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    model = LinearSVCCV(CS, tol=1e-8).fit(X, y, weight)
    np.testing.assert_allclose(model.scores_, _single_scores(X, y, {}, weight), rtol=1e-12)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1"])
def test_the_bits_are_the_same_for_any_number_of_threads(scoring: str | None) -> None:
    X, y = _binary()
    models = [
        LinearSVCCV(CS, loss="hinge", scoring=scoring, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        assert model.coef_.tobytes() == models[0].coef_.tobytes()
        assert model.scores_.tobytes() == models[0].scores_.tobytes()
        assert model.gaps_.tobytes() == models[0].gaps_.tobytes()


def test_a_measure_of_ones_own() -> None:
    X, y = _binary()

    def mostly_first(estimator: Any, rows: Any, truth: Any) -> float:
        return float(np.mean(estimator.predict(rows) == 0) + 0 * len(truth))

    model = LinearSVCCV(CS, scoring=mostly_first).fit(X, y)
    folds = list(StratifiedKFold(5).split(X, y))
    single = LinearSVC(C=CS[0]).fit(X[folds[0][0]], y[folds[0][0]])
    assert model.scores_[0, 0] == mostly_first(single, X[folds[0][1]], y[folds[0][1]])
    assert model.score(X, y) == mostly_first(model, X, y)


def test_a_measure_with_weights() -> None:
    X, y = _binary()
    weight = np.linspace(0.5, 2.0, len(y))
    by_name = LinearSVCCV(CS, scoring="accuracy").fit(X, y, weight)
    own = LinearSVCCV(CS).fit(X, y, weight)
    np.testing.assert_allclose(by_name.scores_, own.scores_, rtol=1e-12)
    assert by_name.score(X, y, weight) == pytest.approx(own.score(X, y, weight))


def test_a_number_of_values_is_spread_over_eight_decades() -> None:
    model = LinearSVCCV(3, cv=2).fit(*load_iris(return_X_y=True))
    np.testing.assert_allclose(model.Cs_, [1e-4, 1.0, 1e4])


def test_splits_may_be_masks_and_may_repeat_rows() -> None:
    X, y = _binary()
    mask = np.arange(len(y)) % 3 == 0
    train = np.flatnonzero(~mask)
    numbers = LinearSVCCV(CS, cv=[(train, np.flatnonzero(mask))]).fit(X, y)
    masks = LinearSVCCV(CS, cv=[(~mask, mask)]).fit(X, y)
    assert masks.scores_.tobytes() == numbers.scores_.tobytes()
    twice = LinearSVCCV(CS, tol=1e-9, cv=[(np.tile(train, 2), mask)]).fit(X, y)
    doubled = LinearSVCCV([2 * C for C in CS], tol=1e-9, cv=[(train, mask)]).fit(X, y)
    np.testing.assert_array_equal(twice.scores_, doubled.scores_)


def test_without_refit_there_are_scores_but_no_model() -> None:
    X, y = _binary()
    model = LinearSVCCV(CS, refit=False).fit(X, y)
    assert model.C_ in CS
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError, match=r"scores but no model.*refit=True"):
        model.predict(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        LinearSVCCV(CS).predict(X)


def test_fits_that_stop_early_are_told() -> None:
    X, y = _binary()
    model = LinearSVCCV([1e-3, 1e3], max_iter=1, tol=1e-9, refit=False, solver="dual-coordinate")
    with pytest.warns(ConvergenceWarning, match="of the 10 fits of LinearSVCCV's folds have not"):
        model.fit(X, y)
    assert model.gaps_.max() > 1e-9


def test_a_time_limit_ends_it_with_a_model() -> None:
    X, y = _binary()
    model = LinearSVCCV(CS, tol=1e-12, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.coef_.shape == (1, 6)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_ctrl_c_during_cross_validation_keeps_the_scores(monkeypatch: Any, scoring: Any) -> None:
    X, y = _binary()
    whole = LinearSVCCV(CS, scoring=scoring).fit(X, y)
    model = LinearSVCCV(CS, scoring=scoring).fit(X, y)
    real = _folds.solve_path
    calls: list[Any] = []

    def pressed(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments)

    monkeypatch.setattr(_folds, "solve_path", pressed)
    with pytest.raises(Interrupted, match=r"the scores of the 6 fits of 15 that were done are ke"):
        model.fit(X, y)
    assert np.array_equal(model.scores_[:2], whole.scores_[:2])
    assert np.isnan(model.scores_[2:]).all()
    for name in ("C_", "coef_", "best_estimator_", "solutions_", "data_fingerprint_"):
        assert not hasattr(model, name), name


@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 1), (3, 1), (6, 3), (7, 3)])
def test_threads_that_are_left_share_the_work_on_a_fold(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int, expected: int
) -> None:
    X, y = _binary()
    seen = set()

    def solve_path(problem: Any, Cs: Any, solver: Any, settings: Any, *rest: Any) -> Any:
        seen.add(settings.threads)
        return path_walk.solve_path(problem, Cs, solver, settings, *rest)

    monkeypatch.setattr(_folds, "solve_path", solve_path)
    monkeypatch.setattr(_options, "thread_count", lambda jobs: jobs)
    LinearSVCCV(CS, cv=2, refit=False, n_jobs=n_jobs).fit(X, y)
    assert seen == {expected}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_sees_every_fold_and_can_end_it(n_jobs: int) -> None:
    X, y = _binary()
    seen: list[FoldEvent] = []
    threads = set()

    def callback(event: FoldEvent) -> None:
        seen.append(event)
        threads.add(threading.current_thread())

    watched = LinearSVCCV(CS, n_jobs=n_jobs, callback=callback).fit(X, y)
    assert np.array_equal(watched.scores_, LinearSVCCV(CS).fit(X, y).scores_)
    assert threads == {threading.main_thread()}
    assert {(event.fold, event.number) for event in seen} == set(np.ndindex(5, 3))
    assert {(event.n_folds, event.count, event.label) for event in seen} == {(5, 3, 1)}
    assert watched.best_estimator_.callback is None
    with pytest.raises(Interrupted, match="during cross-validation"):
        watched.set_params(callback=lambda _: True).fit(X, y)


def test_ctrl_c_during_the_last_fit_keeps_a_model(monkeypatch: Any) -> None:
    real = linear_svc_cv.solve_one_vs_rest

    def pressed(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*arguments)

    monkeypatch.setattr(linear_svc_cv, "solve_one_vs_rest", pressed)
    X, y = _binary()
    model = LinearSVCCV(CS)
    with pytest.raises(Interrupted, match="the model found so far is kept"):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape
    assert model.scores_.shape == (5, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": 0}, "Cs must be at least 1, or a list of values of C; got 0."),
        ({"Cs": [0.1, 0.0]}, r"Cs\[1\] must be greater than 0; got 0.0."),
        ({"Cs": True}, "Cs must be a list of values of C"),
        ({"callback": 3}, "callback must be None or callable with an event; got 3."),
        ({"refit": "yes"}, "refit must be True or False; got 'yes'."),
        ({"cv": []}, "cv must give at least one split"),
        ({"cv": [([0, 1, 500], [2])]}, "cv gives row 500 of 150; rows are numbered from 0."),
        ({"cv": [([0], [1, 2])]}, r"split 0 of cv trains on no row of class 0\. Use fewer"),
        ({"cv": [(range(150), [])]}, "split 0 of cv holds out no row of positive weight"),
        ({"scoring": lambda *_: np.nan}, "nothing to choose. Use another scoring"),
    ],
)
def test_what_cannot_be_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        LinearSVCCV(**parameters).fit(*_binary())


def test_held_out_rows_without_weight_are_refused() -> None:
    X, y = _binary()
    folds = list(KFold(3).split(X))
    weight = np.ones(len(y))
    weight[folds[1][1]] = 0.0
    with pytest.raises(InvalidParameterError, match="split 1 of cv holds out no row of positive"):
        LinearSVCCV(CS, cv=folds).fit(X, y, weight)


def test_it_clones() -> None:
    model = LinearSVCCV(CS, cv=3, scoring="f1", loss="hinge")
    assert clone(model).get_params() == model.get_params()


def test_a_limit_in_time_is_named_as_the_cause() -> None:
    with pytest.warns(ConvergenceWarning, match=r"\(see gaps_\)\. Raise time_limit, scale the fea"):
        LinearSVCCV(CS, cv=3, refit=False, time_limit=1e-9).fit(*_binary())
