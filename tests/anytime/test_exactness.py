"""Labels are those of the full evaluation, ties included; bounds hold the true values."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from fuzz.anytime.exact import exact_value, gaussian_value
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.anytime.machines import KERNELS, random_machine

from hinge.anytime import AnytimePredictor, LargestRule, Options, Plan, Rule, SignRule, VoteRule
from hinge.anytime.build import Parts, build
from hinge.anytime.embedding import embed
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.stages import EmbeddingStage
from hinge.kernels import RBF, Linear, Polynomial
from hinge.machines import Machine
from hinge.rows import Rows


def predictor(machine: Machine, rule: Rule, n_points: int = 64, **options) -> AnytimePredictor:
    """Return a predictor that uses every stage there is, whatever was measured."""
    parts = build(machine, rule, options=Options(n_points=n_points, **options))
    exits = () if parts.embedding is None else tuple(range(len(parts.embedding.exits)))
    plan = Plan(exits, n_points // 2, uses_single=True)
    forced = Parts(plan, parts.functions, parts.embedding, parts.sides, parts.reason)
    n_codes = rule.n_classes if isinstance(rule, VoteRule) else max(2, len(machine.intercept))
    return AnytimePredictor(machine, rule, np.arange(n_codes), machine.support.n_features, forced)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_labels_and_bounds_of_one_function(name: str, is_sparse: bool) -> None:
    machine, X = random_machine(KERNELS[name], seed=len(name))
    queries = sp.csr_array(X) if is_sparse else X
    full = machine.values(Rows(queries))
    found = predictor(machine, SignRule()).predict_certified(queries)
    np.testing.assert_array_equal(found.labels, (full[:, 0] >= 0.0).astype(int))
    assert found.decided.all()
    slack = 1e-9 * (1.0 + np.abs(full[:, 0]))
    assert np.all(found.lower <= full[:, 0] + slack)
    assert np.all(found.upper >= full[:, 0] - slack)


@pytest.mark.parametrize("name", ["rbf", "wide rbf", "linear", "poly", "normalised"])
def test_the_embedding_decides_easy_queries_alone(name: str) -> None:
    machine, X = random_machine(KERNELS[name], seed=3)
    found = predictor(machine, SignRule()).predict_certified(X)
    assert np.mean(found.terms <= 64) > 0.5


@pytest.mark.parametrize(("rule", "outputs"), [(VoteRule(4), 6), (LargestRule(), 5)])
def test_labels_of_several_functions(rule: Rule, outputs: int) -> None:
    machine, X = random_machine(KERNELS["wide rbf"], seed=8, outputs=outputs)
    full = machine.values(Rows(X))
    found = predictor(machine, rule).predict_certified(X)
    np.testing.assert_array_equal(found.labels, rule.codes(full))
    assert found.lower.shape == full.shape
    assert np.mean(found.terms <= 64) > 0.5


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 1.0, 1.0), Linear()])
@pytest.mark.parametrize("is_strict", [False, True])
def test_exact_ties_go_where_the_full_evaluation_puts_them(kernel, is_strict: bool) -> None:
    # Mirror images with opposite coefficients: f is 0 wherever the last feature is.
    rng = np.random.default_rng(5)
    half = rng.normal(size=(40, 3))
    mirrored = half * np.array([1.0, 1.0, -1.0])
    coef = rng.random(40)
    S = np.stack((half, mirrored), axis=1).reshape(80, 3)
    machine = Machine(kernel, Rows(S), np.stack((coef, -coef), 1).reshape(80, 1), np.zeros(1))
    X = rng.normal(size=(200, 3))
    X[::2, 2] = 0.0
    X[1::4, 2] *= 1e-16
    rule = SignRule(is_strict)
    full = machine.values(Rows(X))
    found = predictor(machine, rule).predict_certified(X)
    np.testing.assert_array_equal(found.labels, rule.codes(full))
    ties = full[:, 0] == 0.0
    assert np.all(found.terms[ties] >= 80)
    assert np.all(found.lower[::2] <= 0.0)
    assert np.all(found.upper[::2] >= 0.0)


def test_a_machine_whose_terms_cancel_is_zero_everywhere() -> None:
    S = np.repeat(np.arange(6.0).reshape(3, 2), 2, axis=0)
    machine = Machine(RBF(1.0), Rows(S), np.array([[1.0], [-1.0]] * 3), np.zeros(1))
    found = predictor(machine, SignRule()).predict_certified(S)
    np.testing.assert_array_equal(found.labels, np.ones(6))


@pytest.mark.parametrize("name", ["linear", "poly"])
def test_bounds_of_every_budget_hold_fractions(name: str) -> None:
    machine, X = random_machine(KERNELS[name], seed=2, n=30, d=3)
    fast = predictor(machine, SignRule(), n_points=8)
    true = [exact_value(machine, x) for x in X[:40]]
    for budget in (8, 30, 38, None):
        found = fast.predict_certified(X[:40], max_terms=budget)
        for lower, upper, value in zip(found.lower, found.upper, true, strict=True):
            assert np.isneginf(lower) or Fraction(float(lower)) <= value
            assert np.isposinf(upper) or Fraction(float(upper)) >= value


def test_bounds_of_every_budget_hold_high_precision_gaussians() -> None:
    machine, X = random_machine(RBF(0.3), seed=4, n=40, d=3)
    fast = predictor(machine, SignRule(), n_points=24)
    with localcontext(prec=60):
        true = [gaussian_value(machine, x) for x in X[:30]]
        for budget in (8, 16, 24, 64, None):
            found = fast.predict_certified(X[:30], max_terms=budget)
            for lower, upper, value in zip(found.lower, found.upper, true, strict=True):
                assert Decimal(float(lower)) <= value <= Decimal(float(upper))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    gamma=st.floats(1e-4, 50.0),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    shift=st.sampled_from([0.0, 100.0]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_no_label_changes_on_random_machines(
    seed: int, gamma: float, scale: float, shift: float, dtype: type
) -> None:
    rng = np.random.default_rng(seed)
    S = (rng.normal(scale=scale, size=(60, 3)) + shift).astype(dtype)
    S[rng.integers(60, size=20)] = S[rng.integers(60, size=20)]
    machine = Machine(RBF(gamma), Rows(S), rng.normal(size=(60, 1)), rng.normal(size=1) * 1e-3)
    X = (rng.normal(scale=scale, size=(100, 3)) + shift).astype(dtype)
    # Intercepts that put f at a query within a rounding of zero.
    machine.intercept[0] = -float(machine.values(Rows(X[:1]))[0, 0] - machine.intercept[0])
    full = machine.values(Rows(X))[:, 0] >= 0.0
    for n_points in (0, 24):
        fast = predictor(machine, SignRule(), n_points=n_points)
        np.testing.assert_array_equal(fast.predict(X), full.astype(int))


def test_bounds_follow_the_basis_that_they_are_asked_for() -> None:
    # Two embeddings meet one batch: what was prepared for the first must not serve the second.
    machine, X = random_machine(KERNELS["normalised"], seed=6)
    rows, full = Rows(X), machine.values(Rows(X))
    functions = Functions.of(machine)
    queries = Queries(Sides(functions), rows)
    for ids in (np.arange(30), np.arange(119, 59, -1)):
        embedding = embed(functions, functions.terms.take(ids), (4, 8, 16, 24))
        assert embedding is not None
        n_exits = len(embedding.exits)

        def settle(ids, lower, upper, _cost) -> np.ndarray:
            assert np.all(lower <= full[ids] + 1e-9)
            assert np.all(upper >= full[ids] - 1e-9)
            return np.ones(len(ids), dtype=bool)

        stage = EmbeddingStage(functions, embedding, tuple(range(n_exits)), 24)
        stage.run(queries, np.arange(rows.n_rows), settle, 1000)
