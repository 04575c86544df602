"""What ``verbose`` shows: a rich progress bar on stderr, or plain lines where there is no rich."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hinge.multiclass import Listener
from hinge.result import Solution, Status
from hinge.solvers import Event

_SECONDS_BETWEEN_LINES = 0.5


@contextmanager
def progress_display(labels: list[Any], tolerance: float) -> Iterator[Listener]:
    """Show how a fit goes while the block runs.

    Parameters
    ----------
    labels : list
        The positive class of each problem.
    tolerance : float
        The relative gap to be reached.

    Yields
    ------
    Listener
        To be told of steps and ends.
    """
    try:
        from rich.console import Console  # noqa: PLC0415 - optional, and slow to import
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    except ImportError:
        yield PlainLines(labels)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("gap {task.fields[gap]}, pass {task.fields[steps]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield Bars(bars, labels, tolerance)


class Bars:
    """One rich bar per class under way, as long as the gap has digits left to gain.

    Parameters
    ----------
    bars : rich.progress.Progress
        The display.
    labels : list
        The positive class of each problem.
    tolerance : float
        The relative gap to be reached.
    """

    def __init__(self, bars: Any, labels: list[Any], tolerance: float) -> None:
        self._bars = bars
        self._labels = labels
        self._digits = -math.log10(min(max(tolerance, 1e-15), 0.1))
        self._tasks: dict[int, Any] = {}

    def on_step(self, number: int, event: Event) -> bool:
        """Move the bar of the class."""
        self._show(number, best_known_gap(event), event.progress.steps)
        return False

    def on_end(self, number: int, solution: Solution) -> None:
        """Fill the bar of a class that is solved; leave others where they are."""
        self._show(number, solution.certificate.relative_gap, solution.steps)
        if solution.status is Status.SOLVED:
            self._bars.update(self._tasks[number], completed=self._digits)

    def _show(self, number: int, gap: float, steps: int) -> None:
        fields = {"gap": f"{gap:.1e}", "steps": steps}
        if number not in self._tasks:
            name = class_name(self._labels, number)
            self._tasks[number] = self._bars.add_task(name, total=self._digits, **fields)
        gained = -math.log10(gap) if 0 < gap < 1 else 0.0
        self._bars.update(self._tasks[number], completed=min(gained, self._digits), **fields)


class PlainLines:
    """A line on stderr now and then, and one for each class that is over.

    Parameters
    ----------
    labels : list
        The positive class of each problem.
    """

    def __init__(self, labels: list[Any]) -> None:
        self._labels = labels
        self._last = time.monotonic()

    def on_step(self, number: int, event: Event) -> bool:
        """Print a line if the last one is old enough."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self._print(number, f"pass {event.progress.steps}, gap {best_known_gap(event):.1e}")
        return False

    def on_end(self, number: int, solution: Solution) -> None:
        """Print how the class ended."""
        gap = solution.certificate.relative_gap
        text = f"{solution.status}, pass {solution.steps}, gap {gap:.1e}, {solution.seconds:.1f} s"
        self._print(number, text)

    def _print(self, number: int, text: str) -> None:
        sys.stderr.write(f"LinearSVC, {class_name(self._labels, number)}: {text}\n")


def best_known_gap(event: Event) -> float:
    """Return the solver's own gap, or the certified one if it claims none.

    Parameters
    ----------
    event : Event
        A step of a run.
    """
    claimed = event.progress.relative_gap
    if math.isnan(claimed):
        return math.inf if event.certificate is None else event.certificate.relative_gap
    return claimed


def class_name(labels: list[Any], number: int) -> str:
    """Return how to call a problem: by its class, of how many.

    Parameters
    ----------
    labels : list
        The positive class of each problem.
    number : int
        Which problem.
    """
    if len(labels) == 1:
        return "two classes"
    return f"class {labels[number]!s} ({number + 1} of {len(labels)})"
