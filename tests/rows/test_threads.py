"""The guard around BLAS, and how many threads a number of jobs stands for."""

from __future__ import annotations

import threading

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hinge.threads import single_threaded_blas, thread_count


def _blas_threads() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def test_blas_is_held_at_one_thread_and_released() -> None:
    before = _blas_threads()
    assert before
    with single_threaded_blas():
        assert _blas_threads() == {1}
        with single_threaded_blas():
            assert _blas_threads() == {1}
        assert _blas_threads() == {1}
    assert _blas_threads() == before


def test_blas_is_released_after_an_error() -> None:
    before = _blas_threads()
    with pytest.raises(ZeroDivisionError), single_threaded_blas():
        raise ZeroDivisionError
    assert _blas_threads() == before


def test_the_last_of_several_threads_releases() -> None:
    before = _blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with single_threaded_blas():
            inside.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    with single_threaded_blas():
        pass
    assert _blas_threads() == {1}
    leave.set()
    holder.join()
    assert _blas_threads() == before


def test_jobs_and_threads() -> None:
    assert thread_count(None) == 1
    assert thread_count(1) == 1
    assert 1 <= thread_count(-1) <= joblib.cpu_count()
    with pytest.raises(ValueError, match="n_jobs"):
        thread_count(0)


def test_limits_of_the_caller_are_honoured() -> None:
    with threadpool_limits(limits=1):
        assert thread_count(-1) == 1
        assert thread_count(8) == 1


def test_the_guard_itself_is_no_limit() -> None:
    free = thread_count(2)
    with single_threaded_blas():
        assert thread_count(2) == free
