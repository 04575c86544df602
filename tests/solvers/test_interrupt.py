"""Ctrl-C: answered between two steps, with everything that was found until then."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from tests.solvers.fakes import Scripted
from tests.solvers.points import OPTIMUM, PROBLEM, slowly

import hinge
from hinge import Interrupted, Status, Stop, solve
from hinge.solvers import Settings, StopFlag, listening, run
from hinge.testing import verify

ENOUGH = Stop(gap=1e-9, steps=5_000_000)  # reached only if Ctrl-C is not answered


@pytest.fixture(autouse=True)
def _handler_is_restored():
    before = signal.getsignal(signal.SIGINT)
    assert before is signal.default_int_handler
    yield
    assert signal.getsignal(signal.SIGINT) is before


def _signals_at(step: int, times: int = 1):
    def observer(event) -> None:
        if event.progress.steps == step:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return observer


def test_ctrl_c_ends_the_run_with_what_was_found() -> None:
    solver = Scripted(slowly, work_per_step=100_000_000)
    with pytest.raises(Interrupted, match="scripted interrupted after") as caught:
        solve(PROBLEM, solver, ENOUGH, observers=[_signals_at(20)])
    solution = caught.value.solution
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception)
    assert solution is not None
    assert solution.status is Status.INTERRUPTED
    assert solution.steps == 20
    assert caught.value.solutions == (solution,)
    verify(PROBLEM, solution)


def test_ctrl_c_before_the_first_certificate_proves_nothing() -> None:
    with pytest.raises(Interrupted) as caught:
        solve(PROBLEM, Scripted(slowly, work_per_step=1), ENOUGH, observers=[_signals_at(2)])
    solution = caught.value.solution
    assert solution is not None
    np.testing.assert_array_equal(solution.coef, slowly(2).coef)
    assert solution.certificate.gap == np.inf
    assert any("nothing is proven" in note for note in solution.certificate.notes)
    assert solution.certificate.unsettled(np.eye(PROBLEM.n_features)) == PROBLEM.n_features


def test_what_the_solver_said_last_is_a_note_where_nothing_is_proven() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    problem = hinge.Problem(X, rng.integers(0, 2, 2000), C=100.0, kernel="rbf")
    said = []

    def observer(event) -> None:
        said.append(event.progress.kkt)
        if len(said) == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted) as caught:
        solve(problem, "decomposition", Stop(gap=None, kkt=1e-9), observers=[observer])
    certificate = caught.value.solution.certificate
    assert certificate.kkt == np.inf
    (claim,) = certificate.notes[1:]
    assert claim.startswith(f"the solver last said: violation {said[-1]:.2g}, relative gap ")
    assert claim.endswith(", unproven")


def test_ctrl_c_from_outside_while_the_solver_works() -> None:
    started = threading.Event()

    def press() -> None:
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    solver = Scripted(slowly)
    with pytest.raises(Interrupted) as caught:
        solve(PROBLEM, solver, ENOUGH, observers=[lambda _: started.set()])
    presser.join()
    assert caught.value.solution is not None
    assert 1 <= caught.value.solution.steps < ENOUGH.steps


def test_ctrl_c_during_a_certificate_abandons_it(monkeypatch) -> None:
    from hinge.solvers import judge  # noqa: PLC0415

    real = judge.gap
    asked = []

    def interrupted(problem, point, *, check, **options):
        asked.append(1)
        if len(asked) == 3:
            signal.raise_signal(signal.SIGINT)
        return real(problem, point, check=check, **options)

    monkeypatch.setattr(judge, "gap", interrupted)
    solver = Scripted(slowly, work_per_step=100_000_000)
    with pytest.raises(Interrupted) as caught:
        solve(PROBLEM, solver, ENOUGH)
    assert len(asked) == 3
    assert caught.value.solution is not None
    assert caught.value.solution.status is Status.INTERRUPTED
    verify(PROBLEM, caught.value.solution)


def test_a_second_ctrl_c_does_not_wait() -> None:
    steps = []

    def observer(event) -> None:
        steps.append(event.progress.steps)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the second signal was not answered at once")

    with pytest.raises(KeyboardInterrupt) as caught:
        solve(PROBLEM, Scripted(slowly), ENOUGH, observers=[observer])
    assert not isinstance(caught.value, Interrupted)
    assert steps == [1]


def test_an_interrupted_run_goes_on_from_its_state() -> None:
    solver = Scripted(lambda steps: OPTIMUM if steps >= 30 else slowly(steps))
    with pytest.raises(Interrupted) as caught:
        solve(PROBLEM, solver, ENOUGH, observers=[_signals_at(10)])
    assert caught.value.solution is not None
    solution = solve(PROBLEM, solver, Stop(gap=1e-9), resume=caught.value.solution.state)
    assert solution.status is Status.SOLVED
    assert solution.steps >= 30


def test_a_handler_of_the_program_is_left_alone() -> None:
    pressed = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        solution = solve(
            PROBLEM, Scripted(slowly), Stop(steps=9), observers=[_signals_at(3, times=2)]
        )
        assert pressed == [1, 1]
        assert solution.status is Status.ITERATION_LIMIT
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_the_handler_is_restored_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), listening():
        raise ZeroDivisionError


def test_runs_outside_the_main_thread_do_not_touch_signals() -> None:
    found = []

    def work() -> None:
        found.append(solve(PROBLEM, Scripted(lambda _: OPTIMUM)).status)
        found.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [Status.SOLVED, True]


def test_a_flag_set_by_code_ends_every_run_that_polls_it() -> None:
    flag = StopFlag()
    assert not flag
    settings = Settings(ENOUGH, observers=(lambda _: flag.set(),))
    for expected_steps in (1, 0):
        solution = run(PROBLEM, Scripted(slowly), settings, None, None, flag)
        assert solution.status is Status.INTERRUPTED
        assert solution.steps == expected_steps
    assert flag


def test_an_interrupt_without_a_solution_says_so() -> None:
    assert hinge.Interrupted("before it began").solution is None
