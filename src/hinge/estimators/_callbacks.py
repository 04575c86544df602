"""The two kinds of callback: the function of ``callback=``, and scikit-learn's (SLEP 23).

scikit-learn has callbacks from 1.9 on. With an older one the mixin below is empty and only
``callback=`` is there. In scikit-learn's terms a fit is a task with one subtask per step of the
solver; with several classes there is one subtask per class between them. A step is reported when
it is over: its begin and its end come together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.result import Point, Solution
from hinge.solvers import Event

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    WRAPPED_FRAMES = 1  # the decorator stands between fit and its caller
except ImportError:
    WRAPPED_FRAMES = 0

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's class of that name, which comes with 1.9."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is: there are no callbacks to tear down."""
        return method


__all__ = [
    "WRAPPED_FRAMES",
    "CallbackSupportMixin",
    "ClassEvent",
    "FunctionCaller",
    "TaskTree",
    "linear_attributes",
    "with_callbacks",
]


@dataclass(frozen=True)
class ClassEvent(Event):
    """What a ``callback`` is shown after a step: the event, and which class it is about.

    Parameters
    ----------
    label : object
        The positive class of the problem; for two classes always the second.
    number : int
        Which of the problems it is.
    """

    label: Any = None
    number: int = 0


class FunctionCaller:
    """Passes every step on to the function that the user gave as ``callback``.

    Parameters
    ----------
    function : callable
        Takes a ClassEvent; True ends the fit. If it has a method ``on_end``, that is told of the
        end of every problem.
    positive_labels : list
        The positive class of each problem.
    """

    def __init__(self, function: Callable[[ClassEvent], Any], positive_labels: list[Any]) -> None:
        self._function = function
        self._labels = positive_labels

    def on_step(self, number: int, event: Event) -> bool:
        """Call the function; return whether it says to stop."""
        shown = ClassEvent(**vars(event), label=self._labels[number], number=number)
        return self._function(shown) is True

    def on_end(self, number: int, solution: Solution) -> None:
        """Tell a callback that wants to know."""
        tell = getattr(self._function, "on_end", None)
        if tell is not None:
            tell(number, solution)


class TaskTree:
    """Tells scikit-learn's callbacks of the tasks of a fit.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted.
    arguments : dict
        ``X``, ``y`` and ``metadata``, as ``fit`` got them.
    attributes : callable
        Takes the known points by problem number and returns the fitted attributes that make the
        estimator predict with them.
    n_problems : int
        How many binary problems there are.
    """

    def __init__(
        self,
        estimator: Any,
        arguments: dict[str, Any],
        attributes: Callable[[dict[int, Point]], dict[str, Any]],
        n_problems: int,
    ) -> None:
        self._estimator = estimator
        self._arguments = arguments
        self._attributes = attributes
        self._several = n_problems > 1
        self._root = estimator._init_callback_context(
            max_subtasks=n_problems if self._several else None,
            sequential_subtasks=not self._several,
        )
        self._classes: dict[int, Any] = {}
        self._done: dict[int, Point] = {}
        self._root.call_on_fit_task_begin(estimator=estimator, **arguments)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody set callbacks; without any, steps need not be reported."""
        return hasattr(self._estimator, "_skl_callbacks")

    def on_step(self, number: int, event: Event) -> bool:
        """Report a step; return whether a callback says to stop."""
        task = self._class_task(number).subcontext(task_name="step")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._arguments)
        return self._end(task, lambda: {**self._done, number: event.point()})

    def on_end(self, number: int, solution: Solution) -> None:
        """Report that a class is done."""
        self._done[number] = solution.point
        if self._several:
            self._end(self._class_task(number), lambda: self._done)

    def close(self) -> None:
        """Report that the fit is over."""
        self._end(self._root, lambda: self._done)

    def _class_task(self, number: int) -> Any:
        if not self._several:
            return self._root
        if number not in self._classes:
            task = self._root.subcontext(task_name="class", task_id=number, max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self._estimator, **self._arguments)
            self._classes[number] = task
        return self._classes[number]

    def _end(self, task: Any, points: Callable[[], dict[int, Point]]) -> bool:
        return bool(
            task.call_on_fit_task_end(
                estimator=self._estimator,
                reconstruction_attributes=lambda: self._attributes(points()),
                **self._arguments,
            )
        )


def linear_attributes(
    points: dict[int, Point], n_problems: int, n_features: int, has_intercept: bool
) -> dict[str, Any]:
    """Return ``coef_`` and ``intercept_`` of points; problems without one get zero weights.

    Parameters
    ----------
    points : dict of int to Point
        The known points by problem number.
    n_problems, n_features : int
        Shape of ``coef_``.
    has_intercept : bool
        Without an intercept ``intercept_`` is the number 0.0, as in scikit-learn.
    """
    coef = np.zeros((n_problems, n_features))
    # A class that nothing is known of yet wins no row while others are being trained.
    intercept = np.full(n_problems, -1.0 if n_problems > 1 else 0.0)
    for number, point in points.items():
        coef[number] = point.coef
        intercept[number] = point.intercept
    return {"coef_": coef, "intercept_": intercept if has_intercept else 0.0}
