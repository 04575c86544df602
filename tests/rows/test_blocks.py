"""Blocks, and passes over them whose bits do not depend on who ran them."""

from __future__ import annotations

import itertools
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hinge import rows as rows_module
from hinge.block_map import map_blocks, map_runs, share_out
from hinge.errors import InvalidDataError
from hinge.rows import BLOCK_VALUES, Block, Rows
from hinge.threads import single_threaded_blas


def _random(shape: tuple[int, int], seed: int, dtype=np.float64, sparse: bool = False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    if not sparse:
        return X.astype(dtype)
    X[rng.random(shape) < 0.8] = 0.0
    return sp.csr_array(X.astype(dtype))


@pytest.mark.parametrize("n_features", [1, 7, 784, BLOCK_VALUES, 3 * BLOCK_VALUES])
def test_dense_blocks_depend_on_the_number_of_features_alone(n_features: int) -> None:
    sizes = {Rows(np.zeros((n, n_features), dtype=np.float32)).block_rows for n in (1, 2, 5)}
    assert sizes == {max(1, BLOCK_VALUES // n_features)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (5000, 64), (4096, 64), (4097, 64), (2, 200_000)])
def test_blocks_cover_the_rows_once_in_order(shape, sparse: bool, dtype: type) -> None:
    X = _random(shape, 0, dtype, sparse)
    rows = Rows(X)
    assert rows.n_blocks == -(-rows.n_rows // rows.block_rows)
    ends = [(block.start, block.stop) for block in rows.blocks()]
    assert ends[0][0] == 0
    assert ends[-1][1] == shape[0]
    assert all(one[1] == two[0] for one, two in itertools.pairwise(ends))
    assert all(stop - start == rows.block_rows for start, stop in ends[:-1])
    got = np.concatenate(
        [np.array(b.matrix.toarray() if sparse else b.matrix) for b in rows.blocks()]
    )
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, X.toarray() if sparse else X)


@pytest.mark.parametrize("sparse", [False, True])
def test_products_of_a_block(sparse: bool) -> None:
    X = _random((200, 9), 1, sparse=sparse)
    block = Rows(X).block(0)
    full = X.toarray() if sparse else X
    rng = np.random.default_rng(2)
    coef, weights = rng.normal(size=9), rng.normal(size=200)
    np.testing.assert_allclose(block.dot(coef), full @ coef, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(block.transpose_dot(weights), full.T @ weights, rtol=1e-12)
    np.testing.assert_allclose(block.squared_norms(), (full**2).sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("used", [0, 1, 99, 100, 101, 200])
def test_sparse_rows_without_a_weight_change_no_bit_of_a_sum(used: int) -> None:
    X = _random((200, 9), 3, sparse=True)
    rng = np.random.default_rng(4)
    weights = np.zeros(200)
    weights[rng.permutation(200)[:used]] = rng.normal(size=used)
    total = Rows(X).block(0).transpose_dot(weights)
    assert total.tobytes() == (X.T @ weights).tobytes()


@pytest.mark.parametrize("n_features", [1, 2, 31, 32, 33])
def test_squared_norms_of_narrow_rows(n_features: int) -> None:
    X = _random((2 * BLOCK_VALUES // n_features + 3, n_features), 5)
    exact = (X.astype(np.longdouble) ** 2).sum(axis=1)
    error = np.abs(Rows(X).squared_norms - exact)
    assert np.all(error <= (n_features + 1) * 2.0**-53 * exact)


@pytest.mark.parametrize("n_features", [47, 48, 200, 784, 1535, 1536])
def test_rows_that_are_multiplied_one_by_one(n_features: int) -> None:
    X = _random((1201, n_features), 6)
    coef = np.random.default_rng(7).normal(size=n_features)
    scores = Block(0, len(X), X, n_features).dot(coef)
    sizes = np.abs(X) @ np.abs(coef)
    assert np.all(np.abs(scores - X @ coef) <= n_features * 2.0**-52 * sizes)
    several = Block(0, len(X), X, n_features).dot(np.stack((coef, 2.0 * coef), axis=1))
    np.testing.assert_allclose(several, np.outer(scores, (1.0, 2.0)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_features", [3, 300, 1500, 2000])
def test_runs_are_the_rows_of_their_blocks(n_features: int, sparse: bool, dtype: type) -> None:
    rows = Rows(_random((1201, n_features), 8, dtype, sparse))
    size = rows.run_blocks
    is_long = n_features in (300, 1500)
    assert (size > 1) == ((sparse or is_long) and dtype is np.float64)
    for first in range(0, rows.n_blocks, size):
        numbers = range(first, min(first + size, rows.n_blocks))
        run = rows.run(numbers)
        assert (run.start, run.stop) == (rows.block(first).start, rows.block(numbers[-1]).stop)
        got = run.matrix.toarray() if sparse else run.matrix
        np.testing.assert_array_equal(got, _dense(rows)[run.rows])


def _dense(rows: Rows) -> np.ndarray:
    return rows.matrix.toarray() if rows.is_sparse else np.asarray(rows.values)


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_pass_has_the_same_bits_for_any_number_of_threads(sparse: bool, dtype: type) -> None:
    X = _random((20_011, 100), 3, dtype, sparse)
    rows = Rows(X)
    assert rows.n_blocks > 3
    coef = np.random.default_rng(4).normal(size=100)

    def kernel(block):
        scores = block.dot(coef)
        return np.concatenate([block.transpose_dot(scores), [np.sum(scores)]])

    results = [map_blocks(kernel, rows, np.add, threads=threads) for threads in (1, 2, 3, 1)]
    assert len({result.tobytes() for result in results}) == 1
    full = X.toarray() if sparse else X
    full = full.astype(np.float64)
    np.testing.assert_allclose(results[0][:-1], full.T @ (full @ coef), rtol=1e-9)


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_maps_and_arrays_have_the_same_bits(tmp_path, threads: int) -> None:
    X = _random((9000, 50), 5)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    passes = [
        map_blocks(lambda b: b.transpose_dot(b.dot(np.ones(50))), Rows(d), np.add, threads=threads)
        for d in (X, mapped, np.asfortranarray(X))
    ]
    assert len({result.tobytes() for result in passes}) == 1


@given(count=st.integers(1, 70), threads=st.sampled_from([1, 2, 3]))
def test_partial_results_merge_in_order_in_a_tree_of_least_depth(count: int, threads: int) -> None:
    def merge(left, right):
        return (left[0] + right[0], 1 + max(left[1], right[1]))

    parts, depth = map_blocks(lambda b: ((b,), 0), _OneRowPerBlock(count), merge, threads=threads)
    assert parts == tuple(range(count))
    assert depth <= int(np.ceil(np.log2(count))) + 1


class _OneRowPerBlock:
    """As much of Rows as a pass needs."""

    def __init__(self, count: int) -> None:
        self.n_blocks = count

    def block(self, number: int) -> int:
        return number


def test_a_check_that_raises_abandons_the_pass() -> None:
    class EnoughError(Exception):
        pass

    seen = []

    def check() -> None:
        if len(seen) > 3:
            raise EnoughError

    def kernel(block) -> int:
        seen.append(block)
        time.sleep(1e-4)  # lets the other threads have the interpreter's lock
        return 1

    for threads in (1, 2, 3):
        seen.clear()
        with pytest.raises(EnoughError):
            map_blocks(kernel, _OneRowPerBlock(1000), int.__add__, threads=threads, check=check)
        assert len(seen) < 100  # threads finish the blocks that they have begun


@given(count=st.integers(1, 300), threads=st.sampled_from([2, 3, 5]))
def test_branches_join_in_the_tree_of_one_thread(count: int, threads: int) -> None:
    def tree(threads: int) -> str:
        merge = "({}{})".format
        return map_blocks(str, _OneRowPerBlock(count), merge, threads=threads)

    assert tree(threads) == tree(1)


@given(bad=st.sets(st.integers(0, 199), min_size=1), threads=st.sampled_from([1, 2, 3]))
def test_of_several_bad_blocks_the_first_one_is_named(bad: set[int], threads: int) -> None:
    def kernel(block: int) -> int:
        if block in bad:
            raise ValueError(str(block))
        return block

    with pytest.raises(ValueError, match=f"^{min(bad)}$"):
        map_blocks(kernel, _OneRowPerBlock(200), int.__add__, threads=threads)


def test_an_error_in_a_kernel_reaches_the_caller() -> None:
    def kernel(block: int) -> int:
        if block == 7:
            raise ZeroDivisionError
        return block

    for threads in (1, 2, 3):
        with pytest.raises(ZeroDivisionError):
            map_blocks(kernel, _OneRowPerBlock(20), int.__add__, threads=threads)


def test_threads_of_the_caller_do_not_share_a_buffer() -> None:
    X = _random((20_000, 40), 6, np.float32)
    rows = Rows(X)
    wanted = [np.array(block.matrix) for block in rows.blocks()]
    failures = []

    def read() -> None:
        for _ in range(5):
            for number, expected in enumerate(wanted):
                if not np.array_equal(rows.block(number).matrix, expected):
                    failures.append(number)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert failures == []


def test_more_than_two_to_the_31_non_zeros() -> None:
    """Blocks far beyond 2^31 entries are cut by 64-bit arithmetic; a stub stands for the array."""
    rows = Rows(sp.csr_array(np.eye(4)))
    far = 3 * 2**31
    rows.n_stored = far + 4
    rows.indptr = far + np.arange(5, dtype=np.int64)
    rows.values = _ArrayFrom(far, np.asarray([1.0, 2.0, 3.0, 4.0]))
    rows.indices = _ArrayFrom(far, np.asarray([0, 1, 2, 3], dtype=np.int32))
    block = rows.block(0)
    np.testing.assert_array_equal(
        block.matrix.toarray(), np.diag([1.0, 2.0, 3.0, 4.0])[: block.stop]
    )


class _ArrayFrom:
    """An array of which only the entries from some place on exist."""

    def __init__(self, origin: int, tail: np.ndarray) -> None:
        self.origin = origin
        self.tail = tail
        self.dtype = tail.dtype

    def __getitem__(self, places: slice) -> np.ndarray:
        assert places.start >= self.origin
        return self.tail[places.start - self.origin : places.stop - self.origin]


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_pickle(sparse: bool) -> None:
    rows = Rows(_random((50, 3), 7, np.float32, sparse))
    rows.block(0)
    copy = pickle.loads(pickle.dumps(rows))
    assert copy.squared_norms.tobytes() == rows.squared_norms.tobytes()
    one, two = copy.block(0).dot(np.ones(3)), rows.block(0).dot(np.ones(3))
    assert one.tobytes() == two.tobytes()


def test_the_longest_row() -> None:
    assert Rows(np.zeros((3, 5))).longest_row == 5
    assert Rows(sp.csr_array(np.asarray([[1.0, 0, 0], [1, 1, 0], [0, 0, 0]]))).longest_row == 2
    assert Rows(sp.csr_array((3, 5))).longest_row == 0


def test_norms_are_cut_into_blocks_like_everything_else(monkeypatch) -> None:
    X = _random((100, 10), 8)
    whole = Rows(X).squared_norms
    monkeypatch.setattr(rows_module, "BLOCK_VALUES", 70)
    assert Rows(X).n_blocks == 15
    assert Rows(X).squared_norms.tobytes() == whole.tobytes()


@pytest.mark.parametrize("sparse", [False, True])
def test_validation_has_the_same_bits_and_errors_for_any_number_of_threads(sparse: bool) -> None:
    X = _random((30_011, 100), 7)
    kind = sp.csr_array if sparse else np.asarray
    norms = {Rows(kind(X), threads).squared_norms.tobytes() for threads in (1, 2, 3)}
    assert len(norms) == 1
    X[[29_000, 12_345], 3] = np.nan  # the first one is named, whichever a thread comes to first
    for threads in (1, 2, 3):
        with pytest.raises(InvalidDataError, match="NaN in row 12345, column 3"):
            Rows(kind(X), threads)


@given(count=st.integers(1, 70), size=st.integers(1, 40), threads=st.sampled_from([1, 2, 3]))
def test_runs_hold_every_block_once_and_in_order(count: int, size: int, threads: int) -> None:
    runs = map_runs(
        lambda numbers: [numbers], _OneRowPerBlock(count), size, list.__add__, threads=threads
    )
    assert [number for run in runs for number in run] == list(range(count))
    assert all(len(run) == size for run in runs[:-1])


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_the_calling_thread_takes_its_share(threads: int) -> None:
    others = threading.Event()
    taken: set[int] = set()

    def function(number: int) -> int:
        taken.add(threading.get_ident())
        if len(taken) == threads:
            others.set()
        assert others.wait(60)  # until every thread has one
        return number

    with ThreadPoolExecutor(threads - 1) as pool:
        assert share_out(function, range(4, 20), pool, threads) == list(range(4, 20))
    assert threading.get_ident() in taken


@given(bad=st.sets(st.integers(0, 49), min_size=1), threads=st.sampled_from([2, 3]))
def test_of_several_errors_the_first_one_is_raised(bad: set[int], threads: int) -> None:
    def function(number: int) -> None:
        if number in bad:
            raise ValueError(str(number))

    with ThreadPoolExecutor(threads - 1) as pool, pytest.raises(ValueError, match=str(min(bad))):
        share_out(function, range(50), pool, threads)


def test_an_error_on_the_calling_thread_leaves_no_number_to_others() -> None:
    taken: list[int] = []

    def function(number: int) -> None:
        taken.append(number)
        if number == 2:
            raise InterruptedError

    with ThreadPoolExecutor(1) as pool, pytest.raises(InterruptedError):
        share_out(function, range(1000), pool, 1)
    assert taken == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(30_011, 10), (1200, 784), (3, 200_000)])
def test_norms_have_the_bits_of_blocks_for_any_number_of_threads(
    shape, sparse: bool, dtype: type
) -> None:
    X = _random(shape, 9, dtype, sparse)
    for threads in (1, 2):
        rows = Rows(X, threads)
        with single_threaded_blas():
            by_block = np.concatenate([block.squared_norms() for block in rows.blocks()])
        assert by_block.tobytes() == rows.squared_norms.tobytes()
