"""Decision values of sparse rows with very many features: the same values, in little memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Problem, Status, Stop, solve
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
from hinge.machines import decision_values
from hinge.rows import Rows

KERNELS: list[Kernel] = [
    Linear(),
    Polynomial(3, 0.5, 1.0),
    RBF(0.7),
    Sigmoid(0.2, 0.1),
    Laplacian(0.3),
    ChiSquared(0.4),
    Normalised(Polynomial(2, 0.5, 1.0)),
]


def _rows(seed: int, n_rows: int, absent: slice) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.random((n_rows, 40)) * (rng.random((n_rows, 40)) < 0.4)
    values[:, absent] = 0.0
    return values


def _spread(values: Any, n_features: int) -> Rows:
    """Return rows whose features lie far apart."""
    narrow = sp.csr_array(values)
    columns = narrow.indices.astype(np.int64) * (n_features // 40)
    return Rows(sp.csr_array((narrow.data, columns, narrow.indptr), (len(values), n_features)))


@pytest.mark.parametrize("n_features", [2**30, 2**40])  # of a number each there would be too many
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_do_not_depend_on_features_that_nobody_has(kernel: Kernel, n_features: int) -> None:
    support, X = _rows(1, 30, slice(0, 15)), _rows(2, 20, slice(30, 40))
    coef = np.random.default_rng(3).normal(size=30)
    found = decision_values(kernel, _spread(support, n_features), coef, _spread(X, n_features))
    np.testing.assert_allclose(found, kernel.block(X, support) @ coef, rtol=1e-12, atol=1e-13)
    one = decision_values(kernel, _spread(support, n_features), coef, _spread(X[7:8], n_features))
    assert one[0] == found[7]


def test_support_rows_without_any_value() -> None:
    empty = Rows(sp.csr_array((2, 2**40)))
    X = _spread(_rows(2, 20, slice(0, 0)), 2**40)
    np.testing.assert_array_equal(decision_values(Linear(), empty, np.ones(2), X), np.zeros(20))
    norms = np.exp(-0.5 * X.squared_norms)
    np.testing.assert_allclose(decision_values(RBF(0.5), empty, np.ones(2), X), 2.0 * norms)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_training_does_not_depend_on_features_that_nobody_has(kernel: Kernel) -> None:
    """With a number for each of 2^40 features there would be no memory for it."""
    values = _rows(4, 40, slice(0, 5))
    stop = Stop(gap=None, kkt=1e-3) if kernel.psd is False else Stop(gap=1e-4)
    narrow, wide = (
        solve(Problem(X, np.arange(40) % 2, kernel=kernel), "decomposition", stop)
        for X in (sp.csr_array(values), _spread(values, 2**40).matrix)
    )
    assert wide.status is narrow.status is Status.SOLVED
    np.testing.assert_allclose(wide.dual_coef, narrow.dual_coef, atol=1e-6)
