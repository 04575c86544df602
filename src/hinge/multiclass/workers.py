"""Worker threads that leave some calls to the thread that started them.

Observers, progress bars and scikit-learn's callbacks are not written for threads, so a worker
hands such a call over and waits for its result. The calling thread does nothing else meanwhile,
and therefore also receives signals at once.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from hinge.threads import single_threaded_blas

Item = TypeVar("Item")
Result = TypeVar("Result")
Call = Callable[[], Any]
HandOver = Callable[[Call], Any]

_POLL_SECONDS = 0.05  # where a wait for a lock cannot be interrupted, signals are noticed this soon


def call_here(call: Call) -> Any:
    """Make the call on the thread that it comes from: what ``HandOver`` is without workers."""
    return call()


def map_in_threads(
    function: Callable[[Item, HandOver], Result],
    items: Iterable[Item],
    threads: int,
    abort: Callable[[], None],
) -> list[Result]:
    """Apply a function to items in worker threads and serve the calls that they hand over.

    Parameters
    ----------
    function : callable
        Takes an item and ``hand_over``; ``hand_over(call)`` has the calling thread make the call
        and returns its result, or None once the work is being abandoned.
    items : iterable
        What to apply it to.
    threads : int
        How many worker threads.
    abort : callable
        Asks workers to end soon; called when a call or a worker raises.

    Returns
    -------
    list
        The results, in the order of the items.
    """
    inbox: queue.SimpleQueue[Future[Result] | tuple[Call, queue.SimpleQueue[Any]]]
    inbox = queue.SimpleQueue()

    abandoned = threading.Event()

    def hand_over(call: Call) -> Any:
        reply: queue.SimpleQueue[Any] = queue.SimpleQueue()
        inbox.put((call, reply))
        while not abandoned.is_set():
            try:
                return reply.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
        return None

    # Held here from the first to the last, since a worker that is the last to leave the guard may
    # not be allowed to restore limits that another has set.
    with single_threaded_blas(), ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            futures = [pool.submit(function, item, hand_over) for item in items]
            for future in futures:
                future.add_done_callback(inbox.put)
            _serve(inbox, len(futures), abort)
        except BaseException:  # from a call, or a second Ctrl-C: no worker may wait for an answer
            try:
                abort()
            finally:
                abandoned.set()
            raise
    return [future.result() for future in futures]


def _serve(inbox: Any, unfinished: int, abort: Callable[[], None]) -> None:
    """Make the calls that workers hand over until all of them have finished."""
    while unfinished:
        try:
            message = inbox.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            continue
        if isinstance(message, Future):
            unfinished -= 1
            if message.exception() is not None:
                abort()
            continue
        call, reply = message
        answer = None
        try:
            answer = call()
        finally:
            reply.put(answer)
