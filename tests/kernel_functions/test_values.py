"""Kernels: the formulas, dense and sparse, and the parameters that they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

from hinge.kernels import (
    RBF,
    ChiSquared,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Sigmoid,
)

CASES: list[tuple[Kernel, object]] = [
    (Linear(), pairwise.linear_kernel),
    (
        Polynomial(3, 0.5, 1.0),
        lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=1.0),
    ),
    (RBF(0.3), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3)),
    (Sigmoid(0.2, -1.0), lambda A, B: pairwise.sigmoid_kernel(A, B, gamma=0.2, coef0=-1.0)),
    (Laplacian(0.3), lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.3)),
    (
        ChiSquared(0.7),
        lambda A, B: pairwise.chi2_kernel(_dense(A), _dense(B), gamma=0.7),
    ),
    (Normalised(Linear()), pairwise.cosine_similarity),
]


def _dense(A: object) -> np.ndarray:
    return A.toarray() if sp.issparse(A) else np.asarray(A)


@pytest.mark.parametrize(("kernel", "other"), CASES, ids=lambda case: getattr(case, "name", ""))
@pytest.mark.parametrize("density", [1.0, 0.4, 0.001])
def test_values_are_those_of_the_formula(kernel, other, density: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = (rng.random((n, 30)) * (rng.random((n, 30)) < density) for n in (17, 23))
    wanted = other(A, B)
    for first in (A, sp.csr_array(A), A.astype(np.float32)):
        for second in (B, sp.csr_array(B)):
            got = kernel.block(first, second)
            assert got.dtype == np.float64
            tolerance = 1e-5 if first.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(got, wanted, atol=tolerance)
    wide = [sp.csr_array(np.pad(rows, ((0, 0), (0, 3000)))) for rows in (A, B)]
    np.testing.assert_allclose(kernel.block(*wide), wanted, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(kernel.block(A, A)), atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(sp.csr_array(A)), kernel.diagonal(A))
