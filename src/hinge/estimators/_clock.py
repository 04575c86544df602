"""A time limit that many fits share."""

from __future__ import annotations

import math
import threading
import time


class Clock:
    """A time limit, shared out in equal parts among tasks as their turn comes.

    Parameters
    ----------
    seconds : float or None
        The limit; None is none.
    tasks : int
        How many tasks there are.
    threads : int
        How many run at a time.
    """

    def __init__(self, seconds: float | None, tasks: int, threads: int) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self._left = tasks
        self._threads = threads
        self._lock = threading.Lock()

    def share(self) -> float | None:
        """Return the seconds that the next task may take; None without a limit."""
        if math.isinf(self._end):
            return None
        with self._lock:
            turns = max(1, math.ceil(self._left / self._threads))
            self._left -= 1
        return max(0.0, self._end - time.perf_counter()) / turns
