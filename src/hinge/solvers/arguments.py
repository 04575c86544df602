"""What callers of ``solve``, ``path`` and ``estimate`` give: the thing itself, or a typed error."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any

from hinge.errors import InvalidParameterError
from hinge.parameters import not_negative, positive
from hinge.problem import Problem
from hinge.result import Point, Solution, Stop
from hinge.solvers.protocol import State

_SEEDS = 2**64
_LONGEST = 60  # characters of what was got that a message shows


def given_problem(problem: Any, caller: str) -> Problem:
    """Return a problem, or say how to make one of what was given.

    Parameters
    ----------
    problem : object
        What the caller passed.
    caller : str
        Name of the function that was called.
    """
    if isinstance(problem, Problem):
        return problem
    message = (
        f"{caller} takes a hinge.Problem; got {_shown(problem)}. Make one of rows and labels with "
        "hinge.Problem(X, y)."
    )
    raise InvalidParameterError(message)


def given_stop(stop: Any) -> Stop:
    """Return criteria and limits; those of ``Stop()`` if None was given.

    Parameters
    ----------
    stop : object
        What the caller passed.
    """
    if stop is None:
        return Stop()
    if isinstance(stop, Stop):
        return stop
    message = (
        f"stop must be a hinge.Stop, such as hinge.Stop(gap=1e-3), or None; got {_shown(stop)}."
    )
    raise InvalidParameterError(message)


def given_start(warm: Any) -> Point | None:
    """Return the point to start from, that of a solution if one was given.

    Parameters
    ----------
    warm : object
        What the caller passed.
    """
    if warm is None or isinstance(warm, Point):
        return warm
    if isinstance(warm, Solution):
        return warm.point
    message = (
        f"warm must be a hinge.Solution, a hinge.Point or None; got {_shown(warm)}. Weights alone "
        "are hinge.Point(coef, intercept)."
    )
    raise InvalidParameterError(message)


def given_state(resume: Any) -> State | None:
    """Return the state to go on from.

    Parameters
    ----------
    resume : object
        What the caller passed.
    """
    if resume is None or isinstance(resume, State):
        return resume
    message = f"resume must be the state of an earlier run, or None; got {_shown(resume)}. "
    if isinstance(resume, Solution):
        message += "Pass resume=solution.state to go on, or warm=solution to start from its point."
    else:
        message += "A solution has it as solution.state."
    raise InvalidParameterError(message)


def given_observers(observers: Any) -> tuple[Callable[[Any], Any], ...]:
    """Return the functions that are shown every step.

    Parameters
    ----------
    observers : object
        What the caller passed.
    """
    if not isinstance(observers, Iterable):
        hint = "Put it in a list: observers=[observer]." if callable(observers) else ""
        message = f"observers must be a list of functions; got {_shown(observers)}. {hint}".rstrip()
        raise InvalidParameterError(message)
    functions = tuple(observers)
    for number, function in enumerate(functions):
        if not callable(function):
            message = (
                f"observers[{number}] must be a function that takes an event; "
                f"got {_shown(function)}."
            )
            raise InvalidParameterError(message)
    return functions


def given_seed(seed: Any) -> int:
    """Return the seed of every random choice: any integer, of which 64 bits count.

    Parameters
    ----------
    seed : object
        What the caller passed.
    """
    if isinstance(seed, numbers.Integral) and not isinstance(seed, bool):
        return int(seed) % _SEEDS
    message = f"seed must be an integer; got {_shown(seed)}."
    raise InvalidParameterError(message)


def values_of_gamma(gammas: Any) -> list[float]:
    """Return the values of gamma that a caller gave, checked.

    Parameters
    ----------
    gammas : iterable of float
        At least one value, none negative.

    Returns
    -------
    list of float
        The values, in their order.
    """
    if isinstance(gammas, str) or not isinstance(gammas, Iterable):
        message = f"gammas must be a list of values of gamma, such as [0.01, 0.1]; got {gammas!r}."
        raise InvalidParameterError(message)
    values = [not_negative(gamma, f"gammas[{number}]") for number, gamma in enumerate(gammas)]
    if not values:
        message = "gammas must have at least one value of gamma; got none."
        raise InvalidParameterError(message)
    return values


def values_of_C(Cs: Any) -> list[float]:
    """Return the values of C that a caller gave, checked.

    Parameters
    ----------
    Cs : iterable of float
        At least one value, each greater than 0.

    Returns
    -------
    list of float
        The values, in their order.
    """
    if isinstance(Cs, str) or not isinstance(Cs, Iterable):
        message = f"Cs must be a list of values of C, such as [0.1, 1.0, 10.0]; got {Cs!r}."
        raise InvalidParameterError(message)
    values = [_finite(C, f"Cs[{number}]") for number, C in enumerate(Cs)]
    if not values:
        message = "Cs must have at least one value of C; got none."
        raise InvalidParameterError(message)
    return values


def _finite(C: Any, name: str) -> float:
    """Return a value of C; points are scaled from one to the next, which infinity ends."""
    if isinstance(C, float) and math.isinf(C) and C > 0.0:
        message = (
            f"{name} is infinity: a path has finite values of C only. Solve the hard margin apart, "
            "with hinge.solve(problem.with_C(math.inf)) or LinearSVC(C=math.inf)."
        )
        raise InvalidParameterError(message)
    return positive(C, name)


def _shown(value: Any) -> str:
    """Return what something is, with its shape or the beginning of its text."""
    name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{name} of shape {shape}"
    if isinstance(value, Solution):
        return name
    text = repr(value)
    return f"{name}: {text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}"
