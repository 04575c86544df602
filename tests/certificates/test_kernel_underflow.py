"""Numbers too small for floating point must not make a certificate promise too much."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hinge import Point, Problem
from hinge.certificates import gap
from hinge.certificates.pair_gap import pair_gaps
from hinge.certificates.pair_groups import PairPoints
from hinge.kernels import RBF, Normalised, Polynomial
from hinge.losses import get_loss
from hinge.rows import Rows
from hinge.testing.exact import recompute
from hinge.testing.extended_kernels import extended_kernel


def _exact_gap(problem: Problem, point: Point) -> np.longdouble:
    """Return primal less dual value of a point for the hinge loss, in extended precision."""
    assert point.dual_coef is not None
    X = problem.rows.matrix
    beta = (problem.signs * point.dual_coef).astype(np.longdouble)
    used = np.flatnonzero(beta)
    scores = extended_kernel(problem.kernel, X, X[used]) @ beta[used]
    margins = problem.signs * (scores + np.longdouble(point.intercept))
    losses = problem.costs.astype(np.longdouble) * np.maximum(0, 1 - margins)
    return beta @ scores + losses.sum() - np.abs(beta).sum()


@pytest.mark.parametrize("intercept", [0.0, 5.0])
@pytest.mark.parametrize(
    ("dtype", "size", "gamma"),
    [(np.float32, 1e23, 1e-47), (np.float32, 1e19, 1e-39), (np.float64, 3e-39, 0.1 / 9e-78)],
)
def test_rows_whose_products_are_lost_in_float32(
    dtype: type, size: float, gamma: float, intercept: float
) -> None:
    rng = np.random.default_rng(0)
    X = (1.5 * size * rng.normal(size=(3000, 4))).astype(dtype)
    problem = Problem(X, np.arange(3000) % 2, kernel=RBF(gamma))
    alpha = np.zeros(3000)
    alpha[:200] = 1.0
    point = Point(np.zeros(0), intercept, alpha)
    assert gap(problem, point).gap >= _exact_gap(problem, point)


def test_pairs_of_classes_with_coefficients_of_other_sizes() -> None:
    """Terms of a pair with small coefficients vanish beside those of one with large ones."""
    rng = np.random.default_rng(0)
    n = 600
    near, support = (1e-3 * rng.normal(size=(n, 2)) for _ in range(2))
    near[:300] += [-3.0, 0.0]
    near[300:] += [6.0, 0.0]  # at a squared distance of 36 from the support vectors
    parts = [near, rng.normal(size=(4, 2)), support, *rng.uniform(-5, 5, size=(2, 1000, 2))]
    X, ends = np.vstack(parts), np.cumsum([0, *map(len, parts)])
    groups = [np.arange(start, stop) for start, stop in itertools.pairwise(ends)]
    costs = [np.full(len(group), 2.0**121) for group in groups]
    large, small = (np.zeros(n), np.zeros(4)), (np.zeros(n), np.zeros(n))
    large[0][0] = large[1][0] = 2.0**120
    small[0][:250], small[1][:500] = 2.0**23, 2.0**22
    third = (np.full(1000, 1e-3), np.full(1000, 1e-3))
    intercepts = np.array([0.0, -1.0 - 2.0**-30, 0.0])
    pairs = [(0, 1), (0, 2), (3, 4)]
    kernel, alpha = RBF(1.0), [large, small, third]
    data = (kernel, get_loss("hinge"), Rows(X), groups, costs, pairs, alpha, intercepts)
    certificate = pair_gaps(PairPoints(*data))[1]
    rows, y = np.concatenate((groups[0], groups[2])), np.repeat([False, True], n)
    weights = np.full(2 * n, 2.0**121)
    problem = Problem(X[rows], y, sample_weight=weights, kernel=kernel)
    point = Point(np.zeros(0), float(intercepts[1]), np.concatenate(small))
    assert certificate.gap >= _exact_gap(problem, point)


def test_an_image_whose_length_is_lost_is_not_the_zero_vector() -> None:
    X = np.array([[1e-60], [-2e-60], [3e-60], [-1e-60]])
    kernel = Normalised(Polynomial(3, 1.0, 0.0))
    problem = Problem(X, [0, 1, 1, 0], kernel=kernel, intercept="none")
    point = Point(np.zeros(0), 0.0, np.array([1.0, 1.0, 0.0, 0.0]))
    exact, certificate = recompute(problem, point), gap(problem, point)
    assert exact.gap == 8
    assert certificate.gap >= 8.0
    assert certificate.kkt >= float(exact.violation.worst)


def test_a_row_of_zeros_is_the_zero_vector_for_sure() -> None:
    problem = Problem([[0.0], [1.0], [2.0]], [0, 1, 1], kernel=Normalised(Polynomial(2, 1.0, 0.0)))
    point = Point(np.zeros(0), -1.0, np.array([0.5, 0.5, 0.0]))
    certificate = gap(problem, point)
    assert np.isfinite(certificate.gap)
    assert certificate.gap >= recompute(problem, point).gap


def test_pairs_of_classes_all_of_whose_kernel_values_are_zero() -> None:
    n = 1200
    groups = [np.arange(n), np.arange(n, 2 * n)]
    alpha = (np.full(n, 0.5), np.full(n, 0.5))
    points = PairPoints(
        Polynomial(2, 1.0, 0.0),
        get_loss("hinge"),
        Rows(np.zeros((2 * n, 2))),
        groups,
        [np.ones(n)] * 2,
        [(0, 1)],
        [alpha],
        np.zeros(1),
    )
    assert pair_gaps(points)[0].gap >= n
