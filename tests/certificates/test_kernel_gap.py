"""Certificates of kernel machines."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from hinge import Point, Problem
from hinge.certificates import gap, kkt


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_what_another_library_solves_is_certified(kernel: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120) > 0
    problem = Problem(X, y, C=2.0, kernel=kernel)
    matrix = problem.kernel.block(X, X)
    other = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(matrix, y)
    alpha = np.zeros(120)
    alpha[other.support_] = np.clip(np.abs(other.dual_coef_[0]), 0.0, 2.0)
    point = Point(np.zeros(0), other.intercept_[0], alpha)
    certificate = gap(problem, point)
    assert 0.0 <= certificate.relative_gap < 1e-6
    assert certificate.kkt < 1e-5
    assert kkt(problem, point).worst == pytest.approx(certificate.kkt, abs=1e-12)
