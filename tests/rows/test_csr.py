"""CSR input that lies about itself, and other sparse formats that point outside themselves."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hinge
from hinge.ingest import assemble
from hinge.rows import Rows


def _csr(data, indices, indptr, shape, index=np.int32):
    """Return a CSR array of exactly these parts, which no constructor has looked at."""
    matrix = sp.csr_array(shape, dtype=np.asarray(data).dtype)
    matrix.data = np.asarray(data)
    matrix.indices = np.asarray(indices, dtype=index)
    matrix.indptr = np.asarray(indptr, dtype=index)
    return matrix


def _dense(rows: Rows) -> np.ndarray:
    return np.concatenate([block.matrix.toarray() for block in rows.blocks()])


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("claim", [None, True])
def test_unsorted_and_duplicate_entries_are_put_right_in_a_copy(index: type, claim) -> None:
    matrix = _csr([1.0, 2.0, 4.0, 8.0, 16.0], [2, 0, 1, 1, 0], [0, 2, 2, 5], (3, 3), index)
    if claim is not None:
        matrix.has_sorted_indices = claim
        matrix.has_canonical_format = claim
    parts = (matrix.data, matrix.indices, matrix.indptr)
    before = [part.copy() for part in parts]
    rows = Rows(matrix)
    np.testing.assert_array_equal(_dense(rows), [[2, 0, 1], [0, 0, 0], [16, 12, 0]])
    for row in range(rows.n_rows):
        columns = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
        assert (np.diff(columns) > 0).all()
    for part, copy in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, copy)
    assert matrix.data is parts[0]
    assert matrix.indices is parts[1]


def test_explicit_zeros_are_kept() -> None:
    rows = Rows(_csr([0.0, 1.0], [0, 1], [0, 1, 2], (2, 2)))
    assert rows.n_stored == 2


def test_entries_beyond_the_last_row_pointer_are_ignored() -> None:
    rows = Rows(_csr([1.0, 2.0, np.nan], [0, 1, 99], [0, 1, 2], (2, 2)))
    assert rows.n_stored == 2
    np.testing.assert_array_equal(_dense(rows), [[1, 0], [0, 2]])


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("indices", "indptr", "match"),
    [
        ([0, 3, 1], [0, 1, 2, 3], "column index 3 in row 1.*between 0 and 2"),
        ([0, 1, -1], [0, 1, 2, 3], "column index -1 in row 2"),
        ([0, 1, 2], [0, 1, 3], "3 row.* 4 starting at 0"),
        ([0, 1, 2], [1, 1, 2, 3], "starting at"),
        ([0, 1, 2], [0, 2, 1, 3], "decrease after row 1"),
        ([0, 1, 2], [0, -1, 2, 3], "decrease after row 0"),
        ([0, 1, 2], [0, 1, 2, 4], "ask for 4 entries.*3 column indices"),
        ([0, 1], [0, 1, 2, 3], "ask for 3 entries.*2 column indices and 3 values"),
        ([0, 1, 2], [], "row pointers"),
    ],
)
def test_parts_that_point_outside_are_refused(indices, indptr, match: str, index: type) -> None:
    with pytest.raises(hinge.InvalidDataError, match=match):
        Rows(_csr([1.0, 2.0, 3.0], indices, indptr, (3, 3), index))


@pytest.mark.parametrize("dtype", ["|i1", "|u1", "<i2", ">i4", "<u4", ">i8", "<u8"])
@pytest.mark.parametrize("width", [3, 300, 2**33])
def test_indices_of_any_type_are_refused_outside(dtype: str, width: int) -> None:
    lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    for place in {lowest, -1, width, highest}:
        inside = 0 <= place < width
        if inside or not lowest <= place <= highest:
            continue
        matrix = _csr([1.0, 2.0], [0, place], [0, 1, 2], (2, width), np.dtype(dtype))
        with pytest.raises(hinge.InvalidDataError, match=f"column index {place} in row 1"):
            Rows(matrix)


def test_arrays_of_one_shape_have_parts_and_flags_of_their_own() -> None:
    first = assemble((np.ones(2), np.array([1, 0]), np.array([0, 2, 2])), (2, 3))
    assert not first.has_sorted_indices
    second = assemble((np.full(1, 2.0), np.array([2]), np.array([0, 0, 1])), (2, 3))
    assert second.has_sorted_indices
    np.testing.assert_array_equal(first.toarray(), [[1, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(second.toarray(), [[0, 0, 0], [0, 0, 2]])


@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("dtype", [np.float64, object])
def test_parts_of_a_wrong_type_are_refused(part: str, dtype: type) -> None:
    matrix = _csr([1.0, 2.0], [0, 1], [0, 1, 2], (2, 2))
    setattr(matrix, part, getattr(matrix, part).astype(dtype))
    with pytest.raises(hinge.InvalidDataError, match=part):
        Rows(matrix)


@pytest.mark.parametrize("dtype", ["<i2", ">i4", ">i8", "<u4", "<u8", "|u1"])
def test_parts_of_any_integer_type_are_taken(dtype: str) -> None:
    matrix = _csr([1.0, 2.0, 3.0], [0, 1, 2], [0, 1, 3], (2, 3))
    matrix.indices = matrix.indices.astype(dtype)
    matrix.indptr = matrix.indptr.astype(dtype)
    rows = Rows(matrix)
    np.testing.assert_array_equal(_dense(rows), [[1, 0, 0], [0, 2, 3]])
    assert rows.indices.dtype in (np.int32, np.int64)
    assert rows.indptr.dtype in (np.int32, np.int64)


def test_strided_unaligned_and_read_only_parts_are_taken() -> None:
    buffer = np.zeros(25, dtype=np.uint8)
    data = buffer[1:].view(np.float64)
    data[:] = [1.0, 2.0, 3.0]
    matrix = _csr(data, [0, 1, 2], [0, 1, 3], (2, 3))
    matrix.indices = np.repeat(matrix.indices, 2)[::2]
    matrix.indptr.flags.writeable = False
    rows = Rows(matrix)
    np.testing.assert_array_equal(_dense(rows), [[1, 0, 0], [0, 2, 3]])
    assert rows.values.flags.aligned
    assert rows.indices.flags.c_contiguous


@pytest.mark.parametrize("format_name", ["csc", "coo", "bsr", "dia", "lil", "dok"])
def test_other_formats_are_converted(format_name: str) -> None:
    X = np.asarray([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0], [0.0, 4.0]])
    for convert in (sp.csr_array, sp.csr_matrix):
        np.testing.assert_array_equal(_dense(Rows(convert(X).asformat(format_name))), X)


HOSTILE_FORMATS = {
    "csc column of a far row": "m = sp.csc_array(e); m.indices = ints(0, 1, 2, 10**9)",
    "csc negative row": "m = sp.csc_array(e); m.indices = ints(0, 1, 2, -(10**8))",
    "csc long pointers": "m = sp.csc_array(e); m.indptr = ints(0, 1, 2, 3, 10**7)",
    "csc falling pointers": "m = sp.csc_array(e); m.indptr = ints(0, 10**7, 2, 3, 4)",
    "csc few pointers": "m = sp.csc_array(e); m.indptr = ints(0, 1)",
    "coo far row": "m = sp.coo_array(e); m.coords = (ints(0, 1, 2, 10**9), m.coords[1])",
    "coo negative row": "m = sp.coo_array(e); m.coords = (ints(0, 1, 2, -(10**8)), m.coords[1])",
    "coo far column": "m = sp.coo_array(e); m.coords = (m.coords[0], ints(0, 1, 2, 10**9))",
    "coo short": "m = sp.coo_array(e); m.coords = (ints(0), ints(0))",
    "bsr far column": "m = sp.bsr_array(e, blocksize=(2, 2)); m.indices = ints(0, 10**9)",
    "bsr long pointers": "m = sp.bsr_array(e, blocksize=(2, 2)); m.indptr = ints(0, 1, 10**7)",
    "lil far column": "m = sp.lil_array(e); m.rows[0] = [10**9]",
    "lil lengths": "m = sp.lil_array(e); m.rows[0] = [0, 1, 2]",
    "dok far row": "m = sp.dok_array(e); m._dict[(10**9, 0)] = 1.0",
}


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """Offer every hostile matrix in one process of its own, which a crash would end."""
    program = """
        import numpy as np, scipy.sparse as sp
        import hinge
        def ints(*values):
            return np.asarray(values, dtype=np.int32)
        e = np.eye(4)
        for name, make in CASES.items():
            print(name, end="=", flush=True)
            exec(make)
            try:
                hinge.Problem(m, [0, 1, 0, 1])
                print("accepted")
            except hinge.InvalidDataError as error:
                print("refused")
    """
    program = f"CASES = {HOSTILE_FORMATS!r}\n" + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    lines = [line.partition("=") for line in done.stdout.splitlines()]
    got = {name: answer or f"exit {done.returncode}" for name, _, answer in lines}
    return {"": done.stderr[-500:], **got}


@pytest.mark.parametrize("name", HOSTILE_FORMATS)
def test_formats_that_point_outside_are_refused(name: str, answers: dict[str, str]) -> None:
    assert answers.get(name) == "refused", answers[""]


@given(
    entries=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(-9, 9)), max_size=30
    ),
    index=st.sampled_from([np.int32, np.int64]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_order_and_any_duplicates_give_the_same_rows(entries, index, dtype) -> None:
    wanted = np.zeros((5, 4))
    for row, column, value in entries:
        wanted[row, column] += value
    entries = sorted(entries, key=lambda entry: entry[0])  # stable: columns stay in any order
    rows = [entry[0] for entry in entries]
    matrix = _csr(
        np.asarray([entry[2] for entry in entries], dtype=dtype),
        [entry[1] for entry in entries],
        np.searchsorted(rows, np.arange(6)),
        (5, 4),
        index,
    )
    matrix.has_sorted_indices = True
    got = Rows(matrix)
    np.testing.assert_array_equal(_dense(got), wanted)
    np.testing.assert_array_equal(got.squared_norms, (wanted**2).sum(axis=1))
