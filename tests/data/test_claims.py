"""What rows and labels may take in memory, in every format: counted, refused beyond the limit."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import hinge
import hinge.data

LONG_LABEL = "x" * 256
MANY = 100_000
POOLS: list[pa.MemoryPool] = []  # kept: what was allocated from them may live on in an error
REFUSED = "would take more than the {:,} bytes that a file of .* pass a larger memory_limit"


@contextmanager
def peak_below(bound: int) -> Iterator[None]:
    """Require that neither Python and NumPy nor Arrow take more than so many bytes."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    POOLS.append(pool)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < bound
        assert pool.max_memory() < bound
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def test_rows_of_csv_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("1,2\n" * 1000)
    with pytest.raises(hinge.DataFileError, match=REFUSED.format(1)):
        hinge.data.read(path, memory_limit=1)
    assert hinge.data.read(path, memory_limit=16_000).X.shape == (1000, 1)


def test_rows_of_libsvm_text_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n" * 1000)
    with pytest.raises(hinge.DataFileError, match="Its rows and labels " + REFUSED.format(10_000)):
        hinge.data.read(path, memory_limit=10_000)
    assert hinge.data.read(path, memory_limit=30_000).X.shape == (1000, 1)
    with pytest.raises(hinge.DataFileError, match=REFUSED.format(30_000)):
        hinge.data.read(path, memory_limit=30_000, multilabel=True)
    with pytest.raises(hinge.InvalidParameterError, match="memory_limit must be an integer"):
        hinge.data.read_libsvm(path, memory_limit=-1)


def test_a_compressed_line_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(b"1 " + b" " * (60 << 20) + b"1:1\n"))
    with (
        peak_below(8 << 20),
        pytest.raises(hinge.DataFileError, match="Its contents " + REFUSED.format(1000)),
    ):
        hinge.data.read(path, memory_limit=1000)


def test_a_small_compressed_file_may_not_hold_much_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n" + b"\n" * (65 << 20)))
    with pytest.raises(hinge.DataFileError, match="Its contents " + REFUSED.format(64 << 20)):
        hinge.data.read_libsvm(path)
    assert hinge.data.read_libsvm(path, memory_limit=66 << 20)[0].shape == (1, 1)
    assert [block.X.shape for block in hinge.data.iter_blocks(path)] == [(1, 1)]


@pytest.mark.parametrize("n_features", [None, 9])
def test_a_line_has_an_end_where_blocks_are_read(
    n_features: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hinge.data.libsvm.LONGEST_LINE", 10_000)
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:1\n" * 1000 + b"1 " + b" " * 60_000 + b"1:1\n" + b"1 1:1\n")
    said = r"the line is longer than 10,000 bytes; .* pass a larger chunk_bytes \(block_bytes of"
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        list(hinge.data.iter_blocks(path, block_bytes=1000, n_features=n_features))
    assert caught.value.line == 1001
    blocks = hinge.data.iter_blocks(path, block_bytes=100_000, n_features=n_features)
    assert sum(block.X.shape[0] for block in blocks) == 1002
    assert hinge.data.read(path).X.shape == (1002, 1)


def _write(path: Path, labels: np.ndarray) -> None:
    """Write a column of zeros and labels in the format of the ending."""
    zeros = np.zeros(len(labels))
    if path.suffix == ".npz":
        np.savez_compressed(path, X=zeros[:, None], y=labels)
        return
    table = pa.table({"a": zeros, "label": pa.array(labels).dictionary_encode()})
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="zstd")
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path, compression="zstd")
    else:
        path.write_text("\n".join(f"0,{label}" for label in labels.tolist()))


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".npz", ".csv"])
def test_labels_are_counted(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    _write(path, np.full(MANY, LONG_LABEL))
    said = r"102,\d\d\d,\d\d\d bytes|103,\d\d\d,\d\d\d|" + REFUSED.format(1_600_000)
    with peak_below(48 << 20), pytest.raises(hinge.DataFileError, match=said):
        hinge.data.read(path, memory_limit=1_600_000)
    assert hinge.data.read(path, memory_limit=2 << 30).y.tolist() == [LONG_LABEL] * MANY


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv"])
def test_one_long_label_gives_all_its_room(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    labels = np.full(MANY, "y", dtype="<U256")
    labels[-1] = LONG_LABEL
    _write(path, labels)
    with pytest.raises(hinge.DataFileError, match=REFUSED.format(4_000_000)):
        hinge.data.read(path, memory_limit=4_000_000)


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv"])
def test_blocks_of_long_labels_are_small(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    _write(path, np.full(10_000, LONG_LABEL))
    blocks = list(hinge.data.iter_blocks(path, block_bytes=1_000_000))
    assert max(block.X.nbytes + block.y.nbytes for block in blocks) <= 1_000_000
    assert sum(len(block.y) for block in blocks) == 10_000


def test_a_dictionary_of_one_huge_text_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    labels = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), ["x" * 100_000])
    rows = pa.table({"a": np.zeros(20_000), "label": labels})
    pq.write_table(rows, path, store_schema=False)
    assert pq.read_schema(path).field("label").type == pa.string()
    with peak_below(64 << 20), pytest.raises(hinge.DataFileError, match="has 100000 characters"):
        hinge.data.read(path)


@pytest.mark.parametrize("ending", [".feather", ".arrows"])
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_an_arrow_batch_is_not_decompressed_beyond_the_limit(
    ending: str, compression: str, tmp_path: Path
) -> None:
    path = tmp_path / f"rows{ending}"
    rows = pa.table({"a": np.zeros(8 << 20), "label": np.zeros(8 << 20, np.int8)})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_file if ending == ".feather" else pa.ipc.new_stream
    with make(path, rows.schema, options=options) as writer:
        writer.write_table(rows)
    with (
        peak_below(8 << 20),
        pytest.raises(hinge.DataFileError, match="A batch of its rows, decompressed, would take"),
    ):
        hinge.data.read(path, memory_limit=1000)
    if compression == "zstd":  # of which lz4 cannot make a thousandth
        said = r"once it is decompressed, .* pass block_bytes="
        with peak_below(8 << 20), pytest.raises(hinge.DataFileError, match=said):
            list(hinge.data.iter_blocks(path))
    blocks = hinge.data.iter_blocks(path, block_bytes=80 << 20)
    assert sum(len(block.y) for block in blocks) == 8 << 20


def test_dictionaries_of_an_arrow_file_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.feather"
    names = pa.array([f"{number:0200}" for number in range(20_000)]).dictionary_encode()
    rows = pa.table({"a": np.zeros(20_000), "label": names})
    pyarrow.feather.write_feather(rows, path, compression="zstd")
    with pytest.raises(hinge.DataFileError, match="A batch of its rows, decompressed, would take"):
        hinge.data.read(path, memory_limit=1_000_000)
