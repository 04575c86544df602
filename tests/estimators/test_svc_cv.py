"""The choice of C and gamma by cross-validation, against scikit-learn's grid search."""

# ruff: noqa: ARG005 - a callback must take what it is given
from __future__ import annotations

import pickle
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from tests.estimators.data import three_classes, two_classes

from hinge import SVC, SVCCV, Interrupted, InvalidParameterError, UnsupportedError, kernels

CS, GAMMAS = [0.1, 1.0, 10.0], [0.03, 0.3]


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_scores_are_those_of_a_grid_search(data: Any, scoring: Any) -> None:
    X, y = data()
    model = SVCCV(CS, gammas=GAMMAS, scoring=scoring, tol=1e-4).fit(X, y)
    grid = {"gamma": GAMMAS, "C": CS}
    search = GridSearchCV(svm.SVC(tol=1e-4), grid, cv=5, scoring=scoring).fit(X, y)
    found = search.cv_results_
    splits = np.array([found[f"split{k}_test_score"] for k in range(5)])
    np.testing.assert_allclose(model.scores_, splits.reshape(5, 3, 2).transpose(0, 2, 1))
    assert model.scores_.mean(axis=0).max() == pytest.approx(search.best_score_)
    assert model.violations_.max() <= 1e-4
    assert model.gaps_.shape == model.seconds_.shape == model.scores_.shape
    alone = SVC(C=model.C_, gamma=model.gamma_, tol=1e-4).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.best_estimator_.get_params()["gamma"] == model.gamma_
    assert model.score(X, y) == pytest.approx(search.score(X, y), abs=0.02)


def test_without_gammas_there_is_one_axis_less() -> None:
    X, y = three_classes()
    model = SVCCV(4, gamma=0.1, cv=3).fit(X, y)
    assert model.scores_.shape == model.gaps_.shape == (3, 4)
    assert model.gamma_ is None
    assert model.gammas_ is None
    assert model.kernel_ == kernels.RBF(0.1)
    np.testing.assert_allclose(model.Cs_, np.logspace(-4, 4, 4))


def test_threads_never_change_a_bit() -> None:
    X, y = three_classes()
    one, two = (SVCCV(CS, gammas=GAMMAS, cv=3, n_jobs=n).fit(X, y) for n in (1, 2))
    for name in ("scores_", "gaps_", "violations_", "dual_coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_precomputed_kernel() -> None:
    X, y = two_classes()
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    wanted = SVCCV(CS, gamma=0.2, cv=cv).fit(X, y)
    matrix = kernels.RBF(0.2).block(X, X)
    for scoring in (None, "accuracy"):
        model = SVCCV(CS, kernel="precomputed", cv=cv, scoring=scoring).fit(matrix, y)
        np.testing.assert_allclose(model.scores_, wanted.scores_)
        assert model.C_ == wanted.C_
    with pytest.raises(UnsupportedError, match="has no gamma to change"):
        SVCCV(CS, gammas=GAMMAS, kernel="precomputed").fit(matrix, y)


def test_weights_count_in_training_and_scores() -> None:
    X, y = two_classes(n=40)
    counts = 1 + np.arange(40) % 2
    splits = [(np.arange(40) % 4 != k, np.arange(40) % 4 == k) for k in range(4)]
    weighted = SVCCV(CS, gamma=0.3, cv=splits, tol=1e-5).fit(X, y, counts)
    rows = np.repeat(np.arange(40), counts)
    repeated = [(train[rows], test[rows]) for train, test in splits]
    plain = SVCCV(CS, gamma=0.3, cv=repeated, tol=1e-5).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.scores_, plain.scores_)


def test_scores_without_a_model() -> None:
    X, y = two_classes()
    model = SVCCV(CS, refit=False).fit(X, y)
    assert model.C_ in CS
    with pytest.raises(NotFittedError, match="scores but no model"):
        model.predict(X)
    fitted = pickle.loads(pickle.dumps(SVCCV(CS).fit(X, y)))
    assert fitted.predict(X).shape == y.shape
    assert not hasattr(fitted, "predict_proba")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": 0}, "Cs must be at least 1"),
        ({"Cs": [1.0, -1.0]}, r"Cs\[1\] must be greater than 0"),
        ({"gammas": 3}, "gammas must be a list of values of gamma"),
        ({"gammas": []}, "gammas must have at least one value"),
        ({"gammas": [0.1, -1.0]}, r"gammas\[1\] must not be negative"),
        ({"refit": 2}, "refit must be True or False"),
        ({"kernel": "rfb"}, "Did you mean 'rbf'"),
    ],
)
def test_refused_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = two_classes()
    with pytest.raises(InvalidParameterError, match=message):
        SVCCV(**parameters).fit(X, y)


def test_fits_that_were_cut_short_are_told_of() -> None:
    X, y = two_classes()
    with pytest.warns(ConvergenceWarning) as caught:
        SVCCV([1.0, 100.0], max_iter=2, cv=3).fit(X, y)
    assert "6 of the 6 fits of SVCCV's folds have not reached tol=0.001" in str(caught[0].message)
    assert "SVC stopped at max_iter=2" in str(caught[1].message)


def test_events_say_where_they_are_from() -> None:
    X, y = three_classes()
    seen = set()
    SVCCV(
        [1.0, 2.0], gammas=[0.1, 0.2], cv=2,
        callback=lambda e: seen.add((e.fold, e.n_folds, e.label, e.number, e.count)),
    ).fit(X, y)  # fmt: skip
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert seen == {(f, 2, pair, n, 4) for f in range(2) for pair in pairs for n in range(4)}


@pytest.fixture
def _default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_default_handler")
def test_ctrl_c_keeps_the_scores() -> None:
    X, y = two_classes()

    def press(event: Any) -> None:
        if event.fold == 1:
            signal.raise_signal(signal.SIGINT)

    model = SVCCV(CS, cv=3, callback=press)
    with pytest.raises(Interrupted, match="scores of the 3 fits of 9 that were done are kept"):
        model.fit(X, y)
    assert np.isfinite(model.scores_[0]).all()
    assert np.isnan(model.scores_[1:]).all()
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_callback_may_end_it() -> None:
    X, y = two_classes()
    with warnings.catch_warnings(), pytest.raises(Interrupted):
        SVCCV(CS, callback=lambda event: True).fit(X, y)
