"""What ``verbose`` shows: a rich progress bar on stderr, or plain lines where there is no rich."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hinge.multiclass import Listener
from hinge.result import Certificate, Solution, Status
from hinge.solvers import Event

_SECONDS_BETWEEN_LINES = 0.5


@dataclass(frozen=True)
class Measure:
    """What says how far a fit is.

    Parameters
    ----------
    name : str
        How to call it.
    of_event : callable
        Takes a step and returns the best that is known.
    of_certificate : callable
        Takes a certificate and returns what is proven.
    """

    name: str
    of_event: Callable[[Event], float]
    of_certificate: Callable[[Certificate], float]


@dataclass(frozen=True)
class Course:
    """How a fit is shown to people.

    Parameters
    ----------
    estimator : str
        Who is being fitted.
    names : list of str
        How to call each problem.
    tolerance : float
        What is to be reached.
    measure : Measure
        What is to reach it.
    """

    estimator: str
    names: list[str]
    tolerance: float
    measure: Measure


@contextmanager
def progress_display(course: Course) -> Iterator[Listener]:
    """Show how a fit goes while the block runs.

    Parameters
    ----------
    course : Course
        Names of the problems, and what they are to reach.

    Yields
    ------
    Listener
        To be told of steps and ends.
    """
    try:
        from rich.console import Console  # noqa: PLC0415 - optional, and slow to import
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    except ImportError:
        yield PlainLines(course)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(course.measure.name + " {task.fields[reached]}, pass {task.fields[steps]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield Bars(bars, course)


class Bars:
    """One rich bar per problem under way, as long as there are digits left to gain.

    Parameters
    ----------
    bars : rich.progress.Progress
        The display.
    course : Course
        Names of the problems, and what they are to reach.
    """

    def __init__(self, bars: Any, course: Course) -> None:
        self._bars = bars
        self._course = course
        self._digits = -math.log10(min(max(course.tolerance, 1e-15), 0.1))
        self._tasks: dict[int, Any] = {}

    def on_step(self, number: int, event: Event) -> bool:
        """Move the bar of the problem."""
        self._show(number, self._course.measure.of_event(event), event.progress.steps)
        return False

    def on_end(self, number: int, solution: Solution) -> None:
        """Fill the bar of a problem that is solved; leave others where they are."""
        reached = self._course.measure.of_certificate(solution.certificate)
        self._show(number, reached, solution.steps)
        if solution.status is Status.SOLVED:
            self._bars.update(self._tasks[number], completed=self._digits)

    def _show(self, number: int, reached: float, steps: int) -> None:
        fields = {"reached": f"{reached:.1e}", "steps": steps}
        if number not in self._tasks:
            name = self._course.names[number]
            self._tasks[number] = self._bars.add_task(name, total=self._digits, **fields)
        gained = -math.log10(reached) if 0 < reached < 1 else 0.0
        self._bars.update(self._tasks[number], completed=min(gained, self._digits), **fields)


class PlainLines:
    """A line on stderr now and then, and one for each problem that is over.

    Parameters
    ----------
    course : Course
        Names of the problems, and what they are to reach.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self._last = time.monotonic()

    def on_step(self, number: int, event: Event) -> bool:
        """Print a line if the last one is old enough."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            measure = self._course.measure
            reached = f"{measure.name} {measure.of_event(event):.1e}"
            self._print(number, f"pass {event.progress.steps}, {reached}")
        return False

    def on_end(self, number: int, solution: Solution) -> None:
        """Print how the problem ended."""
        measure = self._course.measure
        reached = f"{measure.name} {measure.of_certificate(solution.certificate):.1e}"
        text = f"{solution.status}, pass {solution.steps}, {reached}, {solution.seconds:.1f} s"
        self._print(number, text)

    def _print(self, number: int, text: str) -> None:
        sys.stderr.write(f"{self._course.estimator}, {self._course.names[number]}: {text}\n")


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


def best_known_violation(event: Event) -> float:
    """Return the solver's own violation, or the certified one if it claims none.

    Parameters
    ----------
    event : Event
        A step of a run.
    """
    claimed = event.progress.kkt
    if math.isnan(claimed):
        return math.inf if event.certificate is None else event.certificate.kkt
    return claimed


GAP = Measure("gap", best_known_gap, lambda certificate: certificate.relative_gap)
VIOLATION = Measure("violation", best_known_violation, lambda certificate: certificate.kkt)


def problem_names(labels: list[Any]) -> list[str]:
    """Return how to call problems: by their class or classes, of how many.

    Parameters
    ----------
    labels : list
        What each problem is about: its positive class, or a tuple of two classes.
    """
    if len(labels) == 1:
        return ["two classes"]
    return [f"{_about(label)} ({k} of {len(labels)})" for k, label in enumerate(labels, start=1)]


def _about(label: Any) -> str:
    if isinstance(label, tuple):
        return " and ".join(("classes " + str(label[0]), str(label[1])))
    return f"class {label!s}"
