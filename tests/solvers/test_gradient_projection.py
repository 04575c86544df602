"""Gradient projection: step lengths, memory, and its use on working sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.solvers.kernel_cases import rows_of_two_classes

import hinge
from hinge import Problem, Status, Stop, solve
from hinge._native import core
from hinge.kernels import RBF
from hinge.solvers import Decomposition, GradientProjection
from hinge.solvers.kernel import pace as paces
from hinge.solvers.kernel.projected_set import solve_by_projection
from hinge.testing import verify


def _problem(n: int = 200, **options) -> Problem:
    X, y = rows_of_two_classes(n, seed=1)
    return Problem(X, y, **{"kernel": RBF(1.0), "C": 10.0, **options})


def test_a_step_without_curvature_is_as_long_as_allowed() -> None:
    for curvature in (0.0, -1.0, 1e-30):
        pace = paces.new_pace(2.0)
        paces.note_step(pace, 1.0, curvature)
        assert paces.step_length(pace) == 2e10
    paces.note_step(pace, 1.0, 4.0)
    assert paces.step_length(pace) == pytest.approx(2.0 / 4.0)  # of two steps
    paces.note_step(pace, 3.0, 4.0)
    assert paces.step_length(pace) == pytest.approx(4.0 / 8.0)
    assert math.isfinite(paces.step_length(paces.new_pace(math.inf)))


def test_the_objective_may_rise_but_not_for_long() -> None:
    pace = paces.new_pace(1.0)
    paces.note_objective(pace, 0.0)
    # From 0 with slope -1: the whole step of curvature 1 ends at -1/2, one of curvature 4 at +1.
    assert paces.share_of_step(pace, 0.0, -1.0, 1.0) == 1.0
    assert paces.share_of_step(pace, 0.0, -1.0, 4.0) == 0.25
    paces.note_objective(pace, -10.0)
    assert paces.share_of_step(pace, -10.0, -1.0, 4.0) == 1.0  # -9 is below the first value
    for _ in range(10):
        paces.note_objective(pace, -9.0)
    assert paces.share_of_step(pace, -9.0, -1.0, 4.0) == 0.25  # and now above the reference
    assert paces.share_of_step(pace, -9.0, -1.0, -1.0) == 1.0


@pytest.mark.parametrize("intercept", ["free", "none"])
def test_what_does_not_fit_is_computed_anew(intercept: str) -> None:
    problem = _problem(intercept=intercept, C=1.0)
    roomy = solve(problem, GradientProjection(), Stop(gap=1e-5))
    narrow = solve(problem, GradientProjection(cache_mb=0.02), Stop(gap=1e-5))
    assert narrow.state.cache.rows.nbytes <= 0.02 * 2**20
    assert narrow.state.source.computed > 2 * roomy.state.source.computed
    for solution in (roomy, narrow):
        assert solution.status is Status.SOLVED
        verify(problem, solution, Stop(gap=1e-5))
    difference = abs(roomy.certificate.primal - narrow.certificate.primal)
    assert difference <= roomy.certificate.gap + narrow.certificate.gap


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_balanced", [True, False])
def test_a_working_set_as_by_pairs(is_balanced: bool, dtype) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1)).astype(dtype)
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    diagonal, lower, upper = np.full(80, 0.01), np.minimum(0.0, 3.0 * y), np.maximum(0.0, 3.0 * y)
    ends = []
    for method in ("pairs", "projection"):
        beta, slope = np.zeros(80), -y
        if method == "pairs":
            arguments = (kernel, diagonal, lower, upper, beta, slope, is_balanced)
            steps, left = core.solve_working_set(*arguments, True, 1e-7, 100_000)
        else:
            bounds = (lower, upper)
            steps, left = solve_by_projection(
                kernel, diagonal, bounds, beta, slope, is_balanced, 1e-7, 20_000
            )
        assert steps > 0
        assert left <= 1e-7
        matrix = kernel.astype(np.float64) + np.diag(diagonal)
        assert np.max(np.abs(slope - (matrix @ beta - y))) <= 1e-6
        assert (beta >= lower).all()
        assert (beta <= upper).all()
        ends.append(0.5 * beta @ matrix @ beta - y @ beta)
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_as_inner_solver_of_decomposition() -> None:
    problem, stop = _problem(400, C=3.0), Stop(gap=1e-6)
    by_pairs = solve(problem, Decomposition(), stop)
    projected = solve(problem, Decomposition(inner="gradient-projection"), stop)
    assert projected.status is Status.SOLVED
    verify(problem, projected, stop)
    both = by_pairs.certificate.gap + projected.certificate.gap
    assert abs(projected.certificate.primal - by_pairs.certificate.primal) <= both
    with pytest.raises(hinge.InvalidParameterError, match=r"inner must be one of .* Did you mean"):
        Decomposition(inner="gradient-projections")


def test_narrow_valleys_are_finished_by_newton_steps() -> None:
    problem = _problem(120, kernel=RBF(0.1), C=1e3)
    solution = solve(problem, GradientProjection(), Stop(gap=1e-8, steps=2000))
    assert solution.status is Status.SOLVED
    assert solution.state.is_exact
    verify(problem, solution, Stop(gap=1e-8))
