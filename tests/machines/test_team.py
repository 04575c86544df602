"""Pieces of a pass: every column once, in whichever thread, and errors as on one thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hinge.machines import team
from hinge.machines.team import Team


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("n_terms", "n_columns"), [(1, 1), (7, 1000), (1000, 3000), (40_000, 700)])
def test_every_column_comes_once(threads: int, n_terms: int, n_columns: int) -> None:
    seen = np.zeros(n_columns, dtype=np.int64)
    workers = Team(threads)

    def see(first: int, stop: int) -> None:
        seen[first:stop] += 1

    def see_few(first: int, stop: int) -> None:
        assert (stop - first) * n_terms <= max(team.VALUES_A_CALL, 352 * n_terms)
        see(first, stop)

    workers.over_columns(see_few, n_terms, n_columns)
    np.testing.assert_array_equal(seen, 1)
    workers.over_triangle(see, n_columns)
    np.testing.assert_array_equal(seen, 2)
    workers.release()


def test_no_work_is_no_piece() -> None:
    seen: list[int] = []
    for n_terms, n_columns in [(0, 5), (5, 0)]:
        Team(2).over_columns(lambda *piece: seen.extend(piece), n_terms, n_columns)
    assert seen == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_check_between_pieces_abandons_the_rest(threads: int) -> None:
    seen = np.zeros(100_000, dtype=np.int64)
    asked = threading.Event()

    def check() -> None:
        asked.set()
        raise KeyboardInterrupt

    def see(first: int, stop: int) -> None:
        asked.wait(timeout=10.0)  # or another thread might do all before the first question
        seen[first:stop] += 1

    workers = Team(threads, check)
    with pytest.raises(KeyboardInterrupt):
        workers.over_columns(see, 1 << 14, len(seen))
    assert seen.max() <= 1
    assert seen.sum() < len(seen)
    workers.release()


def test_threads_take_part_where_it_is_worth_it() -> None:
    seen: set[int] = set()
    meet = threading.Barrier(2, timeout=10.0)
    workers = Team(2)

    def work(first: int, stop: int) -> None:  # noqa: ARG001
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            meet.wait()

    workers.over_columns(work, 1000, 10_000)
    assert len(seen) == 2
    workers.release()
    seen.clear()
    workers.over_columns(lambda *_: seen.add(threading.get_ident()), 1, 1000)
    workers.over_columns(lambda *_: seen.add(threading.get_ident()), 1000, 10_000, alone=True)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_ends_the_pass(threads: int) -> None:
    workers = Team(threads)

    def fails(first: int, stop: int) -> None:  # noqa: ARG001
        if first >= 5000:
            message = f"from {first}"
            raise ValueError(message)

    with pytest.raises(ValueError, match="from "):
        workers.over_columns(fails, 1000, 10_000)
    workers.release()
