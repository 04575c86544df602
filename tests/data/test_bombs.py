"""Small files that claim to be large: refused by what they claim, before memory is taken."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import hinge
import hinge.data

ROWS = 12345  # a number whose bytes occur nowhere else in the footer


def _varint(number: int) -> bytes:
    """Return a positive number as Thrift's compact protocol writes it."""
    number *= 2
    written = b""
    while number > 0x7F:
        written += bytes([number & 0x7F | 0x80])
        number >>= 7
    return written + bytes([number])


def _parquet_that_claims(path: Path, rows: int) -> None:
    """Write a file of a few hundred bytes whose footer says that it has so many rows."""
    pq.write_table(
        pa.table({"a": np.zeros(ROWS)}), path, write_statistics=False, store_schema=False
    )
    raw = path.read_bytes()
    (length,) = struct.unpack("<I", raw[-8:-4])
    footer = raw[-8 - length : -8]
    assert footer.count(_varint(ROWS)) >= 3  # of the file, of the row group, of the column
    forged = footer.replace(_varint(ROWS), _varint(rows))
    end = struct.pack("<I", len(forged)) + b"PAR1"
    path.write_bytes(raw[: -8 - length] + forged + end)


def test_the_footer_is_what_it_seems(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    _parquet_that_claims(path, ROWS)
    assert hinge.data.read(path, label=False).X.shape == (ROWS, 1)
    assert path.stat().st_size < 600


@pytest.mark.parametrize("rows", [10**8, 10**9, 2**31, 2**40, 2**61])
def test_a_parquet_file_that_claims_many_rows(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    _parquet_that_claims(path, rows)
    tracemalloc.start()
    before = pa.default_memory_pool().max_memory()
    try:
        with pytest.raises(hinge.DataFileError, match=f"Its {rows:,} rows would take"):
            hinge.data.read(path, label=False)
        with pytest.raises(hinge.DataFileError):
            list(hinge.data.iter_blocks(path, label=False))
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert pa.default_memory_pool().max_memory() - before < 64 << 20


def test_row_groups_that_do_not_add_up(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    _parquet_that_claims(path, ROWS)
    raw = path.read_bytes()
    place = raw.rindex(_varint(ROWS))
    path.write_bytes(raw[:place] + _varint(ROWS + 1) + raw[place + 3 :])
    with pytest.raises(
        hinge.DataFileError, match="the footer gives 12,345 rows and its row groups"
    ):
        hinge.data.read(path, label=False)


@pytest.mark.parametrize("size", [2**33, 2**40, 2**62, -5, 80_001])
def test_an_arrow_buffer_that_claims_another_size(size: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.feather"
    rows = pa.table({"a": np.zeros(10_000), "label": np.zeros(10_000)})
    pyarrow.feather.write_feather(rows, path, compression="zstd")
    raw = path.read_bytes()
    assert raw.count(struct.pack("<q", 80_000)) == 2
    path.write_bytes(raw.replace(struct.pack("<q", 80_000), struct.pack("<q", size)))
    with pytest.raises(hinge.DataFileError, match=r"this is not a sound Arrow file|would take"):
        hinge.data.read(path)


def test_rows_that_do_not_fit_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "rows.npz", X=np.eye(3))

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("hinge.data.npz_members.np.empty", fail)
    with pytest.raises(
        hinge.DataFileError, match="do not fit in memory; convert the file to shards"
    ):
        hinge.data.read(tmp_path / "rows.npz")
    said = "a block of its rows does not fit in memory; pass a smaller block_bytes"
    with pytest.raises(hinge.DataFileError, match=said):
        list(hinge.data.iter_blocks(tmp_path / "rows.npz"))
