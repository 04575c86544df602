"""A neighbour's point at another C: its values follow from its certificate; the judge decides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.data import some_weights, two_clouds

import hinge
from hinge import Point, Problem, Status, Stop
from hinge.certificates import gap
from hinge.solvers import DualCoordinate, solve
from hinge.solvers.linear.claimed_point import ClaimedPoint, claimed
from hinge.solvers.path_walk import carried
from hinge.testing import verify

pytestmark = pytest.mark.usefixtures("small_data_as_large")

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["augmented", "free", "none"]


def _problem(loss: str = "hinge", intercept: str = "augmented", n: int = 300) -> Problem:
    X, y = two_clouds(n, 6, seed=3, noise=3.0)
    weights = some_weights(n)
    return Problem(X, y, loss, intercept=intercept, sample_weight=weights, intercept_scale=1.5)


def _claimed(origin: Problem, solution: Any, target: Problem) -> Point:
    moved = carried(solution.point, origin, target)
    return claimed(moved, solution.certificate, origin, target)


@settings(max_examples=60, deadline=None)
@given(
    ratio=st.floats(1e-2, 1e2),
    loss=st.sampled_from(LOSSES),
    intercept=st.sampled_from(INTERCEPTS),
)
def test_the_values_are_those_of_the_carried_point(ratio: float, loss: str, intercept: str) -> None:
    origin = _problem(loss, intercept)
    solution = solve(origin, stop=Stop(gap=1e-4))
    target = origin.with_C(ratio)
    point = _claimed(origin, solution, target)
    assert isinstance(point, ClaimedPoint)
    certificate = gap(target, point)
    scale = max(abs(certificate.primal), abs(certificate.dual))
    assert point.primal == pytest.approx(certificate.primal, abs=1e-11 * scale)
    # Below what it is by rounding, and by what a free intercept's equality misses, times ratio^2.
    assert point.dual <= certificate.dual + 1e-11 * scale
    assert point.dual == pytest.approx(certificate.dual, abs=1e-7 * scale)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_point_that_will_do_is_certified_without_a_step(loss: str, intercept: str) -> None:
    problem = _problem(loss, intercept)
    Cs = [1.0, 1.001]
    first, second = hinge.path(problem, Cs, stop=Stop(gap=1e-3))
    assert second.status is Status.SOLVED
    assert (second.steps, second.work) == (0, 1)
    np.testing.assert_array_equal(second.coef, first.coef)
    verify(problem.with_C(Cs[1]), second)


def test_a_point_that_will_not_do_is_not_certified_for_it() -> None:
    problem = _problem()
    records = hinge.path(problem, [0.1, 10.0], stop=Stop(gap=1e-3))[1].trace.records
    assert [record.certified for record in records].count(True) == 1
    assert records[-1].work > 1


@pytest.mark.parametrize("solver", ["auto", "dual-coordinate"])
def test_a_claim_that_is_refused_ends_nothing(solver: str) -> None:
    problem = _problem()
    stop = Stop(gap=1e-5)
    known = solve(problem.with_C(0.01), stop=stop)
    value = known.certificate.primal
    liar = ClaimedPoint(known.coef, known.intercept, known.dual_coef, value, value)
    solution = solve(problem, solver, stop, liar)
    assert solution.status is Status.SOLVED
    assert solution.steps > 0
    first = solution.trace.records[0]
    assert first.certified
    assert first.primal - first.dual > stop.gap * first.primal
    verify(problem, solution)


def test_a_claimed_start_is_resumed_bit_for_bit() -> None:
    origin = _problem()
    target = origin.with_C(30.0)
    point = _claimed(origin, solve(origin, stop=Stop(gap=1e-4)), target)
    stop = Stop(gap=1e-8)
    solver = DualCoordinate(aim=1e-1)  # it claims, and the driver knows better
    whole = solve(target, solver, stop, point)
    states = []
    solve(target, solver, stop, point, observers=[lambda event: states.append(event.state())])
    assert whole.steps > 0
    for state in (states[0], states[len(states) // 2]):
        resumed = solve(target, solver, stop, resume=state)
        assert resumed.coef.tobytes() == whole.coef.tobytes()


def test_the_point_before_the_first_check_is_the_one_given() -> None:
    problem = _problem("hinge", "free")
    known = solve(problem, stop=Stop(gap=1e-3)).point
    solver = DualCoordinate()
    state = solver.start(problem, known)
    for _ in range(5):
        found = solver.point(state)
        np.testing.assert_array_equal(found.coef, known.coef)
        assert found.intercept == known.intercept
        solver.step(state, 1)
    assert state.run.checks == 0


@pytest.mark.parametrize("missing", ["dual", "proof", "C"])
def test_nothing_is_claimed_of_what_is_not_known(missing: str) -> None:
    origin = _problem()
    solution = solve(origin, stop=Stop(gap=1e-2))
    point, certificate, target = solution.point, solution.certificate, origin.with_C(2.0)
    if missing == "dual":
        point = replace(point, dual_coef=None)
    elif missing == "proof":
        certificate = replace(certificate, gap=math.inf)
    else:
        target = origin.with_C(math.inf)
    assert claimed(point, certificate, origin, target) is point
