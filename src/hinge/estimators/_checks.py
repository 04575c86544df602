"""Checks of constructor parameters, each with a message that says what to pass instead."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hinge import parameters
from hinge.errors import InvalidParameterError, unknown_name
from hinge.parameters import count


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return a value that is one of some names.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What the caller passed.
    allowed : iterable of str
        The legal names.
    """
    names = [str(legal) for legal in allowed]
    if not isinstance(value, str) or value not in names:
        raise unknown_name(parameter=name, got=value, allowed=names)
    return value


def boolean(name: str, value: Any) -> bool:
    """Return a value that is True or False.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What the caller passed.
    """
    return parameters.boolean(value, name)


def callback(value: Any) -> Callable[[Any], Any] | None:
    """Return a legal ``callback``: None or a function.

    Parameters
    ----------
    value : object
        What the caller passed.
    """
    if value is not None and not callable(value):
        message = f"callback must be None or callable with an event; got {value!r}."
        raise InvalidParameterError(message)
    checked: Callable[[Any], Any] | None = value
    return checked


def jobs(value: Any) -> int | None:
    """Return a legal ``n_jobs``: None or a whole number other than 0.

    Parameters
    ----------
    value : object
        What the caller passed.
    """
    if value is None:
        return None
    if not isinstance(value, numbers.Integral) or isinstance(value, bool | np.bool_) or value == 0:
        message = f"n_jobs must be None or a whole number other than 0 (-1: all); got {value!r}."
        raise InvalidParameterError(message)
    return int(value)


def seed(random_state: Any) -> int:
    """Return the seed that a ``random_state`` stands for.

    Parameters
    ----------
    random_state : None, int, RandomState or Generator
        None is seed 0 and a whole number is itself; from a generator one seed is drawn.
    """
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    try:
        return count(random_state, "random_state")
    except InvalidParameterError:
        message = (
            "random_state must be None, a whole number at least 0, a numpy RandomState or a "
            f"numpy Generator; got {random_state!r}."
        )
        raise InvalidParameterError(message) from None
