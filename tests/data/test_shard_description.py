"""Descriptions of shard files that contradict themselves or the file, with valid checksums."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.data.files import dense
from tests.data.shard_bytes import joined, open_raw, sound_bytes, sound_dataset, split

import hinge
from hinge.data.shard_layout import LONGEST_DESCRIPTION


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_pieces_are_what_they_seem(form: str, tmp_path: Path) -> None:
    raw = sound_bytes(form, tmp_path)
    data = open_raw(joined(*split(raw)), tmp_path, verify=True)
    np.testing.assert_array_equal(dense(data.X), dense(sound_dataset(form).X))


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
    arrays, description = split(sound_bytes(form, tmp_path))
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        open_raw(joined(arrays, {**description, key: value}), tmp_path)


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
    arrays, description = split(sound_bytes(form, tmp_path))
    for number in range(len(description["arrays"])):
        changed = json.loads(json.dumps(description))
        changed["arrays"][number][key] = value
        with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
            open_raw(joined(arrays, changed), tmp_path)


def test_a_sparse_matrix_may_be_wider_than_its_entries(tmp_path: Path) -> None:
    arrays, description = split(sound_bytes("csr", tmp_path))
    wider = {**description, "feature_names": None, "n_features": 5}
    assert open_raw(joined(arrays, wider), tmp_path).X.shape == (4, 5)


@pytest.mark.parametrize("change", ["swap", "double", "drop"])
def test_arrays_out_of_order(change: str, tmp_path: Path) -> None:
    arrays, description = split(sound_bytes("csr", tmp_path))
    listed = description["arrays"]
    description["arrays"] = {
        "swap": [listed[1], listed[0], *listed[2:]],
        "double": [*listed, listed[-1]],
        "drop": listed[1:],
    }[change]
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        open_raw(joined(arrays, description), tmp_path)


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
    arrays, _ = split(sound_bytes("dense", tmp_path))
    with pytest.raises(hinge.DataFileError, match="not a sound shard file"):
        open_raw(joined(arrays, text), tmp_path)


def test_a_description_that_is_too_long(tmp_path: Path) -> None:
    arrays, description = split(sound_bytes("dense", tmp_path))
    text = json.dumps(description).encode()
    with pytest.raises(hinge.DataFileError, match="its description should end at"):
        open_raw(joined(arrays, text + b" " * LONGEST_DESCRIPTION), tmp_path)


def test_a_field_too_many(tmp_path: Path) -> None:
    arrays, description = split(sound_bytes("dense", tmp_path))
    with pytest.raises(hinge.DataFileError, match="has not the fields it should have"):
        open_raw(joined(arrays, {**description, "extra": 1}), tmp_path)


def test_another_version(tmp_path: Path) -> None:
    raw = bytearray(sound_bytes("dense", tmp_path))
    raw[8] = 2
    with pytest.raises(hinge.DataFileError, match="this is version 2 of the shard format"):
        open_raw(bytes(raw), tmp_path)
