"""The live display of a fit on stderr: gap, time left, rows per second."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from hinge.cli._console import Output
from hinge.cli._forecast import Forecast
from hinge.estimators._progress import Measure

_RATE_SECONDS = 2.0  # over which rows per second are averaged
_UPDATES_PER_SECOND = 10.0

Callback = Callable[[Any], Any]


@dataclass(frozen=True)
class Size:
    """How large a fit is.

    Parameters
    ----------
    n_rows : int
        Rows.
    n_stored : int
        Stored values: all of a dense array, the non-zeros of a sparse one.
    n_problems : int
        Binary problems.
    unit : str, default="class"
        What each of them is about.
    """

    n_rows: int
    n_stored: int
    n_problems: int
    unit: str = "class"


@dataclass(frozen=True)
class Target:
    """What a fit is to reach, and how long it may take.

    Parameters
    ----------
    measure : Measure
        What is to become small: the gap, or the violation of the optimality conditions.
    tolerance : float
        How small.
    time_limit : float or None
        Seconds after which the fit ends in any case.
    """

    measure: Measure
    tolerance: float
    time_limit: float | None


@contextmanager
def fit_display(
    output: Output, size: Size, target: Target, threads: int
) -> Iterator[Callback | None]:
    """Show how a fit goes while the block runs, if stderr is a terminal.

    Parameters
    ----------
    output : Output
        The streams of the command.
    size : Size
        How large the fit is.
    target : Target
        What the fit is to reach.
    threads : int
        Threads of the fit.

    Yields
    ------
    callable or None
        The ``callback`` of the estimator.
    """
    if not output.shows_progress:
        yield None
        return
    columns = (
        TextColumn("training"),
        BarColumn(bar_width=12),
        # Short enough for 80 columns, with room for the ^C that a terminal shows.
        TextColumn("{task.description}", markup=False),
    )
    display = Progress(*columns, console=output.stderr, transient=True, auto_refresh=False)
    with display:
        forecast = Forecast(size.n_problems, target.tolerance, threads)
        yield FitDisplay(display, size, forecast, target)


@contextmanager
def waiting(output: Output, text: str) -> Iterator[None]:
    """Show that something is going on while the block runs, if stderr is a terminal.

    Parameters
    ----------
    output : Output
        The streams of the command.
    text : str
        What is going on.
    """
    if not output.shows_progress:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=output.stderr, transient=True) as display:
        display.add_task(text, total=None)
        yield


@contextmanager
def parts_display(output: Output, text: str) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show which part of some work is under way, and how far it is, if stderr is a terminal.

    Parameters
    ----------
    output : Output
        The streams of the command.
    text : str
        What the work is.

    Yields
    ------
    callable or None
        To be told of a part, how much of it is done, and how much there is.
    """
    if not output.shows_progress:
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
    )
    with Progress(*columns, console=output.stderr, transient=True) as display:
        task = display.add_task(text, total=1.0)

        def report(part: str, done: int, total: int) -> None:
            share = done / max(1, total)
            display.update(task, description=f"{text}: {part}", completed=share)

        yield report


class FitDisplay:
    """A callback of an estimator that moves a bar.

    Parameters
    ----------
    display : rich.progress.Progress
        The display.
    size : Size
        How large the fit is.
    forecast : Forecast
        Judges the time left.
    target : Target
        What the fit is to reach.
    """

    def __init__(self, display: Progress, size: Size, forecast: Forecast, target: Target) -> None:
        self._display = display
        self._size = size
        self._forecast = forecast
        self._limit = target.time_limit
        self._measure = target.measure
        self._began = time.perf_counter()
        self._last = float("-inf")
        self._work: dict[int, int] = {}
        self._reached: dict[int, float] = {}  # what was last known of each problem
        self._visits: deque[tuple[float, float]] = deque([(0.0, 0.0)])
        self._task = display.add_task("", total=1.0)

    def __call__(self, event: Any) -> bool:
        """Take note of a step; never ends the fit."""
        gap = self._measure.of_event(event)
        if math.isfinite(gap):  # else nothing new is known
            self._reached[event.number] = gap
        reached = self._reached.get(event.number)
        self._forecast.step(event.number, event.seconds, math.inf if reached is None else reached)
        self._work[event.number] = event.progress.work
        now = time.perf_counter() - self._began
        if now - self._last >= 1.0 / _UPDATES_PER_SECOND:
            self._last = now
            self._show(reached, now)
        return False

    def _show(self, reached: float | None, now: float) -> None:
        parts = []
        if reached is not None:
            parts.append(f"{self._measure.name} {reached:.1e} to {self._forecast.tolerance:.0e}")
        speed = self._rows_per_second(now)
        if speed > 0.0:
            parts.append(f"{in_words(speed)} rows/s")
        if self._size.n_problems > 1:
            parts.append(f"{self._size.unit} {self._forecast.begun}/{self._size.n_problems}")
        parts += self._time_left(now)
        self._display.update(
            self._task, completed=self._forecast.done, description=", ".join(parts)
        )
        self._display.refresh()

    def _rows_per_second(self, now: float) -> float:
        """Return how many rows were visited per second lately, a row visited twice counted so."""
        stored_per_row = max(1.0, self._size.n_stored / max(1, self._size.n_rows))
        self._visits.append((now, sum(self._work.values()) / stored_per_row))
        while len(self._visits) > 2 and now - self._visits[1][0] > _RATE_SECONDS:
            self._visits.popleft()
        (first_time, first), (last_time, last) = self._visits[0], self._visits[-1]
        return (last - first) / max(last_time - first_time, 1e-9)

    def _time_left(self, now: float) -> list[str]:
        left = self._forecast.seconds_left()
        if self._limit is not None:
            until_limit = max(0.0, self._limit - now)
            left = until_limit if left is None else min(left, until_limit)
        return [] if left is None else [f"{duration(left)} left"]


def in_words(count: float) -> str:
    """Return a count with three digits and a letter: 1.23M.

    Parameters
    ----------
    count : float
        Not negative.
    """
    for letter, unit in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= unit:
            return f"{count / unit:.3g}{letter}"
    return f"{count:.3g}"


def duration(seconds: float) -> str:
    """Return a time span as it is said: 20 ms, 4.2 s, 3 min 05 s, 2 h 10 min.

    Parameters
    ----------
    seconds : float
        Not negative.
    """
    if seconds < 1.0:
        return f"{1000.0 * seconds:.0f} ms"
    if seconds < 60.0:
        return f"{seconds:.1f} s" if seconds < 10.0 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 10:
        return f"{minutes} min {rest:02d} s"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"
