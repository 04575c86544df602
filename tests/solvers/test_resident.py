"""Rounds of decomposition in native code: where they are done, and that cuts change no bit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from fuzz.kernel_machines.problems import random_case

from hinge import Problem, Status, Stop, solve
from hinge._native import core
from hinge.solvers import Decomposition
from hinge.solvers.kernel import resident
from hinge.testing import verify

STOP = Stop(gap=1e-4)


def problem(n: int = 600, **options: Any) -> Problem:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    y = (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return Problem(X, y, **{"kernel": "rbf", "C": 3.0, **options})


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_it_solves_what_working_sets_solve(loss: str, intercept: str) -> None:
    here = problem(loss=loss, intercept=intercept)
    solution = solve(here, solver="decomposition", stop=STOP)
    verify(here, solution, STOP)
    # Sets of a given size are led from Python.
    other = solve(here, solver=Decomposition(working_set=100), stop=STOP)
    bound = max(solution.certificate.gap, other.certificate.gap)
    assert abs(solution.certificate.primal - other.certificate.primal) <= bound


def test_few_steps_do_many_rounds() -> None:
    told: list[int] = []
    solution = solve(
        problem(), solver="decomposition", stop=Stop(kkt=1e-3),
        observers=[lambda event: told.append(event.progress.steps)],
    )  # fmt: skip
    assert solution.status is Status.SOLVED
    assert len(told) <= 3
    assert solution.state.rounds > 3


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_where_calls_end_changes_no_bit(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    whole = solve(problem(), solver="decomposition", stop=STOP)
    monkeypatch.setattr(resident, "WORK_A_CALL", most)
    pieces = solve(problem(), solver="decomposition", stop=STOP)
    np.testing.assert_array_equal(whole.dual_coef, pieces.dual_coef)
    assert whole.intercept == pieces.intercept


def test_a_resumed_run_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "WORK_A_CALL", 1)
    whole = solve(problem(), solver="decomposition", stop=STOP)
    part = solve(
        problem(), solver="decomposition", stop=STOP,
        observers=[lambda event: event.progress.steps > 100],
    )  # fmt: skip
    assert part.status is Status.INTERRUPTED
    state = pickle.loads(pickle.dumps(part.state))
    rest = solve(problem(), solver="decomposition", stop=STOP, resume=state)
    np.testing.assert_array_equal(whole.dual_coef, rest.dual_coef)


def test_rounds_that_are_too_large_are_led_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "WORK_A_ROUND", 1)
    here = problem()
    solution = solve(here, solver="decomposition", stop=STOP)
    verify(here, solution, STOP)
    assert not resident.improve_resident(Decomposition().start(here))


def test_a_limit_on_steps_holds() -> None:
    solution = solve(problem(), solver="decomposition", stop=Stop(gap=1e-9, steps=50))
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.steps == 50


@pytest.mark.parametrize("cache_mb", [0.1, 200.0])
def test_rows_that_find_no_room_are_not_for_it(cache_mb: float) -> None:
    here = problem()
    state = Decomposition(cache_mb=cache_mb).start(here)
    assert resident.improve_resident(state) is (cache_mb == 200.0)


def test_slots_must_belong_together() -> None:
    state = Decomposition().start(problem(100))
    assert resident.improve_resident(state)
    rows, numbers = state.source.native_rows
    program = state.program
    parts = program.linear, program.diagonal, program.lower, program.upper
    given = core.ResidentProgram(*parts, state.settled, True)
    limits = core.RoundLimits(1e-6, 10, 20, 100, 100, 5, 10**9, 10**9)
    cache = state.cache

    def run(**changed: Any) -> None:
        own = {
            "rows": cache.rows, "slot_of": cache.slot_of.copy(), "kept": cache.kept.copy(),
            "used": cache.used.copy(), "is_written": np.ones(100, dtype=bool), "clock": 1,
        }  # fmt: skip
        slots = core.ResidentSlots(**{**own, **changed})
        last = np.zeros(100, dtype=np.int64)
        point = state.beta.copy(), state.scores.copy()
        core.solve_rounds(rows, numbers, given, slots, *point, limits, last, 0)

    run()
    with pytest.raises(ValueError, match="a slot must be among those that there are"):
        run(slot_of=np.full(100, 100))
    with pytest.raises(ValueError, match="a kept row must be written to its slot"):
        run(is_written=np.zeros(100, dtype=bool))
    with pytest.raises(ValueError, match="every slot that is taken must be that of its row"):
        run(slot_of=np.full(100, -1))
    with pytest.raises(ValueError, match="a slot for every row"):
        run(rows=np.zeros((99, 100), dtype=np.float32))


def test_pairs_give_way_to_float64_though_some_rows_are_settled() -> None:
    """Rounding in float32 kept 23 rows from arriving for ever; one of them was settled."""
    case = random_case(202)
    solution = solve(case.problem, "decomposition", Stop(gap=1e-7, steps=200_000))
    assert solution.status is Status.SOLVED
    assert solution.state.is_exact
