"""What ``verbose`` shows of cross-validation: lines for the folds, then the fit of all rows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hinge.estimators._folds import FoldEvent
from hinge.estimators._progress import Course, Measure, problem_names, progress_display
from hinge.multiclass import Listener

_SECONDS_BETWEEN_LINES = 0.5

Callback = Callable[[FoldEvent], Any]


def shown_steps(estimator: Any, measure: Measure, callback: Callback | None) -> Callback | None:
    """Return what is to be called after every step of a fold's fit; None if nobody wants to know.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted, with ``verbose``.
    measure : Measure
        What is to reach ``tol``.
    callback : callable or None
        The caller's own.
    """
    if not estimator.verbose:
        return callback
    name, last = type(estimator).__name__, time.monotonic()

    def show(event: FoldEvent) -> Any:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            reached = f"{measure.name} {measure.of_event(event):.1e}"
            sys.stderr.write(
                f"{name}, fold {event.fold + 1} of {event.n_folds}, value {event.number + 1} of "
                f"{event.count}: pass {event.progress.steps}, {reached}\n"
            )
        return None if callback is None else callback(event)

    return show


@contextmanager
def refit_display(
    estimator: Any, labels: list[Any], measure: Measure
) -> Iterator[tuple[Listener, ...]]:
    """Say which value was chosen and show the fit of all rows while the block runs, if asked to.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted, with ``verbose``, ``tol`` and ``C_``.
    labels : list
        What each problem is about: its positive class, or a tuple of two classes.
    measure : Measure
        What is to reach ``tol``.

    Yields
    ------
    tuple of Listener
        Who is to be told of steps and ends.
    """
    if not estimator.verbose:
        yield ()
        return
    name = type(estimator).__name__
    gamma = getattr(estimator, "gamma_", None)
    chosen = f"C={estimator.C_:g}" + ("" if gamma is None else f", gamma={gamma:g}")
    sys.stderr.write(f"{name}: {chosen} has the best mean score\n")
    course = Course(name, problem_names(labels), float(estimator.tol), measure)
    with progress_display(course) as display:
        yield (display,)
