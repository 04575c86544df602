"""Sums in float32, votes of a guessed class, and a few queries at a time."""

from __future__ import annotations

import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from fuzz.anytime.exact import exact_value, gaussian_value
from tests.anytime.few_machines import few_predictor, few_queries
from tests.anytime.machines import KERNELS, random_machine

from hinge.anytime import AnytimePredictor, Options, Plan, SignRule, VoteRule
from hinge.anytime.build import Parts, build
from hinge.anytime.few import MOST
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.rules import widened
from hinge.anytime.single import SingleStage, SingleSums
from hinge.anytime.votes import VoteStage, pairs_of
from hinge.kernels import RBF
from hinge.machines import Machine, alike
from hinge.rows import Rows


def intervals(machine: Machine, X: np.ndarray | sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of float32 on all queries."""
    functions = Functions.of(machine)
    rows = Rows(X)
    return SingleSums.of(functions).intervals(
        Queries(Sides(functions), rows), np.arange(rows.n_rows)
    )


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("shift", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("gamma", [0.01, 0.3, 20.0])
def test_gaussian_intervals_hold_many_digits(gamma: float, shift: float, is_sparse: bool) -> None:
    rng = np.random.default_rng(7)
    S = rng.normal(size=(130, 4)) + shift
    S[:, 3] = rng.integers(0, 2, size=130)  # a feature that is often zero stays so
    X = rng.normal(size=(24, 4)) + shift
    X[:, 3] = rng.integers(0, 2, size=24)
    coef = rng.normal(size=(130, 1)) * 10.0 ** rng.integers(-3, 4, size=(130, 1))
    machine = Machine(RBF(gamma), Rows(S), coef, np.array([0.1]))
    lower, upper = intervals(machine, sp.csr_array(X) if is_sparse else X)
    with localcontext(prec=50):
        for k in range(24):
            value = gaussian_value(machine, X[k])
            assert Decimal(float(lower[k, 0])) <= value <= Decimal(float(upper[k, 0]))


@pytest.mark.parametrize("name", ["linear", "poly"])
def test_polynomial_intervals_hold_fractions(name: str) -> None:
    machine, X = random_machine(KERNELS[name], seed=11, n=90, d=5)
    lower, upper = intervals(machine, X[:20])
    for k in range(20):
        value = exact_value(machine, X[k])
        assert Fraction(float(lower[k, 0])) <= value <= Fraction(float(upper[k, 0]))


def test_sizes_of_what_is_summed_narrow_the_bounds() -> None:
    # Almost all kernel values vanish: coefficients that do not count must not widen the interval.
    rng = np.random.default_rng(1)
    S = rng.normal(size=(500, 3))
    S *= rng.uniform(7.0, 9.0, size=(500, 1)) / np.linalg.norm(S, axis=1, keepdims=True)
    S[0] = 0.0
    coef = np.full((500, 1), 1e6)
    coef[0] = 1.0
    machine = Machine(RBF(1.0), Rows(S), coef, np.zeros(1))
    lower, upper = intervals(machine, np.full((1, 3), 1e-3))
    assert upper[0, 0] - lower[0, 0] < 1e-3


def test_numbers_that_float32_cannot_hold_leave_queries_open() -> None:
    S = np.array([[1e20, 0.0], [0.0, 1.0]])
    machine = Machine(RBF(1e-36), Rows(S), np.array([[1e200], [1.0]]), np.zeros(1))
    lower, upper = intervals(machine, S)
    assert not np.isnan(lower).any()
    assert not np.isnan(upper).any()
    assert np.isposinf(upper).all()


def test_packed_terms_are_bounded_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, X = random_machine(KERNELS["rbf"], seed=1)
    monkeypatch.setattr("hinge.anytime.single._BYTES", 0)
    assert not SingleStage(Functions.of(machine)).is_possible
    parts = build(machine, SignRule(), options=Options(n_points=0))
    assert not parts.plan.uses_single
    fast = AnytimePredictor(machine, SignRule(), np.arange(2), 4, parts)
    np.testing.assert_array_equal(fast.predict(X), SignRule().codes(machine.values(Rows(X))))


def test_pairs_of_a_class() -> None:
    np.testing.assert_array_equal(pairs_of(0, 4), [0, 1, 2])
    np.testing.assert_array_equal(pairs_of(2, 4), [1, 3, 5])


def one_against_one(seed: int) -> tuple[Machine, np.ndarray]:
    """Return a machine of four classes whose terms have a part in some pairs only."""
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, 4, size=200))
    centres = rng.normal(size=(4, 3)) * 1.5
    S = centres[owner] + rng.normal(size=(200, 3))
    coef = np.zeros((200, 6))
    number = 0
    for first in range(4):
        for second in range(first + 1, 4):
            coef[owner == first, number] = rng.random(int(np.sum(owner == first)))
            coef[owner == second, number] = -rng.random(int(np.sum(owner == second)))
            number += 1
    coef[rng.random(coef.shape) < 0.3] = 0.0
    X = centres[rng.integers(0, 4, size=300)] + rng.normal(size=(300, 3))
    return Machine(RBF(0.4), Rows(S), coef, rng.normal(scale=0.05, size=6)), X


@pytest.mark.parametrize("position", [0, -1])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_votes_of_a_guess_prove_right_labels(position: int, is_sparse: bool) -> None:
    machine, X = one_against_one(5)
    queries = sp.csr_array(X) if is_sparse else X
    rule = VoteRule(4)
    parts = build(machine, rule, options=Options(n_points=48))
    assert parts.functions is not None
    assert parts.embedding is not None
    assert parts.sides is not None
    guess = range(len(parts.embedding.exits))[position]
    stage = VoteStage.of(parts.functions, parts.embedding, guess, rule)
    assert stage is not None
    rows = Rows(queries)
    batch = Queries(parts.sides, rows)
    errors, full = batch.full_errors(np.arange(300)), machine.values(rows)
    right, proven = rule.codes(full), np.zeros(300, dtype=bool)

    def settle(ids, lower, upper, cost: int):
        assert cost > 0
        low, high = widened(lower, upper, errors[ids])
        assert np.all(low <= full[ids])
        assert np.all(high >= full[ids])
        settled, codes = rule.settled(low, high)
        np.testing.assert_array_equal(codes[settled], right[ids[settled]])
        proven[ids[settled]] = True
        return ~settled

    stage.run(batch, np.arange(300), settle, 1 << 62)
    assert proven.mean() > (0.5 if position else 0.1)
    plan = Plan(uses_single=True, guess=guess)
    forced = Parts(plan, parts.functions, parts.embedding, parts.sides)
    fast = AnytimePredictor(machine, rule, np.arange(4), 3, forced)
    np.testing.assert_array_equal(fast.predict(queries), right)
    found = fast.predict_certified(queries, max_terms=10)
    assert np.all(found.terms <= 10)


def test_votes_are_for_votes() -> None:
    machine, _ = random_machine(KERNELS["rbf"], seed=1)
    functions = Functions.of(machine)
    assert VoteStage.of(functions, None, 0, SignRule()) is None


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_a_few_queries_have_the_labels_of_many(is_sparse: bool, shift: float) -> None:
    machine, X = random_machine(RBF(0.3), seed=9)
    S = machine.support.matrix + shift
    machine = Machine(machine.kernel, Rows(S), machine.coefficients, machine.intercept)
    X = X + shift
    X[7] = 1e6  # beyond the norm that the bounds are made for
    queries = sp.csr_array(X) if is_sparse else X
    few = few_queries(machine)
    full = SignRule().codes(machine.values(Rows(queries)))
    proven = 0
    for size in (1, 3, MOST):
        for first in range(0, 60, size):
            found = few.codes(Rows(queries[first : first + size]))
            assert found is not None
            codes, settled = found[0], found[0] >= 0
            assert found[1] == np.sum(~settled)
            np.testing.assert_array_equal(codes[settled], full[first : first + size][settled])
            if first <= 7 < first + size:
                assert not settled[7 - first]
            proven += int(settled.sum())
    assert proven > 120


def test_near_ties_are_not_decided_from_a_few() -> None:
    rng = np.random.default_rng(2)
    half, coef = rng.normal(size=(60, 3)), rng.random((60, 1))
    mirrored = half * np.array([1.0, 1.0, -1.0])
    machine = Machine(
        RBF(0.5), Rows(np.vstack((half, mirrored))), np.vstack((coef, -coef)), np.zeros(1)
    )
    few = few_queries(machine)
    X = rng.normal(size=(40, 3))
    X[:, 2] = 1e-12
    assert all(few.codes(Rows(X[k : k + 1])) == (np.array([-1]), 1) for k in range(40))
    fast = few_predictor(machine)
    right = SignRule().codes(machine.values(Rows(X)))
    labels = [fast.predict(X[k : k + 1])[0] for k in range(40)]
    np.testing.assert_array_equal(labels, right)


def test_a_predictor_that_was_used_still_pickles() -> None:
    machine, X = random_machine(RBF(0.3), seed=4)
    fast = AnytimePredictor(machine, SignRule(), np.arange(2), 4, build(machine, SignRule()))
    before = fast.predict(X), fast.predict(X[:1])
    again = pickle.loads(pickle.dumps(fast))
    np.testing.assert_array_equal(again.predict(X), before[0])
    np.testing.assert_array_equal(again.predict(X[:1]), before[1])


def test_rows_stored_otherwise_than_support_vectors() -> None:
    machine, X = random_machine(RBF(0.3), seed=4)
    sparse = Machine(
        machine.kernel,
        alike(machine.support, Rows(sp.csr_array(X))),
        machine.coefficients,
        machine.intercept,
    )
    for rows in (X, sp.csr_array(X)):
        lower, upper = intervals(sparse, rows)
        values = sparse.values(Rows(rows))
        assert np.all(lower <= values + 1e-9)
        assert np.all(upper >= values - 1e-9)
