"""Damaged files give an error that names the file, or rows that are sound; never anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.data.files import WRITERS, example, table

import hinge
import hinge.data

EXTREMES = [b"\0" * 4, b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x08", b"\xff" * 8]


def _mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with bits flipped, cut off, or parts overwritten, repeated or removed."""
    changed = bytearray(raw)
    place, other = sorted(rng.integers(0, len(raw), 2).tolist())
    length = int(rng.integers(1, 40))
    match rng.integers(5):
        case 0:
            for where in rng.integers(0, len(raw), rng.integers(1, 4)):
                changed[where] ^= 1 << int(rng.integers(8))
        case 1:
            del changed[max(1, place) :]
        case 2:
            extreme = EXTREMES[rng.integers(len(EXTREMES))]
            changed[place : place + len(extreme)] = extreme
        case 3:
            changed[place : place + length] = rng.bytes(length)
        case _:
            removed = length if rng.random() < 0.5 else 0
            changed[place : place + removed] = changed[other : other + length]
    return bytes(changed)


def _read_mutations(
    path: Path, raw: bytes, count: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Return how many files were refused and how many were read; both must be sound."""
    refused = read = 0
    for _ in range(count):
        path.write_bytes(_mutated(raw, rng))
        try:
            data = hinge.data.read(path)
        except hinge.DataFileError as error:
            refused += error.path == str(path)
            continue
        read += 1
        assert data.X.ndim == 2
        assert np.isfinite(data.X).all()
        assert data.y is None or len(data.y) == len(data.X)
    assert refused + read == count
    return refused, read


def _written(ending: str, folder: Path) -> tuple[Path, bytes]:
    path = folder / f"rows{ending}"
    WRITERS[ending](path, *example())
    return path, path.read_bytes()


@pytest.mark.parametrize("ending", [".arrow", ".arrows", ".npz", ".packed.npz", ".csv"])
def test_damaged_files(ending: str, seed: int, tmp_path: Path) -> None:
    path, raw = _written(ending, tmp_path)
    refused, read = _read_mutations(path, raw, 200, np.random.default_rng(seed))
    assert refused > 100
    assert read > 0


PARQUET_SEEDS: dict[str, dict[str, Any]] = {
    "plain": {"compression": "none", "use_dictionary": False},
    "dictionary": {"compression": "none", "use_dictionary": True},
    "snappy": {"compression": "snappy"},
    "zstd": {"compression": "zstd", "data_page_version": "2.0"},
    "gzip": {"compression": "gzip", "write_page_checksum": True},
    "small pages": {"data_page_size": 64, "column_encoding": None},
    "split": {"use_dictionary": ["label"], "use_byte_stream_split": ["f0", "f1", "f2", "f3"]},
}


@pytest.mark.parametrize("written", PARQUET_SEEDS)
def test_damaged_parquet_files_of_every_kind(written: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(table(*example()), path, row_group_size=25, **PARQUET_SEEDS[written])
    assert pq.ParquetFile(path).num_row_groups == 3
    refused, read = _read_mutations(path, path.read_bytes(), 300, np.random.default_rng(seed))
    assert refused > 100
    assert read > 0


def test_two_thousand_damaged_parquet_files(seed: int, tmp_path: Path) -> None:
    path, raw = _written(".parquet", tmp_path)
    refused, read = _read_mutations(path, raw, 2000, np.random.default_rng(seed))
    assert refused > 1000
    assert read > 0


@pytest.mark.slow
def test_ten_thousand_damaged_parquet_files(seed: int, tmp_path: Path) -> None:
    path, raw = _written(".parquet", tmp_path)
    refused, read = _read_mutations(path, raw, 10_000, np.random.default_rng(1000 + seed))
    assert refused > 5000
    assert read > 0


def test_checksums_of_parquet_pages_are_compared(tmp_path: Path) -> None:
    X = np.full((50, 1), 1.5)
    path = tmp_path / "rows.parquet"
    pq.write_table(
        table(X, np.arange(50)),
        path,
        write_page_checksum=True,
        compression="none",
        use_dictionary=False,
    )
    raw = path.read_bytes()
    place = raw.index(np.float64(1.5).tobytes() * 50)  # elsewhere it stands in the statistics
    path.write_bytes(raw[:place] + b"\1" + raw[place + 1 :])
    with pytest.raises(hinge.DataFileError, match=r"not a sound Parquet file .*CRC"):
        hinge.data.read(path)


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".arrows"])
def test_the_sentence_for_a_damaged_file(ending: str, tmp_path: Path) -> None:
    path, raw = _written(ending, tmp_path)
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(hinge.DataFileError, match=r"not a sound \w+ file .* write or download it"):
        hinge.data.read(path)
