"""Active sets over a factor: few free rows, exchanges that leave gamma alone, exact values."""

from __future__ import annotations

import numpy as np
import pytest

from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF
from hinge.solvers import LowRankActiveSet
from hinge.solvers.kernel import factor_active
from hinge.solvers.kernel.factor_active import _exchange, advance, gamma_state
from hinge.solvers.kernel.free_set import FreeSet
from hinge.testing import verify

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(300) > 0, 1, -1)


def _solved_over(values: np.ndarray, C: float, intercept: str = "free"):
    """Return the state at rest of the problem over a factor."""
    problem = Problem(values, Y, kernel="linear", C=C, intercept=intercept)
    state = gamma_state(problem, np.zeros(len(Y)))
    for _ in range(2000):
        if state.at_rest:
            break
        advance(state)
    return problem, state


@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("rank", [1, 3, 10])
def test_no_more_rows_are_free_than_the_factor_has_columns(rank: int, intercept: str) -> None:
    values = np.random.default_rng(1).standard_normal((300, rank))
    problem, state = _solved_over(values, 10.0, intercept)
    assert state.at_rest
    if len(state.packed):  # else projected steps alone have arrived
        assert len(state.free) <= rank + (intercept == "free")
    best = solve(problem, "decomposition", Stop(gap=1e-9)).certificate
    assert state.dual == pytest.approx(best.dual, rel=1e-8)
    assert state.primal == pytest.approx(best.primal, rel=1e-8)


def test_an_exchange_leaves_gamma_and_the_sum_alone_and_lowers_the_objective() -> None:
    values = np.random.default_rng(2).standard_normal((300, 5))
    _, state = _solved_over(values, 1.0)
    program, free = state.program, state.free
    beta = state.beta.copy()
    rows = np.setdiff1d(np.arange(300), free)[:40]
    factor = FreeSet()
    factor.factor(free, state.block(free, free) + state.shift)
    linear = program.linear.copy()
    linear[rows] *= -3.0  # now these rows would rather be where they are not
    state.__dict__["program"] = type(program)(
        program.present, linear, program.lower, program.upper, program.diagonal, True
    )
    before = beta.copy()
    _exchange(state, factor, beta, rows, 1e-12)
    assert np.any(beta != before)
    np.testing.assert_allclose(values.T @ beta, values.T @ before, atol=1e-9)
    assert np.sum(beta) == pytest.approx(np.sum(before), abs=1e-10)
    assert linear @ beta > linear @ before
    assert np.all((beta >= program.lower) & (beta <= program.upper))


def test_a_coarse_factor_is_refined_until_the_exact_gap_is_reached() -> None:
    problem = Problem(X, Y, kernel=RBF(0.05), C=5.0)
    stop = Stop(gap=1e-6)
    solution = solve(problem, LowRankActiveSet(rank=4, gap=1e-6), stop)
    assert solution.status is Status.SOLVED
    assert len(solution.state.stages) > 1
    verify(problem, solution, stop)
    other = solve(problem, "decomposition", Stop(gap=1e-8)).certificate
    assert solution.certificate.primal == pytest.approx(other.primal, rel=1e-6)


def test_a_kernel_of_high_rank_is_finished_on_the_exact_problem() -> None:
    problem = Problem(X, Y, kernel=RBF(20.0), C=5.0)
    solution = solve(problem, LowRankActiveSet(rank=8), Stop(gap=1e-9))
    assert solution.status is Status.SOLVED
    assert solution.state.is_finishing
    assert solution.certificate.relative_gap <= 1e-9


def test_a_loss_with_curvature_is_refused_with_a_reason() -> None:
    support = LowRankActiveSet().supports(Problem(X, Y, kernel="rbf", loss="squared_hinge"))
    assert not support
    assert "not limited by the rank" in support.reason


def test_few_rows_are_free_while_most_are_inside_their_bounds(monkeypatch) -> None:
    monkeypatch.setattr(factor_active, "_MOST_FREE", 0)
    values = np.random.default_rng(4).standard_normal((300, 6))
    problem = Problem(values, Y, kernel="linear", C=1e9)
    state = gamma_state(problem, np.zeros(len(Y)))
    largest = 0
    for _ in range(200):
        if state.at_rest:
            break
        advance(state)
        largest = max(largest, len(state.free))
    assert 0 < largest <= 7
