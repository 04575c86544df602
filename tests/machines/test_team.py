"""Pieces of a pass: every column once, in calls of bounded work, on threads that are worth it."""

from __future__ import annotations

import multiprocessing
import threading

import numpy as np
import pytest

from hinge.kernels import RBF
from hinge.machines import decision_values, team
from hinge.machines.team import Team
from hinge.rows import Rows


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("n_terms", "n_columns"), [(1, 1), (7, 1000), (1000, 3000), (40_000, 700)])
def test_every_column_comes_once(threads: int, n_terms: int, n_columns: int) -> None:
    seen = np.zeros(n_columns, dtype=np.int64)
    workers = Team(threads)

    def see(first: int, stop: int, shared_by: int) -> None:
        assert shared_by in (1, threads)
        seen[first:stop] += 1

    def see_few(first: int, stop: int, shared_by: int) -> None:
        most = shared_by * team.VALUES_A_CALL
        assert (stop - first) * n_terms <= max(most + 96 * n_terms, 352 * n_terms)
        see(first, stop, shared_by)

    workers.over_columns(see_few, n_terms, n_columns)
    np.testing.assert_array_equal(seen, 1)
    workers.over_triangle(see, n_columns)
    np.testing.assert_array_equal(seen, 2)


def test_no_work_is_no_piece() -> None:
    seen: list[int] = []
    for n_terms, n_columns in [(0, 5), (5, 0)]:
        Team(2).over_columns(lambda *piece: seen.extend(piece), n_terms, n_columns)
    assert seen == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_check_between_pieces_abandons_the_rest(threads: int) -> None:
    seen = np.zeros(100_000, dtype=np.int64)
    left = iter([None, None])

    def check() -> None:
        if next(left, "no more") is not None:
            raise KeyboardInterrupt

    def see(first: int, stop: int, _threads: int) -> None:
        seen[first:stop] += 1

    with pytest.raises(KeyboardInterrupt):
        Team(threads, check).over_columns(see, 1 << 14, len(seen))
    assert seen.max() == 1
    assert 0 < seen.sum() < len(seen)


def test_threads_take_part_where_it_is_worth_it() -> None:
    seen: set[int] = set()

    def work(_first: int, _stop: int, threads: int) -> None:
        seen.add(threads)

    workers = Team(2)
    workers.over_columns(work, 1000, 10_000)
    workers.over_triangle(work, 1000)
    assert seen == {2}
    seen.clear()
    workers.over_columns(work, 1, 1000)
    workers.over_triangle(work, 100)
    workers.over_columns(work, 1000, 10_000, alone=True)
    assert seen == {1}


def _values(threads: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    support, X = Rows(rng.normal(size=(300, 5))), Rows(rng.normal(size=(2000, 5)))
    return decision_values(RBF(0.5), support, rng.normal(size=300), X, threads=threads)


def _values_of_child(connection) -> None:
    connection.send(_values(3))


def test_values_have_the_same_bits_on_any_number_of_threads() -> None:
    known = _values(1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(_values(threads), known)


def test_callers_beside_each_other_get_the_same() -> None:
    known, found = _values(1), []
    callers = [threading.Thread(target=lambda: found.append(_values(2))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(found) == 4
    for values in found:
        np.testing.assert_array_equal(values, known)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork"
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python advises against it
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not() -> None:
    known = _values(2)  # there are threads, of which the child has none
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_values_of_child, args=(there,))
    child.start()
    try:
        assert here.poll(60.0)
        np.testing.assert_array_equal(here.recv(), known)
    finally:
        child.terminate()
        child.join()
