"""Damaged shard files: any byte string gives a sound Dataset or a DataFileError."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from tests.data.files import dense
from tests.data.shard_bytes import joined, open_raw, sound_bytes, sound_dataset, split

import hinge
import hinge.data
from hinge.data import Dataset
from hinge.data.shard_layout import PREFIX


def _put(path: Path, place: int, byte: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))


def _use(data: Dataset) -> None:
    """Touch everything: whatever was opened must be sound."""
    with np.errstate(all="ignore"):
        scores = data.X @ np.ones(data.X.shape[1], dtype=data.X.dtype)
    assert scores.shape == (data.X.shape[0],)
    if data.y is not None:
        assert len(np.unique(data.y)) <= data.X.shape[0]
    with contextlib.suppress(hinge.InvalidInputError):
        hinge.Problem(data.X, np.arange(data.X.shape[0]) % 2)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    raw = sound_bytes("csr", tmp_path)
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        open_raw(raw + b"\0", tmp_path)
    path = tmp_path / "rows.hingedata"
    for length in reversed(range(len(raw))):
        os.truncate(path, length)
        with pytest.raises(hinge.DataFileError):
            hinge.data.open_shards(path)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_bit_flipped_in_any_byte_is_refused_or_found(form: str, tmp_path: Path) -> None:
    raw = sound_bytes(form, tmp_path)
    start = PREFIX.unpack(raw[: PREFIX.size])[3]
    expected = sound_dataset(form)
    path = tmp_path / "sound.hingedata"
    for place in range(len(raw)):
        _put(path, place, raw[place] ^ 1 << place % 8)
        try:
            data = hinge.data.open_shards(path, verify=True)
        except hinge.DataFileError:
            _put(path, place, raw[place])
            continue
        assert PREFIX.size <= place < start
        # Only what lies between the arrays may change without changing anything.
        np.testing.assert_array_equal(dense(data.X), dense(expected.X))
        assert data.y.tolist() == expected.y.tolist()
        assert data.query_ids.tolist() == expected.query_ids.tolist()
        _put(path, place, raw[place])


def _place(raw: bytes, name: str) -> tuple[int, np.dtype]:
    """Return where an array begins, and its type."""
    _, description = split(raw)
    position = PREFIX.size
    for array in description["arrays"]:
        dtype = np.dtype(array["dtype"])
        if array["name"] == name:
            return position, dtype
        position = -(-(position + array["length"] * dtype.itemsize) // 64) * 64
    raise KeyError(name)


@pytest.mark.parametrize(
    ("name", "element", "value", "said"),
    [
        ("indices", 1, 3, "column index 3 in row 0; it must lie between 0 and 2"),
        ("indices", 1, -1, "column index -1"),
        ("indices", 1, 0, "not in increasing order"),
        ("indptr", 0, 1, "row pointers starting at"),
        ("indptr", 1, 100, "pointers of the sparse matrix decrease"),
        ("indptr", 4, 7, "its rows end at value 7 of 8"),
        ("indptr", 4, 9, "ask for 9 entries"),
        ("labels", 2, 3, "a label is impossible"),
        ("labels", 2, -1, "a label is impossible"),
    ],
)
def test_arrays_that_are_checked_without_checksums(
    name: str, element: int, value: int, said: str, tmp_path: Path
) -> None:
    raw = bytearray(sound_bytes("csr", tmp_path))
    place, dtype = _place(bytes(raw), name)
    place += element * dtype.itemsize
    raw[place : place + dtype.itemsize] = np.array(value, dtype).tobytes()
    with pytest.raises(hinge.DataFileError) as caught:
        open_raw(bytes(raw), tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_changed_value_is_found_on_request(form: str, tmp_path: Path) -> None:
    raw = bytearray(sound_bytes(form, tmp_path))
    raw[PREFIX.size] ^= 1
    assert "not compared" in open_raw(bytes(raw), tmp_path).notes[0]
    with pytest.raises(hinge.DataFileError, match="the checksum of the array 'values' does not"):
        open_raw(bytes(raw), tmp_path, verify=True)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_values_that_are_not_finite_are_found_on_request(form: str, tmp_path: Path) -> None:
    raw = bytearray(sound_bytes(form, tmp_path))
    raw[PREFIX.size : PREFIX.size + 8] = np.float64(np.nan).tobytes()
    arrays, description = split(bytes(raw))
    stored = description["arrays"][0]
    values = arrays[PREFIX.size : PREFIX.size + 8 * stored["length"]]
    stored["sha256"] = hashlib.sha256(values).hexdigest()
    with pytest.raises(hinge.DataFileError, match="line 1, column 1: the value is nan"):
        open_raw(joined(arrays, description), tmp_path, verify=True)
    with pytest.raises(hinge.InvalidDataError, match="NaN in row 0, column 0"):
        hinge.Problem(open_raw(joined(arrays, description), tmp_path).X, [0, 1, 0, 1])


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_random_mutations_give_a_sound_dataset_or_an_error(
    form: str, seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    raw = sound_bytes(form, tmp_path)
    arrays, description = split(raw)
    text = json.dumps(description).encode()
    accepted = 0
    for _ in range(600):
        part = bytearray(text if rng.random() < 0.5 else arrays)
        low = PREFIX.size if len(part) == len(arrays) else 0
        for place in rng.integers(low, len(part), rng.integers(1, 4)):
            part[place] = rng.choice([*b'0123456789,:[]{}"-e', 0, 255, 128])
        whole = joined(arrays, bytes(part)) if low == 0 else joined(bytes(part), text)
        try:
            data = open_raw(whole, tmp_path)
        except hinge.DataFileError:
            continue
        _use(data)
        accepted += 1
    assert accepted > 10


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    arrays, description = split(sound_bytes("csr", tmp_path))
    tracemalloc.start()
    try:
        for key in ("n_samples", "n_features"):
            changed = {**description, "feature_names": None, key: 2**60}
            with contextlib.suppress(hinge.DataFileError):
                open_raw(joined(arrays, changed), tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
