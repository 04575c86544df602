"""Arrays that are legal Python and awkward to compute with: right to the bit, or refused.

Every cell of the grid is fitted and compared with a clean copy of the same values; the caller's
arrays must come out of it as they went in.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import two_classes

from hinge import InvalidDataError, LinearSVC

N, D = 40, 6


def clean(dtype: Any = np.float64) -> Any:
    """Return rows with exact values in every type: multiples of 1/4, some of them zero."""
    X, _ = two_classes(n=N, d=D)
    return (np.round(4 * X) / 4).astype(dtype)


def strided(dtype: Any) -> Any:
    wide = np.zeros((N, 2 * D), dtype=dtype)
    wide[:, ::2] = clean(dtype)
    return wide[:, ::2]


def misaligned(dtype: Any) -> Any:
    raw = np.zeros(N * D * np.dtype(dtype).itemsize + 1, dtype=np.uint8)
    array = raw[1:].view(np.uint8)[: N * D * np.dtype(dtype).itemsize].view(dtype).reshape(N, D)
    array[...] = clean(dtype)
    return array


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def csr(index_type: Any = np.int32, dtype: Any = np.float64) -> Any:
    matrix = sp.csr_array(clean(dtype))
    matrix.indices = matrix.indices.astype(index_type)
    matrix.indptr = matrix.indptr.astype(index_type)
    return matrix


def unsorted_csr() -> Any:
    matrix = csr()
    for row in range(N):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        matrix.indices[part] = matrix.indices[part][::-1].copy()
        matrix.data[part] = matrix.data[part][::-1].copy()
    matrix.has_sorted_indices = True  # a lie
    return matrix


def duplicate_csr() -> Any:
    coo = sp.coo_array(clean())
    halves = (np.repeat(coo.data / 2, 2), np.repeat(coo.coords[1], 2))
    counts = np.bincount(coo.coords[0], minlength=N) * 2
    matrix = sp.csr_array((N, D))
    matrix.data, matrix.indices = halves[0], halves[1].astype(np.int32)
    matrix.indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return matrix


def broken_csr(change: Callable[[Any], None]) -> Callable[[], Any]:
    def make() -> Any:
        matrix = csr()
        change(matrix)
        return matrix

    return make


def broken_csc(change: Callable[[Any], None]) -> Callable[[], Any]:
    def make() -> Any:
        matrix = sp.csc_array(clean())
        change(matrix)
        return matrix

    return make


def broken_coo(name: str, value: int) -> Callable[[], Any]:
    def make() -> Any:
        matrix = sp.coo_array(clean())
        getattr(matrix, name)[3] = value
        return matrix

    return make


def set_index(value: int) -> Callable[[Any], None]:
    def change(matrix: Any) -> None:
        matrix.indices[3] = value

    return change


def shorten(matrix: Any) -> None:
    matrix.data = matrix.data[:-5]


def overlong(matrix: Any) -> None:
    matrix.indptr[-1] += 5


def decrease(matrix: Any) -> None:
    matrix.indptr[5] = matrix.indptr[4] - 2


def objects_that_are_lists() -> Any:
    array = np.empty((N, D), dtype=object)
    for place in np.ndindex(N, D):
        array[place] = [1.0]
    return array


def spare_room(matrix: Any) -> None:
    matrix.data = np.append(matrix.data, 9.0)
    matrix.indices = np.append(matrix.indices, np.int32(0))


SAME: dict[str, Callable[[], Any]] = {
    **{f"dtype {np.dtype(t)}": (lambda t=t: clean(t)) for t in ("f2", "f4", "f8", "g")},
    **{f"byte order {t}": (lambda t=t: clean().astype(t)) for t in (">f4", ">f8", "<f4", "<f8")},
    "column order": lambda: np.asfortranarray(clean()),
    "column order, float32": lambda: np.asfortranarray(clean(np.float32)),
    "strided": lambda: strided(np.float64),
    "strided, float32": lambda: strided(np.float32),
    "reversed rows and back": lambda: clean()[::-1].copy()[::-1],
    "misaligned": lambda: misaligned(np.float64),
    "misaligned, float32": lambda: misaligned(np.float32),
    "read-only": lambda: frozen(clean()),
    "read-only, strided": lambda: frozen(strided(np.float64)),
    "objects": lambda: clean().astype(object),
    "list": lambda: clean().tolist(),
    "broadcast": lambda: np.broadcast_to(clean(), (1, N, D))[0],
    "csr int32": csr,
    "csr int64": lambda: csr(np.int64),
    "csr float32": lambda: csr(dtype=np.float32),
    "csr unsorted": unsorted_csr,
    "csr duplicates": duplicate_csr,
    "csr matrix": lambda: sp.csr_matrix(clean()),
    "csc": lambda: sp.csc_array(clean()),
    "coo": lambda: sp.coo_array(clean()),
    "csr spare room": broken_csr(spare_room),
}

REFUSED: dict[str, Callable[[], Any]] = {
    "0-d": lambda: np.float64(1.0),
    "1-d": lambda: clean()[0],
    "3-d": lambda: clean()[None],
    "no rows": lambda: clean()[:0],
    "no columns": lambda: clean()[:, :0],
    "complex": lambda: clean().astype(complex),
    "text": lambda: clean().astype(str).astype(object) + "x",
    "dates": lambda: clean().astype("datetime64[s]"),
    "structured": lambda: np.zeros((N, D), dtype=[("a", "f8")]),
    "objects that are lists": objects_that_are_lists,
    "none": lambda: None,
    "csr index beyond": broken_csr(set_index(D)),
    "csr index far beyond": broken_csr(set_index(2**31 - 1)),
    "csr index negative": broken_csr(set_index(-1)),
    "csr values missing": broken_csr(shorten),
    "csr rows beyond": broken_csr(overlong),
    "csr rows decrease": broken_csr(decrease),
    "csc index beyond": broken_csc(set_index(N)),
    "csc index far beyond": broken_csc(set_index(2**31 - 1)),
    "csc index negative": broken_csc(set_index(-1)),
    "csc values missing": broken_csc(shorten),
    "csc columns beyond": broken_csc(overlong),
    "csc columns decrease": broken_csc(decrease),
    "coo row beyond": broken_coo("row", N),
    "coo row far beyond": broken_coo("row", 2**31 - 1),
    "coo row negative": broken_coo("row", -1),
    "coo column beyond": broken_coo("col", D),
    "coo column far beyond": broken_coo("col", 2**31 - 1),
    "coo column negative": broken_coo("col", -1),
    "csr nan": lambda: csr() * np.nan,
}

LABELS = np.arange(N) % 2


def test_the_grid_is_not_thinned_out() -> None:
    assert len(SAME) + len(REFUSED) >= 40


@pytest.mark.parametrize("cell", SAME)
def test_same_as_a_clean_copy(cell: str) -> None:
    X = SAME[cell]()
    before = copy.deepcopy(X)
    dtype = np.float32 if np.dtype(getattr(X, "dtype", "f8")).itemsize <= 4 else np.float64
    plain = sp.csr_array(clean(dtype)) if sp.issparse(X) else clean(dtype)
    expected = LinearSVC().fit(plain, LABELS)
    model = LinearSVC().fit(X, LABELS)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(plain))
    assert_unchanged(X, before)


@pytest.mark.parametrize("cell", REFUSED)
@pytest.mark.filterwarnings("error")
def test_refused(cell: str) -> None:
    X = REFUSED[cell]()
    before = copy.deepcopy(X)
    expected = InvalidDataError if sp.issparse(X) else (ValueError, TypeError)
    with pytest.raises(expected) as caught:
        LinearSVC().fit(X, LABELS)
    assert len(str(caught.value)) > 20
    assert_unchanged(X, before)
    model = LinearSVC().fit(clean(), LABELS)
    with pytest.raises(expected):
        model.predict(X)


def test_memory_map(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", clean())
    for mode in ("r", "c", "r+"):
        X = np.load(tmp_path / "X.npy", mmap_mode=mode)
        model = LinearSVC().fit(X, LABELS)
        np.testing.assert_array_equal(model.coef_, LinearSVC().fit(clean(), LABELS).coef_)
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), clean())


def assert_unchanged(X: Any, before: Any) -> None:
    if sp.issparse(X):
        names = ("data", "row", "col") if X.format == "coo" else ("data", "indices", "indptr")
        for name in names:
            np.testing.assert_array_equal(getattr(X, name), getattr(before, name))
            assert getattr(X, name).dtype == getattr(before, name).dtype
    else:
        np.testing.assert_array_equal(X, before)
