"""What a caller may ask of the readers, and how the rest is refused: always by a typed error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hinge
import hinge.data


@pytest.fixture
def svm(tmp_path: Path) -> Path:
    path = tmp_path / "rows.svm"
    path.write_text("1,2 1:1\n 2:1\n")
    return path


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("1,2\n3,4\n")
    return path


READERS = [
    hinge.data.read,
    hinge.data.read_libsvm,
    hinge.data.read_libsvm_dataset,
    lambda path, **options: list(hinge.data.iter_libsvm(path, **options)),
]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtype": "nope"}, "dtype must be float32, float64 or None; got 'nope'"),
        ({"dtype": int}, "dtype must be float32, float64 or None"),
        ({"zero_based": "x"}, r"zero_based must be True, False or \"auto\"; got 'x'"),
        ({"zero_based": 1}, "zero_based must be True, False or"),
        ({"multilabel": 1}, "multilabel must be True or False; got 1"),
        ({"n_jobs": "x"}, "n_jobs must be an integer other than 0, or None; got 'x'"),
        ({"n_jobs": 0}, "n_jobs must be an integer other than 0, or None; got 0"),
        ({"n_features": 0}, "n_features must be"),
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_options_outside_their_range(reader: Any, options: dict, said: str, svm: Path) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=said):
        reader(svm, **options)


@pytest.mark.parametrize(
    "options", [{"n_jobs": "x"}, {"zero_based": "x"}, {"multilabel": "x"}, {"header": 1}]
)
def test_options_are_checked_for_every_format(options: dict, csv: Path) -> None:
    (name,) = options
    with pytest.raises(hinge.InvalidParameterError, match=f"{name} must be"):
        hinge.data.read(csv, **options)


@pytest.mark.parametrize("reader", READERS)
def test_paths(reader: Any, svm: Path) -> None:
    reader(os.fsencode(svm), multilabel=True)
    with pytest.raises(hinge.DataFileError, match=r"cannot be read \(a NUL character in its name"):
        reader("a\0b")
    with pytest.raises(hinge.InvalidParameterError, match="path must be the name of a file; got 5"):
        reader(5)


@pytest.mark.parametrize("write", [hinge.data.write_libsvm, hinge.data.write_shards])
def test_paths_to_write(write: Any, tmp_path: Path) -> None:
    rows = (np.eye(2), np.array([1, 2]))
    given = rows if write is hinge.data.write_libsvm else ([hinge.data.Dataset(*rows)],)
    write(os.fsencode(tmp_path / "rows"), *given)
    assert (tmp_path / "rows").stat().st_size > 0
    with pytest.raises(hinge.DataFileError, match="a NUL character in its name"):
        write("a\0b", *given)


def test_several_labels_through_every_door(svm: Path) -> None:
    with pytest.raises(hinge.DataFileError, match="pass multilabel=True if rows have several"):
        hinge.data.read(svm)
    assert hinge.data.read(svm, multilabel=True).y == [(1, 2), ()]
    (block,) = hinge.data.iter_blocks(svm, multilabel=True)
    assert block.y == [(1, 2), ()]
    assert hinge.data.read(svm, multilabel=True, label=False).y is None


@pytest.mark.parametrize("reader", [hinge.data.read, hinge.data.iter_blocks])
def test_tables_have_one_label(reader: Any, csv: Path) -> None:
    with pytest.raises(hinge.InvalidParameterError, match="is for LIBSVM text and this is CSV"):
        reader(csv, multilabel=True)


@pytest.mark.parametrize("block_bytes", [0, True, "1", 1.5])
def test_block_bytes(block_bytes: Any, csv: Path) -> None:
    with pytest.raises(hinge.InvalidParameterError, match="block_bytes must be an integer"):
        hinge.data.iter_blocks(csv, block_bytes=block_bytes)
