"""Gap-safe screening of kernel machines: what it settles is right, and it knows when it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hinge import Problem, Stop, solve
from hinge.kernels import RBF, Sigmoid
from hinge.solvers import Decomposition
from hinge.solvers.kernel.dual_state import KernelState, note_values
from hinge.solvers.kernel.screening import screen


def overlapping(**options: Any) -> Problem:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 0.4 * rng.normal(size=300) > 0.0
    return Problem(X, y, **{"kernel": RBF(0.3), "C": 2.0, **options})


def run_to(problem: Problem, violation: float) -> KernelState:
    """Return a run whose scores are complete, at a violation, and that has settled nothing yet."""
    solver = Decomposition(tolerance=violation, shrinking=False)
    state = solver.start(problem)
    while state.violation > violation:
        solver.step(state, 0)
    assert state.is_complete
    assert not state.settled.any()
    return state


def screened(state: KernelState) -> int:
    ends = state.ends(state.gradient())
    note_values(state, ends)
    return screen(state, ends)


@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("violation", [0.1, 1e-2])
def test_what_is_settled_at_a_small_gap_is_so_at_the_optimum(
    violation: float, loss: str, intercept: str, weighted: bool
) -> None:
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 300) if weighted else None
    problem = overlapping(loss=loss, intercept=intercept, sample_weight=weights)
    state = run_to(problem, violation)
    count = screened(state)
    assert count == np.count_nonzero(state.settled)
    exact = solve(problem, stop=Stop(gap=1e-12, kkt=1e-9))
    assert exact.certificate.gap < 1e-3 * (state.primal - state.dual)
    assert exact.dual_coef is not None
    present = problem.costs > 0.0
    alpha, most = exact.dual_coef[present], problem.loss.upper_bound(problem.costs[present])
    assert violation > 1e-2 or count > 0.2 * len(alpha)
    settled = state.settled
    at_zero = settled & (state.beta == 0.0)
    at_cost = settled & (state.beta != 0.0)
    np.testing.assert_array_equal(settled, at_zero | at_cost)
    assert violation > 1e-2 or at_zero.any()
    assert violation > 1e-2 or at_cost.any() == (loss != "squared_hinge")  # which has no bound
    np.testing.assert_allclose(alpha[at_zero], 0.0, atol=1e-9)
    np.testing.assert_allclose(alpha[at_cost], most[at_cost], rtol=1e-9)


def test_a_smaller_gap_settles_no_fewer() -> None:
    problem = overlapping()
    counts = [screened(run_to(problem, violation)) for violation in (1.0, 1e-1, 1e-2, 1e-4)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] < 300


def test_a_run_goes_on_without_settled_rows_and_arrives_at_the_same_optimum() -> None:
    problem = overlapping()
    solver = Decomposition(tolerance=1e-3)
    state = run_to(problem, 1e-3)
    while state.aim > 1e-5:
        solver.step(state, 0)  # at its aim it screens, and aims lower
    assert state.settled.any()
    exact = solve(problem, stop=Stop(gap=1e-12, kkt=1e-9))
    assert exact.dual_coef is not None
    settled = state.settled
    np.testing.assert_allclose(np.abs(state.beta[settled]), exact.dual_coef[settled], atol=1e-9)


def test_nothing_is_decided_at_a_large_gap() -> None:
    problem = overlapping()
    solver = Decomposition(shrinking=False)
    state = solver.start(problem)
    assert screened(state) == 0
    assert state.primal - state.dual > 1.0


def test_nothing_is_decided_where_the_gap_bounds_nothing() -> None:
    state = run_to(overlapping(kernel=Sigmoid(0.01, 0.0), C=0.1), 1e-3)
    assert state.problem.kernel is not None
    assert state.problem.kernel.psd is not True
    assert screened(state) == 0
