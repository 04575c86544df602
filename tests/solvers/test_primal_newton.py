"""Newton's method in the primal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import cancer, two_classes

from hinge import Point, Problem, Status, Stop, solve
from hinge._native import core
from hinge.certificates import gap
from hinge.losses import Huber
from hinge.solvers import PrimalNewton
from hinge.solvers.driver import WORK_PER_STEP
from hinge.solvers.linear.primal_newton import MOST_FEATURES

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["augmented", "free", "none"]


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_unscaled_data_do_not_matter(loss: str, intercept: str, C: float) -> None:
    X, y = cancer(scaled=False)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
    solution = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6, steps=500))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_same_optimum_as_coordinate_descent(loss: str, intercept: str, container: type) -> None:
    X, y = two_classes()
    weights = np.arange(60) % 3
    problem = Problem(container(X), y, loss=loss, intercept=intercept, C=0.5, sample_weight=weights)
    newton = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6, steps=500)).certificate
    other = solve(problem, "dual-coordinate", stop=Stop(gap=1e-6)).certificate
    assert newton.primal == pytest.approx(other.primal, rel=2e-6)
    assert newton.dual <= other.primal
    assert other.dual <= newton.primal


def test_warm_start_and_pickled_state() -> None:
    X, y = cancer()
    problem = Problem(X, y, loss="squared_hinge", intercept="augmented")
    first = solve(problem, PrimalNewton(), stop=Stop(gap=1e-8))
    again = solve(problem, PrimalNewton(), stop=Stop(gap=1e-8), warm=first)
    assert again.steps < first.steps
    part = solve(problem, PrimalNewton(), stop=Stop(gap=1e-8, steps=2))
    rest = solve(
        problem,
        PrimalNewton(),
        stop=Stop(gap=1e-8),
        resume=pickle.loads(pickle.dumps(part.state)),
    )
    np.testing.assert_array_equal(rest.coef, first.coef)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_what_it_says_of_itself_is_what_the_judge_finds(loss: str, intercept: str) -> None:
    X, y = two_classes()
    weights = np.arange(60) % 3
    problem = Problem(X, y, loss=loss, intercept=intercept, sample_weight=weights)
    solver = PrimalNewton(aim=1e-5)
    state = solver.start(problem)
    while not solver.progress(state).relative_gap <= 1e-5:
        assert solver.step(state, 1) > 0
    certificate = gap(problem, solver.point(state))
    said = solver.progress(state)
    assert certificate.primal == pytest.approx(said.primal, rel=1e-12)
    assert certificate.dual == pytest.approx(said.dual, rel=1e-12)


def test_a_call_ends_with_a_claim_and_goes_on_if_that_is_refused() -> None:
    problem = Problem(*cancer(), loss="squared_hinge", intercept="augmented")
    solver = PrimalNewton.aimed_at(0.1)
    state = solver.start(problem)
    solver.step(state, 1 << 40)
    steps = state.steps
    assert not state.at_rest
    assert solver.progress(state).relative_gap <= 0.1
    solver.step(state, 1 << 40)
    assert state.at_rest
    assert state.steps > steps


def test_steps_are_limited_within_a_call() -> None:
    problem = Problem(*cancer(scaled=False), C=100.0)
    solver = PrimalNewton(aim=0.0)
    state = solver.start(problem)
    state.step_limit = 3
    solver.step(state, 1 << 40)
    assert state.steps == 3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_known_dual_point_is_not_lost(loss: str, intercept: str) -> None:
    problem = Problem(*two_classes(), loss=loss, intercept=intercept, C=0.5)
    known = solve(problem, "dual-coordinate", stop=Stop(gap=1e-6))
    state = PrimalNewton().start(problem, known.point)
    assert state.best_values[1] == pytest.approx(known.certificate.dual, rel=1e-9)
    np.testing.assert_allclose(state.alpha[1], known.dual_coef, atol=1e-9)


def test_numbers_beyond_floating_point_end_a_run() -> None:
    X, y = two_classes()
    problem = Problem(X * 1e150, y, loss="squared_hinge", intercept="augmented")
    solution = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6))
    assert solution.status is Status.STALLED
    assert np.isfinite(solution.coef).all()


@pytest.mark.parametrize("loss", ["hinge", Huber(0.3), Huber(0.4)])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_coefficients_are_in_their_box_to_the_last_bit(loss: str | Huber, intercept: str) -> None:
    X, y = two_classes()
    for C in np.geomspace(1e-4, 10.0, 60):
        problem = Problem(X, y, loss=loss, intercept=intercept, C=float(C))
        solution = solve(problem, PrimalNewton(), stop=Stop(gap=1e-3))
        assert solution.status is Status.SOLVED
        assert np.all(solution.dual_coef <= problem.loss.upper_bound(problem.costs))
        certified = [record for record in solution.trace.records if record.certified]
        assert all(np.isfinite(record.relative_gap) for record in certified)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_steps_that_only_move_the_rounding_come_to_an_end(intercept: str) -> None:
    X = np.array([[-374268.94, 0.0], [374268.94, -374268.94]])
    problem = Problem(X, [1, 0], loss="hinge", intercept=intercept, C=8826.753)
    solver = PrimalNewton()
    state = solver.start(problem)
    while not state.at_rest:
        before = state.steps
        solver.step(state, WORK_PER_STEP)
        assert state.steps - before <= WORK_PER_STEP // 2000
    assert state.steps < 10_000


@pytest.mark.parametrize("C", [1e-13, 1.0])
def test_a_free_intercept_is_at_rest_where_it_holds_up_both_classes(C: float) -> None:
    X = np.array([[73671.76956608], [73672.00119334], [73672.32190441], [73672.36874613]])
    weights = [1.0, 2.0, 2.0, 2.0]
    given = {"loss": "huber", "intercept": "free", "C": C, "sample_weight": weights}
    problem = Problem(X, [1, 0, 0, 0], **given)
    solution = solve(problem, PrimalNewton(), stop=Stop(gap=1e-3))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("far", [Point(np.full(5, 1e160)), Point(np.ones(5), 1e308)])
def test_a_start_beyond_floating_point_is_none(far: Point) -> None:
    problem = Problem(*two_classes(), loss="squared_hinge", intercept="augmented")
    solution = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6), warm=far)
    plain = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6))
    np.testing.assert_array_equal(solution.coef, plain.coef)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_rows_without_weight_are_absent_to_the_bit(
    loss: str, intercept: str, container: type
) -> None:
    X, y = two_classes()
    weights = np.arange(len(y)) % 3 * 1.0
    there = weights > 0.0
    given = {"loss": loss, "intercept": intercept}
    stop = Stop(gap=1e-8)
    whole = Problem(container(X), y, **given, sample_weight=weights)
    part = Problem(container(X[there]), y[there], **given, sample_weight=weights[there])
    of_whole, of_part = (solve(problem, PrimalNewton(), stop=stop) for problem in (whole, part))
    assert of_whole.steps == of_part.steps
    np.testing.assert_array_equal(of_whole.coef, of_part.coef)
    np.testing.assert_array_equal(of_whole.dual_coef[there], of_part.dual_coef)
    assert not of_whole.dual_coef[~there].any()


@pytest.mark.parametrize(
    ("constant", "message"), [(0.0, "weight of a constant feature"), (np.nan, "finite")]
)
def test_native_code_refuses_an_intercept_without_a_feature(constant: float, message: str) -> None:
    state = PrimalNewton().start(Problem(*two_classes(), loss="huber", intercept="none"))
    rows = state.problem.rows
    with pytest.raises(ValueError, match=message):
        core.PrimalSteps(
            core.RowsView(rows.values, None, None, rows.n_rows, rows.n_features),
            core.PrimalState(
                state.problem.signs, None, 1.0, state.weights, state.alpha, state.numbers
            ),
            core.LossWindow(1.5, 1.0, 1.0, False),
            core.PrimalLine(1.0, False),
            core.PrimalIntercept(constant, True),
        )


def test_many_features_are_refused() -> None:
    problem = Problem(np.eye(2, MOST_FEATURES + 1), [0, 1])
    support = PrimalNewton().supports(problem)
    assert not support
    assert "too many" in support.reason
