"""Problems with a kernel: the same program, with the kernel matrix in the place of X X'."""

from __future__ import annotations

import numpy as np
import pytest

import hinge
from hinge import Problem
from hinge.kernels import RBF, Linear, Normalised, Polynomial, Precomputed
from hinge.rows import Rows
from hinge.testing import kernel_matrix, reference_solution

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X[:, 0] > 0


def test_the_kernel_of_a_problem_is_resolved() -> None:
    problem = Problem(X, Y, kernel="rbf")
    assert problem.kernel.gamma == pytest.approx(1.0 / (3 * X.var()), rel=1e-14)
    assert Problem(X, Y).kernel is None
    assert repr(Problem(X, Y, kernel=RBF(0.5))) == (
        "Problem(40 rows x 3 features, loss=Hinge(), C=1.0, intercept='free', "
        "kernel=RBF(gamma=0.5))"
    )


def test_a_kernel_changes_neither_bounds_nor_coefficients_of_the_dual() -> None:
    weights = np.linspace(0.0, 2.0, 40)
    for loss in ("hinge", "squared_hinge", "huber"):
        for intercept in ("free", "none"):
            options = {"loss": loss, "C": 3.0, "intercept": intercept, "sample_weight": weights}
            linear, kernel = Problem(X, Y, **options).dual(), Problem(X, Y, kernel="rbf", **options)
            for name in ("linear", "lower", "upper", "diagonal"):
                np.testing.assert_array_equal(getattr(kernel.dual(), name), getattr(linear, name))
            assert kernel.dual().groups == linear.groups


def test_fingerprints_tell_kernels_apart() -> None:
    kernels = [None, "linear", RBF(0.5), RBF(0.25), Polynomial(2, 0.5), Polynomial(3, 0.5)]
    prints = [Problem(X, Y, kernel=kernel).fingerprint() for kernel in kernels]
    assert len(set(prints)) == len(kernels)
    assert Problem(X, Y, kernel=RBF(0.5)).fingerprint() == prints[2]


def test_another_C_keeps_the_kernel() -> None:
    problem = Problem(X, Y, kernel="rbf")
    other = problem.with_C(7.0)
    assert other.C == 7.0
    assert other.kernel is problem.kernel
    with pytest.raises(hinge.UnsupportedError, match="C must be finite with a kernel"):
        problem.with_C(float("inf"))


@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(0.5), Polynomial(3, 0.7, 1.0), Normalised(Linear())],
    ids=repr,
)
def test_the_largest_norm_is_that_of_the_images(kernel) -> None:
    weights = np.ones(40)
    weights[np.argsort(np.linalg.norm(X, axis=1))[-3:]] = 0.0
    for sample_weight in (None, weights):
        problem = Problem(X, Y, kernel=kernel, sample_weight=sample_weight)
        counted = problem.costs > 0
        largest = float(np.sqrt(np.max(np.diag(kernel_matrix(problem))[counted])))
        assert largest <= problem.largest_norm <= largest * (1 + 1e-12)


def test_a_precomputed_matrix_gives_the_same_problem() -> None:
    problem = Problem(X, Y, kernel=RBF(0.5), C=2.0)
    matrix = problem.kernel.block(X, X)
    given = Problem(matrix, Y, kernel=Precomputed(psd=True), C=2.0)
    assert given.kernel.psd is True
    for one in (problem, given):
        point = reference_solution(one)
        assert hinge.certificates.gap(given, point).relative_gap < 1e-6
        assert hinge.certificates.gap(problem, point).relative_gap < 1e-6
    with pytest.raises(hinge.InvalidDataError, match="must be square"):
        Problem(X, Y, kernel="precomputed")


def test_rows_that_were_read_before_are_shared() -> None:
    rows = Rows(X)
    assert Problem(rows, Y, kernel="rbf").rows is rows
