"""Labels and decision values of many rows: some at a time, with a display of how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from hinge.cli._console import Output
from hinge.cli._matching import unnamed_rows
from hinge.cli._progress import duration, in_words

_KERNEL_VALUES = 1 << 27  # computed between two moves of the display, about a second's
_FEWEST_ROWS = 256
_UPDATES_PER_SECOND = 10.0

Array = np.ndarray[Any, Any]


class Rows:
    """Counts rows that were predicted, on a display if there is one.

    Parameters
    ----------
    display : rich.progress.Progress or None
        The display.
    """

    def __init__(self, display: Progress | None) -> None:
        self._display = display
        self._done = 0
        self._total: int | None = None
        self._began = time.perf_counter()
        self._last = self._began
        self._task = None if display is None else display.add_task("", total=None)

    def expect(self, count: int) -> None:
        """Say how many rows there are in all, where that is known."""
        self._total = count
        if self._display is not None and self._task is not None:
            self._display.update(self._task, total=count)

    def add(self, count: int) -> None:
        """Count rows that are done."""
        self._done += count
        now = time.perf_counter()
        if self._display is None or self._task is None:
            return
        if now - self._last < 1.0 / _UPDATES_PER_SECOND:
            return
        self._last = now
        speed = self._done / max(now - self._began, 1e-9)
        of_all, left = "", ""
        if self._total is not None:
            of_all = f" of {in_words(self._total)}"
            left = f", {duration(max(0, self._total - self._done) / speed)} left"
        text = f"{in_words(self._done)}{of_all} rows, {in_words(speed)} rows/s{left}"
        self._display.update(self._task, completed=self._done, description=text)
        self._display.refresh()


@contextmanager
def predicting(output: Output) -> Iterator[Rows]:
    """Show how many rows are predicted while the block runs, if stderr is a terminal.

    Parameters
    ----------
    output : Output
        The streams of the command.

    Yields
    ------
    Rows
        To be told of rows that are done.
    """
    if not output.shows_progress:
        yield Rows(None)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("predicting"),
        BarColumn(bar_width=12),
        TextColumn("{task.description}", markup=False),
    )
    display = Progress(*columns, console=output.stderr, transient=True, auto_refresh=False)
    with display:
        yield Rows(display)


def pieces(model: Any, X: Any) -> Iterator[Any]:
    """Yield some rows at a time, as many as a model predicts in about a second.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model.
    X : ndarray or sparse array
        The rows.
    """
    step = X.shape[0]
    if hasattr(model, "n_support_"):
        step = max(_FEWEST_ROWS, _KERNEL_VALUES // max(1, int(np.sum(model.n_support_))))
    for start in range(0, X.shape[0], max(1, step)):
        yield X[start : start + step]


def predicted(model: Any, X: Any, rows: Rows) -> Array:
    """Return the labels of rows, some at a time.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model.
    X : ndarray or sparse array
        The rows.
    rows : Rows
        Told of what is done.
    """
    found = [np.asarray(model.classes_)[:0]]
    with unnamed_rows():
        for piece in pieces(model, X):
            found.append(model.predict(piece))
            rows.add(piece.shape[0])
    return np.concatenate(found)
