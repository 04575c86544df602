"""The live display of ``hinge path`` on stderr: fold, value of C, gap, time left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn

from hinge.cli._console import Output
from hinge.cli._progress import Callback, duration
from hinge.estimators._progress import best_known_gap

_UPDATES_PER_SECOND = 10.0


@contextmanager
def path_display(
    output: Output, Cs: list[float], n_paths: int, tolerance: float, time_limit: float | None
) -> Iterator[Callback | None]:
    """Show how a path goes while the block runs, if stderr is a terminal.

    Parameters
    ----------
    output : Output
        The streams of the command.
    Cs : list of float
        Values of C.
    n_paths : int
        How many paths there are: one for each class of each fold.
    tolerance : float
        Relative gap to reach.
    time_limit : float or None
        Seconds after which the path ends in any case.

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
        TextColumn("{task.description}", markup=False),
    )
    display = Progress(*columns, console=output.stderr, transient=True, auto_refresh=False)
    with display:
        yield PathDisplay(display, Cs, n_paths, tolerance, time_limit)


class PathDisplay:
    """A callback of ``LinearSVCCV`` that moves a bar.

    Values of C are walked from small to large, each as large a part of the bar as any other. A
    larger C mostly takes longer, so time left is only told once a whole path is done, which the
    others resemble; or where a time limit says it.

    Parameters
    ----------
    display : rich.progress.Progress
        The display.
    Cs : list of float
        Values of C.
    n_paths : int
        How many paths there are.
    tolerance : float
        Relative gap to reach.
    time_limit : float or None
        Seconds after which the path ends in any case.
    """

    def __init__(
        self,
        display: Progress,
        Cs: list[float],
        n_paths: int,
        tolerance: float,
        time_limit: float | None,
    ) -> None:
        self._display = display
        self._order = {C: place for place, C in enumerate(sorted(set(Cs)))}
        self._n_paths = n_paths
        self._tolerance = tolerance
        self._limit = time_limit
        self._began = time.perf_counter()
        self._last = -math.inf
        self._places: dict[tuple[int, Any], float] = {}
        self._task = display.add_task("", total=1.0)

    def __call__(self, event: Any) -> bool:
        """Take note of a step; never ends the path."""
        gap = best_known_gap(event)
        place = self._order[event.problem.C]
        # The share of the digits that the gap has gained is the share of this value that is done.
        digits = -math.log(gap) if 0.0 < gap < 1.0 else 0.0
        target = -math.log(min(max(self._tolerance, 1e-15), 0.1))
        path = (event.fold, event.label)
        self._places[path] = (place + min(1.0, digits / target)) / len(self._order)
        now = time.perf_counter() - self._began
        if now - self._last >= 1.0 / _UPDATES_PER_SECOND:
            self._last = now
            self._show(event, place, gap, now)
        return False

    @property
    def done(self) -> float:
        """The share of all paths that has been walked, from 0 to 1."""
        return min(1.0, sum(self._places.values()) / self._n_paths)

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds that are left, or None where nothing can be said yet.

        Parameters
        ----------
        now : float
            Seconds since the beginning.
        """
        left = None
        if max(self._places.values(), default=0.0) >= 1.0:
            left = now * (1.0 - self.done) / self.done
        if self._limit is not None:
            until_limit = max(0.0, self._limit - now)
            left = until_limit if left is None else min(left, until_limit)
        return left

    def _show(self, event: Any, place: int, gap: float, now: float) -> None:
        parts = [f"C = {event.problem.C:.3g} ({place + 1}/{len(self._order)})"]
        if event.n_folds > 1:
            parts.insert(0, f"fold {event.fold + 1}/{event.n_folds}")
        if math.isfinite(gap):
            parts.append(f"gap {gap:.1e} to {self._tolerance:.0e}")
        left = self.seconds_left(now)
        parts += [] if left is None else [f"{duration(left)} left"]
        self._display.update(self._task, completed=self.done, description=", ".join(parts))
        self._display.refresh()
