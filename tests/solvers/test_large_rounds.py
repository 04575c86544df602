"""Rounds on problems too large to be kept whole: rows kept and not, resting, shared by threads."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF, Laplacian
from hinge.solvers import Decomposition, driver

N = 5000
STOP = Stop(gap=None, kkt=1e-2)
# Rows are kept, thrown out and computed again.
SOLVER = Decomposition(cache_mb=6.0)


def _problem(kernel: Any, sparse: bool) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6)) * (rng.random((N, 6)) < 0.7)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] > 0.4 * rng.normal(size=N)
    return Problem(sp.csr_array(X) if sparse else X, y, C=5.0, kernel=kernel)


PROBLEMS = [_problem(RBF(0.5), False), _problem(RBF(0.5), True), _problem(Laplacian(0.3), False)]


@pytest.mark.parametrize("problem", PROBLEMS, ids=["rbf", "rbf sparse", "laplacian"])
def test_threads_change_neither_bits_nor_work(problem: Problem, monkeypatch) -> None:
    runs = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(driver, "thread_count", lambda _, threads=threads: threads)
        runs.append(solve(problem, SOLVER, STOP))
    one = runs[0]
    assert one.status is Status.SOLVED
    state = one.state
    assert state.cache.n_slots < N
    assert state.rounds > 10
    for other in runs[1:]:
        np.testing.assert_array_equal(other.dual_coef, one.dual_coef)
        assert other.intercept == one.intercept
        assert (other.state.work, other.state.steps) == (state.work, state.steps)
        assert other.state.source.computed == state.source.computed


@pytest.mark.parametrize("calls", [3, 20, 45])
def test_a_run_in_two_parts_has_the_same_bits(calls: int) -> None:
    whole = solve(PROBLEMS[0], SOLVER, STOP)
    seen: list[int] = []

    def enough(event: Any) -> bool:
        seen.append(event.progress.steps)
        return len(seen) >= calls

    part = solve(PROBLEMS[0], SOLVER, STOP, observers=[enough])
    rest = solve(PROBLEMS[0], SOLVER, STOP, resume=pickle.loads(pickle.dumps(part.state)))
    np.testing.assert_array_equal(rest.dual_coef, whole.dual_coef)
    assert rest.steps == whole.steps


def test_while_rows_rest_none_is_computed_for_them_in_the_place_of_another() -> None:
    state = SOLVER.start(PROBLEMS[0])
    while (state.cache.kept < 0).any() or not len(state.queue):
        SOLVER.step(state, 0)
    state.group[state.beta == 0.0] = 0
    active = int(np.count_nonzero(~state.resting))
    missing = int(np.count_nonzero(state.cache.lookup(state.queue) < 0))
    before = state.source.computed
    SOLVER.step(state, 0)
    assert active < N // 2
    assert 0 < state.source.computed - before <= missing * active


def test_sums_are_those_of_the_coefficients() -> None:
    """What was kept, added and made up for comes to the same as all of it at once."""
    state = solve(PROBLEMS[0], SOLVER, STOP).state
    assert state.is_complete
    sums = np.zeros(N)
    ids = np.flatnonzero(state.beta)
    state.source.add(ids, state.beta[ids], sums, exact=True)
    np.testing.assert_allclose(state.scores, sums, atol=1e-4)
