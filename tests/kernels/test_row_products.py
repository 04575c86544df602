"""Inner products and additions of rows in C++ against NumPy, around the width of a register.

A warm start makes the compiled core sum up ``w = sum y alpha x``; its first check pass then
computes every margin under that w. Both are left in the state, so the products can be looked at.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.inequality import rounding_factor
from hinge.solvers import DualCoordinate

# Every remainder of the widest loop (sixteen values), and of several passes of it.
LENGTHS = [*range(1, 36), 47, 48, 49, 63, 64, 65, 127, 128, 129, 255, 256, 257]
ROWS = 6


def _state_after_the_first_check(problem: Problem, alpha: np.ndarray):
    """Return a state whose w is w(alpha) and whose margins are those of w."""
    solver = DualCoordinate("cyclic", shrinking=False, screening=False, extrapolation=False)
    # Without weights: from these it would sweep before the check.
    state = solver.start(problem, Point(np.zeros(0), 0.0, alpha))
    # In the smallest slices: the sweep after the check would move w.
    while state.run.checks == 0:
        solver.step(state, 1)
    assert state.run.sweeps == 0
    return state


def _exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def _rows(length: int, dtype: type, sparse: bool) -> np.ndarray:
    rng = np.random.default_rng(length)
    X = (rng.normal(size=(ROWS, length)) * 10.0 ** rng.uniform(-2, 2, (ROWS, length))).astype(dtype)
    if sparse:
        X[rng.random(X.shape) < 0.3] = 0.0
        X[0] = 0.0
    return X


def _misaligned(X: np.ndarray) -> np.ndarray:
    """Return the rows at an address that is a multiple of the value's size and of no more."""
    buffer = np.zeros(X.size + 16, dtype=X.dtype)
    start = 1 + (-buffer.ctypes.data // X.dtype.itemsize) % (64 // X.dtype.itemsize)
    view = buffer[start : start + X.size].reshape(X.shape)
    view[...] = X
    assert view.ctypes.data % 64 == X.dtype.itemsize
    return view


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storage", ["dense", "misaligned", "int32", "int64"])
def test_products_are_within_their_rounding_bound(storage: str, dtype: type, length: int) -> None:
    X = _rows(length, dtype, sparse=storage.startswith("int"))
    y = np.tile([1, 0], ROWS // 2)
    alpha = np.linspace(0.1, 0.9, ROWS)
    form = X
    if storage == "misaligned":
        form = _misaligned(X)
    elif storage != "dense":
        form = sp.csr_array(X)
        form.indices, form.indptr = form.indices.astype(storage), form.indptr.astype(storage)
    problem = Problem(form, y, C=1.0, intercept="none")
    state = _state_after_the_first_check(problem, alpha)
    w = state.vectors[0, :-1]
    signs = problem.signs.astype(np.float64)
    for column in range(length):
        terms = [a * b for a, b in zip(_exact(signs * alpha), _exact(X[:, column]), strict=True)]
        bound = Fraction(rounding_factor(ROWS)) * sum(map(abs, terms))
        assert abs(Fraction(float(w[column])) - sum(terms)) <= bound
    for row in range(ROWS):
        terms = [a * b for a, b in zip(_exact(w), _exact(X[row]), strict=True)]
        bound = Fraction(rounding_factor(length)) * sum(map(abs, terms))
        margin = Fraction(float(signs[row] * state.rows[row, 2]))
        assert abs(margin - sum(terms)) <= bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_alignment_changes_no_bit(dtype: type) -> None:
    for length in (1, 3, 15, 16, 17, 33, 100):
        X = _rows(length, dtype, sparse=False)
        y = np.tile([1, 0], ROWS // 2)
        alpha = np.linspace(0.1, 0.9, ROWS)
        states = [
            _state_after_the_first_check(Problem(form, y, intercept="none"), alpha)
            for form in (X, _misaligned(X))
        ]
        assert states[0].rows.tobytes() == states[1].rows.tobytes()
        assert states[0].vectors.tobytes() == states[1].vectors.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_at_the_ends_of_their_range(dtype: type) -> None:
    """Denormals are not flushed to zero, and large values do not overflow on the way."""
    tiny = float(np.finfo(dtype).smallest_subnormal) if dtype is np.float32 else 1e-155
    large = 1e30 if dtype is np.float32 else 1e150
    X = np.asarray([[tiny, large], [tiny, -large]], dtype=dtype)
    alpha = np.asarray([0.5, 0.25])
    state = _state_after_the_first_check(Problem(X, [1, 0], intercept="none"), alpha)
    w = 0.5 * X[0].astype(float) - 0.25 * X[1].astype(float)
    assert state.vectors[0, 0] != 0.0
    np.testing.assert_allclose(state.vectors[0, :2], w, rtol=1e-15)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_at_the_very_end_of_a_mapping(tmp_path, sparse: bool) -> None:
    """Reading a whole register past the last value would leave the file, and the page."""
    page = 4096
    length = 7
    rows = page // (8 * length) + 1
    X = np.random.default_rng(0).normal(size=(rows, length))
    X[-1, -1] = 1.0
    values = X.ravel()[-page // 8 :] if sparse else X
    (tmp_path / "values").write_bytes(np.ascontiguousarray(values).tobytes())
    mapped = np.memmap(tmp_path / "values", dtype=np.float64, mode="r")
    if sparse:
        form = sp.csr_array((len(mapped) // length + 1, length))
        form.data = mapped
        form.indices = (np.arange(len(mapped)) % length).astype(np.int32)
        starts = np.minimum(np.arange(form.shape[0] + 1) * length, len(mapped))
        form.indptr = starts.astype(np.int32)
    else:
        form = mapped.reshape(X.shape)
    y = np.arange(form.shape[0]) % 2
    problem = Problem(form, y, intercept="none")
    assert np.shares_memory(problem.rows.values, mapped)
    state = _state_after_the_first_check(problem, np.full(len(y), 0.5))
    dense = form.toarray() if sparse else np.array(form)
    wanted = (0.5 * problem.signs) @ dense
    np.testing.assert_allclose(state.vectors[0, :-1], wanted, rtol=1e-12, atol=1e-12)
