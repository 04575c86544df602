"""The active set method: its factor, dependent rows, exactness, and rows that come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.kernel_machines.problems import random_case
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.kernel_cases import rows_of_two_classes

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF, Precomputed
from hinge.solvers import ActiveSet
from hinge.solvers.kernel.active_rows import with_rows
from hinge.solvers.kernel.face import Face
from hinge.solvers.kernel.free_set import FreeSet
from hinge.testing import verify

EXACT = Stop(gap=1e-9)


def _matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    factor = rng.normal(size=(n, n + 2))
    return factor @ factor.T


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.integers(0, 19), min_size=1, max_size=60))
def test_the_factor_follows_every_change(number: int, moves: list[int]) -> None:
    """A row that is there is removed, one that is not is added; the factor solves all along."""
    rng = np.random.default_rng(number)
    matrix = _matrix(rng, 20)
    free = FreeSet()
    for row in moves:
        if row in free.ids:
            free.remove(int(np.flatnonzero(free.ids == row)[0]))
        else:
            assert free.append(row, matrix[row, free.ids], float(matrix[row, row]))
    right = rng.normal(size=len(free))
    own = matrix[np.ix_(free.ids, free.ids)]
    assert np.allclose(own @ free.solve(right), right, rtol=0.0, atol=1e-8)
    whole = FreeSet()
    whole.factor(free.ids, own)
    assert whole.ids.tolist() == free.ids.tolist()
    assert np.allclose(whole.solve(right), free.solve(right), rtol=1e-6, atol=1e-9)


def test_the_bordered_system() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 3))
    kernel = X @ X.T  # of rank 3: only its border makes it regular
    free = FreeSet()
    free.factor(np.arange(4), kernel + 2.0)
    assert len(free) == 4
    gradient = rng.normal(size=4)
    step, nu = free.step(gradient, is_balanced=True)
    bordered = np.block([[np.zeros((1, 1)), np.ones((1, 4))], [np.ones((4, 1)), kernel]])
    expected = np.linalg.solve(bordered, np.concatenate(([0.0], -gradient)))
    assert np.allclose(np.concatenate(([nu], step)), expected, atol=1e-10)


def test_dependent_rows_are_refused() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3))
    X[4] = X[1]
    matrix = X @ X.T
    free = FreeSet()
    free.factor(np.arange(6), matrix)
    assert free.ids.tolist() == [0, 1, 2]
    assert not free.append(4, matrix[4, :3], float(matrix[4, 4]))
    assert free.append(4, matrix[4, :3] * 0.0, 1.0)
    # A dependent row that grows is answered so that nothing changes.
    free.factor(np.arange(3), matrix[:3, :3])
    answer = free.dependence(matrix[:3, 5])
    assert np.allclose(answer @ X[:3] + X[5], 0.0, atol=1e-12)


@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_the_end_is_exact(loss: str, intercept: str) -> None:
    X, y = rows_of_two_classes(200, seed=2)
    problem = Problem(X, y, loss=loss, intercept=intercept, kernel=RBF(1.0), C=5.0)
    stop = Stop(gap=1e-10)
    solution = solve(problem, "active-set", stop)
    assert solution.status is Status.SOLVED
    verify(problem, solution, stop)
    # From there on it is at rest at once.
    again = solve(problem, "active-set", stop, warm=solution)
    assert again.status is Status.SOLVED
    assert again.steps <= 2


def test_a_matrix_of_low_rank_with_duplicates() -> None:
    rng = np.random.default_rng(4)
    factor = np.round(rng.normal(size=(40, 3)) * 16.0) / 16.0
    factor = np.vstack([factor, factor[:20]])
    y = np.where(factor[:, 0] + 0.5 * rng.normal(size=60) > 0.0, 1, -1)
    for C in (0.01, 1.0, 1e3):
        problem = Problem(factor @ factor.T, y, kernel=Precomputed(psd=True), C=C)
        solution = solve(problem, "active-set", EXACT)
        assert solution.status is Status.SOLVED
        assert len(solution.state.free) <= 4  # rank and one for the intercept
        verify(problem, solution, EXACT)


def test_what_is_not_convex_is_refused() -> None:
    X, y = rows_of_two_classes(20, seed=0)
    problem = Problem(X, y, kernel="sigmoid")
    assert "not positive semidefinite" in ActiveSet().supports(problem).reason
    with pytest.raises(hinge.UnsupportedError, match=r"not positive semidefinite.*decomposition"):
        solve(problem, "active-set")


def test_little_memory_changes_nothing_but_work() -> None:
    X, y = rows_of_two_classes(250, seed=3)
    problem = Problem(X, y, kernel=RBF(1.0), C=5.0)
    narrow = solve(problem, ActiveSet(cache_mb=0.02), EXACT)
    assert narrow.state.cache.rows.nbytes <= 0.02 * 2**20
    assert narrow.status is Status.SOLVED
    verify(problem, narrow, EXACT)


def test_the_factor_serves_on_along_a_path() -> None:
    X, y = rows_of_two_classes(200, seed=5)
    problem = Problem(X, y, kernel=RBF(1.0))
    Cs = [1.0, 1.01, 1.02]
    along = hinge.path(problem, Cs, solver="active-set", stop=EXACT)
    for C, solution in zip(Cs, along, strict=True):
        assert solution.status is Status.SOLVED
        verify(problem.with_C(C), solution, EXACT)
    alone = solve(problem.with_C(1.02), "active-set", EXACT)
    assert along[-1].steps < alone.steps / 2


@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_come_and_go(intercept: str, weighted: bool) -> None:
    X, y = rows_of_two_classes(160, seed=6)
    rng = np.random.default_rng(6)
    weights = rng.uniform(0.5, 2.0, size=160) if weighted else None
    if weights is not None:
        weights[rng.uniform(size=160) < 0.2] = 0.0

    def over(rows) -> Problem:
        own = None if weights is None else weights[rows]
        options = {"intercept": intercept, "sample_weight": own}
        return Problem(X[rows], y[rows], kernel=RBF(1.0), C=5.0, **options)

    rows = np.arange(100)
    state = solve(over(rows), "active-set", EXACT).state
    batches = [
        np.arange(101),  # one more
        np.arange(130),  # many more
        np.setdiff1d(np.arange(130), [3]),  # one less
        np.concatenate((np.arange(40, 110), np.arange(140, 160))),  # many of either
    ]
    for wanted in batches:
        where = {int(row): place for place, row in enumerate(rows)}
        origin = [where.get(int(row), -1) for row in wanted]
        problem = over(wanted)
        solution = solve(problem, resume=with_rows(state, problem, origin), stop=EXACT)
        assert solution.status is Status.SOLVED
        verify(problem, solution, EXACT)
        state, rows = solution.state, wanted
    one_more = solve(over(np.arange(101)), "active-set", EXACT)
    before = solve(over(np.arange(100)), "active-set", EXACT).state
    problem = over(np.arange(101))
    moved = with_rows(before, problem, [*range(100), -1])
    assert solve(problem, resume=moved, stop=EXACT).steps < one_more.steps


def test_rows_that_are_none_are_refused() -> None:
    X, y = rows_of_two_classes(30, seed=7)
    problem = Problem(X, y, kernel=RBF(1.0))
    state = solve(problem, "active-set", EXACT).state
    for origin in ([0] * 30, [30] + [-1] * 29, [-2] + [-1] * 29):
        with pytest.raises(hinge.InvalidParameterError, match="name rows of the earlier problem"):
            with_rows(state, problem, origin)
    with pytest.raises(hinge.InvalidParameterError, match="must be 30 integers, one for each"):
        with_rows(state, problem, [0.5] * 30)
    other = Problem(X, y, kernel=RBF(2.0))
    with pytest.raises(hinge.InvalidParameterError, match="the kernel must stay"):
        with_rows(state, other, range(30))


class _Uphill(FreeSet):
    """A factor whose steps rounding has turned round."""

    def step(self, gradient: Any, is_balanced: bool) -> tuple[Any, float]:  # noqa: ARG002
        return 8.0 * gradient, 0.0


def test_steps_that_gain_nothing_come_to_an_end() -> None:
    matrix = np.eye(2)
    free = _Uphill()
    free.factor(np.arange(2), matrix)
    beta, gradient = np.array([0.25, 0.5]), np.array([0.5, -0.25])
    face = Face(free, matrix, 0.0, beta, gradient, np.zeros(2), np.ones(2))
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        assert calls < 10

    moves = face.descend(1e-12, count)
    assert calls > 0
    np.testing.assert_array_equal(moves, 0.0)


def test_a_variable_at_its_bound_but_for_rounding_can_leave() -> None:
    """The step to the bound is rounding, and so is what the objective rises by on it."""
    case = random_case(51)
    solution = solve(case.problem, "active-set", Stop(gap=1e-7))
    assert solution.status is Status.SOLVED
    verify(case.problem, solution, Stop(gap=1e-7))
