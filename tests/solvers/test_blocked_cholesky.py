"""A factor made in blocks is the factor, in either precision, and may be given up."""

from __future__ import annotations

import numpy as np
import pytest

from hinge.solvers.kernel.blocked_cholesky import factorise


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 127, 128, 129, 300])
def test_the_factor_of_a_matrix(size: int, dtype: type) -> None:
    rows = np.random.default_rng(size).normal(size=(size, size))
    matrix = (rows @ rows.T + size * np.eye(size)).astype(dtype)
    factor = matrix.copy()
    factorise(factor)
    lower = np.tril(factor).astype(np.float64)
    error = np.abs(lower @ lower.T - matrix)
    assert np.all(error <= 4 * size * np.finfo(dtype).eps * np.max(matrix))


def test_an_indefinite_matrix_is_refused() -> None:
    matrix = np.eye(200)
    matrix[150, 150] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        factorise(matrix)


def test_it_may_be_given_up_between_blocks() -> None:
    calls = []

    def check() -> None:
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        factorise(np.eye(200), check)
    assert len(calls) == 2
