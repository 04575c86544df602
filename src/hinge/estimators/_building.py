"""How far the building of a predictor is: a rich bar on stderr, or plain lines without rich."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[str, int, int], Any]

_SECONDS_BETWEEN_LINES = 0.5


@contextmanager
def building_display(callback: Report | None, is_shown: bool) -> Iterator[Report | None]:
    """Show how a predictor is built while the block runs, and tell the callback.

    Parameters
    ----------
    callback : callable or None
        The caller's own.
    is_shown : bool
        Whether anything is shown.

    Yields
    ------
    callable or None
        To be told what is being made, how much of it there is, and how much there will be.
    """
    if not is_shown:
        yield callback
        return
    with _shown() as show:

        def report(part: str, done: int, total: int) -> None:
            show(part, done, total)
            if callback is not None:
                callback(part, done, total)

        yield report


@contextmanager
def _shown() -> Iterator[Report]:
    try:
        from rich.console import Console  # noqa: PLC0415 - optional, and slow to import
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    except ImportError:
        yield PlainLines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as display:
        yield Bars(display)


class Bars:
    """One rich bar for everything that is made.

    Parameters
    ----------
    display : rich.progress.Progress
        The display.
    """

    def __init__(self, display: Any) -> None:
        self._display = display
        self._tasks: dict[str, Any] = {}

    def __call__(self, part: str, done: int, total: int) -> None:
        """Move the bar of a part, and fill those of the parts before."""
        if part not in self._tasks:
            for task in self._tasks.values():
                self._display.update(task, completed=1.0)
            self._tasks[part] = self._display.add_task(part, total=1.0)
        self._display.update(self._tasks[part], completed=done / max(1, total))


class PlainLines:
    """A line on stderr for every part that begins, and now and then."""

    def __init__(self) -> None:
        self._part = ""
        self._last = 0.0

    def __call__(self, part: str, done: int, total: int) -> None:
        """Print a line if the part is new, or the last one is old enough."""
        now = time.monotonic()
        if part != self._part or now - self._last >= _SECONDS_BETWEEN_LINES:
            self._part, self._last = part, now
            sys.stderr.write(f"accelerate, {part}: {done} of {total}\n")
