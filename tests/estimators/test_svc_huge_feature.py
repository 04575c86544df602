"""Gaussian machines of rows in which one feature is huge beside the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

import hinge
from hinge import SVC
from hinge.anytime.reasons import why_in_full
from hinge.kernels import RBF, Normalised
from hinge.machines import Machine
from hinge.rows import Rows
from hinge.solvers.registry import get_solver

TOL = 1e-5


def _data(huge: float, n: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a few groups, whose numbers are huge, and labels that others decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (classes - 2) * (X[:, 0] > 1.0)
    X[:, 2] = huge * rng.integers(1, 4, size=n)
    return X, y


def _exact(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-np.sum(np.square(A[:, None] - B[None]), axis=2))


@pytest.mark.parametrize("huge", [1e4, 1e7, 1e10, 1e100])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_decision_values_are_those_of_exact_distances(huge: float, form: Any) -> None:
    X, y = _data(huge, 200, 0)
    Z, _ = _data(huge, 100, 1)
    model = SVC(gamma=1.0, tol=TOL).fit(form(X), y)
    other = svm.SVC(kernel="precomputed", tol=TOL).fit(_exact(X, X), y)
    wanted = other.decision_function(_exact(Z, X))
    np.testing.assert_allclose(model.decision_function(form(Z)), wanted, atol=10.0 * TOL)
    assert np.array_equal(model.predict(form(Z)), wanted > 0.0)
    assert model.certificate_.kkt <= TOL
    assert isinstance(model.kernel_, RBF)


def test_values_have_the_same_bits_in_any_batch() -> None:
    X, y = _data(1e7, 200, 0)
    Z, _ = _data(1e7, 300, 1)
    model = SVC(gamma=1.0).fit(X, y)
    whole = model.decision_function(Z)
    for first, last in ((0, 1), (5, 8), (100, 300)):
        assert np.array_equal(model.decision_function(Z[first:last]), whole[first:last])
    model.set_params(n_jobs=2)
    assert np.array_equal(model.decision_function(Z), whole)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", ["rbf", Normalised(RBF(1.0))])
def test_several_classes(multiclass: str, kernel: Any) -> None:
    X, y = _data(1e8, 300, 0, classes=3)
    Z, labels = _data(1e8, 300, 1, classes=3)
    model = SVC(kernel=kernel, gamma=1.0, C=10.0, multiclass=multiclass).fit(X, y)
    assert model.score(Z, labels) > 0.8
    for n_jobs in (1, 2):
        again = SVC(kernel=kernel, gamma=1.0, C=10.0, multiclass=multiclass, n_jobs=n_jobs)
        assert np.array_equal(again.fit(X, y).dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("name", hinge.solvers.kernel_solver_names())
def test_every_method_sees_the_same_distances(name: str) -> None:
    X, y = _data(1e7, 100, 0)
    for loss, intercept in (("hinge", "free"), ("squared_hinge", "free"), ("hinge", "none")):
        problem = hinge.Problem(X, y, kernel=RBF(1.0), loss=loss, intercept=intercept)
        if not get_solver(name, problem).supports(problem):
            continue
        found = [hinge.solve(problem, method, hinge.Stop(gap=1e-6)) for method in (name, "auto")]
        assert all(solution.status is hinge.Status.SOLVED for solution in found)
        values = [solution.certificate.primal for solution in found]
        assert values[0] == pytest.approx(values[1], rel=2e-6)


def test_files_and_accelerated_machines_give_the_same_labels(tmp_path: Any) -> None:
    X, y = _data(1e8, 300, 0)
    Z, _ = _data(1e8, 200, 1)
    model = SVC(gamma=1.0).fit(X, y)
    path = tmp_path / "machine.hinge"
    hinge.models.save(model, path)
    loaded = hinge.models.load(path)
    assert np.array_equal(loaded.decision_function(Z), model.decision_function(Z))
    quick = hinge.accelerate(model, X)
    assert np.array_equal(quick.predict(Z), model.predict(Z))
    machine = Machine(model.kernel_, Rows(model.support_vectors_), np.ones((1, 1)), np.zeros(1))
    assert "products would lose what tells the support vectors apart" in why_in_full(machine)
