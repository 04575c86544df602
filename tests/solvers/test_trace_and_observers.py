"""What a run leaves behind it, and who may watch."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.fakes import Scripted
from tests.solvers.points import OPTIMUM, PROBLEM, VALUE, between, slowly

from hinge import Status, Stop, solve
from hinge.testing import verify


def test_the_trace_tells_claims_from_certificates() -> None:
    solver = Scripted(
        lambda steps: between(1 - 0.5**steps), lambda steps: (2.0 + 1.0 / (steps + 1), 1.0)
    )
    solution = solve(PROBLEM, solver, Stop(gap=1e-6))
    assert solution.status is Status.SOLVED
    trace = solution.trace
    assert len(trace) == len(trace.records) > 2
    certified = trace.column("primal", certified=True)
    claimed = trace.column("primal", certified=False)
    assert len(certified) + len(claimed) == len(trace)
    assert len(certified) >= 1
    assert (claimed > 2.0).all()
    assert (claimed < 3.0).all()
    assert (certified >= VALUE * (1 - 1e-12)).all()
    assert (trace.column("dual", certified=True) <= VALUE * (1 + 1e-12)).all()
    for name in ("seconds", "steps", "work"):
        assert (np.diff(trace.column(name)) >= 0).all()
    assert trace.column("relative_gap", certified=True)[-1] == solution.certificate.relative_gap


def test_a_long_trace_is_thinned_out_and_keeps_its_certificates() -> None:
    solver = Scripted(slowly, lambda _: (2.0, 1.0), work_per_step=1000)
    solution = solve(PROBLEM, solver, Stop(steps=20_000))
    assert 1000 < len(solution.trace) <= 4096
    assert solution.trace.records[-1].steps == 20_000
    assert (np.diff(solution.trace.column("steps")) >= 0).all()


def test_observers_see_every_step_and_may_end_the_run() -> None:
    events = []

    def observer(event) -> bool:
        events.append(event)
        assert event.problem is PROBLEM
        np.testing.assert_array_equal(event.point().coef, between(0.5).coef)
        return event.progress.steps == 12

    solution = solve(PROBLEM, Scripted(lambda _: between(0.5)), observers=[observer])
    assert solution.status is Status.INTERRUPTED
    assert [event.progress.steps for event in events] == list(range(1, 13))
    assert events[0].seconds <= events[-1].seconds <= solution.seconds
    verify(PROBLEM, solution)


def test_only_true_ends_a_run() -> None:
    answers = iter([None, 1, "stop", [True], 0, True])
    solution = solve(PROBLEM, Scripted(lambda _: between(0.5)), observers=[lambda _: next(answers)])
    assert solution.steps == 6


def test_every_observer_is_asked() -> None:
    asked = []
    observers = [lambda _: asked.append("a") or True, lambda _: asked.append("b") or True]
    solve(PROBLEM, Scripted(lambda _: between(0.5)), observers=observers)
    assert asked == ["a", "b"]


def test_a_wish_to_stop_does_not_hide_a_solution() -> None:
    solution = solve(PROBLEM, Scripted(lambda _: OPTIMUM), observers=[lambda _: True])
    assert solution.status is Status.SOLVED


def test_an_observer_that_fails_ends_the_run_with_its_own_error() -> None:
    def observer(_) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(PROBLEM, Scripted(lambda _: between(0.5)), observers=[observer])
