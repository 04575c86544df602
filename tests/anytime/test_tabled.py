"""Kernel values from a table: intervals hold exact values, and other rows are left open."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from fuzz.anytime.exact import exact_value, gaussian_value

from hinge.anytime import AnytimePredictor, Plan, Rule, SignRule, VoteRule
from hinge.anytime.build import Parts
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.tabled import Digits, Table, TabledStage, TabledSums
from hinge.kernels import RBF, Kernel, Linear, Normalised, Polynomial, Sigmoid
from hinge.machines import Machine
from hinge.rows import Rows

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.05),
    "local rbf": RBF(2.0),
    "linear": Linear(),
    "poly": Polynomial(3, 0.2, 1.0),
}


def whole_machine(
    kernel: Kernel, seed: int, low: int = 0, n: int = 300, outputs: int = 1
) -> tuple[Machine, np.ndarray]:
    """Return a machine over small whole numbers, and queries of which some are not."""
    rng = np.random.default_rng(seed)
    share = 0.4 if low == 0 else 0.25
    S = rng.integers(low, 2, size=(n, 12)) * (rng.random((n, 12)) < share)
    X = rng.integers(low, 2, size=(60, 12)) * (rng.random((60, 12)) < share)
    coef = rng.choice([-1.0, 1.0, 0.37], size=(n, outputs)) * rng.choice([1.0, 1e-3], size=(n, 1))
    machine = Machine(kernel, Rows(S.astype(float)), coef, rng.normal(scale=0.1, size=outputs))
    return machine, X.astype(float)


def intervals(machine: Machine, X: np.ndarray | sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of a table on all queries."""
    functions = Functions.of(machine)
    stage = TabledStage.of(functions)
    assert stage is not None
    rows = Rows(X)
    sums = TabledSums(functions, stage.table)
    return sums.intervals(Queries(Sides(functions), rows), np.arange(rows.n_rows))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_intervals_hold_exact_values(name: str, low: int, is_sparse: bool) -> None:
    machine, X = whole_machine(KERNELS[name], seed=3, low=low, n=150)
    lower, upper = intervals(machine, sp.csr_array(X) if is_sparse else X)
    closed = np.flatnonzero(np.isfinite(lower[:, 0]))
    assert len(closed) > 40
    with localcontext(prec=50):
        for k in closed[::4]:
            if isinstance(machine.kernel, RBF):
                value = gaussian_value(machine, X[k])
                assert Decimal(float(lower[k, 0])) <= value <= Decimal(float(upper[k, 0]))
            else:
                fraction = exact_value(machine, X[k])
                assert Fraction(float(lower[k, 0])) <= fraction <= Fraction(float(upper[k, 0]))
    # The bounds are worth something: far narrower than the sum of all coefficients.
    assert np.all((upper - lower)[closed] < 2e-3 * np.abs(machine.coefficients).sum())


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_coefficients_of_many_sizes(scale: float) -> None:
    rng = np.random.default_rng(6)
    machine, X = whole_machine(RBF(0.1), seed=6, n=200)
    coef = scale * rng.normal(size=(200, 1)) * 10.0 ** rng.integers(-8, 3, size=(200, 1))
    machine = Machine(machine.kernel, machine.support, coef, machine.intercept)
    lower, upper = intervals(machine, X)
    with localcontext(prec=50):
        for k in range(0, 60, 6):
            value = gaussian_value(machine, X[k])
            assert Decimal(float(lower[k, 0])) <= value <= Decimal(float(upper[k, 0]))


def test_a_sigmoid_is_held_too() -> None:
    machine, X = whole_machine(Sigmoid(0.3, -0.5), seed=2)
    lower, upper = intervals(machine, X)
    values = machine.values(Rows(X))
    assert np.all(lower <= values + 1e-9)
    assert np.all(upper >= values - 1e-9)


def test_other_queries_are_left_open() -> None:
    machine, X = whole_machine(RBF(0.1), seed=1)
    X[0, 3] = 0.5
    X[1, 3] = -1.0
    X[2, :] = 1.0  # of a larger norm than any support vector
    X[3, 3] = 300.0
    X[4, 3] = 1.0 + 2.0**-50
    lower, upper = intervals(machine, X)
    assert np.all(np.isneginf(lower[:5]))
    assert np.all(np.isposinf(upper[:5]))
    assert np.isfinite(lower[5:]).all()


@pytest.mark.parametrize(
    "S",
    [
        np.array([[0.5, 1.0], [1.0, 0.0]]),
        np.array([[20.0, 1.0], [1.0, 0.0]]),
        np.array([[16.0, 1.0], [1.0, 0.0]]),
        np.array([[np.nextafter(1.0, 2.0), 1.0]]),
    ],
)
def test_rows_that_a_table_is_not_for(S: np.ndarray) -> None:
    assert Table.of(RBF(1.0), Rows(S)) is None


def test_normalised_kernels_have_no_table() -> None:
    machine, _ = whole_machine(Normalised(Polynomial(2, 1.0, 1.0)), seed=1)
    assert TabledStage.of(Functions.of(machine)) is None


@pytest.mark.parametrize("numbers", [1, 15, 16, 17, 33, 64, 65, 200, 255])
def test_tables_of_every_length(numbers: int) -> None:
    # Distances are the whole numbers up to the length, which several shuffles have to put together.
    S = np.zeros((numbers // 2 + 1, max(1, numbers // 2)))
    for k in range(len(S)):
        S[k, :k] = 1.0
    rng = np.random.default_rng(numbers)
    machine = Machine(RBF(0.01), Rows(S), rng.normal(size=(len(S), 1)), np.zeros(1))
    lower, upper = intervals(machine, S)
    values = machine.values(Rows(S))
    assert np.all(lower <= values + 1e-12)
    assert np.all(upper >= values - 1e-12)
    assert np.all(upper - lower < 1e-3 * (1.0 + np.abs(machine.coefficients).sum()))


def test_digits_of_equal_coefficients_leave_nothing() -> None:
    coef = np.array([1.0, -1.0, 7.0, 1.0, -3.0, 1.0])
    digits = Digits.of(coef)
    assert not digits.digits[1].any()
    assert digits.left < 1e-12
    assert np.abs(digits.digits).max() <= 4095


def forced(machine: Machine, rule: Rule, n_codes: int) -> AnytimePredictor:
    """Return a predictor that uses the table and float32, whatever was measured."""
    functions = Functions.of(machine)
    parts = Parts(Plan(uses_single=True, uses_table=True), functions, None, Sides(functions))
    return AnytimePredictor(machine, rule, np.arange(n_codes), 12, parts)


@pytest.mark.parametrize("outputs", [1, 6])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_labels_are_those_of_the_full_evaluation(outputs: int, is_sparse: bool) -> None:
    machine, X = whole_machine(RBF(0.05), seed=9, outputs=outputs)
    X[::7, 2] = 0.25
    queries = sp.csr_array(X) if is_sparse else X
    rule: Rule = SignRule() if outputs == 1 else VoteRule(4)
    fast = forced(machine, rule, 2 if outputs == 1 else 4)
    right = rule.codes(machine.values(Rows(queries)))
    np.testing.assert_array_equal(fast.predict(queries), right)
    for k in range(0, 60, 5):
        one = queries[[k]]
        np.testing.assert_array_equal(fast.predict(one), right[k : k + 1])


def test_ties_go_where_the_full_evaluation_puts_them() -> None:
    rng = np.random.default_rng(4)
    half = rng.integers(0, 2, size=(80, 12)).astype(float)
    mirrored = half.copy()
    mirrored[:, [0, 1]] = half[:, [1, 0]]
    coef = rng.random((80, 1))
    machine = Machine(
        RBF(0.1), Rows(np.vstack((half, mirrored))), np.vstack((coef, -coef)), np.zeros(1)
    )
    X = rng.integers(0, 2, size=(200, 12)).astype(float)
    X[:, 1] = X[:, 0]  # exchanging the two changes nothing: the true value is 0
    right = SignRule().codes(machine.values(Rows(X)))
    np.testing.assert_array_equal(forced(machine, SignRule(), 2).predict(X), right)
