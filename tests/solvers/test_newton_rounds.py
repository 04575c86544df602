"""Newton's steps on the rows inside their bounds, where pairs take long."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF, Sigmoid
from hinge.solvers import Decomposition, driver
from hinge.solvers.kernel import decomposition, newton_rounds
from hinge.solvers.kernel.newton_rounds import improve_by_newton
from hinge.testing import verify

STOP = Stop(gap=None, kkt=1e-3)


def problem(n: int = 700, **options: Any) -> Problem:
    """Rows most of which end strictly inside their bounds."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 8))
    y = (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return Problem(X, y, **{"kernel": RBF(0.2), "C": 100.0, **options})


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The violations at which Newton's steps were taken; they are, on small problems as well."""
    seen: list[float] = []

    def spied(state: Any, gradient: Any, ends: Any) -> bool:
        has_moved = improve_by_newton(state, gradient, ends)
        if has_moved:
            seen.append(ends.violation)
        return has_moved

    monkeypatch.setattr(decomposition, "improve_by_newton", spied)
    # Nothing but pairs costs anything, hence they are soon more expensive.
    for cost in ("_CALLS", "_VALUE", "_SUM", "_LEAST_WORK"):
        monkeypatch.setattr(newton_rounds, cost, 1)
    monkeypatch.setattr(newton_rounds, "_SETTLED", 0.2)
    return seen


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_it_solves_what_pairs_solve(rounds: list[float], loss: str, intercept: str) -> None:
    here, stop = problem(loss=loss, intercept=intercept), Stop(gap=1e-4)
    solution = solve(here, solver="decomposition", stop=stop)
    verify(here, solution, stop)
    assert rounds
    count = len(rounds)
    other = solve(here, solver=Decomposition(working_set=200), stop=stop)
    assert len(rounds) == count  # sets of a given size are solved by pairs alone
    bound = max(solution.certificate.gap, other.certificate.gap)
    assert abs(solution.certificate.primal - other.certificate.primal) <= bound


def test_it_takes_far_fewer_steps_than_pairs(rounds: list[float]) -> None:
    here = problem(n=1500, C=1000.0)
    solution = solve(here, solver="decomposition", stop=STOP)
    steps, count = solution.steps, len(rounds)
    pairs = solve(here, solver=Decomposition(working_set=1500), stop=STOP)
    assert solution.status is pairs.status is Status.SOLVED
    assert 0 < count < 20
    assert 2 * steps < pairs.steps


def test_rounds_of_python_take_newton_steps_too(
    rounds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decomposition, "improve_resident", lambda _: False)
    here = problem()
    verify(here, solve(here, solver="decomposition", stop=STOP), STOP)
    assert rounds


@pytest.mark.parametrize("spoilt", ["duplicates", "linear", "weights", "one row"])
@pytest.mark.usefixtures("rounds")
def test_hostile_problems(spoilt: str) -> None:
    """Singular matrices, rows of little weight or none, and a class of one row."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(500, 4))
    y = (X[:, 0] + 0.2 * rng.normal(size=500) > 0).astype(int)
    options: dict[str, Any] = {"kernel": RBF(0.1), "C": 1e3}
    if spoilt == "duplicates":
        X[250:], y[250:300] = X[:250], 1 - y[:50]
    elif spoilt == "linear":
        options["kernel"] = "linear"
    elif spoilt == "weights":
        options["sample_weight"] = rng.choice([0.0, 1e-6, 1.0, 1e3], size=500)
    else:
        y = (np.arange(500) == 3).astype(int)
    here = Problem(X, y, **options)
    solution = solve(here, solver="decomposition", stop=STOP)
    assert solution.status is Status.SOLVED
    verify(here, solution, STOP)


def test_the_dual_never_falls(rounds: list[float]) -> None:
    here, solver = problem(), Decomposition()
    state = solver.start(here)
    values = []
    while state.violation > 1e-3 and len(values) < 500:
        before = len(rounds)
        solver.step(state, 0)
        if len(rounds) > before:
            while len(state.queue):
                solver.step(state, 0)
        if state.is_complete:
            beta, scores = state.beta, state.scores
            values.append(float(state.program.linear @ beta - 0.5 * beta @ scores))
    assert rounds
    assert np.all(np.diff(values) >= -1e-6 * np.abs(values[-1]))
    assert state.violation <= 1e-3


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(rounds: list[float], monkeypatch: Any, threads: int) -> None:
    one = solve(problem(), solver="decomposition", stop=STOP)
    assert rounds
    monkeypatch.setattr(driver, "thread_count", lambda _: threads)
    other = solve(problem(), solver="decomposition", stop=STOP)
    np.testing.assert_array_equal(one.dual_coef, other.dual_coef)


def test_a_run_cut_anywhere_has_the_same_bits(rounds: list[float]) -> None:
    """What is factorised is not stored but made anew, borders and all."""
    here, solver, stop = problem(), Decomposition(), Stop(gap=None, kkt=1e-6)
    whole = solve(here, solver=solver, stop=stop)
    assert len(rounds) > 2
    cuts, has_borders = 0, False
    part = None
    while part is None or part.status is not Status.SOLVED:
        began = len(rounds)

        def enough(_: Any, began: int = began) -> bool:
            return len(rounds) > began

        resume = None if part is None else pickle.loads(pickle.dumps(part.state))
        part = solve(here, solver=solver, stop=stop, resume=resume, observers=[enough])
        has_borders = has_borders or len(part.state.bordered) > 0
        cuts += 1
    assert cuts > 2
    assert has_borders
    np.testing.assert_array_equal(part.dual_coef, whole.dual_coef)
    assert part.steps == whole.steps


@pytest.mark.parametrize("patience", [0, 1, 4])
def test_a_round_that_is_given_up_is_done_again(rounds: list[float], patience: int) -> None:
    """It leaves what it has found, and comes to the same to the bit, however far it had got."""
    here, solver = problem(), Decomposition(tolerance=1e-6)

    class GivenUpError(Exception):
        pass

    whole, cut = solver.start(here), solver.start(here)
    given_up = 0
    while len(rounds) < 12 and whole.violation > 1e-6:
        left = [patience]

        def check(left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise GivenUpError

        cut.stop_check = None if len(cut.queue) else check
        before = cut.beta.copy()
        try:
            solver.step(cut, 0)
        except GivenUpError:
            given_up += 1
            np.testing.assert_array_equal(cut.beta, before)
            assert len(cut.queue) == 0
            cut.stop_check = None
            solver.step(cut, 0)
        solver.step(whole, 0)
        np.testing.assert_array_equal(cut.beta, whole.beta)
    assert given_up > 0
    assert cut.steps == whole.steps


def test_kernels_that_are_not_semidefinite_are_left_to_pairs(rounds: list[float]) -> None:
    here = problem(kernel=Sigmoid(0.1, -1.0), C=10.0)
    solve(here, solver="decomposition", stop=Stop(gap=None, kkt=1e-3, steps=20_000))
    assert not rounds


def test_without_room_it_is_left_to_pairs(rounds: list[float]) -> None:
    here = problem()
    solution = solve(here, solver=Decomposition(cache_mb=1.0), stop=STOP)
    assert solution.status is Status.SOLVED
    assert not rounds


def test_its_systems_leave_room_for_the_arrays_of_a_run() -> None:
    """The matrix, its factor and borders come out of what kept rows could have, not beside it."""
    state = Decomposition(cache_mb=20).start(problem(n=4000))
    room = newton_rounds._room(state)
    taken = 10 * room**2 / 2**20 + state.source.copy_mb + state.beyond_mb
    assert state.beyond_mb > 1.0
    assert 19.9 < taken <= 20.0
