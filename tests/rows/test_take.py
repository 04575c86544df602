"""Some of the rows, as rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.block_map import map_numbers
from hinge.rows import Rows


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ids", [[], [0], [5, 2, 2, 49, 0], list(range(50))])
def test_taken_rows_are_copies_of_those_rows(sparse: bool, dtype: type, ids: list[int]) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 7)) * (rng.random((50, 7)) < 0.4)).astype(dtype)
    X[2] = 0.0
    rows = Rows(sp.csr_array(X) if sparse else X)
    taken = rows.take(np.asarray(ids, dtype=np.int64))
    assert taken.n_rows == len(ids)
    assert taken.n_features == 7
    assert taken.dtype == dtype
    assert taken.is_sparse == sparse
    matrix = taken.matrix.toarray() if sparse else taken.matrix
    np.testing.assert_array_equal(matrix, X[ids])
    np.testing.assert_array_equal(taken.squared_norms, rows.squared_norms[ids])
    assert not np.shares_memory(taken.values, rows.values)
    assert not taken.values.flags.writeable
    if not ids:
        return
    fresh = Rows(sp.csr_array(X[ids]) if sparse else X[ids])
    assert taken.n_stored == fresh.n_stored
    assert taken.longest_row == fresh.longest_row
    assert taken.block_rows == fresh.block_rows
    taken.check_structure()
    for one, two in zip(taken.blocks(), fresh.blocks(), strict=True):
        np.testing.assert_allclose(one.dot(np.arange(7.0)), two.dot(np.arange(7.0)))
    again = pickle.loads(pickle.dumps(taken))
    np.testing.assert_array_equal(again.squared_norms, taken.squared_norms)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_whole_is_there_without_a_copy(sparse: bool) -> None:
    X = np.eye(4)
    rows = Rows(sp.csr_array(X) if sparse else X)
    matrix = rows.matrix
    np.testing.assert_array_equal(matrix.toarray() if sparse else matrix, X)
    assert np.shares_memory(matrix.data if sparse else matrix, rows.values)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_numbers_are_mapped_in_a_fixed_tree(threads: int) -> None:
    merged = map_numbers(str, 7, lambda a, b: f"({a}{b})", threads=threads)
    assert merged == "(((01)(23))((45)6))"
