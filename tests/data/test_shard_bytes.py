"""Any byte string gives a sound Dataset or a DataFileError, also where checksums were repaired."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.data.files import dense

import hinge
import hinge.data
from hinge.data import Dataset
from hinge.data.shard_layout import LONGEST_DESCRIPTION, MAGIC, PREFIX


def _example(form: str) -> Dataset:
    X = np.arange(1.0, 13.0).reshape(4, 3)
    X[X % 3 == 0] = 0
    rows = sp.csr_array(X) if form == "csr" else X
    return Dataset(rows, np.array(["a", "b", "b", "c"]), ("p", "q", "r"), np.array([1, 1, 2, 2]))


def _bytes(form: str, folder: Path) -> bytes:
    path = folder / "sound.hingedata"
    hinge.data.write_shards(path, [_example(form)])
    return path.read_bytes()


def _split(raw: bytes) -> tuple[bytes, dict]:
    """Return the arrays with the prefix before them, and the description."""
    _, _, _, start, length, _ = PREFIX.unpack(raw[: PREFIX.size])
    return raw[:start], json.loads(raw[start : start + length])


def _joined(arrays: bytes, description: dict | bytes) -> bytes:
    """Return a file with a valid checksum over whatever it says."""
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    digest = hashlib.sha256(text).digest()
    prefix = PREFIX.pack(MAGIC, 1, 0, len(arrays), len(text), digest)
    return prefix + arrays[PREFIX.size :] + text


def _open(raw: bytes, folder: Path, verify: bool = False) -> Dataset:
    path = folder / "rows.hingedata"
    path.write_bytes(raw)
    return hinge.data.open_shards(path, verify=verify)


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


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_pieces_are_what_they_seem(form: str, tmp_path: Path) -> None:
    raw = _bytes(form, tmp_path)
    data = _open(_joined(*_split(raw)), tmp_path, verify=True)
    np.testing.assert_array_equal(dense(data.X), dense(_example(form).X))


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    raw = _bytes("csr", tmp_path)
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        _open(raw + b"\0", tmp_path)
    path = tmp_path / "rows.hingedata"
    for length in reversed(range(len(raw))):
        os.truncate(path, length)
        with pytest.raises(hinge.DataFileError):
            hinge.data.open_shards(path)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_bit_flipped_in_any_byte_is_refused_or_found(form: str, tmp_path: Path) -> None:
    raw = _bytes(form, tmp_path)
    start = PREFIX.unpack(raw[: PREFIX.size])[3]
    expected = _example(form)
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


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("form", "coo"),
        ("form", ["dense"]),
        ("n_samples", 5),
        ("n_samples", 0),
        ("n_samples", -4),
        ("n_samples", 4.0),
        ("n_samples", True),
        ("n_samples", 2**62),
        ("n_samples", 10**400),
        ("n_samples", "4"),
        ("n_features", 0),
        ("n_features", 2),
        ("n_features", None),
        ("n_features", 2**62),
        ("arrays", []),
        ("arrays", {}),
        ("arrays", None),
        ("arrays", [[]]),
        ("label_kind", None),
        ("label_kind", "integer"),
        ("label_kind", "colour"),
        ("label_kind", ["text"]),
        ("classes", None),
        ("classes", []),
        ("classes", ["a", "b"]),
        ("classes", ["a", "b", "b"]),
        ("classes", ["a", "b", ""]),
        ("classes", ["a", "b", "c\0"]),
        ("classes", ["a", "b", "\ud800"]),
        ("classes", ["a", "b", "c" * 257]),
        ("classes", ["a", "b", 3]),
        ("classes", "abc"),
        ("feature_names", ["p", "q"]),
        ("feature_names", ["p", "q", 1]),
        ("feature_names", {"p": 1}),
    ],
)
def test_a_description_that_contradicts_itself(
    form: str, key: str, value: object, tmp_path: Path
) -> None:
    arrays, description = _split(_bytes(form, tmp_path))
    if (form, key, value) in (("csr", "n_features", 2**62),):
        # A wider sparse matrix is a sound one, with names that no longer fit.
        description["feature_names"] = None
        _use(_open(_joined(arrays, {**description, "n_features": 5}), tmp_path))
        return
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        _open(_joined(arrays, {**description, key: value}), tmp_path)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "other"),
        ("name", ["values"]),
        ("dtype", "<f2"),
        ("dtype", "|O"),
        ("dtype", "|u1"),
        ("dtype", 7),
        ("length", 1),
        ("length", -1),
        ("length", 2**63),
        ("length", 2**61),
        ("length", 1.0),
        ("sha256", "x" * 64),
        ("sha256", ""),
        ("sha256", None),
        ("offset", 0),
        ("path", "../other"),
    ],
)
def test_an_array_that_contradicts_the_rest(
    form: str, key: str, value: object, tmp_path: Path
) -> None:
    arrays, description = _split(_bytes(form, tmp_path))
    for number in range(len(description["arrays"])):
        changed = json.loads(json.dumps(description))
        changed["arrays"][number][key] = value
        with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
            _open(_joined(arrays, changed), tmp_path)


@pytest.mark.parametrize("change", ["swap", "double", "drop"])
def test_arrays_out_of_order(change: str, tmp_path: Path) -> None:
    arrays, description = _split(_bytes("csr", tmp_path))
    listed = description["arrays"]
    description["arrays"] = {
        "swap": [listed[1], listed[0], *listed[2:]],
        "double": [*listed, listed[-1]],
        "drop": listed[1:],
    }[change]
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        _open(_joined(arrays, description), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"form": "dense", "form": "dense"}',
        b"[" * 100_000,
        b"NaN",
        b'{"n": Infinity}',
        b"1" * 5000,
        b"\xff\xfe",
        b'{"form": "dense"} extra',
    ],
)
def test_text_that_is_no_description(text: bytes, tmp_path: Path) -> None:
    arrays, _ = _split(_bytes("dense", tmp_path))
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        _open(_joined(arrays, text), tmp_path)


def test_a_description_that_is_too_long(tmp_path: Path) -> None:
    arrays, description = _split(_bytes("dense", tmp_path))
    text = json.dumps(description).encode()
    with pytest.raises(hinge.DataFileError, match="its description should end at"):
        _open(_joined(arrays, text + b" " * LONGEST_DESCRIPTION), tmp_path)


def test_a_field_too_many(tmp_path: Path) -> None:
    arrays, description = _split(_bytes("dense", tmp_path))
    with pytest.raises(hinge.DataFileError, match="has not the fields it should have"):
        _open(_joined(arrays, {**description, "extra": 1}), tmp_path)


def test_another_version(tmp_path: Path) -> None:
    raw = bytearray(_bytes("dense", tmp_path))
    raw[8] = 2
    with pytest.raises(hinge.DataFileError, match="this is version 2 of the shard format"):
        _open(bytes(raw), tmp_path)


def _place(raw: bytes, name: str) -> tuple[int, np.dtype]:
    """Return where an array begins, and its type."""
    _, description = _split(raw)
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
    raw = bytearray(_bytes("csr", tmp_path))
    place, dtype = _place(bytes(raw), name)
    place += element * dtype.itemsize
    raw[place : place + dtype.itemsize] = np.array(value, dtype).tobytes()
    with pytest.raises(hinge.DataFileError) as caught:
        _open(bytes(raw), tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_changed_value_is_found_on_request(form: str, tmp_path: Path) -> None:
    raw = bytearray(_bytes(form, tmp_path))
    raw[PREFIX.size] ^= 1
    assert "not compared" in _open(bytes(raw), tmp_path).notes[0]
    with pytest.raises(hinge.DataFileError, match="the checksum of the array 'values' does not"):
        _open(bytes(raw), tmp_path, verify=True)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_values_that_are_not_finite_are_found_on_request(form: str, tmp_path: Path) -> None:
    raw = bytearray(_bytes(form, tmp_path))
    raw[PREFIX.size : PREFIX.size + 8] = np.float64(np.nan).tobytes()
    arrays, description = _split(bytes(raw))
    stored = description["arrays"][0]
    values = arrays[PREFIX.size : PREFIX.size + 8 * stored["length"]]
    stored["sha256"] = hashlib.sha256(values).hexdigest()
    with pytest.raises(hinge.DataFileError, match="line 1, column 1: the value is nan"):
        _open(_joined(arrays, description), tmp_path, verify=True)
    with pytest.raises(hinge.InvalidDataError, match="NaN in row 0, column 0"):
        hinge.Problem(_open(_joined(arrays, description), tmp_path).X, [0, 1, 0, 1])


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_random_mutations_give_a_sound_dataset_or_an_error(
    form: str, seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    raw = _bytes(form, tmp_path)
    arrays, description = _split(raw)
    text = json.dumps(description).encode()
    accepted = 0
    for _ in range(600):
        part = bytearray(text if rng.random() < 0.5 else arrays)
        low = PREFIX.size if len(part) == len(arrays) else 0
        for place in rng.integers(low, len(part), rng.integers(1, 4)):
            part[place] = rng.choice([*b'0123456789,:[]{}"-e', 0, 255, 128])
        whole = _joined(arrays, bytes(part)) if low == 0 else _joined(bytes(part), text)
        try:
            data = _open(whole, tmp_path)
        except hinge.DataFileError:
            continue
        _use(data)
        accepted += 1
    assert accepted > 10


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    arrays, description = _split(_bytes("csr", tmp_path))
    tracemalloc.start()
    try:
        for key in ("n_samples", "n_features"):
            changed = {**description, "feature_names": None, key: 2**60}
            with contextlib.suppress(hinge.DataFileError):
                _open(_joined(arrays, changed), tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
