"""The certificate of a function over basis rows holds for the exact kernel."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import hinge
from hinge import Problem, Stop, solve
from hinge.certificates import gap
from hinge.certificates.basis_gap import basis_gap, square_by_factor
from hinge.kernels import RBF, Laplacian, Polynomial
from hinge.lowrank import factorise
from hinge.result import BasisPoint

LOSSES = ("hinge", "squared_hinge", "huber")


def _random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    X = rng.standard_normal((n, int(rng.integers(1, 4))))
    y = np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = (1, -1)
    kernels = (RBF(0.5), Laplacian(0.5), Polynomial(2, 1.0, 1.0))
    return Problem(
        X,
        y,
        loss=LOSSES[seed % 3],
        C=float(10.0 ** rng.uniform(-2, 3)),
        intercept="free" if seed % 2 else "none",
        kernel=kernels[int(rng.integers(3))],
        sample_weight=rng.uniform(0.1, 3.0, n) if seed % 5 == 0 else None,
    )


def _approximate(problem: Problem, rank: int, stop: float, seed: int):
    """Return the factor and the point of the exact problem that its linear problem gives."""
    factor = factorise(problem.kernel, problem.rows, rank=rank, seed=seed)
    linear = Problem(
        factor.values,
        problem.signs,
        loss=problem.loss,
        C=problem.C,
        intercept=problem.intercept,
        sample_weight=problem.sample_weight,
    )
    solution = solve(linear, "dual-coordinate", Stop(gap=stop, steps=2000))
    coef = factor.coefficients(solution.coef)
    point = BasisPoint(np.zeros(0), solution.intercept, solution.dual_coef, factor.basis, coef)
    return factor, linear, solution, point


def test_the_bound_on_the_exact_gap_holds_on_a_thousand_random_problems() -> None:
    """Check that no bound is below what the exact optimum, as it is known, shows."""
    tight = 0
    for seed in range(1000):
        problem = _random_problem(seed)
        rank = 1 + seed % problem.n_rows
        factor, _, solution, point = _approximate(problem, rank, 10.0 ** -(seed % 7), seed)
        exact = gap(problem, point)
        pulls = problem.signs * point.dual_coef
        above = square_by_factor(factor.values, factor.remainder, problem.image_squares, pulls)
        by_factor = basis_gap(problem, point, square_above=above)
        best = solve(problem, "decomposition", Stop(gap=1e-6)).certificate
        for certificate in (exact, by_factor):
            assert certificate.primal - certificate.gap <= best.primal * (1.0 + 1e-12)
            least = best.primal - best.gap  # no function has a smaller objective
            assert certificate.primal >= least * (1.0 - 1e-12)
            assert certificate.gap >= certificate.primal - best.primal - 1e-9 * best.primal
        # The function has the objective that its weights have over the factor.
        assert exact.primal == pytest.approx(solution.certificate.primal, rel=1e-7)
        # All pairs prove at least what the diagonal does.
        assert exact.gap <= by_factor.gap * (1.0 + 1e-9) + exact.rounding
        tight += exact.relative_gap <= 1e-3
    assert tight > 50  # factors of full rank must prove something


def test_a_full_factor_proves_the_optimum() -> None:
    problem = _random_problem(3)
    _, _, _, point = _approximate(problem, problem.n_rows, 1e-9, 0)
    certificate = gap(problem, point)
    assert certificate.relative_gap <= 1e-7
    assert certificate.kkt <= 1e-3


def test_the_judge_sees_through_a_function_that_is_not_the_stated_one() -> None:
    problem = _random_problem(3)
    _, _, _, point = _approximate(problem, problem.n_rows, 1e-9, 0)
    honest = gap(problem, point)
    other = gap(problem, replace(point, basis_coef=2.0 * point.basis_coef))
    assert other.primal > honest.primal * 1.01
    negative = gap(problem, replace(point, dual_coef=point.dual_coef - 2.0 * problem.costs))
    assert math.isinf(negative.gap)
    # A multiple of coefficients beyond their bounds may be within them, and is what counts.
    beyond = gap(problem, replace(point, dual_coef=3.0 * point.dual_coef))
    assert beyond.primal - beyond.gap <= honest.primal
    wrong = gap(problem, replace(point, basis_coef=np.full(len(point.basis), np.nan)))
    assert math.isinf(wrong.gap)


def test_basis_rows_must_be_rows_of_the_problem() -> None:
    problem = _random_problem(3)
    point = BasisPoint(np.zeros(0), 0.0, np.zeros(problem.n_rows), np.array([99]), np.ones(1))
    with pytest.raises(hinge.InvalidParameterError, match="must name rows below"):
        gap(problem, point)
    twice = replace(point, basis=np.array([0, 0]), basis_coef=np.ones(2))
    with pytest.raises(hinge.InvalidParameterError, match="names a row twice"):
        gap(problem, twice)


def test_a_coarse_factor_still_proves_that_the_objective_is_positive() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    problem = Problem(X, rng.random(200) < 0.5, kernel=RBF(0.5), C=10.0)
    factor, _, _, point = _approximate(problem, 2, 1e-3, 0)
    pulls = problem.signs * point.dual_coef
    above = square_by_factor(factor.values, factor.remainder, problem.image_squares, pulls)
    certificate = basis_gap(problem, point, square_above=above)
    assert certificate.primal - certificate.gap > 0.0
    assert any("diagonal" in note for note in certificate.notes)
