"""Worker threads that leave calls to the thread that started them."""

from __future__ import annotations

import queue
import threading
from typing import Any

import numpy as np
import pytest

from hinge.multiclass.workers import HandOver, map_in_threads
from hinge.threads import single_threaded_blas, thread_count


def never() -> None:
    pytest.fail("nothing went wrong, so nothing is to be aborted")


def test_results_come_in_the_order_of_the_items() -> None:
    assert map_in_threads(lambda item, _: item * item, range(20), 3, never) == [
        item * item for item in range(20)
    ]


def test_calls_are_made_by_the_calling_thread() -> None:
    def work(item: int, hand_over: HandOver) -> tuple[int, int]:
        return threading.get_ident(), hand_over(lambda: (item, threading.get_ident())[1])

    results = map_in_threads(work, range(8), 2, never)
    assert {caller for _, caller in results} == {threading.get_ident()}
    assert threading.get_ident() not in {worker for worker, _ in results}


def test_an_error_of_a_call_ends_the_workers_and_is_raised() -> None:
    ending = threading.Event()

    def call() -> None:
        message = "from the call"
        raise KeyError(message)

    def work(_: int, hand_over: HandOver) -> None:
        while not ending.is_set():
            hand_over(call)

    with pytest.raises(KeyError, match="from the call"):
        map_in_threads(work, range(4), 2, ending.set)
    assert ending.is_set()


def test_an_error_of_a_worker_ends_the_others_and_is_raised() -> None:
    ending = threading.Event()

    def work(item: int, _: HandOver) -> None:
        if item == 0:
            message = "from the worker"
            raise MemoryError(message)
        ending.wait(timeout=30)

    with pytest.raises(MemoryError, match="from the worker"):
        map_in_threads(work, range(3), 3, ending.set)
    assert ending.is_set()


class Interrupting(queue.SimpleQueue[Any]):
    """A queue that loses the first message: Ctrl-C comes when it has just been taken out."""

    lost = False

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        message = super().get(block, timeout)
        if not Interrupting.lost and isinstance(message, tuple):
            Interrupting.lost = True
            raise KeyboardInterrupt
        return message


def test_no_worker_waits_for_an_answer_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = threading.Event()
    monkeypatch.setattr(Interrupting, "lost", False)
    monkeypatch.setattr(queue, "SimpleQueue", Interrupting)

    def work(_: int, hand_over: HandOver) -> None:
        while not ending.is_set():
            hand_over(lambda: None)

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, range(4), 2, ending.set)
    assert ending.is_set()


def test_no_worker_waits_for_an_answer_if_the_end_is_interrupted_too() -> None:
    def abort() -> None:
        raise KeyboardInterrupt

    def call() -> None:
        message = "from the call"
        raise KeyError(message)

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(lambda _, hand_over: hand_over(call), range(4), 2, abort)


def test_limits_of_blas_are_restored_whichever_worker_is_last() -> None:
    def work(item: int, _: Any) -> None:
        for _ in range(20 + item):
            with single_threaded_blas():
                np.ones((32, 32)) @ np.ones((32, 32))

    for _ in range(20):
        before = thread_count(-1)
        map_in_threads(work, range(8), 2, lambda: None)
        assert thread_count(-1) == before
