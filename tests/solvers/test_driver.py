"""The one loop: what ends a run, what it claims, and what it keeps."""

from __future__ import annotations

import gc
import itertools
import math
import weakref
from dataclasses import replace

import numpy as np
import pytest
from tests.solvers.fakes import Scripted
from tests.solvers.points import NOWHERE, OPTIMUM, PROBLEM, VALUE, between, lies, slowly

import hinge
from hinge import Point, Problem, Status, Stop, solve
from hinge.certificates import gap
from hinge.errors import InvalidParameterError
from hinge.solvers import Support, driver
from hinge.testing import verify
from hinge.threads import thread_count


def test_an_optimum_is_solved() -> None:
    for opinion in (lies, lambda _: (math.nan, math.nan)):
        solution = solve(PROBLEM, Scripted(lambda _: OPTIMUM, opinion))
        assert solution.status is Status.SOLVED
        verify(PROBLEM, solution, Stop())


def test_a_solver_is_told_how_many_threads_it_may_use() -> None:
    available = thread_count(2)
    state = solve(PROBLEM, Scripted(lambda _: OPTIMUM), n_jobs=2).state
    assert state.threads == available
    assert "threads" not in state.parts()  # or a checkpoint would depend on it
    with pytest.raises(InvalidParameterError, match="n_jobs"):
        solve(PROBLEM, n_jobs=0)


def test_a_claim_is_not_believed() -> None:
    stop = Stop(gap=1e-3, steps=50)
    solution = solve(PROBLEM, Scripted(lambda _: NOWHERE, lies), stop)
    assert solution.status in (Status.STALLED, Status.ITERATION_LIMIT)
    assert solution.certificate.relative_gap == pytest.approx(1.0)
    verify(PROBLEM, solution, stop)
    solution = solve(PROBLEM, Scripted(slowly, lies), stop)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.steps == 50
    verify(PROBLEM, solution, stop)


def test_a_solver_at_rest_elsewhere_has_stalled() -> None:
    solution = solve(PROBLEM, Scripted(lambda _: between(0.5), rests_after=3))
    assert solution.status is Status.STALLED
    assert solution.steps == 3
    verify(PROBLEM, solution, Stop())


def test_a_solver_that_does_nothing_has_stalled() -> None:
    solution = solve(PROBLEM, Scripted(lambda _: NOWHERE, work_per_step=0))
    assert solution.status is Status.STALLED


@pytest.mark.parametrize("opinion", [lies, lambda _: (math.nan, math.nan)])
def test_a_solver_that_works_in_vain_has_stalled(opinion) -> None:
    solution = solve(PROBLEM, Scripted(lambda _: between(0.5), opinion))
    assert solution.status is Status.STALLED
    verify(PROBLEM, solution)


def test_slow_progress_is_no_stall() -> None:
    solution = solve(PROBLEM, Scripted(slowly, work_per_step=100_000_000), Stop(steps=5000))
    assert solution.status is Status.ITERATION_LIMIT


def test_nothing_left_but_rounding_is_a_stall() -> None:
    solution = solve(PROBLEM, Scripted(lambda _: OPTIMUM), Stop(gap=1e-300))
    assert solution.status is Status.STALLED
    assert solution.certificate.relative_gap < 1e-10


@pytest.mark.parametrize("opinion", [lies, lambda _: (math.nan, math.nan)])
def test_a_dual_point_may_come_late(opinion) -> None:
    def points(steps: int) -> Point:
        return OPTIMUM if steps > 40 else replace(NOWHERE, dual_coef=None)

    solution = solve(PROBLEM, Scripted(points, opinion), Stop(steps=100))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_the_limit_on_steps(steps: int) -> None:
    stop = Stop(steps=steps)
    solution = solve(PROBLEM, Scripted(lambda _: between(0.5)), stop)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.steps == steps
    verify(PROBLEM, solution, stop)


def test_the_time_limit() -> None:
    stop = Stop(seconds=0.0)
    solution = solve(PROBLEM, Scripted(lambda _: between(0.5)), stop)
    assert solution.status is Status.TIME_LIMIT
    assert solution.steps == 0
    verify(PROBLEM, solution, stop)


def test_the_time_limit_ends_a_long_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that asks is told that time is over, and its point is certified all the same."""
    seconds = itertools.count()
    monkeypatch.setattr(driver.time, "perf_counter", lambda: float(next(seconds)))
    asked = []

    class Endless(Scripted):
        def step(self, state, _work):
            while len(asked) < 10_000:
                asked.append(state.stop_check)
                state.stop_check()

        def point(self, state):
            if state.stop_check is not None:
                state.stop_check()  # of the time after the step
            return super().point(state)

    stop = Stop(seconds=100.0)
    solution = solve(PROBLEM, Endless(lambda _: between(0.5)), stop)
    assert solution.status is Status.TIME_LIMIT
    assert 10 < len(asked) < 101
    verify(PROBLEM, solution, stop)


def test_a_limit_does_not_hide_a_solution() -> None:
    for stop in (Stop(steps=0), Stop(seconds=0.0)):
        solution = solve(PROBLEM, Scripted(lambda _: OPTIMUM), stop)
        assert solution.status is Status.SOLVED
        verify(PROBLEM, solution, stop)


def test_the_pair_of_the_best_points_may_solve_where_neither_did() -> None:
    good_primal = replace(OPTIMUM, dual_coef=NOWHERE.dual_coef)
    good_dual = replace(NOWHERE, dual_coef=OPTIMUM.dual_coef)
    solver = Scripted(lambda steps: good_primal if steps < 2 else good_dual, work_per_step=10**9)
    solution = solve(PROBLEM, solver, Stop(steps=3))
    verify(PROBLEM, solution, Stop())
    assert solution.certificate.relative_gap <= 1e-3
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize(
    "bad",
    [
        replace(OPTIMUM, coef=np.full(PROBLEM.n_features, np.nan)),
        replace(OPTIMUM, coef=np.full(PROBLEM.n_features, np.inf)),
        replace(OPTIMUM, intercept=math.nan),
        replace(OPTIMUM, dual_coef=np.full(PROBLEM.n_rows, np.nan)),
    ],
)
@pytest.mark.parametrize("opinion", [lies, lambda _: (math.nan, math.nan)])
def test_numbers_that_are_none(bad: Point, opinion) -> None:
    solution = solve(PROBLEM, Scripted(lambda _: bad, opinion))
    assert solution.status is Status.NUMERICAL_ERROR
    assert solution.certificate.gap == np.inf


def test_a_good_point_survives_a_numerical_error() -> None:
    bad = replace(OPTIMUM, coef=np.full(PROBLEM.n_features, np.nan))
    solver = Scripted(lambda steps: between(0.9) if steps < 2 else bad, work_per_step=10**9)
    solution = solve(PROBLEM, solver, Stop(gap=1e-6))
    assert solution.status is Status.NUMERICAL_ERROR
    assert np.isfinite(solution.coef).all()
    assert solution.certificate.gap <= gap(PROBLEM, between(0.9)).gap
    verify(PROBLEM, solution)


def test_the_best_points_of_an_oscillating_run_are_kept() -> None:
    solver = Scripted(
        lambda steps: between(0.99 if steps == 4 else 0.1 + 0.001 * (steps % 7)),
        work_per_step=100_000_000,
    )
    solution = solve(PROBLEM, solver, Stop(gap=1e-9, steps=9))
    assert 4 in solver.asked_for_points
    assert solution.status is Status.ITERATION_LIMIT
    wanted = gap(PROBLEM, between(0.99))
    assert solution.certificate.primal <= wanted.primal
    assert solution.certificate.dual >= wanted.dual
    verify(PROBLEM, solution)


def test_best_primal_and_best_dual_of_different_steps_are_paired() -> None:
    good_primal = replace(OPTIMUM, dual_coef=between(0.2).dual_coef)
    good_dual = replace(between(0.2), dual_coef=between(0.97).dual_coef)
    solver = Scripted(lambda steps: good_primal if steps % 2 else good_dual, work_per_step=10**9)
    solution = solve(PROBLEM, solver, Stop(gap=1e-9, steps=3))
    assert solution.certificate.primal == pytest.approx(VALUE, rel=1e-12)
    assert solution.certificate.dual == pytest.approx(gap(PROBLEM, good_dual).dual, rel=1e-12)
    assert solution.status is Status.ITERATION_LIMIT


@pytest.mark.parametrize("stop", [Stop(gap=None, kkt=1e-6), Stop(gap=0.9, kkt=1e-6)])
def test_solved_holds_for_the_point_that_is_returned(stop: Stop) -> None:
    """A pair of the smallest gap may violate a criterion that the last point met."""
    assert OPTIMUM.dual_coef is not None
    slightly_off = Point(OPTIMUM.coef * 1.1, OPTIMUM.intercept, OPTIMUM.dual_coef)
    solver = Scripted(
        lambda steps: OPTIMUM if steps >= 2 else slightly_off, work_per_step=50_000_000
    )
    solution = solve(PROBLEM, solver, stop)
    assert solution.status is Status.SOLVED
    assert stop.satisfied_by(solution.certificate)
    verify(PROBLEM, solution, stop)


def _recording_judge(monkeypatch) -> list[int]:
    """Count the certificates that the driver asks for."""
    from hinge.solvers import judge  # noqa: PLC0415

    calls: list[int] = []
    real = judge.gap

    def counted(*args, **kwargs):
        calls.append(1)
        return real(*args, **kwargs)

    monkeypatch.setattr(judge, "gap", counted)
    return calls


@pytest.mark.parametrize("opinion", [lies, lambda _: (math.nan, math.nan)])
@pytest.mark.parametrize("work_per_step", [1000, 30_000, 1_000_000])
def test_certificates_are_at_most_a_tenth_of_the_work(
    opinion, work_per_step: int, monkeypatch
) -> None:
    calls = _recording_judge(monkeypatch)
    solver = Scripted(slowly, opinion, work_per_step)
    solution = solve(PROBLEM, solver, Stop(steps=3000))
    assert solution.steps == 3000
    passes = 2 * PROBLEM.rows.n_stored * len(calls)
    first_and_last = 4 * 2 * PROBLEM.rows.n_stored
    assert passes <= solution.work / 10 + first_and_last
    assert len(calls) >= 2


def test_a_lie_is_checked_once_and_then_at_growing_distances(monkeypatch) -> None:
    calls = _recording_judge(monkeypatch)
    solve(PROBLEM, Scripted(slowly, lies, 10_000), Stop(steps=2000))
    assert 2 <= len(calls) <= 25


def test_a_solver_that_does_not_take_the_problem_says_why() -> None:
    class Picky(Scripted):
        def supports(self, _problem) -> Support:
            return Support(False, "it takes no augmented intercept; use intercept='none'.")

    with pytest.raises(hinge.UnsupportedError, match=r"'scripted' does not take.*use intercept"):
        solve(PROBLEM, Picky(lambda _: OPTIMUM))


def test_unknown_solvers_are_named() -> None:
    with pytest.raises(hinge.InvalidParameterError, match="Did you mean 'dual-coordinate'"):
        solve(PROBLEM, "dual-coordinates")


def test_a_solution_reports_the_whole_run() -> None:
    solution = solve(PROBLEM, Scripted(lambda _: OPTIMUM, lies), seed=3)
    assert solution.solver == "scripted"
    assert solution.seed == 3
    assert 0 <= solution.certificate_seconds <= solution.seconds
    assert solution.coef is solution.point.coef
    assert solution.intercept == OPTIMUM.intercept
    np.testing.assert_array_equal(solution.dual_coef, OPTIMUM.dual_coef)
    assert solution.certificate.region is not None


def test_data_are_let_go_when_a_run_is_over() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    problem = Problem(X, X[:, 0] > 0.1)
    rows = weakref.ref(problem.rows)
    gc.disable()  # a cycle would keep them until the next collection
    try:
        solution = solve(problem)
        del problem, solution
        assert rows() is None
    finally:
        gc.enable()
