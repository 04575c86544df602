"""Parts of rows: the same rows as a copy of them, made only when asked for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.rows import Rows
from hinge.rows_part import SharedRows

NUMBERS = np.array([5, 0, 7, 7, 2])


def _rows(is_sparse: bool) -> Rows:
    X = np.random.default_rng(0).normal(size=(9, 4))
    X[X < 0.0] = 0.0
    X[2] = 0.0
    return Rows(sp.csr_array(X) if is_sparse else X)


def _dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def _joined(rows: Rows, most: int) -> np.ndarray:
    return np.concatenate([*rows.stored(most)])


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_part_is_what_a_copy_would_be(is_sparse: bool) -> None:
    rows = _rows(is_sparse)
    part, copy = SharedRows(rows).part(NUMBERS), rows.take(NUMBERS)
    for name in ("n_rows", "n_features", "n_stored", "longest_row", "dtype", "is_sparse"):
        assert getattr(part, name) == getattr(copy, name), name
    np.testing.assert_array_equal(part.squared_norms, copy.squared_norms)
    some = np.array([3, 1])
    np.testing.assert_array_equal(_dense(part.take(some).matrix), _dense(copy.take(some).matrix))
    for most in (1, 5, 100):
        np.testing.assert_array_equal(_joined(part, most), _joined(copy, most))
        assert all(len(piece) <= max(most, 4) for piece in part.stored(most))
    for block, other in zip(part.blocks(), copy.blocks(), strict=True):
        assert (block.start, block.stop) == (other.start, other.stop)
        np.testing.assert_array_equal(_dense(block.matrix), _dense(other.matrix))
    assert "values" not in part.__dict__, "nothing has asked for all rows so far"
    np.testing.assert_array_equal(_dense(part.matrix), _dense(copy.matrix))
    part.check_structure()
    for block, other in zip(part.blocks(), copy.blocks(), strict=True):
        np.testing.assert_array_equal(block.values, other.values)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_blocks_of_a_part_are_those_of_a_copy(is_sparse: bool) -> None:
    X = np.random.default_rng(1).normal(size=(60_000, 8)).astype(np.float32)
    X[np.abs(X) < 0.5] = 0.0
    rows = Rows(sp.csr_array(X) if is_sparse else X)
    numbers = np.arange(0, 60_000, 2)[::-1]
    part, copy = SharedRows(rows).part(numbers), rows.take(numbers)
    assert part.n_blocks == copy.n_blocks > 1
    for block, other in zip(part.blocks(), copy.blocks(), strict=True):
        assert block.values.dtype == np.float64
        np.testing.assert_array_equal(block.values, other.values)
    assert "values" not in part.__dict__


@pytest.mark.parametrize("is_sparse", [False, True])
def test_whole_rows_have_those_of_a_part(is_sparse: bool) -> None:
    rows = _rows(is_sparse)
    part, some = SharedRows(rows).part(NUMBERS), np.array([3, 1])
    whole, ids = part.whole_of(some)
    assert whole is rows
    np.testing.assert_array_equal(ids, NUMBERS[some])
    own, same = rows.whole_of(some)
    assert own is rows
    assert same is some


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_pickle_holds_the_rows_of_the_part_alone(is_sparse: bool) -> None:
    rows = _rows(is_sparse)
    back = pickle.loads(pickle.dumps(SharedRows(rows).part(NUMBERS)))
    assert type(back) is Rows
    np.testing.assert_array_equal(_dense(back.matrix), _dense(rows.take(NUMBERS).matrix))


def test_a_dense_part_has_no_structure() -> None:
    part = SharedRows(_rows(False)).part(NUMBERS)
    with pytest.raises(AttributeError, match="'RowsPart' object has no attribute 'indptr'"):
        _ = part.indptr
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = part.nothing


def test_what_is_prepared_is_made_once() -> None:
    shared, made = SharedRows(_rows(False)), []
    for name in ("a", "b", "a"):
        assert shared.prepared(name, lambda name=name: made.append(name) or name) == name
    assert made == ["a", "b"]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_that_are_not_present_are_as_if_they_were_not_there(is_sparse: bool) -> None:
    rows, present = _rows(is_sparse), np.array([0, 2, 5, 7, 8])
    shared = SharedRows(rows, present)
    assert shared.rows.n_rows == 5
    part = shared.part(NUMBERS)
    np.testing.assert_array_equal(_dense(part.matrix), _dense(rows.take(NUMBERS).matrix))
