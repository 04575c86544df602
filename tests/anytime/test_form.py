"""Quadratic forms: intervals hold exact values after any number of eigenvectors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.anytime.machines import random_machine

import hinge
from hinge.anytime import AnytimePredictor, Plan, SignRule, VoteRule
from hinge.anytime.build import Parts
from hinge.anytime.form import Form, Forms, FormStage
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.kernels import RBF, Kernel, Normalised, Polynomial
from hinge.machines import Machine
from hinge.rows import Rows

KERNELS: dict[str, Kernel] = {
    "plain": Polynomial(2, 0.7, 1.3),
    "homogeneous": Polynomial(2, 3.0, 0.0),
    "normalised": Normalised(Polynomial(2, 0.7, 1.3)),
    "normalised homogeneous": Normalised(Polynomial(2, 1.0, 0.0)),
}


def exact(machine: Machine, x: np.ndarray, function: int = 0) -> Fraction:
    """Return the true value: that of a normalised kernel of degree 2 is a fraction too."""
    is_normalised = isinstance(machine.kernel, Normalised)
    kernel = machine.kernel.kernel if is_normalised else machine.kernel
    gamma, coef0 = Fraction(float(kernel.gamma)), Fraction(float(kernel.coef0))

    def base(a: np.ndarray, b: np.ndarray) -> Fraction:
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return gamma * sum((Fraction(p) * Fraction(q) for p, q in pairs), Fraction(0)) + coef0

    total = Fraction(float(machine.intercept[function]))
    for row, c in zip(machine.support.matrix, machine.coefficients[:, function], strict=True):
        value = base(row, x) ** 2
        if is_normalised:
            length = base(row, row) * base(x, x)
            value = value / length if length else Fraction(0)
        total += Fraction(float(c)) * value
    return total


def reports(machine: Machine, X: np.ndarray | sp.csr_array) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the bounds of all queries after every number of eigenvectors."""
    functions = Functions.of(machine)
    rows = Rows(X)
    found = []

    def settle(ids, lower, upper, _cost) -> np.ndarray:
        found.append((lower, upper))
        return np.ones(len(ids), dtype=bool)

    stage = FormStage(functions, 100, tuple(range(1, 101)))
    stage.run(Queries(Sides(functions), rows), np.arange(rows.n_rows), settle, 1 << 40)
    return found


def predictor(machine: Machine, rule: SignRule | VoteRule, most: int = 100) -> AnytimePredictor:
    """Return a predictor of the form alone."""
    functions = Functions.of(machine)
    parts = Parts(Plan(form=most), functions, None, Sides(functions))
    n_codes = rule.n_classes if isinstance(rule, VoteRule) else 2
    return AnytimePredictor(machine, rule, np.arange(n_codes), machine.support.n_features, parts)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_intervals_hold_fractions_after_every_eigenvector(name: str, is_sparse: bool) -> None:
    machine, X = random_machine(KERNELS[name], seed=1, n=25, d=5, outputs=2)
    X = X[:12]
    found = reports(machine, sp.csr_array(X) if is_sparse else X)
    assert len(found) == 5 + ("homogeneous" not in name)
    true = [[exact(machine, x, f) for f in range(2)] for x in X]
    for lower, upper in found:
        for row, values in enumerate(true):
            for f, value in enumerate(values):
                assert Fraction(float(lower[row, f])) <= value <= Fraction(float(upper[row, f]))
    lower, upper = found[-1]
    size = np.abs(machine.coefficients).sum() * (1.0 + np.abs(lower))
    assert np.all(upper - lower < 1e-9 * size)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_those_of_the_full_evaluation(name: str, dtype: type) -> None:
    rng = np.random.default_rng(4)
    S = rng.normal(size=(150, 20)).astype(dtype)
    S[100:] = S[:50]
    machine, _ = random_machine(KERNELS[name], seed=7, matrix=S, d=20)
    X = rng.normal(size=(3000, 20)).astype(dtype)
    # An intercept that puts one query within a rounding of zero.
    machine.intercept[0] -= float(machine.values(Rows(X[:1]))[0, 0])
    full = machine.values(Rows(X))[:, 0]
    found = predictor(machine, SignRule()).predict_certified(X)
    np.testing.assert_array_equal(found.labels, (full >= 0.0).astype(int))
    assert found.decided.all()
    assert np.median(found.terms) <= 20
    assert found.terms[0] > 100  # only the full evaluation says


def test_ties_are_left_to_the_full_evaluation() -> None:
    rng = np.random.default_rng(5)
    half = rng.normal(size=(40, 3))
    S = np.stack((half, half * np.array([1.0, 1.0, -1.0])), axis=1).reshape(80, 3)
    coef = rng.random(40)
    machine = Machine(
        KERNELS["normalised"], Rows(S), np.stack((coef, -coef), 1).reshape(80, 1), np.zeros(1)
    )
    X = rng.normal(size=(200, 3))
    X[::2, 2] = 0.0
    for is_strict in (False, True):
        rule = SignRule(is_strict)
        found = predictor(machine, rule).predict_certified(X)
        np.testing.assert_array_equal(found.labels, rule.codes(machine.values(Rows(X))))
        assert np.all(found.terms[::2] >= 80)
        assert np.mean(found.terms[1::2] < 80) > 0.9


def test_votes_of_several_forms() -> None:
    machine, X = random_machine(KERNELS["plain"], seed=9, n=90, d=6, outputs=6)
    found = predictor(machine, VoteRule(4)).predict_certified(X)
    np.testing.assert_array_equal(found.labels, VoteRule(4).codes(machine.values(Rows(X))))
    assert np.mean(found.terms < 90) > 0.5
    few = predictor(machine, VoteRule(4)).predict_certified(X, max_terms=11)
    assert few.terms.max() == 6  # one eigenvector of six functions


def test_rows_beyond_safe_arithmetic_stay_open() -> None:
    machine, X = random_machine(KERNELS["homogeneous"], seed=2, n=30, d=4)
    X = X[:4].copy()
    X[1] *= 1e-120
    X[2] *= 1e120
    X[3] = 0.0
    for lower, upper in reports(machine, X):
        assert np.isfinite(lower[0]).all()
        assert np.isneginf(lower[1:]).all()
        assert np.isposinf(upper[1:]).all()


def test_machines_that_are_no_quadratic_forms() -> None:
    for kernel in (RBF(1.0), Polynomial(3, 1.0, 1.0), Polynomial(2, -1.0, 1.0)):
        functions = Functions.of(random_machine(kernel, seed=1)[0])
        assert FormStage.of(functions, 8) is None
        assert Forms.of(functions) is None
    wide = Machine(KERNELS["plain"], Rows(np.ones((2, 1024))), np.ones((2, 1)), np.zeros(1))
    assert FormStage.of(Functions.of(wide), 8) is None
    tiny = Machine(KERNELS["homogeneous"], Rows(np.full((2, 3), 1e-110)), np.ones((2, 1)), [0.0])
    assert Forms.of(Functions.of(tiny)) is None
    rows = Rows(np.ones((2, 3)))
    assert Form.of(rows, rows.squared_norms, np.array([1.0, -1.0]), 0.0) is None


def test_a_predictor_with_a_form_comes_back_from_a_file(tmp_path) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=1500) > 0
    model = hinge.SVC(kernel=KERNELS["normalised"], C=0.1).fit(X, y)
    fast = hinge.accelerate(model, queries=X)
    costs = fast.parts.plan.costs
    assert costs is not None
    assert costs.form > 0.0  # whether it pays is a matter of the clock
    fast.parts = replace(fast.parts, plan=Plan((), form=16, costs=costs))
    assert "up to 16 eigenvectors" in fast.explain()
    hinge.save(fast, tmp_path / "fast")
    again = hinge.load(tmp_path / "fast")
    assert again.parts.plan.form == 16
    for one in (fast, again):
        np.testing.assert_array_equal(one.predict(X), model.predict(X))
        assert np.median(one.predict_certified(X).terms) <= 16
