"""The interior point method on a factor: it refines, and is finished where no factor will do."""

from __future__ import annotations

import numpy as np
import pytest

from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF
from hinge.solvers import KernelInteriorPoint
from hinge.solvers.kernel import interior_point
from hinge.testing import verify

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(300) > 0, 1, -1)
PROBLEM = Problem(X, Y, kernel=RBF(0.5), C=5.0)


def test_a_coarse_factor_is_refined_until_the_exact_gap_is_reached() -> None:
    stop = Stop(gap=1e-6)
    solution = solve(PROBLEM, KernelInteriorPoint(rank=10, gap=1e-6), stop)
    assert solution.status is Status.SOLVED
    assert len(solution.state.stages) > 1
    verify(PROBLEM, solution, stop)
    other = solve(PROBLEM, "decomposition", Stop(gap=1e-8)).certificate
    assert solution.certificate.primal == pytest.approx(other.primal, rel=1e-6)


def test_a_factor_that_cannot_be_refined_is_left_for_the_exact_problem(monkeypatch) -> None:
    monkeypatch.setattr(interior_point, "MOST_FEATURES", 12)
    stop = Stop(gap=1e-9, steps=10_000)
    solution = solve(PROBLEM, KernelInteriorPoint(rank=4), stop)
    assert solution.status is Status.SOLVED
    assert solution.state.is_finishing
    assert solution.state.stages[-1] <= 12
    verify(PROBLEM, solution, stop)


def test_a_linear_kernel_needs_no_more_columns_than_features() -> None:
    problem = Problem(X, Y, kernel="linear")
    solution = solve(problem, "interior-point", Stop(gap=1e-7))
    assert solution.status is Status.SOLVED
    assert solution.state.growth.rank == 4
