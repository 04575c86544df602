"""Small random problems and points, from sensible to nasty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.losses import Huber, optimal_intercepts
from hinge.testing import reference_solution


def random_problem(rng: np.random.Generator) -> Problem:
    """Return a problem of a few rows: any loss, intercept, type, weights, ties and zero rows."""
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2) + rng.choice([0.0, 3.0])
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.3:
        X[rng.integers(n)] = 0.0
    if rng.random() < 0.3:
        X[rng.integers(n)] = X[rng.integers(n)]
    if rng.random() < 0.3:
        X = X.astype(np.float32)
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    weights = None
    if rng.random() < 0.5:
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], n)
        weights[:2] = np.maximum(weights[:2], 0.5)
    loss = rng.choice(["hinge", "squared_hinge", "huber", "narrow"])
    return Problem(
        sp.csr_array(X) if rng.random() < 0.5 else X,
        y,
        loss=Huber(h=0.05) if loss == "narrow" else str(loss),
        C=float(10.0 ** rng.uniform(-3, 2)),
        intercept=str(rng.choice(["free", "augmented", "none"])),
        intercept_scale=float(rng.choice([0.5, 1.0, 10.0])),
        sample_weight=weights,
    )


def weights_of(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return ``w(alpha)``, the weights that dual coefficients stand for."""
    pulls = problem.signs * alpha
    total = np.zeros(problem.n_features)
    for block in problem.rows.blocks():
        total += block.transpose_dot(pulls[block.rows])
    return total


def scores_of(problem: Problem, coef: np.ndarray) -> np.ndarray:
    """Return the decision values without intercept."""
    return np.concatenate([block.dot(coef) for block in problem.rows.blocks()])


def best_intercept(problem: Problem, coef: np.ndarray, alpha: np.ndarray) -> float:
    """Return a good intercept for the weights, of the kind that the problem has."""
    if problem.intercept.value == "none":
        return 0.0
    if problem.intercept.value == "augmented":
        return float(problem.constant_feature**2 * (problem.signs @ alpha))
    scores = scores_of(problem, coef)
    ends = optimal_intercepts(problem.loss, scores, problem.signs.astype(float), problem.costs)
    return float(0.5 * (ends[0] + ends[1]))


def random_point(problem: Problem, rng: np.random.Generator) -> Point:
    """Return a point somewhere between the optimum and nonsense, its dual part in the box."""
    best = reference_solution(problem)
    assert best.dual_coef is not None
    size = 10.0 ** rng.uniform(-9, 1)
    top = problem.loss.upper_bound(problem.costs)
    step = size * rng.normal(size=problem.n_rows) * np.where(np.isfinite(top), top, problem.costs)
    alpha = np.clip(best.dual_coef + step, 0.0, top)
    if problem.intercept.value == "free" and rng.random() < 0.8:
        alpha = balanced(problem, alpha)
    coef = weights_of(problem, alpha)
    if rng.random() < 0.3:
        coef = coef + size * rng.normal(size=coef.shape)
    point = Point(coef, best_intercept(problem, coef, alpha), alpha)
    if problem.intercept.value != "none" and rng.random() < 0.3:
        point = replace(point, intercept=point.intercept + size * rng.normal())
    return point


def balanced(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return dual coefficients with the heavier class scaled down to the lighter one."""
    positive = problem.signs > 0
    sums = float(alpha[positive].sum()), float(alpha[~positive].sum())
    lighter = min(sums)
    factors = [lighter / total if total > 0 else 0.0 for total in sums]
    return np.where(positive, alpha * factors[0], alpha * factors[1])
