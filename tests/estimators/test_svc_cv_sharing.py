"""Folds of a kernel machine share kernel values: the same scores, certificates and bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from tests.estimators.data import three_classes, two_classes

from hinge import SVCCV
from hinge.estimators import _kernel_folds
from hinge.machines.kernel_source import KernelSource

CS, GAMMAS = [0.1, 1.0, 10.0], [0.03, 0.3]


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[KernelSource]:
    """Return a list to which everything that computes kernel values is added."""
    made: list[KernelSource] = []
    begin = KernelSource.__init__

    def noted(self: Any, *args: Any) -> None:
        begin(self, *args)
        made.append(self)

    monkeypatch.setattr(KernelSource, "__init__", noted)
    return made


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folds of few rows share as well."""
    monkeypatch.setattr(_kernel_folds, "_FEWEST_ROWS", 1)


def values_and_model(sources: list[KernelSource], X: Any, y: Any, **options: Any) -> Any:
    sources.clear()
    model = SVCCV(**options).fit(X, y)
    return sum(source.computed for source in sources), model


def test_kernel_values_serve_all_folds(
    sources: list[KernelSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = two_classes(n=1200)
    options = {"Cs": CS, "gammas": GAMMAS, "refit": False}
    together, model = values_and_model(sources, X, y, **options)
    monkeypatch.setattr(_kernel_folds, "_FEWEST_ROWS", 10**9)
    apart, other = values_and_model(sources, X, y, **options)
    assert together < 0.5 * apart
    assert np.abs(model.scores_ - other.scores_).max() <= 2 / 240  # a row at the boundary
    assert model.violations_.max() <= 1e-3


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_every_fit_is_certified(loss: str, make: Any) -> None:
    X, y = three_classes()
    model = SVCCV(CS, gammas=GAMMAS, loss=loss, tol=1e-4).fit(make(X), y)
    assert model.violations_.max() <= 1e-4
    if loss == "hinge":
        grid = {"gamma": GAMMAS, "C": CS}
        search = GridSearchCV(svm.SVC(tol=1e-4), grid, cv=5).fit(X, y)
        splits = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(5)])
        np.testing.assert_allclose(model.scores_, splits.reshape(5, 3, 2).transpose(0, 2, 1))


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("options", [{}, {"cache_size": 0.05}, {"solver": "smo"}])
def test_bits_do_not_depend_on_threads(options: Any) -> None:
    X, y = three_classes()
    one, two = (SVCCV(CS, gammas=GAMMAS, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    for name in ("scores_", "gaps_", "violations_", "dual_coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.usefixtures("few_rows")
def test_rows_without_weight_are_absent() -> None:
    X, y = two_classes(n=90)
    weights = np.where(np.arange(90) % 3 == 0, 0.0, 1.5)
    there = np.flatnonzero(weights)
    halves = [there[::4], there[1::4], there[2::4], there[3::4]]
    splits = [(np.setdiff1d(there, part), part) for part in halves]
    place = np.full(90, -1)
    place[there] = np.arange(len(there))
    own = [(place[train], place[test]) for train, test in splits]
    whole = SVCCV(CS, gamma=0.1, cv=splits, tol=1e-6).fit(X, y, weights)
    part = SVCCV(CS, gamma=0.1, cv=own, tol=1e-6).fit(X[there], y[there], weights[there])
    np.testing.assert_allclose(whole.scores_, part.scores_)


@pytest.mark.usefixtures("few_rows")
def test_folds_of_few_rows_have_their_own(
    sources: list[KernelSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = two_classes(n=300)
    options = {"Cs": CS, "gamma": 0.1, "refit": False}
    options["cv"] = ShuffleSplit(4, train_size=0.2, random_state=0)
    found, _ = values_and_model(sources, X, y, **options)
    monkeypatch.setattr(_kernel_folds, "_FEWEST_ROWS", 10**9)
    assert found == values_and_model(sources, X, y, **options)[0]
    small = {"Cs": CS, "gamma": 0.1, "refit": False, "cache_size": 0.1}
    alone, _ = values_and_model(sources, X, y, **small)
    monkeypatch.setattr(_kernel_folds, "_FEWEST_ROWS", 1)
    assert alone == values_and_model(sources, X, y, **small)[0]
