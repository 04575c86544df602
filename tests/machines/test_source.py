"""Kernel values by pieces: the same bits for any number of threads, kept, added or as a square."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.kernels import RBF, CallableKernel, ChiSquared, Laplacian, Linear, Polynomial
from hinge.machines import KernelSource
from hinge.machines.source import source
from hinge.rows import Rows

N = 700
KERNELS = [Linear(), Polynomial(2, 0.5, 1.0), RBF(0.3), Laplacian(0.2), ChiSquared(0.2)]


def _values(sparse: bool) -> object:
    rng = np.random.default_rng(1)
    X = rng.random((N, 9)) * (rng.random((N, 9)) < 0.4)
    return sp.csr_array(X) if sparse else X


def _source(kernel: object, sparse: bool = False, threads: int = 1) -> KernelSource:
    made = source(kernel, Rows(_values(sparse)))
    made.threads = threads
    return made


def _by_hand(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return X @ Z.T


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_square_is_the_block_of_its_rows(kernel, sparse: bool, dtype: type) -> None:
    ids = np.random.default_rng(2).permutation(N)[:401]
    want = _source(kernel, sparse).panel(ids, ids, dtype)
    for threads in (1, 2, 3):
        values = _source(kernel, sparse, threads)
        np.testing.assert_array_equal(values.square(ids, dtype), want)


def test_a_square_of_products_is_computed_by_halves() -> None:
    for kernel, expected in [(RBF(0.3), 20 * 21 // 2), (Laplacian(0.3), 20 * 20)]:
        values = _source(kernel)
        values.square(np.arange(20))
        assert values.computed == expected


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", [*KERNELS, CallableKernel(_by_hand)], ids=lambda k: k.name)
def test_rows_are_kept_while_they_are_added(kernel, sparse: bool) -> None:
    if isinstance(kernel, CallableKernel) and sparse:
        kernel = CallableKernel(lambda X, Z: (X @ Z.T).toarray())
    rng = np.random.default_rng(3)
    ids, coef = rng.permutation(N)[:300], rng.normal(size=300)
    slots = np.asarray([4, 0, 2], dtype=np.int64)
    values = _source(kernel, sparse)
    sums, block = np.ones(N), np.zeros((5, N), dtype=np.float32)
    values.add(ids, coef, sums)
    values.write(ids[:3], block, slots)
    for threads in (1, 2):
        values, marked = _source(kernel, sparse, threads), np.zeros(N)
        got, kept = np.ones(N), np.zeros((5, N), dtype=np.float32)

        def mark(first: int, stop: int, _threads: int, marked: np.ndarray = marked) -> None:
            marked[first:stop] += 1.0

        values.add_and_keep(ids, coef, got, (kept, slots), (mark, 1))
        np.testing.assert_array_equal(got, sums)
        np.testing.assert_array_equal(kept, block)
        np.testing.assert_array_equal(marked, 1.0)
        assert values.computed == 300 * N


@pytest.mark.parametrize("n_kept", [0, 3])
def test_a_callers_function_sees_every_pair_once_and_never_no_rows(n_kept: int) -> None:
    sizes: list[tuple[int, int]] = []

    def function(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        sizes.append((len(X), len(Z)))
        return _by_hand(X, Z)

    values = _source(CallableKernel(function))
    sizes.clear()
    kept = np.zeros((5, N), dtype=np.float32), np.arange(n_kept)
    values.add_and_keep(np.arange(20), np.ones(20), np.zeros(N), kept, (lambda *_: None, 1))
    assert all(min(size) > 0 for size in sizes)
    assert sum(a * b for a, b in sizes) == 20 * N


def test_what_is_done_before_needs_no_new_rows() -> None:
    values, marked = _source(RBF(0.3)), np.zeros(N)
    none = np.zeros(0, dtype=np.int64)

    def mark(first: int, stop: int, _threads: int) -> None:
        marked[first:stop] += 1.0

    kept = np.zeros((1, N), dtype=np.float32), none
    values.add_and_keep(none, np.zeros(0), np.zeros(N), kept, (mark, 1))
    np.testing.assert_array_equal(marked, 1.0)
    assert values.computed == 0
