"""What becomes of the caller's data: in place, converted in a copy, or refused by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import hinge
from hinge.rows import Rows

VALUES = np.asarray([[1.0, 0.0, -2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 0.0], [4.0, 5.0, 6.0]])


def _dense(rows: Rows) -> np.ndarray:
    blocks = [
        np.array(block.matrix.toarray() if rows.is_sparse else block.matrix)
        for block in rows.blocks()
    ]
    return np.concatenate(blocks)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contiguous_floats_are_used_in_place(dtype: type) -> None:
    X = VALUES.astype(dtype)
    assert np.shares_memory(Rows(X).values, X)
    assert Rows(X).values.dtype == dtype
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.shares_memory(Rows(frozen).values, frozen)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_canonical_csr_is_used_in_place(dtype: type, index: type, kind: type) -> None:
    X = kind(VALUES.astype(dtype))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    rows = Rows(X)
    assert np.shares_memory(rows.values, X.data)
    assert np.shares_memory(rows.indices, X.indices)
    assert np.shares_memory(rows.indptr, X.indptr)
    np.testing.assert_array_equal(_dense(rows), VALUES)


def test_views_cannot_be_written_through() -> None:
    for X in (VALUES.copy(), sp.csr_array(VALUES)):
        rows = Rows(X)
        with pytest.raises(ValueError, match="read-only"):
            rows.values[...] = 0.0


def _unaligned(values: np.ndarray) -> np.ndarray:
    buffer = np.zeros(values.nbytes + 1, dtype=np.uint8)
    view = buffer[1:].view(values.dtype).reshape(values.shape)
    view[...] = values
    assert not view.flags.aligned
    return view


HOSTILE_DENSE = {
    "fortran": np.asfortranarray(VALUES),
    "strided": np.repeat(np.repeat(VALUES, 2, axis=0), 3, axis=1)[::2, ::3],
    "negative strides": VALUES[::-1, ::-1].copy()[::-1, ::-1],
    "big endian": VALUES.astype(">f8"),
    "big endian float32": VALUES.astype(">f4"),
    "unaligned": _unaligned(VALUES),
    "float16": VALUES.astype(np.float16),
    "longdouble": VALUES.astype(np.longdouble),
    "object": VALUES.astype(object),
    "matrix": VALUES.view(np.matrix),
    "list": VALUES.tolist(),
    "tuple of arrays": tuple(VALUES),
    "pandas": pd.DataFrame(VALUES, columns=["a", "b", "c"]),
    "pandas columns": pd.DataFrame({name: VALUES[:, k] for k, name in enumerate("abc")}),
    "pandas extension": pd.DataFrame(VALUES).astype("Float64"),
    "polars": pl.DataFrame(VALUES),
    "pyarrow": pa.table({name: VALUES[:, k] for k, name in enumerate("abc")}),
}


@pytest.mark.parametrize("name", HOSTILE_DENSE)
def test_other_dense_forms_are_put_right_in_a_copy(name: str) -> None:
    X = HOSTILE_DENSE[name]
    rows = Rows(X)
    np.testing.assert_array_equal(_dense(rows), VALUES)
    assert rows.values.dtype in (np.float32, np.float64)
    assert rows.values.flags.c_contiguous
    assert rows.values.flags.aligned
    assert rows.values.dtype.isnative


@pytest.mark.parametrize(
    ("dtype", "held"),
    [
        (np.bool_, np.float32),
        (np.int8, np.float32),
        (np.uint8, np.float32),
        (np.int16, np.float32),
        (np.uint16, np.float32),
        (np.float16, np.float32),
        (np.int32, np.float64),
        (np.uint32, np.float64),
        (np.int64, np.float64),
        (np.uint64, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_types_are_held_in_the_smallest_type_that_is_exact(dtype: type, held: type) -> None:
    info = np.finfo(dtype) if np.dtype(dtype).kind == "f" else None
    top = 1 if dtype is np.bool_ else (60_000 if info else min(np.iinfo(dtype).max, 2**40 + 1))
    X = np.asarray([[0, top], [1, 1]], dtype=dtype)
    for rows in (Rows(X), Rows(sp.csr_array(X))) if dtype is not np.float16 else (Rows(X),):
        assert rows.dtype == held
        np.testing.assert_array_equal(_dense(rows), X.astype(np.float64))


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (np.zeros(3), "Expected 2D array, got 1D"),
        (np.float64(3.0), "Expected 2D array, got 0D"),
        (np.zeros((2, 2, 2)), "Expected 2D array, got 3D"),
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (np.zeros((3, 0)), r"0 feature\(s\)"),
        (sp.csr_array((3, 0)), r"0 feature\(s\)"),
        (np.zeros((2, 2), dtype=complex), "Complex data not supported"),
        (sp.csr_array(np.eye(2, dtype=complex)), "Complex data not supported"),
        (np.asarray([["1", "2"]]), "takes numbers"),
        (np.asarray([[b"1", b"2"]]), "takes numbers"),
        (np.asarray([["2026-01-01"]], dtype="M8[D]"), "takes numbers"),
        (np.asarray([[1, "x"], [2, 3]], dtype=object), "'x' in row 0, column 1"),
        (np.asarray([[1, 2], [[], 3]], dtype=object), "row 1, column 0"),
        (np.asarray([[10**400, 1]], dtype=object), "row 0, column 0"),
        ([[1.0, 2.0], [3.0]], "cannot be read as an array"),
        (None, "0D|cannot be read"),
        ({"a": 1}, "0D|cannot be read"),
        (np.ma.masked_array(np.eye(2), mask=[[1, 0], [0, 0]]), "masked array"),
        (pd.DataFrame({"a": ["x", "y"]}), "'x' in row 0, column 0"),
        (pl.DataFrame({"a": [1, None]}), "NaN in row 1, column 0"),
        (pa.table({"a": [1.0, None]}), "NaN in row 1, column 0"),
        (np.asarray([[np.longdouble("1e4000")]]), "inf"),
    ],
)
def test_what_cannot_be_rows_is_refused(X: object, match: str) -> None:
    with pytest.raises(hinge.InvalidDataError, match=match):
        Rows(X)


def test_a_lazy_frame_is_refused() -> None:
    with pytest.raises(hinge.InvalidDataError):
        Rows(pl.LazyFrame({"a": [1.0]}))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("place", [(0, 0), (5000, 17), (9999, 29)])
def test_what_is_not_finite_is_named(
    bad: float, dtype: type, sparse: bool, place: tuple[int, int]
) -> None:
    X = np.ones((10_000, 30), dtype=dtype)
    X[place] = bad
    kind = "NaN" if np.isnan(bad) else "inf"
    with pytest.raises(hinge.InvalidDataError, match=f"{kind}.*row {place[0]}, column {place[1]}"):
        Rows(sp.csr_array(X) if sparse else X)


@pytest.mark.parametrize("sparse", [False, True])
def test_norms_that_overflow_are_named(sparse: bool) -> None:
    X = np.ones((3, 2))
    X[2, 1] = 1e200
    with pytest.raises(hinge.InvalidDataError, match=r"row 2 .*1e\+200.* in column 1.*Scale"):
        Rows(sp.csr_array(X) if sparse else X)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_norms_within_the_range_of_floating_point_are_taken(scale: float) -> None:
    np.testing.assert_allclose(Rows(VALUES * scale).squared_norms, (VALUES**2).sum(1) * scale**2)


def test_a_memory_map_is_used_in_place(tmp_path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, VALUES)
    for mode in ("r", "r+", "c"):
        mapped = np.load(path, mmap_mode=mode)
        rows = Rows(mapped)
        assert np.shares_memory(rows.values, mapped)
        np.testing.assert_array_equal(_dense(rows), VALUES)
    assert np.array_equal(np.load(path), VALUES)
