"""Shard files taken apart and put together again with valid checksums."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import hinge.data
from hinge.data import Dataset
from hinge.data.shard_layout import MAGIC, PREFIX


def sound_dataset(form: str) -> Dataset:
    X = np.arange(1.0, 13.0).reshape(4, 3)
    X[X % 3 == 0] = 0
    rows = sp.csr_array(X) if form == "csr" else X
    return Dataset(rows, np.array(["a", "b", "b", "c"]), ("p", "q", "r"), np.array([1, 1, 2, 2]))


def sound_bytes(form: str, folder: Path) -> bytes:
    path = folder / "sound.hingedata"
    hinge.data.write_shards(path, [sound_dataset(form)])
    return path.read_bytes()


def split(raw: bytes) -> tuple[bytes, dict]:
    """Return the arrays with the prefix before them, and the description."""
    _, _, _, start, length, _ = PREFIX.unpack(raw[: PREFIX.size])
    return raw[:start], json.loads(raw[start : start + length])


def joined(arrays: bytes, description: dict | bytes) -> bytes:
    """Return a file with a valid checksum over whatever it says."""
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    digest = hashlib.sha256(text).digest()
    prefix = PREFIX.pack(MAGIC, 1, 0, len(arrays), len(text), digest)
    return prefix + arrays[PREFIX.size :] + text


def open_raw(raw: bytes, folder: Path, verify: bool = False) -> Dataset:
    path = folder / "rows.hingedata"
    path.write_bytes(raw)
    return hinge.data.open_shards(path, verify=verify)
