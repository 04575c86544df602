"""Newton's method where coefficients are held: classes apart, and few rows for a feature."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import cancer
from tests.solvers.data import two_clouds
from tests.solvers.test_newton import INTERCEPTS, LOSSES, many_rows, wide_rows

from hinge import Problem, Status, Stop, solve
from hinge.certificates import gap
from hinge.solvers import Newton
from hinge.solvers.linear import newton_held


def apart_unevenly(n: int = 300, d: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that a hyperplane separates, in features of very different sizes."""
    rng = np.random.default_rng(seed)
    X, normal = rng.normal(size=(n, d)), rng.normal(size=d)
    y = (X @ normal > 0.0).astype(int)
    X += np.outer(np.where(y > 0, 0.3, -0.3), normal / np.linalg.norm(normal))
    return X * 10.0 ** rng.uniform(-2.0, 2.0, d), y


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("loss", ["hinge", *LOSSES])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_separable_classes_in_uneven_features(loss: str, intercept: str, C: float) -> None:
    for seed in range(3):
        X, y = apart_unevenly(seed=seed)
        problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
        solution = solve(problem, Newton(), Stop(gap=1e-6, steps=200))
        assert solution.status is Status.SOLVED


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_hinge_with_few_rows_for_a_feature(intercept: str, scaled: bool, C: float) -> None:
    X, y = cancer(scaled=scaled)
    problem = Problem(X, y, intercept=intercept, C=C)
    solution = solve(problem, Newton(), Stop(gap=1e-6, steps=200))
    other = solve(problem, "primal-newton", Stop(gap=1e-6)).certificate
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(other.primal, rel=2e-6)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_hinge_with_more_features_than_a_matrix_holds(intercept: str, C: float) -> None:
    problem = Problem(*wide_rows(), intercept=intercept, C=C)
    solution = solve(problem, Newton(), Stop(gap=1e-6, steps=200))
    assert solution.status is Status.SOLVED
    assert solution.state.spread > 0.0
    assert not solution.state.uses_matrix


def test_coefficients_are_not_held_where_rows_are_many() -> None:
    problem = Problem(*many_rows(40_000, 4), C=1.0)
    solution = solve(problem, Newton(), Stop(gap=1e-4, steps=60))
    assert solution.status is Status.SOLVED
    assert solution.state.spread == 0.0


def test_weights_and_a_free_intercept_shrink_together_where_no_row_pulls() -> None:
    X, y = two_clouds(400, noise=0.05, seed=3)
    X[:, 0] = np.where(y > 0, 3.0, -3.0) + X[:, 0] / 10
    solver, state = Newton(), Newton().start(Problem(X, y, loss="huber", intercept="free"))
    state.ease = 1.0
    state.weights[0], state.weights[-1] = 100.0, 10.0
    while state.steps < 1:
        solver.step(state, 1)
    # To where the nearest row begins to pull, and the intercept to its best place after that.
    assert state.weights[0] < 1.0
    assert abs(state.weights[-1]) < 1.0


def held_state(problem: Problem, solver: Newton):
    """Return a run that holds coefficients, in the middle of it."""
    state = solver.start(problem)
    while not state.spread:
        solver.step(state, 1)
    until = state.steps + 4
    while state.steps < until:
        solver.step(state, 1)
    return state


@pytest.mark.parametrize("loss", ["hinge", *LOSSES])
def test_what_a_run_that_holds_coefficients_claims(loss: str, monkeypatch) -> None:
    """The best weights and the coefficients that others are held near are one pair of points."""
    monkeypatch.setattr(newton_held, "_PATIENCE", 2)
    monkeypatch.setattr(newton_held, "_PATIENCE_SMOOTH", 2)
    weights = 1.0 + np.arange(300) % 3
    problem = Problem(*apart_unevenly(), loss=loss, intercept="free", sample_weight=weights)
    solver = Newton()
    state = solver.start(problem)
    primals, duals = [], []
    while not state.at_rest and len(primals) < 2000:
        solver.step(state, 1000)
        claim = solver.progress(state)
        if not state.spread or (
            primals and claim.primal == primals[-1] and claim.dual == duals[-1]
        ):
            continue
        judged = gap(problem, solver.point(state))
        primals.append(claim.primal)
        duals.append(claim.dual)
        assert judged.primal == pytest.approx(claim.primal, rel=1e-6)
        assert judged.dual >= claim.dual - 1e-6 * judged.primal
    assert len(primals) > 5
    assert np.all(np.diff(primals) <= 0.0)
    assert primals[-1] - duals[-1] <= 1e-6 * primals[-1]


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("sparse", [False, True])
def test_the_number_of_threads_changes_no_bit_of_held_coefficients(sparse: bool) -> None:
    X, y = many_rows(30_000, 100)
    X[:, 0] += np.where(y > 0, 8.0, -8.0)
    problem = Problem(sp.csr_array(X) if sparse else X, y, C=1e4)
    ends = []
    for threads in (1, 2):
        solver, state = Newton(), Newton().start(problem)
        state.threads = threads
        while not state.at_rest and not (state.spread and state.held_dual > 0.0):
            solver.step(state, 100_000_000)
        ends.append(solver.point(state))
    assert state.spread > 0.0
    assert state.n_panels > 1
    np.testing.assert_array_equal(ends[0].coef, ends[1].coef)
    np.testing.assert_array_equal(ends[0].dual_coef, ends[1].dual_coef)


@pytest.mark.parametrize("loss", ["hinge", "huber"])
def test_a_state_that_holds_coefficients_goes_on(loss: str, monkeypatch) -> None:
    monkeypatch.setattr(newton_held, "_PATIENCE_SMOOTH", 2)
    problem = Problem(*apart_unevenly(), loss=loss, C=1e3)
    solver = Newton()
    states = [held_state(problem, solver) for _ in range(2)]
    for number in range(200):
        for state in states:
            solver.step(state, 1)
        if number % 7 == 3:
            states[1] = pickle.loads(pickle.dumps(states[1])).resumed(problem)
    points = [solver.point(state) for state in states]
    assert solver.progress(states[0]) == solver.progress(states[1])
    np.testing.assert_array_equal(points[0].coef, points[1].coef)
    np.testing.assert_array_equal(points[0].dual_coef, points[1].dual_coef)
    np.testing.assert_array_equal(states[0].row_variables, states[1].row_variables)


@pytest.mark.parametrize("spread", [-1.0, float("nan"), float("inf")])
def test_a_state_that_holds_coefficients_as_none_can_is_refused(spread: float) -> None:
    solver = Newton()
    state = held_state(Problem(*apart_unevenly(), C=1e3), solver)
    state.spread = spread
    with pytest.raises(ValueError, match="cannot hold"):
        solver.progress(state)


def test_rows_too_large_for_second_derivatives_are_not_held() -> None:
    X, y = two_clouds()
    state = Newton().start(Problem(X * 1e150, y, C=1e20))
    assert not newton_held.may_hold(state)
