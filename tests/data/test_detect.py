"""Which format a file is taken for, and the sentence for each file that cannot be read at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from tests.data.files import WRITERS, example

import hinge
import hinge.data
from hinge.data.detect import FORMATS, detect_format
from hinge.data.source import open_source


def packed(content: bytes) -> bytes:
    """Return gzip data without a date: the names of tests must not depend on the time."""
    return gzip.compress(content, mtime=0)


def _written(path: Path, contents: bytes | str) -> Path:
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return path


@pytest.mark.parametrize(
    ("name", "contents", "found"),
    [
        ("a9a", "+1 1:0.5 3:2\n", "libsvm"),
        ("a9a", "# a comment, with commas\n1 qid:3 1:0.5\n", "libsvm"),
        ("labels,only", "1,2 3:4\n", "libsvm"),
        ("a9a", "1\n-1\n", "libsvm"),
        ("a9a.gz", packed(b"1 1:2\n"), "libsvm"),
        ("iris.data", "5.1,3.5,Iris-setosa\n", "csv"),
        ("iris.data", "a\tb\n1\t2\n", "csv"),
        ("iris.data.gz", packed(b"1;2\n"), "csv"),
        ("rows.CSV", "1 1:2\n", "csv"),
        ("rows.tsv", "1\t2\n", "csv"),
        ("rows.svm", "1,2\n", "libsvm"),
    ],
)
def test_text(name: str, contents: bytes | str, found: str, tmp_path: Path) -> None:
    assert detect_format(open_source(_written(tmp_path / name, contents))) == found


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_without_ending_is_known_by_its_first_bytes(ending: str, tmp_path: Path) -> None:
    X, y = example()
    WRITERS[ending](tmp_path / f"rows{ending}", X, y)
    bare = tmp_path / "rows"
    (tmp_path / f"rows{ending}").rename(bare)
    np.testing.assert_array_equal(hinge.data.read(bare).X, X)


def test_a_shard_file_without_ending(tmp_path: Path) -> None:
    hinge.data.write_shards(tmp_path / "rows", [hinge.data.Dataset(np.eye(2), None)])
    np.testing.assert_array_equal(hinge.data.read(tmp_path / "rows").X, np.eye(2))


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("rows.csv", packed(b"1,2"), "begins like gzip data; rename it to end with .csv.gz"),
        ("rows.csv.gz", b"1,2", "ends with .gz, but it does not begin like gzip data; rename it"),
        ("rows.csv.gz", b"BZh91AY", "ends with .gz, but it does not begin like gzip data"),
        ("rows.csv", b"PAR1", "ends with .csv, but it begins like a Parquet file; rename it"),
        ("rows.svm", b"PK\x03\x04", "ends with .svm, but it begins like an npz archive"),
        ("rows.parquet", b"1,2", "ends with .parquet, but the file does not begin like a Parquet"),
        ("rows.npz", b"PAR1", "ends with .npz, but it begins like a Parquet file"),
        ("rows.parquet.gz", packed(b"PAR1"), "ends with .parquet, but it begins like gzip"),
        ("rows.hingedata", b"1 2:3", "does not begin like a shard file"),
        ("rows.feather", b"FEA1....", "Feather file of version 1; write it again with version 2"),
        ("rows", b"\x93NUMPY\x01\x00", "a single NumPy array; save rows and labels with"),
        ("rows", b"\x80\x04\x95", "a pickle, which could run code when loaded"),
        ("rows", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        ("rows", b"\x01\x02\x00\x03", "neither its name nor its first bytes tell of a known"),
    ],
)
def test_a_lie_is_named(name: str, contents: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError) as caught:
        hinge.data.read(_written(tmp_path / name, contents))
    assert said in str(caught.value)
    assert caught.value.path == str(tmp_path / name)


def test_a_format_can_be_asked_for(tmp_path: Path) -> None:
    path = _written(tmp_path / "rows.txt", "1 2:3\n")
    assert detect_format(open_source(path), "csv") == "csv"
    with pytest.raises(hinge.DataFileError, match="format='npz' was asked for, but the file does"):
        hinge.data.read(path, format="npz")
    with pytest.raises(hinge.InvalidParameterError, match="Did you mean 'parquet'"):
        hinge.data.read(path, format="parket")
    assert len(set(FORMATS)) == 6


def test_standard_input() -> None:
    with pytest.raises(hinge.DataFileError, match=r"standard input cannot be read.*save it to a"):
        hinge.data.read("-")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError, match="there is no such file; check the name"):
        hinge.data.read(tmp_path / "rows.csv")
    with pytest.raises(hinge.DataFileError, match="there is no such file"):
        hinge.data.iter_blocks(tmp_path / "rows.csv")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError, match="this is a folder; name one file in it"):
        hinge.data.read(tmp_path)


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError, match="the file is empty; check that"):
        hinge.data.read(_written(tmp_path / "rows.csv", b""))


def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(hinge.DataFileError, match="not a regular file"):
        hinge.data.read(tmp_path / "rows.csv")


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _written(tmp_path / "rows.csv", b"1,2\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(hinge.DataFileError, match=r"cannot be read \(Permission denied\); check"):
        hinge.data.read(path)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(hinge.DataFileError, match=r"cannot be read .*NUL character in its name"):
        hinge.data.read("rows\0.csv")


def test_a_bytes_path(tmp_path: Path) -> None:
    path = _written(tmp_path / "rows.csv", b"1,2\n3,4\n")
    np.testing.assert_array_equal(hinge.data.read(os.fsencode(path)).X, [[1], [3]])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"label": True}, "label must be the name of a column"),
        ({"label": 1.5}, "label must be the name of a column"),
        ({"n_features": 0}, "n_features must be an integer of at least 1"),
        ({"n_features": True}, "n_features must be an integer of at least 1"),
        ({"memory_limit": -1}, "memory_limit must be an integer"),
        ({"header": "yes"}, "header must be True, False or None"),
        ({"dtype": "int32"}, "dtype must be float32, float64 or None"),
        ({"dtype": "nonsense"}, "dtype must be float32, float64 or None"),
    ],
)
def test_options_outside_their_range(options: dict, said: str, tmp_path: Path) -> None:
    path = _written(tmp_path / "rows.csv", b"1,2\n")
    with pytest.raises(hinge.InvalidParameterError, match=said):
        hinge.data.read(path, **options)


def test_a_block_has_at_least_a_byte(tmp_path: Path) -> None:
    with pytest.raises(hinge.InvalidParameterError, match="block_bytes must be an integer of at"):
        hinge.data.iter_blocks(_written(tmp_path / "rows.csv", b"1,2\n"), block_bytes=0)


def test_libsvm_through_the_same_door(tmp_path: Path) -> None:
    path = _written(tmp_path / "rows.svm", b"+1 1:0.5 3:2\n-1 2:1\n")
    data = hinge.data.read(path)
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert data.y.tolist() == [1, -1]
    blocks = list(hinge.data.iter_blocks(path, block_bytes=1))
    assert [block.y.tolist() for block in blocks] == [[1], [-1]]
    assert hinge.data.read(path, label=False).y is None
    assert next(hinge.data.iter_blocks(path, label=False)).y is None
    assert hinge.data.read(path, n_features=9, dtype=np.float32).X.dtype == np.float32
    with pytest.raises(hinge.InvalidParameterError, match="LIBSVM text has its labels first"):
        hinge.data.read(path, label="class")
