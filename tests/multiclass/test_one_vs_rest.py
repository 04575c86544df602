"""One class against the rest: sharing of rows, time and threads."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np
import pytest
from tests.estimators.data import three_classes

from hinge import Point, Problem, Solution, Status, Stop, solve
from hinge.losses import get_loss
from hinge.multiclass import Labels, Objective, Plan, solve_one_vs_rest
from hinge.problem import Intercept
from hinge.result import Progress
from hinge.rows import Rows
from hinge.solvers import Event, Solver, State, StopFlag, Support

OBJECTIVE = Objective(get_loss("squared_hinge"), 1.0, Intercept.AUGMENTED)
NO_WARM = [None, None, None]


def iris() -> tuple[Rows, Labels]:
    X, y = three_classes()
    return Rows(X), Labels(np.arange(3), y)


class Ending:
    """A listener that ends the fit at the first step of a class."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ended: list[int] = []

    def on_step(self, number: int, event: Event) -> bool:
        assert event.progress.steps > 0
        return number == self.number

    def on_end(self, number: int, solution: Solution) -> None:
        assert solution.steps > 0
        self.ended.append(number)


def test_each_class_is_what_it_would_be_alone() -> None:
    rows, labels = iris()
    plan = Plan(stop=Stop(gap=1e-5), threads=2)
    solutions = solve_one_vs_rest(rows, labels, OBJECTIVE, NO_WARM, plan, StopFlag())
    for number, solution in enumerate(solutions):
        problem = Problem(rows, labels.codes == number, loss="squared_hinge", intercept="augmented")
        alone = solve(problem, stop=Stop(gap=1e-5))
        np.testing.assert_array_equal(solution.coef, alone.coef)
        assert solution.certificate.gap == alone.certificate.gap
        assert solution.state is None


class TickingState(State):
    """How many seconds have been spent on a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.steps = 0


class Ticking(Solver):
    """A solver whose every step takes a second of a clock of its own.

    Parameters
    ----------
    needs : dict of int to int
        How many steps a problem takes, by the first row of its positive class.
    """

    name: ClassVar[str] = "ticking"

    def __init__(self, needs: dict[int, int]) -> None:
        self.needs = needs
        self.now = 0.0

    def supports(self, problem: Problem) -> Support:
        return Support(problem.n_rows > 0)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> TickingState:
        assert (warm, seed) == (None, 0)
        return TickingState(problem)

    def step(self, state: TickingState, work: int) -> int:
        assert work > 0
        self.now += 1.0
        state.steps += 1
        return 1

    def point(self, state: TickingState) -> Point:
        if self._is_done(state):
            return solve(state.problem, stop=Stop(gap=1e-4)).point
        return Point(np.zeros(4), 0.0, np.zeros(state.problem.n_rows))

    def progress(self, state: TickingState) -> Progress:
        claim = 1.0 if self._is_done(state) else float("nan")
        return Progress(state.steps, state.steps, claim, claim)

    def _is_done(self, state: TickingState) -> bool:
        return state.steps >= self.needs[int(np.argmax(state.problem.signs > 0))]


@pytest.mark.parametrize(
    ("limit", "steps", "status"),
    [
        # Shares of 4, 5 and 5 seconds; the second problem gets the 3 that are left over.
        (12.0, [2, 8, 2], Status.TIME_LIMIT),
        (20.0, [2, 10, 2], Status.SOLVED),
    ],
)
def test_time_that_quick_classes_leave_goes_to_slow_ones(
    limit: float, steps: list[int], status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, labels = iris()
    solver = Ticking({0: 2, 50: 10, 100: 2})
    monkeypatch.setattr(time, "perf_counter", lambda: solver.now)
    listener = Ending(-1)
    plan = Plan(solver, Stop(gap=1e-3, seconds=limit), listeners=(listener,))
    solutions = solve_one_vs_rest(rows, labels, OBJECTIVE, NO_WARM, plan, StopFlag())
    assert [solution.steps for solution in solutions] == steps
    assert [solution.status for solution in solutions] == [Status.SOLVED, status, Status.SOLVED]
    assert solutions[1].seconds == steps[1]
    assert listener.ended == [0, 2, 1]
    assert all(solution.state is None for solution in solutions)
    assert all(np.isfinite(solution.certificate.primal) for solution in solutions)


@pytest.mark.usefixtures("small_data_as_large")
def test_a_listener_ends_everything() -> None:
    rows, labels = iris()
    listener = Ending(1)
    plan = Plan(stop=Stop(gap=1e-3), listeners=(listener,))
    solutions = solve_one_vs_rest(rows, labels, OBJECTIVE, NO_WARM, plan, StopFlag())
    assert listener.ended == [0, 1]
    assert solutions[0].status is Status.SOLVED
    assert [s.status for s in solutions[1:]] == [Status.INTERRUPTED, Status.INTERRUPTED]
    assert solutions[2].coef.tolist() == [0.0] * 4
    assert solutions[2].intercept == -1.0
    assert solutions[2].certificate.relative_gap == np.inf


@pytest.mark.parametrize("threads", [1, 2])
def test_a_flag_that_is_set_leaves_classes_untrained(threads: int) -> None:
    rows, labels = iris()
    flag = StopFlag()
    flag.set()
    plan = Plan(threads=threads)
    solutions = solve_one_vs_rest(rows, labels, OBJECTIVE, NO_WARM, plan, flag)
    assert [solution.status for solution in solutions] == [Status.INTERRUPTED] * 3
    assert all("nothing is proven" in s.certificate.notes[0] for s in solutions)
