"""Scores near the boundary are summed up anew where float32 is not exact enough for the aim."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest

from hinge import Problem, Solution, Status, Stop, solve
from hinge.kernels import RBF
from hinge.result import Point
from hinge.solvers import Decomposition, driver
from hinge.solvers.kernel import refresh
from hinge.solvers.kernel.dual_state import Ends, KernelState

N = 4200
STOP = Stop(gap=None, kkt=1e-3)
SOLVER = Decomposition(cache_mb=20.0)


@cache
def _problem(C: float = 1000.0, intercept: str = "free") -> Problem:
    """Return classes that overlap: large coefficients, of many float32 values each sum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.sign(X[:, 0] + 1.5 * rng.normal(size=N))
    return Problem(X, y, C=C, kernel=RBF(0.05), intercept=intercept)


@cache
def _solved() -> Solution:
    return solve(_problem(), SOLVER, STOP)


def _exact_scores(state: KernelState) -> Any:
    ids, sums = np.flatnonzero(state.beta), np.zeros(len(state.beta))
    state.source.add(ids, state.beta[ids], sums, exact=True)
    return sums


def _until_it_refreshes(solver: Decomposition) -> KernelState:
    """Return a run that has just begun to sum up scores anew."""
    state = solver.start(_problem())
    while not len(state.to_refresh):
        solver.step(state, 0)
    return state


@pytest.mark.parametrize(("C", "intercept"), [(1000.0, "free"), (100.0, "none")])
def test_a_claim_is_not_refused_for_the_rounding_of_float32(C: float, intercept: str) -> None:
    solution = solve(_problem(C, intercept), SOLVER, STOP)
    assert solution.status is Status.SOLVED
    assert solution.state.lost < np.inf
    assert not solution.state.is_exact
    assert not solution.state.was_refused
    assert solution.certificate.kkt <= STOP.kkt


def test_without_it_the_claim_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(refresh, "_FEW_ROWS", N + 1)
    state = solve(_problem(), SOLVER, STOP).state
    assert state.was_refused
    assert state.is_exact


def test_sums_near_the_boundary_are_those_of_float64_and_others_stay() -> None:
    state = _until_it_refreshes(SOLVER)
    near, before, beta = state.to_refresh.copy(), state.scores.copy(), state.beta.copy()
    assert 0 < len(near) < N // 2
    assert not state.is_complete
    assert np.isnan(SOLVER.progress(state).kkt)
    while len(state.to_refresh):
        np.testing.assert_array_equal(state.scores, before)
        SOLVER.step(state, 0)
    exact = _exact_scores(state)
    others = np.setdiff1d(np.arange(N), near)
    np.testing.assert_array_equal(state.beta, beta)
    np.testing.assert_array_equal(state.scores[others], before[others])
    np.testing.assert_allclose(state.scores[near], exact[near], rtol=0, atol=1e-8)
    assert np.max(np.abs(before - exact)[near]) > 1e-4


def test_few_scores_are_summed_up_anew_once_they_are_exact() -> None:
    state = _until_it_refreshes(SOLVER)
    while len(state.to_refresh):
        SOLVER.step(state, 0)
    gradient = state.gradient()
    arrived = Ends(up=-1e-4, down=1e-4, is_balanced=True)
    assert not refresh.begin_refreshing(state, gradient, arrived)


def test_an_error_that_does_not_become_smaller_is_not_met_again() -> None:
    state = _until_it_refreshes(SOLVER)
    state.to_refresh, state.fresh = state.to_refresh[:0], state.fresh[:0]
    gradient = state.gradient()
    ends = state.ends(gradient)
    assert not refresh.begin_refreshing(state, gradient, ends)
    state.lost = np.inf
    assert refresh.begin_refreshing(state, gradient, ends)


def test_small_sums_are_not_even_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(refresh, "_lost", None)
    solution = solve(_problem(C=1.0), SOLVER, STOP)
    assert solution.status is Status.SOLVED


def test_exact_enough_scores_are_left_alone(monkeypatch) -> None:
    looked = []
    lost = refresh._lost
    monkeypatch.setattr(refresh, "_lost", lambda *args: looked.append(lost(*args)) or looked[-1])
    monkeypatch.setattr(refresh, "_seems_exact", lambda _: False)
    solution = solve(_problem(C=1.0), SOLVER, STOP)
    assert looked
    assert max(looked) < 1e-5
    assert solution.state.lost == np.inf


def test_threads_change_no_bit(monkeypatch) -> None:
    monkeypatch.setattr(driver, "thread_count", lambda _: 2)
    two = solve(_problem(), SOLVER, STOP)
    np.testing.assert_array_equal(two.dual_coef, _solved().dual_coef)
    assert two.state.lost == _solved().state.lost < np.inf


def test_a_run_that_stops_while_sums_are_made_goes_on_with_the_same_bits() -> None:
    seen = []

    def is_at_it(event: Any) -> bool:
        seen.append(event.state())
        return len(seen[-1].to_refresh) > 0

    part = solve(_problem(), SOLVER, STOP, observers=[is_at_it])
    assert part.status is Status.INTERRUPTED
    assert len(part.state.to_refresh)
    assert isinstance(part.point, Point)
    rest = solve(_problem(), SOLVER, STOP, resume=pickle.loads(pickle.dumps(part.state)))
    np.testing.assert_array_equal(rest.dual_coef, _solved().dual_coef)
    assert rest.intercept == _solved().intercept


def test_a_problem_turned_exact_has_nothing_left_to_refresh() -> None:
    state = _until_it_refreshes(SOLVER)
    state.was_refused = True
    assert SOLVER.go_on(state, at_rest=False)
    assert state.is_exact
    assert len(state.to_refresh) == len(state.fresh) == 0
