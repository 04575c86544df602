"""What every solver of kernel machines must do, whatever its method.

A solver is covered by being registered; which problems it is given follows from ``supports``.
"""

from __future__ import annotations

import math
import pickle
import signal
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from fuzz.kernel_machines.problems import random_case
from tests.solvers.kernel_cases import (
    Case,
    cases_of,
    every_kernel_solver,
    kernel_solver,
    ordinary,
    plain_problem,
    rows_of_two_classes,
)

import hinge
from hinge import Interrupted, Point, Problem, Status, Stop, solve
from hinge.kernels import RBF, Precomputed, Sigmoid
from hinge.solvers import Solver, kernel_solver_names
from hinge.testing import known_optimum, reference_solution, verify, yield_checks

SOME = ("dense-float64-plain", "csr-float32-weighted")
NAMES = kernel_solver_names()
SOLVERS = [pytest.param(kernel_solver(name), id=name) for name in NAMES]
CASES = [case for solver in every_kernel_solver() for case in cases_of(solver, solver.name)]
TIGHT = Stop(gap=1e-7, steps=3_000_000)  # the limit only ends what would go on for ever


def _checks() -> list[Any]:
    """Return the shipped checks on two kinds of storage, which stand for all of them."""
    return [
        pytest.param(check, id=f"{solver.name}-{check}")
        for solver in every_kernel_solver()
        for check in yield_checks(solver)
        if check.label.endswith(SOME)
    ]


@pytest.mark.parametrize("check", _checks())
def test_the_shipped_checks(check: Any) -> None:
    check()


@cache
def _reference(problem: Problem) -> Point:
    """Return clarabel's solution, as exact as it gets: some of the matrices are nearly singular."""
    for tolerance in (1e-10, 1e-8):
        try:
            return reference_solution(problem, tolerance)
        except RuntimeError:
            continue
    return reference_solution(problem, 1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_agreement_with_an_interior_point_method(case: Case) -> None:
    problem = case.problem
    solution = solve(problem, case.solver, TIGHT)
    theirs = hinge.certificates.gap(problem, _reference(problem))
    ours = solution.certificate
    # Where rounding is more than a ten-millionth of the objective, nobody can prove it smaller.
    assert solution.status is Status.SOLVED or ours.is_rounding
    assert ours.primal <= theirs.primal * (1.0 + 1e-6) or ours.is_rounding
    # No lower bound may lie above a value that is attained.
    assert ours.primal - ours.gap <= theirs.primal
    assert theirs.primal - theirs.gap <= ours.primal
    verify(problem, solution, TIGHT)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_known_optimum_by_its_matrix(solver: Solver) -> None:
    found = 0
    for loss in ("hinge", "squared_hinge", "huber"):
        for intercept in ("free", "none"):
            known = known_optimum(loss, intercept, weighted=True, kernel="precomputed", seed=3)
            if not solver.supports(known.problem):
                continue
            found += 1
            certificate = solve(known.problem, solver, TIGHT).certificate
            assert certificate.relative_gap <= TIGHT.gap
            assert abs(certificate.primal - float(known.value)) <= certificate.gap
    assert found


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_not_taken_is_refused_in_a_sentence(solver: Solver) -> None:
    for loss in ("hinge", "squared_hinge", "huber"):
        for intercept in ("free", "none"):
            problem = ordinary(loss=loss, intercept=intercept)
            support = solver.supports(problem)
            if support:
                continue
            assert support.reason.endswith(".")
            with pytest.raises(hinge.UnsupportedError, match="does not take this") as caught:
                solve(problem, solver)
            assert support.reason in str(caught.value)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["sigmoid", "indefinite matrix"])
def test_without_a_convex_dual_there_is_an_end_and_a_violation(solver: Solver, kind: str) -> None:
    X, y = rows_of_two_classes()
    kernel: Any = Sigmoid(0.5, -1.0)
    if kind != "sigmoid":
        X, kernel = X @ np.diag([1.0, -1.0, 0.5]) @ X.T, Precomputed(psd=False)
    intercept = "free" if solver.supports(ordinary(intercept="free")) else "none"
    problem = Problem(X, y, kernel=kernel, intercept=intercept, C=10.0)
    if not solver.supports(problem):
        pytest.skip("it says that it does not take kernels without a convex dual")
    solution = solve(problem, solver, Stop(gap=None, kkt=1e-3, steps=200_000))
    assert "no gap certificate" in str(solution.certificate)
    assert math.isinf(solution.certificate.gap)
    assert math.isfinite(solution.certificate.kkt)
    asked_a_gap = solve(problem, solver, Stop(gap=1e-3, steps=20_000))
    assert asked_a_gap.status is not Status.SOLVED


def _strange(point: Point, how: str) -> Point:
    """Return a starting point that no run would have ended with."""
    assert point.dual_coef is not None
    coef = point.dual_coef.copy()
    if how == "not numbers":
        coef[::3] = math.nan
    elif how == "beyond the bounds":
        coef = 1e12 * (1.0 + coef)
    elif how == "negative":
        coef = -1.0 - coef
    elif how == "too few":
        coef = coef[:-1]
    return replace(point, dual_coef=None if how == "none" else coef)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "how", ["as it was", "not numbers", "beyond the bounds", "negative", "too few", "none"]
)
def test_any_warm_start_ends_at_the_optimum(solver: Solver, how: str) -> None:
    problem = plain_problem(solver, C=10.0)
    warm = _strange(solve(problem, solver, TIGHT).point, how)
    before = None if warm.dual_coef is None else warm.dual_coef.tobytes()
    solution = solve(problem, solver, TIGHT, warm=warm)
    assert solution.status is Status.SOLVED
    verify(problem, solution, TIGHT)
    assert before == (None if warm.dual_coef is None else warm.dual_coef.tobytes())


def _larger(solver: Solver, n: int = 300) -> Problem:
    """Return a problem of several steps for any method."""
    X, y = rows_of_two_classes(n, seed=4)
    intercept = "free" if solver.supports(ordinary(intercept="free")) else "none"
    for loss in ("hinge", "squared_hinge"):
        problem = Problem(X, y, loss=loss, kernel=RBF(1.0), C=50.0, intercept=intercept)
        if solver.supports(problem):
            return problem
    message = f"{solver.name} takes neither loss"
    raise AssertionError(message)


def _bits(point: Point) -> tuple[bytes, float]:
    assert point.dual_coef is not None
    return point.dual_coef.tobytes(), point.intercept


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("calls", [1, 3, 10])
def test_a_run_in_two_parts_has_the_same_bits(solver: Solver, calls: int) -> None:
    problem, stop = _larger(solver), Stop(gap=1e-6)
    whole = solve(problem, solver, stop)
    assert whole.status is Status.SOLVED
    seen = []

    def enough(event: Any) -> bool:
        seen.append(event.progress.steps)
        return len(seen) >= calls

    part = solve(problem, solver, stop, observers=[enough])
    state = pickle.loads(pickle.dumps(part.state))
    rest = solve(problem, solver, stop, resume=state)
    assert _bits(rest.point) == _bits(whole.point)
    assert rest.steps == whole.steps


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_threads_give_the_bits_of_one(solver: Solver) -> None:
    problem = _larger(solver, 600)
    runs = [solve(problem, solver, Stop(gap=1e-6), n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert _bits(runs[0].point) == _bits(runs[1].point)
    assert runs[0].certificate.primal == runs[1].certificate.primal


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_of_steps_is_kept(solver: Solver) -> None:
    problem = _larger(solver)
    for steps in (0, 1, 7):
        solution = solve(problem, solver, Stop(gap=0.0, steps=steps))
        assert solution.steps <= steps
        verify(problem, solution)


@pytest.mark.parametrize("solver", SOLVERS)
def test_ctrl_c_ends_a_run_that_can_go_on(solver: Solver) -> None:
    problem, stop = _larger(solver), Stop(gap=1e-6)

    def press(event: Any) -> None:
        del event
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted) as caught:
        solve(problem, solver, stop, observers=[press])
    solution = caught.value.solution
    assert solution is not None
    assert solution.status is Status.INTERRUPTED
    rest = solve(problem, solver, stop, resume=solution.state)
    assert _bits(rest.point) == _bits(solve(problem, solver, stop).point)


class Abandoned(Exception):  # noqa: N818 - an event, not an error
    """A step was given up."""


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_step_that_is_abandoned_leaves_a_state_to_go_on_from(solver: Solver) -> None:
    problem = _larger(solver)
    state = solver.start(problem)
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls % 3 == 0:
            raise Abandoned

    state.stop_check = check
    for _ in range(12):
        try:
            solver.step(state, 4_000_000)
        except Abandoned:
            continue
    state.stop_check = None
    state.solver_name = solver.name
    solution = solve(problem, solver, TIGHT, resume=state)
    assert solution.status is Status.SOLVED
    verify(problem, solution, TIGHT)


def test_few_stiff_rows_are_one_working_set() -> None:
    """93 rows, most of them twice, nearly singular: in parts they end at a gap of 9e-6."""
    problem = random_case(41).problem
    found = solve(problem, "decomposition", Stop(gap=1e-7)).certificate
    exact = solve(problem, "active-set", Stop(gap=1e-7)).certificate
    assert found.primal == pytest.approx(exact.primal, rel=1e-6)
