"""Newton's method for kernel machines: its two ways to solve a system, and its end."""

from __future__ import annotations

import numpy as np
import pytest

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF
from hinge.losses import Huber, SquaredHinge
from hinge.solvers.kernel import newton
from hinge.solvers.kernel.bordered import conjugate_gradients, factorised, solve_bordered

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
    monkeypatch.setattr(newton, "MOST_FACTORISED", 10)
    for kept in (8000, 10):  # the matrix is kept, or computed anew
        monkeypatch.setattr(newton, "_KEPT_ROWS", kept)
        solution = solve(_problem(loss), "kernel-newton", Stop(gap=1e-7))
        assert solution.status is Status.SOLVED
        assert solution.certificate.primal == pytest.approx(expected, rel=1e-6)


def test_a_corner_is_refused_in_a_sentence() -> None:
    with pytest.raises(hinge.UnsupportedError, match="has a corner and no curved part"):
        solve(_problem("hinge"), "kernel-newton")


def test_the_parts_of_a_loss() -> None:
    margins = np.array([-1.0, 0.49, 0.51, 1.49, 1.5, 2.0])
    assert newton.zones_of(Huber(0.5), margins).tolist() == [2, 2, 1, 1, 0, 0]
    assert newton.zones_of(SquaredHinge(), np.array([-3.0, 0.9, 1.0])).tolist() == [1, 1, 0]


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
    for solver in (
        inverse,
        conjugate_gradients(lambda x: matrix @ x, np.diag(matrix), 1e-12, 10 * size + 50),
    ):
        x, b = solve_bordered(solver, right, 0.7)
        np.testing.assert_allclose(x, expected[:-1], atol=1e-7)
        assert b == pytest.approx(expected[-1], abs=1e-7)
        alone, nothing = solve_bordered(solver, right, None)
        np.testing.assert_allclose(alone, np.linalg.solve(matrix, right), atol=1e-7)
        assert nothing == 0.0


def test_a_matrix_that_rounding_made_indefinite_is_mended() -> None:
    matrix = np.ones((6, 6))
    solved = factorised(matrix.copy())(np.ones(6))
    np.testing.assert_allclose(matrix @ solved, np.ones(6), atol=1e-6)
