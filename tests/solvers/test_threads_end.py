"""Threads end with the run that started them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hinge import Problem, Status, Stop, solve
from hinge.solvers import InteriorPoint, Newton, driver
from hinge.solvers.linear import block_pass
from hinge.solvers.relay import Relay

MAKERS = {"interior-point": lambda _: InteriorPoint(), "newton": lambda _: Newton()}
SOLVERS = [InteriorPoint(), Newton(), Relay(1e-6, MAKERS)]


pytestmark = pytest.mark.usefixtures("little_work_is_shared")


def some_problem() -> Problem:
    rng = np.random.default_rng(0)
    # With features of many sizes Newton's method forms matrices, by threads of the interpreter.
    X = rng.normal(size=(20_000, 100)) * np.logspace(-2.0, 1.0, 100)
    y = (X[:, 0] + rng.normal(size=len(X)) > 0.0).astype(int)
    return Problem(X, y, loss="squared_hinge")


@pytest.fixture
def pools(monkeypatch) -> list[ThreadPoolExecutor]:
    """Let a run have two threads on any machine; return the pools that are started."""
    started = []

    def start(threads: int) -> ThreadPoolExecutor:
        started.append(ThreadPoolExecutor(threads))
        return started[-1]

    monkeypatch.setattr(driver, "thread_count", lambda _: 2)
    monkeypatch.setattr(block_pass, "ThreadPoolExecutor", start)
    return started


def check_ended(pools: list[ThreadPoolExecutor]) -> None:
    assert pools
    for pool in pools:
        with pytest.raises(RuntimeError, match="after shutdown"):
            pool.submit(int)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_with_its_end_and_it_may_go_on(pools, solver) -> None:
    problem = some_problem()
    first = solve(problem, solver, Stop(gap=1e-6, steps=3), n_jobs=2)
    assert first.status is Status.ITERATION_LIMIT
    check_ended(pools)
    count = len(pools)
    assert solve(problem, solver, Stop(gap=1e-6), resume=first.state).status is Status.SOLVED
    assert len(pools) > count
    check_ended(pools)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_with_an_error(pools, solver) -> None:
    def fail(_event) -> None:
        if pools:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(some_problem(), solver, Stop(gap=1e-6), observers=[fail], n_jobs=2)
    check_ended(pools)


def test_with_the_method_that_another_one_follows(pools) -> None:
    relay = Relay(1e-6, MAKERS)
    state = relay.start(some_problem())
    state.threads = 2
    while not pools:
        relay.step(state, 10**6)
    method = relay.method(state)
    assert relay.go_on(state, at_rest=True)
    assert relay.method(state) != method
    check_ended(pools)


def test_with_another_number_of_them(pools) -> None:
    state = Newton().start(some_problem())
    state.threads = 2
    assert state.pool is pools[0]
    state.threads = 3
    assert state.pool is pools[1]
    check_ended(pools[:1])
    pools[1].shutdown()
