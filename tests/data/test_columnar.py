"""Parquet and Arrow: which column types become numbers, which are refused, with which words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import hinge
import hinge.data


def _write_arrow(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".parquet": pq.write_table,
    ".arrow": _write_arrow,
}


@pytest.fixture(params=list(WRITERS))
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., hinge.data.Dataset]:
    """Return a function that writes a table in one of the formats and reads it back."""

    def write_and_read(table: pa.Table, **options) -> hinge.data.Dataset:
        path = tmp_path / f"rows{request.param}"
        WRITERS[request.param](table, path)
        return hinge.data.read(path, **options)

    return write_and_read


def _labelled(**columns) -> pa.Table:
    length = len(next(iter(columns.values())))
    return pa.table({**columns, "label": pa.array(range(length), pa.int64())})


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([pa.float32(), pa.float32()], np.float32),
        ([pa.float32(), pa.float16()], np.float32),
        ([pa.float32(), pa.float64()], np.float64),
        ([pa.float32(), pa.int8()], np.float64),
        ([pa.int64(), pa.uint16()], np.float64),
        ([pa.bool_(), pa.bool_()], np.float64),
    ],
)
def test_the_type_of_the_rows(types: list[pa.DataType], expected: type, read) -> None:
    columns = {
        f"f{number}": pa.array([1, 0], pa.int64()).cast(kind) for number, kind in enumerate(types)
    }
    data = read(_labelled(**columns))
    assert data.X.dtype == expected
    np.testing.assert_array_equal(data.X, [[1, 1], [0, 0]])


def test_decimals_are_rounded_correctly(read) -> None:
    values = [Decimal("0.1"), Decimal("123456789012345678901234567890.12345"), Decimal("-2.5")]
    data = read(_labelled(a=pa.array(values, pa.decimal128(38, 8))))
    assert data.X[:, 0].tolist() == [float(Fraction(value)) for value in values]


def test_dictionaries_of_numbers_are_decoded(read) -> None:
    data = read(_labelled(a=pa.array([2.5, 7.0, 2.5]).dictionary_encode()))
    assert data.X[:, 0].tolist() == [2.5, 7.0, 2.5]


def test_integers_that_float64_rounds_are_noted(read) -> None:
    exact = read(_labelled(a=pa.array([2**53, -(2**53)])))
    assert not any("rounds" in note for note in exact.notes)
    data = read(_labelled(a=pa.array([2**53 + 1, 0])))
    assert data.X[0, 0] == 2.0**53
    assert "Column 'a' holds integers beyond 2**53, which float64 rounds." in data.notes


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array(["x", "y"]), "string"),
        (pa.array(["x", "y"]).dictionary_encode(), "dictionary"),
        (pa.array([b"x", b"y"]), "binary"),
        (pa.array([dt.date(2020, 1, 1)] * 2), "date32"),
        (pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 2), "timestamp"),
        (pa.array([dt.timedelta(1)] * 2), "duration"),
        (pa.array([[1.0], [2.0]]), "list"),
        (pa.array([{"a": 1}, {"a": 2}]), "struct"),
        (pa.nulls(2), "null"),
    ],
)
def test_features_that_are_no_numbers(column: pa.Array, kind: str, read) -> None:
    with pytest.raises(hinge.DataFileError) as caught:
        read(pa.table({"a": [1.0, 2.0], "bad": column, "label": [0, 1]}))
    assert f"feature column 'bad' holds {kind}" in str(caught.value)
    assert "OneHotEncoder" in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, 2)


def test_several_features_that_are_no_numbers(read) -> None:
    texts = {name: ["x", "y"] for name in "abcdef"}
    with pytest.raises(hinge.DataFileError, match=r"\(and so do 'b', 'c', 'd', \.\.\.\)"):
        read(_labelled(**texts))


def test_an_extension_type_runs_nothing_and_is_refused(read) -> None:
    column = pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([b"0" * 16, b"1" * 16], pa.binary(16))
    )
    with pytest.raises(hinge.DataFileError, match="feature column 'a' holds"):
        read(_labelled(a=column))


def test_an_unknown_extension_type_is_not_resolved(read) -> None:
    metadata = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": "x"}
    field = pa.field("a", pa.float64(), metadata=metadata)
    table = pa.table([[1.0, 2.0], [0, 1]], schema=pa.schema([field, ("label", pa.int64())]))
    assert read(table).X[:, 0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pa.array(["b", "a"]), ["b", "a"]),
        (pa.array(["b", "a"], pa.large_string()), ["b", "a"]),
        (pa.array(["b", "a"]).dictionary_encode(), ["b", "a"]),
        (pa.array([True, False]), [True, False]),
        (pa.array([2**63 - 1, -1]), [2**63 - 1, -1]),
        (pa.array([0.5, 1.5], pa.float32()), [0.5, 1.5]),
        (pa.array(["1", "2"]), ["1", "2"]),
        (pa.array([" a", "a"]), [" a", "a"]),
    ],
)
def test_labels(labels: pa.Array, expected: list, read) -> None:
    assert read(pa.table({"a": [1.0, 2.0], "label": labels})).y.tolist() == expected


@pytest.mark.parametrize(
    ("labels", "row", "said"),
    [
        (pa.array(["b", None]), 2, "the label in column 'label' is missing"),
        (pa.array(["b", ""]), 2, "the label in column 'label' is missing"),
        (pa.array([1, None]), 2, "the label in column 'label' is missing"),
        (pa.array([1.0, np.inf]), 2, "the label in column 'label' is missing or not finite"),
        (pa.array(["b", "x" * 257]), 2, "has 257 characters; the limit is 256"),
        (pa.array(["b", "x\0"]), 2, "contains a NUL character"),
        (pa.array([[1], [2]]), 1, "the label column 'label' holds list"),
        (pa.array([dt.date(2020, 1, 1)] * 2), 1, "the label column 'label' holds date32"),
    ],
)
def test_labels_that_are_refused(labels: pa.Array, row: int, said: str, read) -> None:
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        read(pa.table({"a": [1.0, 2.0], "label": labels}))
    assert (caught.value.line, caught.value.column) == (row, 2)


@pytest.mark.parametrize("encode", [False, True])
def test_a_missing_value_is_located(encode: bool, read) -> None:
    column = pa.array([1.0, 2.0, None])
    with pytest.raises(hinge.DataFileError, match="column 'a' has no value here") as caught:
        read(_labelled(a=column.dictionary_encode() if encode else column))
    assert (caught.value.line, caught.value.column) == (3, 1)


def test_no_rows(read) -> None:
    with pytest.raises(hinge.DataFileError, match="there are columns and no rows"):
        read(pa.table({"a": pa.array([], pa.float64()), "label": pa.array([], pa.int64())}))


def test_no_columns(read) -> None:
    with pytest.raises(hinge.DataFileError, match="the table has no columns"):
        read(pa.table({}))


def test_the_index_of_a_frame_is_left_out(read) -> None:
    data = read(pa.table({"a": [1.0], "label": [2], "__index_level_0__": ["x"]}))
    assert data.feature_names == ("a",)
    assert "Column 3 ('__index_level_0__') holds the row index" in data.notes[0]


def test_the_order_of_columns_is_kept(read) -> None:
    data = read(pa.table({"z": [1.0], "label": [2], "a": [3.0]}))
    assert data.feature_names == ("z", "a")
    assert data.X.tolist() == [[1, 3]]
    assert data.y.tolist() == [2]


def test_names_with_dots(read) -> None:
    data = read(pa.table({"a.b": [1.0], "a": [3.0], "label": [2]}))
    assert data.X.tolist() == [[1, 3]]


def test_feather(tmp_path: Path) -> None:
    for number, compression in enumerate(["uncompressed", "lz4", "zstd"]):
        path = tmp_path / f"{number}.feather"
        pyarrow.feather.write_feather(_labelled(a=[1.0, 2.0]), path, compression=compression)
        assert hinge.data.read(path).X[:, 0].tolist() == [1.0, 2.0]


def test_names_that_repeat_in_parquet(tmp_path: Path) -> None:
    table = pa.table([[1.0], [2.0], [3]], names=["a", "a", "label"])
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(hinge.DataFileError, match="2 columns are named 'a'; rename all but one"):
        hinge.data.read(tmp_path / "rows.parquet")


def test_a_small_file_may_not_claim_the_memory(read) -> None:
    rows = 1_000_000
    constant = _labelled(a=np.zeros(rows))
    with pytest.raises(hinge.DataFileError, match=r"8,000,000 bytes.* pass memory_limit=8000000"):
        read(constant.select(["a"]), label=False, memory_limit=7_999_999)
    assert read(constant.select(["a"]), label=False, memory_limit=8_000_000).X.shape == (rows, 1)


def test_a_parquet_bomb(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    rows = 20_000_000
    table = pa.table({"a": pa.array(np.zeros(rows))})
    pq.write_table(table, path, compression="zstd", row_group_size=rows)
    assert path.stat().st_size < 160_000
    with pytest.raises(
        hinge.DataFileError, match="Its 20,000,000 rows would take 160,000,000 bytes"
    ):
        hinge.data.read(path, label=False)
    assert sum(len(block.X) for block in hinge.data.iter_blocks(path, label=False)) == rows


def test_threads_do_not_change_the_rows(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((500, 3))
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(dict(zip("abc", X.T, strict=True))), path, row_group_size=50)
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(hinge.data.read(path, label=False, n_jobs=n_jobs).X, X)


@pytest.mark.parametrize("ending", [".arrow", ".arrows", ".parquet"])
@pytest.mark.parametrize("labels", [[7, 8, 9], [0.5, 1.5, 2.5], [True, False, True]])
def test_what_was_read_is_no_part_of_the_file(ending: str, labels: list, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    rows = pa.table({"a": [1.0, 2.0, 3.0], "label": labels})
    if ending == ".arrows":
        with pa.ipc.new_stream(path, rows.schema) as writer:
            writer.write_table(rows)
    else:
        WRITERS[ending](rows, path)
    data = hinge.data.read(path)
    with path.open("r+b") as file:  # the same file, not a new one of its name
        file.write(b"\xff" * path.stat().st_size)
        file.truncate(1)
    assert data.X.tolist() == [[1], [2], [3]]
    assert data.y.tolist() == labels
    data.y[0] = labels[1]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
def test_text_labels_of_a_dictionary(text: pa.DataType, read) -> None:
    words = pa.DictionaryArray.from_arrays([2, 0, 2], pa.array(["p", "unused", "q"], text))
    assert read(pa.table({"a": [1, 2, 3], "label": words})).y.tolist() == ["q", "p", "q"]
    plain = pa.array(["q", "p", "q"], text)
    data = read(pa.table({"a": [1, 2, 3], "label": plain}))
    assert data.y.tolist() == ["q", "p", "q"]
    assert data.y.dtype == "<U1"


def test_a_missing_entry_of_a_dictionary(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays([0, 1], pa.array(["p", None]))
    _write_arrow(pa.table({"a": [1, 2], "label": words}), tmp_path / "rows.arrow")
    with pytest.raises(hinge.DataFileError, match="the label in column 'label' is missing") as got:
        hinge.data.read(tmp_path / "rows.arrow")
    assert (got.value.line, got.value.column) == (2, 2)
