"""Who watches a fit, how it is planned, and what Ctrl-C makes of it, for every estimator."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from hinge.errors import Interrupted
from hinge.estimators._callbacks import FunctionCaller, TaskTree
from hinge.estimators._options import FitOptions
from hinge.estimators._progress import Course, Measure, problem_names, progress_display
from hinge.multiclass import Listener, Plan, has_begun
from hinge.result import Point, Solution

Attributes = Callable[[dict[int, Point]], dict[str, Any]]


def fit_listeners(
    stack: ExitStack,
    estimator: Any,
    labels: list[Any],
    measure: Measure,
    arguments: dict[str, Any],
    attributes: Attributes,
) -> tuple[Listener, ...]:
    """Return everybody who wants to know how a fit goes.

    Parameters
    ----------
    stack : ExitStack
        Ends displays, and tasks of scikit-learn's callbacks.
    estimator : estimator
        The estimator being fitted, with ``callback``, ``verbose`` and ``tol``.
    labels : list
        What each problem is about: its positive class, or a tuple of two classes.
    measure : Measure
        What is to reach ``tol``.
    arguments : dict
        ``X``, ``y`` and ``metadata``, as ``fit`` got them.
    attributes : callable
        Takes the known points by problem number and returns the fitted attributes that make the
        estimator predict with them.
    """
    listeners: list[Listener] = []
    if estimator.callback is not None:
        listeners.append(FunctionCaller(estimator.callback, labels))
    if estimator.verbose:
        name, tolerance = type(estimator).__name__, float(estimator.tol)
        course = Course(name, problem_names(labels), tolerance, measure)
        listeners.append(stack.enter_context(progress_display(course)))
    if hasattr(estimator, "_init_callback_context"):
        tasks = TaskTree(estimator, arguments, attributes, len(labels))
        stack.push(lambda kind, *_: tasks.close() if kind is None else None)
        if tasks.has_listeners:
            listeners.append(tasks)
    return tuple(listeners)


def fit_plan(
    options: FitOptions, began: float, listeners: tuple[Listener, ...], callback: Any
) -> Plan:
    """Return how to solve, with the time limit less what checking the input has taken.

    Parameters
    ----------
    options : FitOptions
        Solver, criteria, seed and threads.
    began : float
        When the fit began.
    listeners : tuple of Listener
        Who is told how it goes.
    callback : object
        The callback; one with a method ``resumed`` says where an earlier fit has left a problem.
    """
    stop = options.stop
    if stop.seconds is not None:
        stop = replace(stop, seconds=max(0.0, stop.seconds - (time.perf_counter() - began)))
    resume = getattr(callback, "resumed", None)
    return Plan(options.solver, stop, options.seed, options.threads, listeners, resume)


def interruption(began: float, solutions: list[Solution]) -> Interrupted:
    """Return the exception for a fit that was interrupted after its model has been stored.

    Parameters
    ----------
    began : float
        When the fit began.
    solutions : list of Solution
        What came of every problem.
    """
    seconds = time.perf_counter() - began
    message = f"fit interrupted after {seconds:.1f} s; the model found so far is kept"
    return Interrupted(message, tuple(filter(has_begun, solutions)))
