"""Random kernel problems of every kind, and points near and far from their optima."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from tests.certificates.random_problems import balanced

from hinge import Point, Problem
from hinge.kernels import (
    RBF,
    ChiSquared,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
)
from hinge.losses import optimal_intercepts
from hinge.testing import reference_solution


def random_kernel(rng: np.random.Generator) -> Kernel:
    """Return a positive semidefinite kernel."""
    gamma = float(10.0 ** rng.uniform(-3, 1.5))
    kernels = [
        Linear(),
        Polynomial(int(rng.integers(1, 5)), min(gamma, 1.0), float(rng.choice([0.0, 1.0]))),
        RBF(gamma),
        RBF("scale"),
        RBF(1e-6),  # nearly a matrix of ones
        RBF(1e4),  # nearly the identity
        Laplacian(gamma),
        ChiSquared(gamma),
        Normalised(Polynomial(2, 1.0, 0.5)),
    ]
    return kernels[int(rng.integers(len(kernels)))]


def random_kernel_problem(rng: np.random.Generator) -> Problem:
    """Return a problem: duplicates, imbalance, weights, offsets, losses, sparse and dense."""
    n, d = int(rng.integers(6, 40)), int(rng.integers(1, 6))
    X = np.abs(rng.normal(size=(n, d))) * float(rng.choice([0.3, 1.0, 3.0]))
    if rng.random() < 0.3:
        X[n // 2 :] = X[: n - n // 2]  # duplicates, some of them of the other class
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.4] = 0.0
    y = rng.random(n) < rng.choice([0.1, 0.5])
    y[:2] = (True, False)
    weights = None
    if rng.random() < 0.5:
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
        weights[:2] = 1.0
    kernel, form = random_kernel(rng), sp.csr_array(X) if rng.random() < 0.5 else X
    if rng.random() < 0.15:
        resolved = Problem(X, y, kernel=kernel).kernel
        form, kernel = resolved.block(X, X), Precomputed(psd=True)
    elif rng.random() < 0.2:
        form = X + 100.0
        kernel = RBF(0.5)
    return Problem(
        form,
        y,
        loss=str(rng.choice(["hinge", "squared_hinge", "huber"])),
        C=float(10.0 ** rng.uniform(-4, 4)),
        intercept=str(rng.choice(["free", "none"])),
        kernel=kernel,
        sample_weight=weights,
    )


def solved(problem: Problem) -> Point:
    """Return clarabel's solution, as exact as it gets: some of the matrices are nearly singular."""
    for tolerance in (1e-8, 1e-6):
        try:
            return reference_solution(problem, tolerance)
        except RuntimeError:
            continue
    return reference_solution(problem, 1e-4)


def with_best_intercept(problem: Problem, alpha: np.ndarray, scores: np.ndarray) -> Point:
    """Return the machine with the intercept that suits its scores best."""
    intercept = 0.0
    if problem.intercept.value == "free":
        signs = problem.signs.astype(float)
        intercept = float(np.mean(optimal_intercepts(problem.loss, scores, signs, problem.costs)))
    return Point(np.zeros(0), intercept, alpha)


def plain_scores(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return the decision values without intercept, by one product."""
    kernel = problem.kernel
    assert kernel is not None
    columns = kernel.operand(problem.rows, np.arange(problem.n_rows))
    return kernel.block(problem.rows.matrix, columns) @ (problem.signs * alpha)


def near_point(problem: Problem, best: Point, size: float, rng: np.random.Generator) -> Point:
    """Return a feasible point as far from the best as the size says."""
    assert best.dual_coef is not None
    top = problem.loss.upper_bound(problem.costs)
    step = size * rng.normal(size=problem.n_rows) * np.where(np.isfinite(top), top, problem.costs)
    alpha = np.clip(best.dual_coef + step, 0.0, top)
    if problem.intercept.value == "free":
        alpha = balanced(problem, alpha)
    return with_best_intercept(problem, alpha, plain_scores(problem, alpha))


def random_kernel_point(problem: Problem, rng: np.random.Generator) -> Point:
    """Return a point somewhere between the optimum and nonsense."""
    size = 10.0 ** rng.uniform(-9, 0.5)
    point = near_point(problem, solved(problem), size, rng)
    if problem.intercept.value == "free" and rng.random() < 0.3:
        point = replace(point, intercept=point.intercept + size * rng.normal())
    return point
