"""States: pickled, given back to their problem, refused by any other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.solvers.fakes import Scripted

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.testing import known_optimum

KNOWN = known_optimum("hinge", "augmented")


def _state(problem: Problem = KNOWN.problem):
    solver = Scripted(lambda _: KNOWN.point)
    return solver, solve(problem, solver, Stop(gap=None, steps=5)).state


def test_a_state_goes_on_where_it_was() -> None:
    solver, state = _state()
    solution = solve(KNOWN.problem, solver, Stop(gap=None, steps=8), resume=state)
    assert solution.steps == 8
    assert solution.status is Status.ITERATION_LIMIT


def test_a_pickled_state_leaves_the_data_behind() -> None:
    big = Problem(np.random.default_rng(0).normal(size=(5000, 7)), np.tile([0, 1], 2500))
    solver = Scripted(lambda _: hinge.Point(np.zeros(7), 0.0, np.zeros(5000)))
    state = solve(big, solver, Stop(steps=5)).state
    saved = pickle.dumps(state)
    assert len(saved) < 2000
    copy = pickle.loads(saved)
    assert not hasattr(copy, "problem")
    solution = solve(big, solver, Stop(steps=9), resume=copy)
    assert solution.steps == 9
    assert solution.state.problem is big


def test_an_equal_problem_is_accepted() -> None:
    solver, state = _state()
    twin = known_optimum("hinge", "augmented").problem
    assert twin is not KNOWN.problem
    for given in (state, pickle.loads(pickle.dumps(state))):
        assert solve(twin, solver, Stop(gap=None, steps=7), resume=given).steps == 7


@pytest.mark.parametrize(
    "other",
    [
        known_optimum("hinge", "augmented", seed=1).problem,
        known_optimum("huber", "augmented").problem,
        known_optimum("hinge", "none").problem,
        KNOWN.problem.with_C(3.0),
    ],
)
def test_another_problem_is_refused(other: Problem) -> None:
    solver, state = _state()
    for given in (state, pickle.loads(pickle.dumps(state))):
        with pytest.raises(hinge.InvalidParameterError, match=r"belongs to another problem.*warm="):
            solve(other, solver, resume=given)


def test_a_pickled_solution_keeps_its_numbers() -> None:
    solver = Scripted(lambda _: KNOWN.point)
    solution = solve(KNOWN.problem, solver)
    copy = pickle.loads(pickle.dumps(solution))
    assert copy.status is Status.SOLVED
    assert copy.coef.tobytes() == solution.coef.tobytes()
    assert copy.certificate.gap == solution.certificate.gap
    X = np.eye(KNOWN.problem.n_features)
    np.testing.assert_array_equal(copy.certificate.settled(X), solution.certificate.settled(X))


def test_a_state_that_has_arrived_is_certified_before_anything_else() -> None:
    problem = known_optimum("hinge", "augmented", seed=2).problem
    solution = solve(problem, "dual-coordinate", Stop(gap=1e-4))
    again = solve(problem, "dual-coordinate", Stop(gap=1e-4), resume=solution.state)
    assert again.status is Status.SOLVED
    assert (again.steps, again.work) == (solution.steps, solution.work)
    assert np.array_equal(again.coef, solution.coef)


def test_an_event_gives_a_copy_of_the_state() -> None:
    problem = known_optimum("hinge", "augmented", seed=2).problem
    states = []
    stop = Stop(gap=1e-9)
    whole = solve(problem, "dual-coordinate", stop, observers=[lambda e: states.append(e.state())])
    assert len(states) > 2
    for state in states:
        rest = solve(problem, "dual-coordinate", stop, resume=state)
        assert np.array_equal(rest.coef, whole.coef)
        assert np.array_equal(rest.dual_coef, whole.dual_coef)
