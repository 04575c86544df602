"""Shards: written in one pass, mapped without a copy, trained on with the same bits."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.files import dense, names_in, same_bits

import hinge
import hinge.data
from hinge.data import Dataset


def _rows(form: str, dtype: type, count: int = 200) -> np.ndarray | sp.csr_array:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, 7)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = 0
    return sp.csr_array(X) if form == "csr" else X


def _cut(X: np.ndarray | sp.csr_array, y: np.ndarray | None, step: int) -> Iterator[Dataset]:
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        yield Dataset(X[rows], None if y is None else y[rows])


def _values(X: np.ndarray | sp.csr_array) -> np.ndarray:
    return X.data if sp.issparse(X) else X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("step", [1, 33, 1000])
def test_what_was_written_is_opened(form: str, dtype: type, step: int, tmp_path: Path) -> None:
    X, y = _rows(form, dtype), np.arange(200) % 3
    path = tmp_path / "rows.hingedata"
    hinge.data.write_shards(path, _cut(X, y, step))
    data = hinge.data.open_shards(path, verify=True)
    assert type(data.X) is type(X)
    assert same_bits(_values(data.X), _values(X))
    if form == "csr":
        assert same_bits(data.X.indices, X.indices)
        assert same_bits(data.X.indptr, X.indptr)
    assert same_bits(data.y, y)
    assert names_in(tmp_path) == ["rows.hingedata"]


def test_the_bytes_do_not_depend_on_the_blocks(tmp_path: Path) -> None:
    X, y = _rows("csr", np.float64), np.array(["b", "a"] * 100)
    for step in (1, 7, 200):
        hinge.data.write_shards(tmp_path / f"{step}", _cut(X, y, step))
    sizes = {(tmp_path / name).stat().st_size for name in ("1", "7", "200")}
    assert len(sizes) == 1
    opened = [hinge.data.open_shards(tmp_path / name) for name in ("1", "7", "200")]
    assert len({data.X.data.tobytes() + data.y.tobytes() for data in opened}) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_training_uses_the_file_in_place(form: str, dtype: type, tmp_path: Path) -> None:
    X = _rows(form, dtype)
    y = np.where(dense(X).sum(axis=1) > 0, "up", "down")
    path = tmp_path / "rows.hingedata"
    hinge.data.write_shards(path, _cut(X, y, 33))
    data = hinge.data.open_shards(path)
    assert not _values(data.X).flags.writeable
    assert np.shares_memory(hinge.Problem(data.X, data.y).rows.values, _values(data.X))
    if form == "csr":
        rows = hinge.Problem(data.X, data.y).rows
        assert np.shares_memory(rows.indices, data.X.indices)
        assert np.shares_memory(rows.indptr, data.X.indptr)
    mapped = hinge.solve(hinge.Problem(data.X, data.y))
    held = hinge.solve(hinge.Problem(X, y))
    assert same_bits(mapped.coef, held.coef)
    assert same_bits(mapped.dual_coef, held.dual_coef)
    one, other = hinge.LinearSVC().fit(data.X, data.y), hinge.LinearSVC().fit(X, y)
    assert same_bits(one.coef_, other.coef_)
    assert one.predict(data.X).tolist() == other.predict(X).tolist()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([3, -1, 2**62]), np.int64),
        (np.array([3, 1, 2], np.uint8), np.int64),
        (np.array([0.5, -1, 2]), np.float64),
        (np.array([True, False, True]), np.bool_),
        (np.array(["ä", "b" * 256, "ä"]), np.str_),
        (np.array(["x", "yy", "x"], dtype=object), np.str_),
        (None, None),
    ],
)
def test_labels(labels: np.ndarray | None, kind: type | None, tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    hinge.data.write_shards(path, _cut(np.eye(3), labels, 2))
    found = hinge.data.open_shards(path, verify=True).y
    if labels is None:
        assert found is None
        return
    assert found.tolist() == labels.tolist()
    assert np.issubdtype(found.dtype, kind)


def test_names_and_query_ids(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    block = Dataset(np.eye(2), np.array([1, 2]), ("a", "ß"), np.array([7, 8]))
    hinge.data.write_shards(path, [block, block])
    data = hinge.data.open_shards(path, verify=True)
    assert data.feature_names == ("a", "ß")
    assert data.query_ids.tolist() == [7, 8, 7, 8]


def test_sparse_blocks_may_grow_wider(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    blocks = [Dataset(sp.csr_array(np.eye(width)), None) for width in (2, 5, 3)]
    hinge.data.write_shards(path, blocks)
    assert hinge.data.open_shards(path).X.shape == (10, 5)


def test_entries_out_of_order_are_put_right(tmp_path: Path) -> None:
    X = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    hinge.data.write_shards(tmp_path / "rows", [Dataset(X, None)])
    assert hinge.data.open_shards(tmp_path / "rows").X.indices.tolist() == [0, 1]


def test_rows_without_entries(tmp_path: Path) -> None:
    X = sp.csr_array((4, 3))
    hinge.data.write_shards(tmp_path / "rows", [Dataset(X, np.arange(4))])
    found = hinge.data.open_shards(tmp_path / "rows", verify=True).X
    assert found.shape == (4, 3)
    assert found.nnz == 0


def test_wide_indices(tmp_path: Path) -> None:
    X = sp.csr_array((np.ones(2), np.array([0, 2**40]), np.array([0, 1, 2])), shape=(2, 2**41))
    hinge.data.write_shards(tmp_path / "rows", [Dataset(X, None)])
    found = hinge.data.open_shards(tmp_path / "rows", verify=True).X
    assert found.indices.tolist() == [0, 2**40]
    assert found.indptr.dtype == found.indices.dtype == np.int64


def test_a_type_can_be_chosen(tmp_path: Path) -> None:
    X = _rows("dense", np.float64)
    hinge.data.write_shards(tmp_path / "rows", _cut(X, None, 50), dtype="float32")
    assert same_bits(hinge.data.open_shards(tmp_path / "rows").X, X.astype(np.float32))
    found = hinge.data.read(tmp_path / "rows", dtype=np.float64).X
    assert same_bits(found, X.astype(np.float32).astype(np.float64))


def test_reading_shards_as_any_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    X, y = _rows("csr", np.float64), np.arange(200)
    hinge.data.write_shards(path, [Dataset(X, y, tuple("abcdefg"))])
    assert hinge.data.read(path, label=False).y is None
    wider = hinge.data.read(path, n_features=9)
    assert (wider.X.shape, wider.feature_names) == ((200, 9), None)
    with pytest.raises(hinge.DataFileError, match="there are 7 features; n_features=6 were asked"):
        hinge.data.read(path, n_features=6)
    for label in ("y", 0, 3):
        with pytest.raises(hinge.InvalidParameterError, match="chosen when it was written"):
            hinge.data.read(path, label=label)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_blocks_of_shards(form: str, tmp_path: Path) -> None:
    X = _rows(form, np.float64)
    blocks = [Dataset(X, np.arange(200), query_ids=np.arange(200) // 2)]
    hinge.data.write_shards(tmp_path / "rows", blocks)
    found = list(hinge.data.iter_blocks(tmp_path / "rows", block_bytes=1000))
    assert len(found) > 5
    assert np.array_equal(np.concatenate([dense(block.X) for block in found]), dense(X))
    assert np.concatenate([block.y for block in found]).tolist() == list(range(200))
    groups = np.concatenate([block.query_ids for block in found])
    assert groups.tolist() == (np.arange(200) // 2).tolist()


@settings(max_examples=40)
@given(data=st.data())
def test_any_blocks(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    width = data.draw(st.integers(1, 6))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    counts = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    X = (
        rng.standard_normal((sum(counts), width)) * (rng.random((sum(counts), width)) < 0.5)
    ).astype(dtype)
    labels = rng.choice(np.array(["", "a", "bb"])[1:], len(X))
    is_sparse = data.draw(st.booleans())
    whole = sp.csr_array(X) if is_sparse else X
    edges = np.cumsum([0, *counts])
    blocks = [
        Dataset(whole[start:stop], labels[start:stop]) for start, stop in itertools.pairwise(edges)
    ]
    path = tmp_path_factory.mktemp("any") / "rows.hingedata"
    hinge.data.write_shards(path, blocks)
    found = hinge.data.open_shards(path, verify=True)
    assert same_bits(dense(found.X), dense(whole))
    assert found.y.tolist() == labels.tolist()


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [None, np.float32])
def test_reading_finds_a_value_that_is_not_finite(form: str, dtype: type, tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    X = np.full((3, 2), 1.5)
    hinge.data.write_shards(path, [Dataset(sp.csr_array(X) if form == "csr" else X, None)])
    raw = bytearray(path.read_bytes())
    raw[64 + 8 * 3 : 64 + 8 * 4] = np.float64(np.nan).tobytes()
    path.write_bytes(raw)
    for reader in (hinge.data.read, lambda *a, **b: list(hinge.data.iter_blocks(*a, **b))):
        with pytest.raises(hinge.DataFileError, match="the value is nan") as caught:
            reader(path, dtype=dtype)
        assert (caught.value.line, caught.value.column) == (2, 2)
    assert np.isnan(_values(hinge.data.open_shards(path).X)).any()


def test_blocks_are_cut_where_the_values_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    lengths = [1] * 50 + [400] + [1] * 50
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate([np.arange(length) for length in lengths])
    X = sp.csr_array((np.ones(len(columns)), columns, offsets), shape=(101, 400))
    hinge.data.write_shards(path, [Dataset(X, np.arange(101))])
    blocks = list(hinge.data.iter_blocks(path, block_bytes=12 * 20))
    assert [block.X.nnz for block in blocks] == [20, 20, 10, 400, 20, 20, 10]
    assert np.concatenate([block.y for block in blocks]).tolist() == list(range(101))


def test_text_labels_are_looked_up_block_by_block(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    labels = np.array(["x" * 256, "y"])[np.arange(100_000) % 2]
    hinge.data.write_shards(path, [Dataset(np.zeros((100_000, 1)), labels)])
    tracemalloc.start()
    try:
        found = [block.y[0] for block in hinge.data.iter_blocks(path, block_bytes=8000)]
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert found == ["x" * 256] * 100
