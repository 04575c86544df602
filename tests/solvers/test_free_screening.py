"""Screening with a free intercept: what is settled is at its bound at the optimum, bit for bit."""

from __future__ import annotations

import itertools
import math
import pickle
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from tests.solvers.data import some_weights, two_clouds

from hinge import Interrupted, Problem, Status, Stop, solve
from hinge.losses import optimal_intercepts
from hinge.solvers import DualCoordinate
from hinge.solvers.linear import dual_coordinate, intercept_interval
from hinge.solvers.linear.intercept_interval import first_interval, intersected

LOSSES = ("hinge", "squared_hinge", "huber")
EXACT = Stop(gap=1e-10)


def _run(problem: Problem, gap: float, **options: bool):
    return solve(problem, DualCoordinate(aim=gap, **options), stop=Stop(gap=gap))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(LOSSES),
    C=st.sampled_from([0.01, 0.3, 5.0]),
    gap=st.sampled_from([1e-4, 1e-6, 1e-8]),
    sparse=st.booleans(),
    weighted=st.booleans(),
)
def test_settled_rows_are_at_their_bounds(
    seed: int, loss: str, C: float, gap: float, sparse: bool, weighted: bool
) -> None:
    X, y = two_clouds(120, 4, seed=seed, noise=0.7, sparse=sparse)
    weights = some_weights(120, seed) if weighted else None
    _settled_at_bounds(X, y, Problem(X, y, loss=loss, C=C, sample_weight=weights), gap)


@pytest.mark.parametrize("C", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_there_are_settled_rows_at_their_bounds(loss: str, C: float) -> None:
    X, y = two_clouds(120, 4, seed=1, noise=0.7)
    at_zero, at_upper = _settled_at_bounds(X, y, Problem(X, y, loss=loss, C=C), 1e-8)
    has_upper = loss != "squared_hinge"
    assert at_zero + at_upper >= 10
    assert (at_upper > 0) == has_upper
    assert at_zero > 0 or C == 0.01  # where C is small nearly every row is within the margin


def _settled_at_bounds(X, y, problem: Problem, gap: float) -> tuple[int, int]:
    """Check what a run settles; return how many rows that is at zero and at the upper bound."""
    found = _run(problem, gap)
    exact = _run(problem, 1e-10, screening=False)
    assert exact.certificate.relative_gap <= 1e-9
    rows = found.state.rows
    settled = np.isnan(rows[:, 1]) & (problem.costs > 0)
    assert found.state.run.settled == np.count_nonzero(settled)
    margins = (2.0 * y - 1.0) * (X @ exact.coef + exact.intercept)
    slack = 1e-3  # far above what a gap of 1e-10 can move a margin by
    at_zero, at_upper = settled & (rows[:, 0] == 0.0), settled & (rows[:, 0] > 0.0)
    assert (margins[at_zero] > problem.loss.zero_from - slack).all()
    assert (margins[at_upper] < problem.loss.kinks[0].margin + slack).all()
    upper = problem.loss.upper_bound(problem.costs)
    assert (rows[at_upper, 0] == upper[at_upper]).all()
    return np.count_nonzero(at_zero), np.count_nonzero(at_upper)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_interval_holds_every_optimal_intercept(loss: str) -> None:
    for seed, C in itertools.product(range(5), (0.02, 1.0)):
        problem = Problem(*two_clouds(100, 3, seed=seed, noise=0.8), loss=loss, C=C)
        found = _run(problem, 1e-6)
        exact = _run(problem, 1e-10, screening=False)
        scores = np.asarray(two_clouds(100, 3, seed=seed, noise=0.8)[0] @ exact.coef)
        low, high = optimal_intercepts(problem.loss, scores, problem.signs, problem.costs)
        proven = found.state.run.intercepts
        assert proven[0] <= low <= high <= proven[1]
        first = first_interval(problem, found.certificate.primal)
        assert proven[1] - proven[0] < first[1] - first[0]


@pytest.mark.parametrize("cloud", [1, 2, 3])
def test_rows_are_settled_and_the_interval_is_short(cloud: int) -> None:
    problem = Problem(*two_clouds(3000, 5, seed=cloud, noise=0.8), C=1.0)
    found = _run(problem, 1e-8)
    assert found.status is Status.SOLVED
    low, high = found.state.run.intercepts
    assert high - low < 0.1
    assert low <= found.intercept <= high
    assert found.state.run.settled > 2000
    without = _run(problem, 1e-8, screening=False)
    assert without.state.run.settled == 0
    assert found.certificate.primal == pytest.approx(without.certificate.primal, rel=1e-7)


class _GivenUpError(Exception):
    """A step was abandoned."""


def _wants_to_narrow(problem: Problem, solver: DualCoordinate):
    """Return the state of a run whose next step narrows the interval."""
    state = solver.start(problem)
    while not state.is_narrowing:
        solver.step(state, 10**9)
    return state


def test_narrowing_looks_up_between_blocks_and_can_be_abandoned() -> None:
    problem = Problem(*two_clouds(40_000, 3, noise=0.8), C=0.1)
    solver = DualCoordinate(aim=1e-8)
    state, twin = (_wants_to_narrow(problem, solver) for _ in range(2))
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1

    def give_up() -> None:
        raise _GivenUpError

    before = tuple(state.run.intercepts), state.work, state.run.checks
    for _ in range(2):
        state.stop_check = give_up
        with pytest.raises(_GivenUpError):
            solver.step(state, 10**9)
        assert (tuple(state.run.intercepts), state.work, state.run.checks) == before
        assert state.is_narrowing
        state = pickle.loads(pickle.dumps(state)).resumed(problem)
        assert state.stop_check is None
    twin.stop_check = look
    for one in (state, twin):
        solver.step(one, 10**9)
        assert not one.is_narrowing
    assert looks >= 3 * (40_000 >> 14)
    assert state.run.intercepts == twin.run.intercepts
    assert state.run.intercepts[0] > before[0][0]
    assert state.work == twin.work > before[1]


@pytest.mark.parametrize("solver", ["auto", "dual-coordinate"])
def test_ctrl_c_while_an_interval_is_narrowed(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(*two_clouds(3000, 30, noise=0.8), C=0.1)
    whole = solve(problem, solver, stop=EXACT)
    assert whole.solver == "dual-coordinate"
    plain = dual_coordinate.narrowed

    def struck(*arguments):
        signal.raise_signal(signal.SIGINT)
        return plain(*arguments)

    monkeypatch.setattr(dual_coordinate, "narrowed", struck)
    with pytest.raises(Interrupted) as caught:
        solve(problem, solver, stop=EXACT)
    monkeypatch.undo()
    state = caught.value.solution.state
    assert getattr(state, "running", state).is_narrowing
    assert state.stop_check is None
    rest = solve(problem, solver, stop=EXACT, resume=pickle.loads(pickle.dumps(state)))
    np.testing.assert_array_equal(rest.coef, whole.coef)
    np.testing.assert_array_equal(rest.dual_coef, whole.dual_coef)
    assert rest.work == whole.work


def test_an_interval_over_blocks_is_that_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(*two_clouds(3000, 5, noise=0.8), C=0.1)
    solver = DualCoordinate(aim=1e-8)
    state = _wants_to_narrow(problem, solver)
    while state.run.settled == 0 or not state.is_narrowing:
        solver.step(state, 10**9)
    arguments = problem, state.rows, state.vectors[0, :-1], state.run
    whole = intercept_interval.narrowed(*arguments)
    monkeypatch.setattr(intercept_interval, "_BLOCK", 7)
    assert intercept_interval.narrowed(*arguments) == pytest.approx(whole, rel=1e-12)


def test_an_intercept_that_is_an_interval_settles_what_it_can() -> None:
    # Any intercept from -.968 to .968 is optimal.
    problem = Problem([[0.0], [4.0], [-4.0], [0.0]], [1, 1, -1, -1], C=1e-3)
    found = _run(problem, 1e-9)
    low, high = found.state.run.intercepts
    assert low <= -0.968
    assert high >= 0.968


def test_pause_and_cut_calls_change_no_bit() -> None:
    problem = Problem(*two_clouds(2000, 5, noise=0.8), loss="huber", C=2.0)
    solver = DualCoordinate(aim=1e-8)
    whole = solve(problem, solver, stop=Stop(gap=1e-8))
    assert whole.state.run.settled > 0
    threaded = solve(problem, solver, stop=Stop(gap=1e-8), n_jobs=2)
    first = solve(problem, solver, stop=Stop(gap=1e-8, steps=whole.steps - 7))
    assert first.status is Status.ITERATION_LIMIT
    state = pickle.loads(pickle.dumps(first.state))
    assert state.narrowed_at == first.state.narrowed_at < math.inf
    rest = solve(problem, solver, stop=Stop(gap=1e-8), resume=state)
    for other in (threaded, rest):
        np.testing.assert_array_equal(other.coef, whole.coef)
        np.testing.assert_array_equal(other.dual_coef, whole.dual_coef)
    in_one, in_pieces = solver.start(problem), solver.start(problem)
    while in_one.run.checks < 12:
        solver.step(in_one, 10**9)
    while in_pieces.run.checks < 12:
        solver.step(in_pieces, 501)
    np.testing.assert_array_equal(in_pieces.rows, in_one.rows)
    np.testing.assert_array_equal(in_pieces.numbers, in_one.numbers)


def test_warm_starts_are_screened_too() -> None:
    problem = Problem(*two_clouds(2000, 5, noise=0.8))
    first = _run(problem, 1e-6)
    second = solve(problem, DualCoordinate(aim=1e-9), stop=Stop(gap=1e-9), warm=first)
    assert second.status is Status.SOLVED
    assert second.state.run.settled > 0


@pytest.mark.parametrize("C", [100.0, 1000.0])
def test_a_centre_that_swings_comes_to_rest(C: float) -> None:
    X, y = load_iris(return_X_y=True)
    found = solve(Problem(X, y == 2, C=C), DualCoordinate(aim=1e-8), stop=Stop(gap=1e-8))
    assert found.status is Status.SOLVED


def test_intervals() -> None:
    problem = Problem([[0.0, 3.0], [4.0, 0.0]], [0, 1])
    assert first_interval(problem, 2.0) == pytest.approx((-9.0, 9.0))
    assert intersected((-1.0, 2.0), (0.0, 5.0)) == (0.0, 2.0)
    assert intersected((-1.0, 2.0), (2.1, 5.0)) == (-1.0, 2.0)
