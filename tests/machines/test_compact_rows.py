"""Compact copies of rows make passes faster, and change no bit of a kernel value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.kernels import RBF, Laplacian, Polynomial
from hinge.machines.source import source
from hinge.rows import Rows

N, WIDTH = 150, 300  # more rows than a tile has, more features than a chunk
KERNELS = (RBF(0.01), Polynomial(gamma=0.1, degree=2, coef0=1.0), Laplacian(0.01))


def _rows(kind: str) -> Any:
    random = np.random.default_rng(0)
    full = 3.0 + random.normal(size=(N, WIDTH))
    few = full * (random.uniform(size=full.shape) < 0.1)
    if kind == "full":
        return full
    if kind == "few":
        return few
    matrix = sp.csr_matrix(few)
    if kind == "wide indices":
        matrix.indices, matrix.indptr = (
            part.astype(np.int64) for part in (matrix.indices, matrix.indptr)
        )
    return matrix


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: str(kernel.name))
@pytest.mark.parametrize("kind", ["full", "few", "sparse", "wide indices"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_copy_changes_no_bit(kernel: Any, kind: str, dtype: type) -> None:
    rows = Rows(_rows(kind).astype(dtype))
    plain, copied = source(kernel, rows), source(kernel, rows, spare_mb=10.0)
    assert plain.copy_mb == 0.0
    # Random order, so that a tile's rows do not follow each other.
    ids, columns = np.split(np.random.default_rng(1).permutation(N), [70])
    for some in (None, columns):
        np.testing.assert_array_equal(plain.block(ids, some), copied.block(ids, some))
    sums = np.zeros((2, N))
    for one, out in zip((plain, copied), sums, strict=True):
        one.add(ids, np.linspace(-1.0, 1.0, len(ids)), out)
    np.testing.assert_array_equal(*sums)


def test_only_what_a_copy_improves_is_copied_within_the_memory_given() -> None:
    kernel, sparse = RBF(0.01), _rows("sparse")
    megabytes = 4.0 * sparse.nnz / 2**20
    assert source(kernel, Rows(sparse), 1.0).copy_mb == pytest.approx(megabytes)
    assert source(kernel, Rows(sparse), 0.5 * megabytes).copy_mb == 0.0
    assert source(kernel, Rows(sparse.astype(np.float32)), 1.0).copy_mb == 0.0
    full = Rows(_rows("full"))
    megabytes = 4.0 * N * WIDTH / 2**20
    assert source(kernel, full, 1.0).copy_mb == pytest.approx(megabytes)
    assert source(kernel, full, 0.5 * megabytes).copy_mb == 0.0
