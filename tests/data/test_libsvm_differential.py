"""The reader against scikit-learn's, and the writer against the reader, on random files."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from hinge.data import (
    iter_libsvm,
    libsvm_write,
    read_libsvm,
    read_libsvm_dataset,
    write_libsvm,
)
from hinge.errors import (
    DataFileError,
    InvalidDataError,
    InvalidLabelsError,
    InvalidParameterError,
)

some = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])

finite = st.floats(allow_nan=False, allow_infinity=False)
# Large ones that are written out digit by digit are refused: they could be identifiers.
label_numbers = finite.filter(lambda label: abs(label) < 2**53 or "e" in repr(label))
blanks = st.sampled_from([" ", "  ", "\t", " \t "])
endings = st.sampled_from(["\n", "\r\n", " \n", " # note 1:2\n", "\n\n", "\n# line\n"])


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bool]:
    """Return a well-formed text, and whether its rows have queries."""
    has_queries = draw(st.booleans())
    first = draw(st.integers(0, 1))
    text = draw(st.sampled_from(["", "# head\n", "\n"]))
    for _ in range(draw(st.integers(1, 8))):
        words = [draw(st.one_of(st.integers(-9, 9).map(str), label_numbers.map(repr)))]
        if has_queries:
            words.append(f"qid:{draw(st.integers(0, 2**40))}")
        indices = draw(st.sets(st.integers(first, 60), max_size=8))
        words += [f"{index}:{draw(finite)!r}" for index in sorted(indices)]
        text += draw(blanks).join(words) + draw(endings)
    return text, has_queries


def assert_same_csr(got: sp.csr_array, want: sp.csr_array) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    assert got.data.tobytes() == want.data.tobytes()
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_array_equal(got.indptr, want.indptr)


@some
@given(files(), st.integers(1, 200))
def test_same_as_scikit_learn(tmp_path: Path, file: tuple[str, bool], chunk_bytes: int) -> None:
    text, has_queries = file
    path = tmp_path / "rows.svm"
    path.write_text(text, newline="")
    X, y, *queries = load_svmlight_file(str(path), n_features=61, query_id=has_queries)
    dataset = read_libsvm_dataset(path, 61, n_jobs=2)
    assert_same_csr(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)
    if has_queries:
        np.testing.assert_array_equal(dataset.query_ids, queries[0])
    parts = list(iter_libsvm(path, n_features=61, chunk_bytes=chunk_bytes))
    assert_same_csr(sp.csr_array(sp.vstack([part.X for part in parts])), sp.csr_array(X))


@pytest.mark.parametrize("zero_based", [True, False])
def test_reads_what_scikit_learn_writes(tmp_path: Path, seed: int, zero_based: bool) -> None:
    X = sp.random_array((50, 30), density=0.3, rng=np.random.default_rng(seed), format="csr")
    y = np.arange(50) % 4
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="made by scikit-learn")
    got, labels = read_libsvm(path, 30, zero_based=zero_based)
    want, _ = load_svmlight_file(str(path), n_features=30, zero_based=zero_based)
    assert_same_csr(got, want)
    np.testing.assert_array_equal(labels, y)


@st.composite
def matrices(draw: st.DrawFn) -> sp.csr_array:
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 9)))
    width = np.dtype(dtype).itemsize * 8
    values = st.floats(allow_nan=False, allow_infinity=False, width=width)
    dense = draw(hnp.arrays(dtype, shape, elements=values))
    stored = draw(hnp.arrays(np.bool_, shape))
    indptr = np.concatenate([[0], stored.sum(axis=1).cumsum()])
    return sp.csr_array((dense[stored], stored.nonzero()[1], indptr), shape=shape)


@some
@given(st.data(), matrices(), st.booleans())
def test_writing_then_reading_is_the_identity(
    tmp_path: Path, data: st.DataObject, X: sp.csr_array, zero_based: bool
) -> None:
    n_rows, n_features = X.shape
    y = data.draw(hnp.arrays(np.float64, n_rows, elements=finite))
    numbers = st.integers(-(2**63) + 1, 2**63 - 1)
    queries = data.draw(st.none() | hnp.arrays(np.int64, n_rows, elements=numbers))
    path = tmp_path / "rows.svm"
    write_libsvm(path, X, y, query_ids=queries, zero_based=zero_based, comment="one\ntwo")
    got = read_libsvm_dataset(path, n_features, zero_based=zero_based, dtype=X.dtype)
    assert_same_csr(got.X, X)
    assert got.y.tobytes() == y.tobytes()
    if queries is None:
        assert got.query_ids is None
    else:
        np.testing.assert_array_equal(got.query_ids, queries)


@some
@given(matrices(), st.data())
def test_several_labels_survive(tmp_path: Path, X: sp.csr_array, data: st.DataObject) -> None:
    n_rows = X.shape[0]
    rows = st.sets(finite.map(lambda v: v + 0.0), min_size=1, max_size=4)
    y = [tuple(sorted(data.draw(rows))) for _ in range(n_rows)]
    path = tmp_path / "rows.svm"
    write_libsvm(path, X, y)
    assert read_libsvm(path, X.shape[1], multilabel=True)[1] == y


def test_dense_rows_keep_every_bit(tmp_path: Path) -> None:
    X = np.array([[0.0, -0.0, 5e-324], [1e308, 0.0, 0.1]])
    path = tmp_path / "rows.svm"
    write_libsvm(path, X, [0, 1])
    assert path.read_text() == "0 2:-0 3:5e-324\n1 1:1e+308 3:0.1\n"
    got = read_libsvm(path)[0]
    assert got.data.tobytes() == X[[0, 0, 1, 1], [1, 2, 0, 2]].tobytes()
    assert got.indices.tolist() == [1, 2, 0, 2]


def test_many_blocks(tmp_path: Path, seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((3000, 50))
    y = np.arange(3000.0)
    write_libsvm(tmp_path / "rows.svm", X, y, query_ids=np.arange(3000))
    dataset = read_libsvm_dataset(tmp_path / "rows.svm")
    assert dataset.X.toarray().tobytes() == X.tobytes()
    assert dataset.y.tolist() == y.tolist()
    assert dataset.query_ids.tolist() == list(range(3000))
    pairs = [(k, k + 0.5) for k in range(3000)]
    write_libsvm(tmp_path / "rows.svm", sp.coo_array(X), pairs)
    assert read_libsvm(tmp_path / "rows.svm", multilabel=True)[1] == pairs


@pytest.mark.parametrize("label", [2.0**53, 2.0**60, -(2.0**70), 1e300, 123456789012345680.0])
def test_large_labels_are_read_back(tmp_path: Path, label: float) -> None:
    write_libsvm(tmp_path / "rows.svm", [[1.0]], [label])
    assert read_libsvm(tmp_path / "rows.svm")[1].tolist() == [label]


def test_a_row_of_neither_labels_nor_values_is_refused(tmp_path: Path) -> None:
    X = [[1.0], [0.0], [2.0]]
    with pytest.raises(InvalidLabelsError, match="Row 1 has neither a label nor a stored value"):
        write_libsvm(tmp_path / "rows.svm", X, [(1,), (), ()])
    write_libsvm(tmp_path / "rows.svm", X, [(1,), (), ()], query_ids=[1, 2, 3])
    assert read_libsvm(tmp_path / "rows.svm", multilabel=True)[1] == [(1,), (), ()]


@pytest.mark.parametrize(
    ("X", "y", "options", "kind", "words"),
    [
        ([[1.0], [np.nan]], [1, 2], {}, InvalidDataError, "X holds nan in row 1"),
        ([[1.0, 2.0], [0.0, np.inf]], [1, 2], {}, InvalidDataError, "X holds inf in row 1"),
        ([[1.0]], [1, 2], {}, InvalidLabelsError, "labels for 2 rows; X has 1 rows"),
        ([[1.0]], ["cat"], {}, InvalidLabelsError, "has no label names: replace them by numbers"),
        ([[1.0]], [[[1]]], {}, InvalidLabelsError, "needs a sequence of numbers"),
        ([[1.0]], np.ones((1, 1)), {}, InvalidLabelsError, "y must be numbers in one dimension"),
        ([[1.0]], [np.nan], {}, InvalidLabelsError, "y holds nan; labels must be finite"),
        ([[1.0]], [2**53 + 1], {}, InvalidLabelsError, "integers above 2^53"),
        ([[1.0]], [(1, 1)], {}, InvalidLabelsError, "the same label twice in row 0"),
        ([[1.0], [2.0]], [(1,), 2], {}, InvalidLabelsError, "every row needs a sequence"),
        ([[1.0]], [1], {"query_ids": [1, 2]}, InvalidDataError, "query_ids must be 1 integers"),
        ([[1.0]], [1], {"query_ids": [0.5]}, InvalidDataError, "and dtype float64"),
        (
            [[1.0]],
            [1],
            {"query_ids": np.array([2**63], np.uint64)},
            InvalidDataError,
            "less than 2^63, with or without a sign; got 9223372036854775808",
        ),
        ([[1.0]], [1], {"query_ids": [-(2**63)]}, InvalidDataError, "got -9223372036854775808"),
        ([[1.0]], [1], {"zero_based": "no"}, InvalidParameterError, "zero_based must be True or"),
        ([[1.0]], [1], {"comment": "a\0b"}, InvalidDataError, "must not hold a NUL character"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, X: list, y: list, options: dict, kind: type[Exception], words: str
) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("old")
    with pytest.raises(kind, match=re.escape(words)):
        write_libsvm(path, X, y, **options)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    said = r"rows.svm: the file cannot be written \(No such .*\); check the folder, the permissions"
    with pytest.raises(DataFileError, match=said):
        write_libsvm(tmp_path / "absent" / "rows.svm", [[1.0]], [1])


def test_a_failure_without_a_number_is_told_in_its_own_words(tmp_path: Path) -> None:
    with (
        mock.patch("hinge.data.libsvm_write.atomic_write", side_effect=OSError("no reason given")),
        pytest.raises(DataFileError, match=r"cannot be written \(no reason given\); check the"),
    ):
        write_libsvm(tmp_path / "rows.svm", [[1.0]], [1])


def test_a_long_row_does_not_make_other_blocks_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows of very different lengths no block holds more than a block may, or one row."""
    monkeypatch.setattr(libsvm_write, "_BLOCK_VALUES", 100)
    lengths = [90, 20, 0, 0, 500, 0, 1] + [0] * 300 + [1] * 50
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate([np.arange(length) for length in lengths])
    X = sp.csr_array((np.ones(len(columns)), columns, offsets), shape=(len(lengths), 500))
    blocks = list(libsvm_write._blocks(X))
    assert [end for _, end, _ in blocks[:-1]] == [begin for begin, _, _ in blocks[1:]]
    assert all(block.nnz <= 100 or end == begin + 1 for begin, end, block in blocks)
    assert max(end - begin for begin, end, _ in blocks) <= 100
    assert (sp.vstack([block for _, _, block in blocks]) != X).nnz == 0
