"""Kept kernel rows: the least recently used go first, and what is stored of them is enough."""

from __future__ import annotations

import numpy as np
import pytest

from hinge.kernels import RBF
from hinge.machines import KernelCache, KernelSource
from hinge.machines.source import source
from hinge.rows import Rows

N = 60
MEGABYTES = 10 * 4 * N / 2**20  # of ten rows


def _source() -> KernelSource:
    return source(RBF(0.5), Rows(np.random.default_rng(0).normal(size=(N, 3))))


def _kept(cache: KernelCache, *ids: int) -> np.ndarray:
    """Ask for rows, keep those that are not, and return where they are."""
    wanted = np.asarray(ids)
    found = cache.slots(wanted)
    cache.make_room(wanted[found < 0])
    return cache.lookup(wanted)


def test_rows_used_least_recently_make_room() -> None:
    cache = KernelCache(N, N, MEGABYTES)
    assert cache.n_slots == 10
    _kept(cache, *range(10))
    _kept(cache, *range(5))
    _kept(cache, 20, 21)
    assert (cache.lookup(np.asarray([0, 1, 2, 3, 4, 20, 21])) >= 0).all()
    assert np.count_nonzero(cache.lookup(np.arange(5, 10)) >= 0) == 3
    assert (cache.hits, cache.misses) == (5, 12)


def test_where_none_has_to_go_only_free_slots_are_given() -> None:
    cache = KernelCache(N, N, MEGABYTES)
    _kept(cache, *range(8))
    cache.slots(np.asarray([30]))
    assert len(cache.make_room(np.asarray([30, 31, 32]), replace=False)) == 2
    assert (cache.lookup(np.asarray([*range(8), 30, 31])) >= 0).all()
    assert len(cache.make_room(np.asarray([33]), replace=False)) == 0


def test_no_more_than_there_is_room_for() -> None:
    cache = KernelCache(N, N, MEGABYTES)
    cache.slots(np.arange(30))
    assert len(cache.make_room(np.arange(30))) == 10
    assert len(KernelCache(N, N, 1e-9).make_room(np.arange(3))) == 0


def test_stored_tables_go_on_with_the_same_values() -> None:
    values, cache = _source(), KernelCache(N, N, MEGABYTES)
    cache.write(_kept(cache, *range(8)), values)
    _kept(cache, 2, 3)
    again = KernelCache(N, N, MEGABYTES, cache.kept.copy(), cache.used.copy())
    for each in (cache, again):
        slots = _kept(each, 2, 3, 30, 31, 32)
        each.write(slots, values)
    np.testing.assert_array_equal(again.kept, cache.kept)
    np.testing.assert_array_equal(again.lookup(np.arange(N)), cache.lookup(np.arange(N)))
    columns = np.arange(N)
    slots = cache.lookup(np.asarray([2, 31]))
    np.testing.assert_array_equal(again.pick(slots, columns), cache.pick(slots, columns))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_that_was_not_finished_is_written_anew(threads: int) -> None:
    class Abandoned(Exception):  # noqa: N818 - an event, not an error
        pass

    def give_up() -> None:
        raise Abandoned

    values, cache = _source(), KernelCache(N, N, MEGABYTES)
    values.threads, values.check = threads, give_up
    cache.rows[:] = np.nan
    slots = _kept(cache, 4, 5)
    with pytest.raises(Abandoned):
        cache.write(slots, values)
    values.check = None
    cache.write(slots, values)
    expected = values.block(np.asarray([4, 5]))
    np.testing.assert_array_equal(cache.pick(slots, np.arange(N)), expected)


def test_threads_that_share_a_sum_out_change_no_bit() -> None:
    n = 10_000  # several times as many columns as a thread takes at a time
    values = source(RBF(0.5), Rows(np.random.default_rng(0).normal(size=(n, 3))))
    cache = KernelCache(n, n, 12.0)
    ids = np.arange(0, n, 35)
    slots = _kept(cache, *ids.tolist())
    cache.write(slots, values)
    coef = np.random.default_rng(1).normal(size=len(ids))
    sums = []
    for threads in (1, 2, 3):
        values.threads = threads
        out = np.ones(n)
        cache.add(slots, coef, out, values)
        sums.append(out)
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], sums[2])
