"""Ctrl-C as a flag that a run polls, so that what it has found so far is kept.

While a run listens, the first SIGINT only sets the flag; the run ends within one bounded step and
raises :class:`hinge.errors.Interrupted` with its best solution. A second SIGINT raises at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopFlag:
    """Set once, from any thread, to ask every run that polls it to end."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Ask the runs to end."""
        self._is_set = True

    def __bool__(self) -> bool:
        return self._is_set


@contextmanager
def listening() -> Iterator[StopFlag]:
    """Turn Ctrl-C into a flag while the block runs.

    Outside the main thread, or where the program has put a SIGINT handler of its own, signals
    are left alone and the flag is only ever set by code.

    Yields
    ------
    StopFlag
        The flag to poll.
    """
    flag = StopFlag()
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield flag
        return

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if flag:
            signal.default_int_handler(number, frame)
        flag.set()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
