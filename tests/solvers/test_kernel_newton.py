"""Newton's method for kernel machines: its two ways to solve a system, and its end."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF
from hinge.losses import Huber, SquaredHinge
from hinge.machines.source import source as source_of
from hinge.rows import Rows
from hinge.solvers import KernelNewton
from hinge.solvers.kernel import kernel_sum, newton_pieces
from hinge.solvers.kernel.bordered import factorised, solve_bordered
from hinge.solvers.kernel.conjugate import ConjugateGradients
from hinge.solvers.kernel.newton_line import zones_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((700, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(700) > 0, 1, -1)


def _problem(loss: str, intercept: str = "free") -> Problem:
    return Problem(X, Y, loss=loss, intercept=intercept, kernel=RBF(0.3), C=3.0)


@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("loss", ["squared_hinge", "huber"])
def test_the_last_step_is_exact(loss: str, intercept: str) -> None:
    problem = _problem(loss, intercept)
    solution = solve(problem, "kernel-newton", Stop(gap=1e-8))
    assert solution.status is Status.SOLVED
    assert solution.steps < 40
    other = solve(problem, "decomposition", Stop(gap=1e-9)).certificate
    assert solution.certificate.primal == pytest.approx(other.primal, rel=1e-8)


@pytest.mark.parametrize("loss", ["squared_hinge", "huber"])
def test_conjugate_gradients_reach_the_same_point(loss: str, monkeypatch) -> None:
    expected = solve(_problem(loss), "kernel-newton", Stop(gap=1e-9)).certificate.primal
    monkeypatch.setattr(newton_pieces, "MOST_FACTORISED", 10)
    for kept in (8000, 10):  # the matrix is kept, or computed anew
        monkeypatch.setattr(newton_pieces, "_KEPT_ROWS", kept)
        solution = solve(_problem(loss), "kernel-newton", Stop(gap=1e-7))
        assert solution.status is Status.SOLVED
        assert solution.certificate.primal == pytest.approx(expected, rel=1e-6)


def test_a_corner_is_refused_in_a_sentence() -> None:
    with pytest.raises(hinge.UnsupportedError, match="has a corner and no curved part"):
        solve(_problem("hinge"), "kernel-newton")


def test_the_parts_of_a_loss() -> None:
    margins = np.array([-1.0, 0.49, 0.51, 1.49, 1.5, 2.0])
    assert zones_of(Huber(0.5), margins).tolist() == [2, 2, 1, 1, 0, 0]
    assert zones_of(SquaredHinge(), np.array([-3.0, 0.9, 1.0])).tolist() == [1, 1, 0]


@pytest.mark.parametrize("size", [1, 5, 64, 65, 200])
def test_systems_with_a_balance(size: int) -> None:
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size))
    matrix = root @ root.T + np.eye(size)
    right = rng.standard_normal(size)
    whole = np.block([[matrix, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
    expected = np.linalg.solve(whole, np.append(right, 0.7))
    calls = []
    inverse = factorised(matrix.copy(), lambda: calls.append(1))
    assert len(calls) == -(-size // 64)
    x, b = solve_bordered(inverse, right, 0.7)
    np.testing.assert_allclose(x, expected[:-1], atol=1e-7)
    assert b == pytest.approx(expected[-1], abs=1e-7)
    alone, nothing = solve_bordered(inverse, right, None)
    np.testing.assert_allclose(alone, np.linalg.solve(matrix, right), atol=1e-7)
    assert nothing == 0.0


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("balance", [None, 0.0, 0.7])
def test_conjugate_gradients_solve_the_bordered_system(balance: float | None, is_kept) -> None:
    ids = np.arange(0, 700, 7)
    m = len(ids)
    source = source_of(RBF(0.3), Rows(X))
    diagonal = np.linspace(0.5, 2.0, m)
    matrix = source.exact_block(ids) + np.diag(diagonal)
    right = RNG.standard_normal(m)
    run = ConjugateGradients(ids, diagonal, np.diag(matrix), right, balance, is_kept, (1e-10, 1000))
    while not run.is_over:
        run.advance(source)
    remainder = right - matrix @ run.x - run.multiplier
    assert np.max(np.abs(remainder)) < (1e-5 if is_kept else 1e-8)  # float32 is kept
    if balance is None:
        assert run.multiplier == 0.0
    else:
        assert np.sum(run.x) == pytest.approx(balance, abs=1e-10)


@pytest.mark.parametrize("kept", [8000, 10])
def test_no_call_computes_much(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of a large system used to be one call: neither time nor observers could end it."""
    monkeypatch.setattr(newton_pieces, "MOST_FACTORISED", 10)
    monkeypatch.setattr(newton_pieces, "_KEPT_ROWS", kept)
    monkeypatch.setattr(newton_pieces, "_MOST_PRODUCTS", 5)
    monkeypatch.setattr(kernel_sum, "VALUES_A_PIECE", 5000)  # or 64 terms
    solver = KernelNewton()
    state = solver.start(_problem("squared_hinge"))
    computed, calls = [0], 0
    while state.steps < 3:
        solver.step(state, 1)
        computed.append(state.source.computed)
        calls += 1
    assert np.max(np.diff(computed)) <= 64 * len(X)
    assert calls > 10 * state.steps


def test_an_observer_ends_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_pieces, "MOST_FACTORISED", 10)
    monkeypatch.setattr(newton_pieces, "_KEPT_ROWS", 10)
    seen = []

    def observer(event) -> bool:
        seen.append((event.progress.steps, event.progress.work))
        return len(seen) > 3

    problem = Problem(np.tile(X, (6, 1)), np.tile(Y, 6), loss="squared_hinge", kernel=RBF(0.3))
    newton = KernelNewton()
    state = newton.start(problem, solve(problem, "decomposition", Stop(gap=0.1)).point)
    solution = solve(problem, newton, Stop(gap=1e-12), resume=_named(state), observers=[observer])
    assert solution.status is Status.INTERRUPTED
    assert [steps for steps, _ in seen] == [0, 0, 0, 0]  # in the midst of the first step
    assert np.all(np.diff([work for _, work in seen]) > 0)


def _named(state):
    state.solver_name = "kernel-newton"
    return state


def test_a_run_goes_on_within_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_pieces, "MOST_FACTORISED", 10)
    monkeypatch.setattr(newton_pieces, "_MOST_PRODUCTS", 5)
    monkeypatch.setattr(kernel_sum, "VALUES_A_PIECE", 5000)
    for kept in (8000, 10):
        monkeypatch.setattr(newton_pieces, "_KEPT_ROWS", kept)
        problem, solver = _problem("huber"), KernelNewton()
        straight = solver.start(problem)
        cut, calls = solver.start(problem), 0
        while straight.steps < 4:
            solver.step(straight, 10**12)
        while cut.steps < 4:
            solver.step(cut, 1)
            calls += 1
            if calls in (3, 20, 75, 140):
                cut = pickle.loads(pickle.dumps(cut)).resumed(problem)
        np.testing.assert_array_equal(cut.beta, straight.beta)
        assert cut.intercept == straight.intercept


def test_what_is_stored_of_a_step_that_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has none of it: the step begins again, with the same bits."""
    monkeypatch.setattr(newton_pieces, "FIRST_ROWS", 200)
    problem, solver = _problem("squared_hinge"), KernelNewton()
    straight, cut, phases = solver.start(problem), solver.start(problem), set()
    straight.size = cut.size = 200  # so that others join
    while straight.steps < 8:
        solver.step(straight, 10**12)
    while cut.steps < 8:
        phases.add(cut.phase)
        twin = solver.start(problem)
        for name, part in cut.parts().items():
            assert isinstance(part, np.ndarray | bool | int | float)
            twin.put(name, part.copy() if isinstance(part, np.ndarray) else part)
        solver.step(twin, 10**12)
        solver.step(cut, 10**12)
        if twin.steps == cut.steps:
            np.testing.assert_array_equal(twin.beta, cut.beta)
    assert {"start", "join"} <= phases
    np.testing.assert_array_equal(cut.beta, straight.beta)


def test_a_matrix_that_rounding_made_indefinite_is_mended() -> None:
    matrix = np.ones((6, 6))
    solved = factorised(matrix.copy())(np.ones(6))
    np.testing.assert_allclose(matrix @ solved, np.ones(6), atol=1e-6)
