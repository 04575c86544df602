"""One class against the rest: sharing of rows, time and threads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.data import three_classes

from hinge import Problem, Solution, Status, Stop, solve
from hinge.losses import get_loss
from hinge.multiclass import Labels, Objective, Plan, solve_one_vs_rest
from hinge.problem import Intercept
from hinge.rows import Rows
from hinge.solvers import Event, StopFlag

OBJECTIVE = Objective(get_loss("squared_hinge"), 1.0, Intercept.AUGMENTED)
HARD = Objective(get_loss("hinge"), 1e8, Intercept.AUGMENTED)
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


@pytest.mark.parametrize("threads", [1, 2])
def test_a_time_limit_is_spent_on_the_classes_that_need_it(threads: int) -> None:
    rows, labels = iris()
    listener = Ending(-1)
    plan = Plan(stop=Stop(gap=1e-13, seconds=0.4), threads=threads, listeners=(listener,))
    solutions = solve_one_vs_rest(rows, labels, HARD, NO_WARM, plan, StopFlag())
    assert sorted(listener.ended) == [0, 1, 2]
    for solution in solutions:
        assert solution.steps > 0
        assert np.isfinite(solution.certificate.primal)
        seconds = solution.trace.column("seconds")
        assert (np.diff(seconds) >= 0).all()
        assert solution.state is None
    assert Status.TIME_LIMIT in {solution.status for solution in solutions}


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
