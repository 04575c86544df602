"""A path of C: every point is the one that a fit of its own would certify, and none is lost."""

from __future__ import annotations

import importlib
import signal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.data import some_weights, two_clouds

import hinge
from hinge import Interrupted, InvalidParameterError, Problem, Status, Stop
from hinge.solvers import Settings, driver, path_walk
from hinge.solvers.path_walk import PathEvent, carried
from hinge.testing import verify

path_module = importlib.import_module("hinge.solvers.path")  # behind the function of its name

CS = [1.0, 0.01, 10.0, 0.1]


def _problem(loss: str = "hinge", intercept: str = "augmented", *, sparse: bool = False) -> Problem:
    X, y = two_clouds(120, 6, seed=3, sparse=sparse)
    return Problem(X, y, loss=loss, intercept=intercept, sample_weight=some_weights(120))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", ["augmented", "free", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_every_point_is_certified_in_the_callers_order(
    loss: str, intercept: str, sparse: bool
) -> None:
    problem = _problem(loss, intercept, sparse=sparse)
    stop = Stop(gap=1e-6)
    solutions = hinge.path(problem, CS, stop=stop)
    assert len(solutions) == len(CS)
    for C, solution in zip(CS, solutions, strict=True):
        here = problem.with_C(C)
        assert solution.status is Status.SOLVED
        assert solution.certificate.relative_gap <= 1e-6
        verify(here, solution)
        alone = hinge.solve(here, stop=stop)
        scale = 1e-6 * alone.certificate.primal
        assert abs(alone.certificate.primal - solution.certificate.primal) <= 2 * scale


def test_a_path_repeats_bit_for_bit_whatever_the_order_of_its_values() -> None:
    problem = _problem()
    one = dict(zip(CS, hinge.path(problem, CS), strict=True))
    other = dict(zip(sorted(CS), hinge.path(problem, sorted(CS)), strict=True))
    for C in CS:
        assert one[C].coef.tobytes() == other[C].coef.tobytes()
        assert one[C].certificate.primal == other[C].certificate.primal


def test_a_value_given_twice_is_solved_once() -> None:
    first, second, third = hinge.path(_problem(), [1.0, 0.1, 1.0])
    assert first is third
    assert first is not second


def test_the_work_is_less_than_that_of_single_fits() -> None:
    X, y = two_clouds(2000, 30, seed=1, noise=3.0)
    problem = Problem(X, y, intercept="augmented")
    Cs = np.logspace(-3, 1, 12)
    stop = Stop(gap=1e-4)
    together = sum(solution.work for solution in hinge.path(problem, Cs, stop=stop))
    alone = sum(hinge.solve(problem.with_C(C), stop=stop).work for C in Cs)
    assert together < alone


@settings(max_examples=50, deadline=None)
@given(
    ratio=st.floats(1e-3, 1e3),
    loss=st.sampled_from(["hinge", "squared_hinge", "huber"]),
    intercept=st.sampled_from(["augmented", "free", "none"]),
)
def test_a_carried_point_is_feasible(ratio: float, loss: str, intercept: str) -> None:
    origin = _problem(loss, intercept)
    target = origin.with_C(ratio)
    solution = hinge.solve(origin, stop=Stop(gap=1e-3))
    point = carried(solution.point, origin, target)
    assert point.dual_coef is not None
    assert point.coef is solution.coef
    assert np.all(point.dual_coef >= 0.0)
    assert np.all(point.dual_coef <= target.loss.upper_bound(target.costs))


def test_a_point_without_dual_coefficients_is_carried_as_it_is() -> None:
    problem = _problem()
    point = hinge.Point(np.ones(6), 0.5)
    assert carried(point, problem, problem.with_C(7.0)) is point


def test_observers_see_which_value_it_is() -> None:
    events: list[PathEvent] = []
    hinge.path(_problem(), CS, observers=[events.append])
    assert {event.count for event in events} == {4}
    order = list(dict.fromkeys(event.number for event in events))
    assert order == [1, 3, 0, 2]  # from the smallest C to the largest
    assert [event.problem.C for event in events] == [CS[event.number] for event in events]


def test_an_observer_ends_the_path_and_the_rest_proves_nothing() -> None:
    solutions = hinge.path(_problem(), CS, observers=[lambda event: event.number == 3])
    assert solutions[1].status is Status.SOLVED
    assert [solutions[k].status for k in (0, 2)] == [Status.INTERRUPTED] * 2
    for k in (0, 2):
        assert solutions[k].certificate.gap == np.inf
        assert any(
            "before this value of C began" in note for note in solutions[k].certificate.notes
        )


def test_ctrl_c_keeps_what_is_done() -> None:
    def press(event: PathEvent) -> None:
        if event.number == 0:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="smallest 3 of 4 values of C") as caught:
        hinge.path(_problem(), CS, observers=[press])
    solved = [s for s in caught.value.solutions if s.status is Status.SOLVED]
    assert len(caught.value.solutions) == 3
    assert len(solved) >= 2
    problem = _problem()
    # In the caller's order: C = 1 first, then 0.01 and 0.1.
    verify(problem.with_C(0.01), caught.value.solutions[1])
    verify(problem.with_C(0.1), caught.value.solutions[2])


def test_a_time_limit_is_for_the_whole_path() -> None:
    solutions = hinge.path(_problem(), CS, stop=Stop(gap=1e-12, seconds=0.0))
    assert all(solution.status in (Status.TIME_LIMIT, Status.SOLVED) for solution in solutions)
    assert any(solution.status is Status.TIME_LIMIT for solution in solutions)


def test_a_limit_of_steps_is_for_every_value() -> None:
    solutions = hinge.path(_problem(), CS, stop=Stop(gap=0.0, steps=3))
    assert all(solution.steps <= 3 for solution in solutions)


@pytest.mark.parametrize(
    ("Cs", "message"),
    [
        ([], "Cs must have at least one value of C; got none."),
        (1.0, "Cs must be a list of values of C, such as"),
        ("0.1", "Cs must be a list of values of C, such as"),
        ([1.0, -2.0], r"Cs\[1\] must be greater than 0; got -2.0."),
        ([np.inf], r"Cs\[0\] is infinity: a path has finite values"),
        (["a"], r"Cs\[0\] must be a number; got 'a'"),
    ],
)
def test_values_that_are_none_are_refused(Cs: object, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        hinge.path(_problem(), Cs)


def _threads_seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that takes down how many threads every run of a path has."""
    seen: list[int] = []

    def run(problem: Problem, solver: Any, settings: Settings, *rest: Any) -> Any:
        seen.append(settings.threads)
        return driver.run(problem, solver, settings, *rest)

    monkeypatch.setattr(path_walk, "run", run)
    return seen


@pytest.mark.parametrize("solver", ["auto", "interior-point", "newton"])
def test_threads_are_for_every_value_and_change_no_bit(
    monkeypatch: pytest.MonkeyPatch, solver: str
) -> None:
    X, y = two_clouds(9000, 20, noise=2.0)
    problem = Problem(X, y, loss="squared_hinge")
    monkeypatch.setattr(path_module, "thread_count", lambda n_jobs: n_jobs or 1)
    seen = _threads_seen(monkeypatch)
    alone, shared = (hinge.path(problem, CS[:2], solver, n_jobs=jobs) for jobs in (None, 3))
    assert seen == [1, 1, 3, 3]
    for one, three in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one.coef, three.coef)
        np.testing.assert_array_equal(one.dual_coef, three.dual_coef)
        assert one.intercept == three.intercept
        assert one.certificate.gap == three.certificate.gap


def test_threads_of_a_kernel_path_change_no_bit() -> None:
    X, y = two_clouds(200, 4)
    problem = Problem(X, y, kernel="rbf", intercept="free")
    paths = [hinge.path(problem, [0.1, 1.0], gammas=[0.1, 0.5], n_jobs=jobs) for jobs in (1, 2)]
    for row, other in zip(*paths, strict=True):
        for one, two in zip(row, other, strict=True):
            np.testing.assert_array_equal(one.dual_coef, two.dual_coef)


@pytest.mark.parametrize("n_jobs", [0, "all", 1.5])
def test_numbers_of_threads_that_are_none(n_jobs: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"n_jobs must be an integer other than 0"):
        hinge.path(_problem(), CS, n_jobs=n_jobs)
