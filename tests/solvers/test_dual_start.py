"""Coordinate descent from a point of another C: what its weights and coefficients are good for."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.solvers.data import as_dense, some_weights, two_clouds

from hinge import Point, Problem, Status, Stop
from hinge.solvers import DualCoordinate, solve
from hinge.solvers.path_walk import carried

STOP = Stop(gap=1e-4)
LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["augmented", "free", "none"]


def _neighbours(
    loss: str, intercept: str, ratio: float = 2.0, **options: Any
) -> tuple[Problem, Point]:
    """Return a problem, and a point of the same problem with a smaller C carried to it."""
    X, y = two_clouds(800, 8, seed=4, noise=2.0, **options)
    origin = Problem(X, y, loss, C=0.1, intercept=intercept, sample_weight=some_weights(800))
    target = origin.with_C(ratio * origin.C)
    return target, carried(solve(origin, stop=STOP).point, origin, target)


def _margins(problem: Problem, point: Point) -> np.ndarray:
    return np.asarray(problem.signs * (as_dense(problem) @ point.coef + point.intercept))


def _dual(problem: Problem, alpha: np.ndarray) -> float:
    """Return the dual value, y'alpha = 0 left aside."""
    loss, present = problem.loss, problem.costs > 0
    signed = problem.signs * alpha
    weights = np.append(as_dense(problem).T @ signed, problem.constant_feature * signed.sum())
    bent = loss.dual_curvature * np.sum(alpha[present] ** 2 / problem.costs[present])
    return float(loss.dual_linear * alpha.sum() - 0.5 * bent - 0.5 * weights @ weights)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_beside_the_coefficients_save_work(loss: str, sparse: bool) -> None:
    with_weights, without = 0, 0
    for ratio, intercept in itertools.product((1.2, 1.5, 2.0, 4.0), INTERCEPTS):
        problem, point = _neighbours(loss, intercept, ratio, sparse=sparse)
        unknown = replace(point, coef=np.full_like(point.coef, np.nan))
        runs = [solve(problem, "dual-coordinate", STOP, warm) for warm in (point, unknown)]
        assert all(run.status is Status.SOLVED for run in runs)
        with_weights, without = with_weights + runs[0].work, without + runs[1].work
    assert with_weights < 0.95 * without


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_sweep_is_over_rows_that_are_not_held(loss: str, intercept: str) -> None:
    problem, point = _neighbours(loss, intercept)
    solver = DualCoordinate(extrapolation=False)
    state = solver.start(problem, point)
    while state.run.sweeps < 1:
        solver.step(state, 1)
    margins, present = _margins(problem, point), problem.costs > 0
    is_visited = present & (np.abs(state.rows[:, 2] - margins) > 1e-9)
    alpha, upper = point.dual_coef, problem.loss.upper_bound(problem.costs)
    is_between = present & (alpha > 0) & (alpha < upper)
    bend = problem.loss.dual_curvature / np.where(present, problem.costs, 1.0)
    slopes = problem.loss.dual_linear - margins - bend * alpha
    is_wrong = present & np.where(alpha > 0, (alpha >= upper) & (slopes < 0), slopes > 0)
    assert not np.any(is_visited & ~is_between & ~is_wrong)
    assert np.mean(is_visited[is_between | is_wrong]) > 0.9
    assert np.count_nonzero(is_visited) < 0.8 * np.count_nonzero(present)


@pytest.mark.parametrize("ratio", [1.0, 3.0, 1000.0])
@pytest.mark.parametrize("intercept", ["augmented", "none"])
@pytest.mark.parametrize("loss", LOSSES)
def test_coefficients_between_their_bounds_begin_at_their_best_multiple(
    loss: str, intercept: str, ratio: float
) -> None:
    problem, point = _neighbours(loss, intercept, ratio)
    solver = DualCoordinate()
    state = solver.start(problem, point)
    while state.run.sweeps == 0 and not np.any(state.rows[:, 2] != state.best_margins):
        begun = state.rows[:, 0].copy()
        solver.step(state, 1)
    given = point.dual_coef
    is_between = given < problem.loss.upper_bound(problem.costs)
    values = [
        _dual(problem, np.where(is_between, t * given, given)) for t in np.linspace(0.0, 1.0, 101)
    ]
    assert _dual(problem, begun) >= max(values) - 1e-12 * abs(max(values))
    np.testing.assert_array_equal(begun[~is_between], given[~is_between])


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_pieces_of_any_size_have_the_same_bits(loss: str, intercept: str) -> None:
    problem, point = _neighbours(loss, intercept)
    found = []
    for work in (1, 37, 2000, 10**9):
        solver = DualCoordinate(aim=1e-6)
        state = solver.start(problem, point)
        while state.run.checks < 3:
            solver.step(state, work)
        found.append([state.rows.tobytes(), state.vectors.tobytes(), state.best_margins.tobytes()])
    assert all(bits == found[0] for bits in found)


def test_without_shrinking_the_first_sweep_is_over_all_rows() -> None:
    problem, point = _neighbours("hinge", "augmented")
    solver = DualCoordinate(shrinking=False, extrapolation=False)
    state = solver.start(problem, point)
    while state.run.sweeps < 1:
        solver.step(state, 1)
    is_visited = np.abs(state.rows[:, 2] - _margins(problem, point)) > 1e-9
    assert np.count_nonzero(is_visited[problem.costs > 0]) > 0.9 * problem.n_counted


@pytest.mark.parametrize("ratio", np.geomspace(0.3, 30.0, 12))
def test_a_coefficient_at_its_bound_is_carried_to_the_bound(ratio: float) -> None:
    problem, point = _neighbours("hinge", "augmented")
    target = problem.with_C(ratio * problem.C)
    alpha = np.where(np.arange(800) % 2, problem.costs, 0.0)
    moved = carried(replace(point, dual_coef=alpha), problem, target).dual_coef
    np.testing.assert_array_equal(moved, np.where(np.arange(800) % 2, target.costs, 0.0))


def test_an_intercept_that_the_problem_does_not_have_is_left_aside() -> None:
    problem = Problem(*two_clouds(200), C=1.0, intercept="none")
    cold = solve(problem, "dual-coordinate", stop=Stop(gap=1e-3))
    starts = [Point(cold.coef, b, cold.dual_coef) for b in (0.0, 3.0, -50.0)]
    steps = {
        solve(problem, "dual-coordinate", Stop(gap=1e-8), warm=start).steps for start in starts
    }
    assert len(steps) == 1


@pytest.mark.parametrize("intercept", ["free", "augmented"])
def test_weights_whose_objective_overflows_are_left(intercept: str) -> None:
    X, y = two_clouds(200)
    problem = Problem(X, y, C=1.0, intercept=intercept)
    huge = Point(np.full(X.shape[1], 1.7e308), 0.0, np.zeros(len(y)))
    assert solve(problem, "dual-coordinate", Stop(gap=1e-6), warm=huge).status is Status.SOLVED


def test_rows_that_are_drawn_with_replacement_stay_active() -> None:
    problem = Problem(*two_clouds(500), C=1.0, intercept="augmented")
    cold = solve(problem, "dual-coordinate", stop=Stop(gap=1e-2))
    solver = DualCoordinate("random", screening=False)
    state = solver.start(problem, cold.point)
    active = 4  # among the counters
    while state.run.sweeps < 3:
        solver.step(state, 10**5)
    assert state.counters[active] == problem.n_rows
