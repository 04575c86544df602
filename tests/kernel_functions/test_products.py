"""Columns of sparse rows, picked in memory for what is stored."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.certificates import gap
from hinge.kernels import RBF
from hinge.kernels.products import pick_columns


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("used", [[], [3], [0, 2, 5, 6], [6], list(range(7))])
def test_the_same_columns_as_a_dense_matrix_has(used: list[int], index_dtype: type) -> None:
    rng = np.random.default_rng(0)
    rows = sp.random_array((30, 7), density=0.4, rng=rng, format="csr")
    rows.indices, rows.indptr = rows.indices.astype(index_dtype), rows.indptr.astype(index_dtype)
    picked = pick_columns(rows, np.array(used, dtype=np.int64))
    assert picked.shape == (30, len(used))
    np.testing.assert_array_equal(picked.toarray(), rows.toarray()[:, used])


@pytest.mark.parametrize("kernel", ["linear", RBF(0.5)])
def test_memory_is_for_the_features_in_use(kernel: object) -> None:
    rng = np.random.default_rng(0)
    columns = np.sort(rng.choice(2**30, size=20, replace=False))
    values = sp.random_array((60, 20), density=0.5, rng=rng, format="csr")
    rows = sp.csr_array((values.data, columns[values.indices], values.indptr), shape=(60, 2**30))
    problem = Problem(rows, np.arange(60) % 2, kernel=kernel)
    alpha = np.full(60, 0.5)
    tracemalloc.start()
    try:
        wide = gap(problem, Point(np.zeros(0), 0.0, alpha))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    narrow = gap(Problem(values, np.arange(60) % 2, kernel=kernel), Point(np.zeros(0), 0.0, alpha))
    assert wide.primal == pytest.approx(narrow.primal, rel=1e-12)
