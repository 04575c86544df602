"""LIBSVM text, case by case: what is read, what is refused, and where the error points."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.data.libsvm_cases import BAD, SAME_ROWS

from hinge.data import iter_libsvm, read_libsvm, read_libsvm_dataset
from hinge.errors import DataFileError, InvalidParameterError


def write(folder: Path, text: bytes) -> Path:
    path = folder / "rows.svm"
    path.write_bytes(text)
    return path


def refused(path: Path, **options: object) -> DataFileError:
    with pytest.raises(DataFileError) as caught:
        read_libsvm(path, **options)
    assert str(caught.value).startswith(str(path))
    return caught.value


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bad_text_is_refused_at_its_place(tmp_path: Path, name: str, n_jobs: int) -> None:
    bad = BAD[name]
    error = refused(write(tmp_path, bad.text), n_jobs=n_jobs)
    assert (error.line, error.column) == (bad.line, bad.column)
    assert bad.words in error.reason


@pytest.mark.parametrize("name", BAD)
def test_iterating_refuses_the_same(tmp_path: Path, name: str) -> None:
    bad = BAD[name]
    path = write(tmp_path, bad.text)
    with pytest.raises(DataFileError, match=re.escape(bad.words)) as caught:
        list(iter_libsvm(path, chunk_bytes=3))
    assert (caught.value.line, caught.value.column) == (bad.line, bad.column)


@pytest.mark.parametrize("name", SAME_ROWS)
@pytest.mark.parametrize("chunk_bytes", [1, 2, 5, 16, 1000])
def test_one_content_in_many_forms(tmp_path: Path, name: str, chunk_bytes: int) -> None:
    path = write(tmp_path, SAME_ROWS[name])
    X, y = read_libsvm(path)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 0.001, 0]])
    np.testing.assert_array_equal(y, [1, -1])
    parts = list(iter_libsvm(path, chunk_bytes=chunk_bytes))
    rows = np.concatenate([part.X.toarray() for part in parts])
    np.testing.assert_array_equal(rows, X.toarray())
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "the file has no rows."),
        (b"\n # nothing\n", "the file has no rows, only comments or blank lines."),
        (b"1\n2\n", "no row has a feature; pass n_features"),
    ],
)
def test_a_file_without_content_is_refused(tmp_path: Path, text: bytes, words: str) -> None:
    path = write(tmp_path, text)
    assert words in refused(path).reason
    with pytest.raises(DataFileError, match=re.escape(words)):
        list(iter_libsvm(path))


def test_rows_without_features_are_rows(tmp_path: Path) -> None:
    X, y = read_libsvm(write(tmp_path, b"1\n2\n"), n_features=3)
    assert X.shape == (2, 3)
    assert X.nnz == 0
    np.testing.assert_array_equal(y, [1, 2])


def test_1e308_is_a_number(tmp_path: Path) -> None:
    X, _ = read_libsvm(write(tmp_path, b"1 1:1e308 2:1.7976931348623157e308\n"))
    np.testing.assert_array_equal(X.data, [1e308, np.finfo(float).max])


def test_what_underflows_is_rounded_like_anything_else(tmp_path: Path) -> None:
    X, _ = read_libsvm(write(tmp_path, b"1 1:1e-400 2:5e-324 3:-1e-999999999999999999999\n"))
    np.testing.assert_array_equal(X.data, [0.0, 5e-324, 0.0])
    assert np.signbit(X.data[2])


def test_float32_overflows_where_float64_does_not(tmp_path: Path) -> None:
    path = write(tmp_path, b"1 1:1e39\n")
    assert read_libsvm(path)[0].data[0] == 1e39
    error = refused(path, dtype=np.float32)
    assert "the value '1e39' is too large for float32; scale the feature" in error.reason


def test_index_0_makes_the_file_zero_based(tmp_path: Path) -> None:
    dataset = read_libsvm_dataset(write(tmp_path, b"1 1:1\n1 0:2\n"))
    np.testing.assert_array_equal(dataset.X.toarray(), [[0, 1], [2, 0]])
    assert dataset.notes == ("Indices are counted from zero: the file has an index 0.",)


def test_without_index_0_the_file_is_one_based(tmp_path: Path) -> None:
    dataset = read_libsvm_dataset(write(tmp_path, b"1 1:1\n1 2:2\n"))
    np.testing.assert_array_equal(dataset.X.toarray(), [[1, 0], [0, 2]])
    assert dataset.notes == ("Indices are counted from one: the file has no index 0.",)


def test_the_base_can_be_given(tmp_path: Path) -> None:
    dataset = read_libsvm_dataset(write(tmp_path, b"1 1:1\n1 2:2\n"), zero_based=True)
    np.testing.assert_array_equal(dataset.X.toarray(), [[0, 1, 0], [0, 0, 2]])
    assert dataset.notes == ()


def test_index_0_in_a_one_based_file_is_refused(tmp_path: Path) -> None:
    error = refused(write(tmp_path, b"1 1:1\n1 0:2\n"), zero_based=False)
    assert (error.line, error.column) == (2, 3)
    assert "the index in '0:2' is 0, but indices are counted from one" in error.reason
    assert 'pass zero_based=True or "auto"' in error.reason


@pytest.mark.parametrize(
    ("zero_based", "last", "words"),
    [
        (False, b"3", "above 2, the last of n_features=2 counted from one"),
        (True, b"2", "above 1, the last of n_features=2 counted from zero"),
        ("auto", b"3", "above 2, the last of n_features=2 counted from one"),
    ],
)
def test_an_index_above_n_features_is_refused(
    tmp_path: Path, zero_based: object, last: bytes, words: str
) -> None:
    path = write(tmp_path, b"1 1:1\n1 1:5 " + last + b":2\n")
    error = refused(path, n_features=2, zero_based=zero_based)
    assert (error.line, error.column) == (2, 7)
    assert words in error.reason
    assert "pass a larger n_features" in error.reason


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_base_found_late_makes_an_index_too_large(tmp_path: Path, n_jobs: int) -> None:
    path = write(tmp_path, b"1 1:1 2:1\n1 0:2\n")
    error = refused(path, n_features=2, n_jobs=n_jobs)
    assert (error.line, error.column) == (1, 7)
    assert "counted from zero" in error.reason
    with pytest.raises(DataFileError, match="counted from zero"):
        list(iter_libsvm(path, n_features=2))


@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 2**32 + 1, 2**40, 2**63 - 2])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_large_indices_are_never_wrapped(tmp_path: Path, index: int, n_jobs: int) -> None:
    path = write(tmp_path, f"1 1:1\n1 {index}:2\n".encode())
    X, _ = read_libsvm(path, n_jobs=n_jobs)
    assert X.shape == (2, index)
    assert X.indices.tolist() == [0, index - 1]
    assert X.indices.dtype == (np.int32 if index < 2**31 else np.int64)
    parts = list(iter_libsvm(path, n_jobs=n_jobs))
    assert [part.X.shape for part in parts] == [(2, index)]


def test_labels_1_5_and_1_9_stay_distinct(tmp_path: Path) -> None:
    _, y = read_libsvm(write(tmp_path, b"1.5 1:1\n1.9 1:1\n-2e0 1:1\n"))
    assert y.tolist() == [1.5, 1.9, -2.0]


def test_a_line_of_64_megabytes(tmp_path: Path) -> None:
    value = b"0." + b"1" * 90
    pairs = b" ".join(b"%d:%b" % (index, value) for index in range(1, 640_001))
    assert len(pairs) >= 2**26 - 8_000_000
    X, y = read_libsvm(write(tmp_path, b"1 1:3\n2 " + pairs + b" " * 8_000_000 + b"\n3 2:5"))
    assert X.shape == (3, 640_000)
    assert X.nnz == 640_002
    assert (X.indices[1:-1] == np.arange(640_000)).all()
    assert (X.data[1:-1] == float(value)).all()
    assert y.tolist() == [1, 2, 3]


def test_queries(tmp_path: Path) -> None:
    path = write(tmp_path, b"# head\n1 qid:7 1:1\n0 qid:-9223372036854775807\n2 qid:+2 2:1\n")
    dataset = read_libsvm_dataset(path)
    assert dataset.query_ids is not None
    assert dataset.query_ids.tolist() == [7, -(2**63 - 1), 2]
    np.testing.assert_array_equal(dataset.X.toarray(), [[1, 0], [0, 0], [0, 1]])
    parts = [part.query_ids for part in iter_libsvm(path, chunk_bytes=4)]
    assert np.concatenate(parts).tolist() == dataset.query_ids.tolist()


def test_several_labels(tmp_path: Path) -> None:
    path = write(tmp_path, b"1,3,2 1:1\n 2:1\n4\n-1.5,+0 1:2\n")
    X, y = read_libsvm(path, multilabel=True)
    assert y == [(1, 2, 3), (), (4,), (-1.5, 0)]
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [0, 1], [0, 0], [2, 0]])
    parts = [part.y for part in iter_libsvm(path, multilabel=True, chunk_bytes=5)]
    assert [labels for part in parts for labels in part] == y


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        (b"1,2,1 1:1\n", 1, "a label stands twice in '1,2,1'"),
        (b"1, 1:1\n", 3, "the label '' is not a number"),
        (b"1,b 1:1\n", 3, "the label 'b' is not a number"),
        (b"1;2 1:1\n", 1, "the label '1;2' is not a number"),
        (b"1,inf 1:1\n", 3, "the label 'inf' is not finite"),
    ],
)
def test_bad_labels_among_several(tmp_path: Path, text: bytes, column: int, words: str) -> None:
    error = refused(write(tmp_path, text), multilabel=True)
    assert (error.line, error.column) == (1, column)
    assert words in error.reason


def test_a_byte_order_mark_is_noted(tmp_path: Path) -> None:
    dataset = read_libsvm_dataset(write(tmp_path, SAME_ROWS["byte order mark"]))
    assert "byte order mark, which was left out" in dataset.notes[0]


def test_explicit_zeros_stay_stored(tmp_path: Path) -> None:
    X, _ = read_libsvm(write(tmp_path, b"1 1:0 2:-0.0 3:1\n"))
    assert X.nnz == 3
    assert np.signbit(X.data).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_features": 0}, "n_features must be from 1 to"),
        ({"n_features": 2**63 - 1}, "n_features must be from 1 to"),
        ({"n_features": 1.5}, "n_features must be an integer"),
        ({"zero_based": "yes"}, "zero_based must be True, False or"),
        ({"multilabel": 1}, "multilabel must be True or False; got 1"),
        ({"dtype": np.int32}, "dtype must be float32, float64 or None; got <class 'numpy.int32'>"),
    ],
)
def test_wrong_options_are_refused_by_name(tmp_path: Path, options: dict, words: str) -> None:
    path = write(tmp_path, b"1 1:1\n")
    with pytest.raises(InvalidParameterError, match=words):
        read_libsvm(path, **options)
    with pytest.raises(InvalidParameterError, match=words):
        iter_libsvm(path, **options)


def test_a_part_must_have_a_length(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="chunk_bytes must be at least 1; got 0"):
        iter_libsvm(tmp_path / "rows.svm", chunk_bytes=0)
