"""Exceptions of hinge.

::

    HingeError
    ├── InvalidInputError (ValueError)
    │   ├── InvalidDataError         rows that cannot be used: NaN, infinity, broken CSR, shape
    │   ├── InvalidLabelsError       labels that do not make a classification problem
    │   ├── InvalidWeightsError      sample weights that are negative, not finite or all zero
    │   └── InvalidParameterError    an option outside its legal range
    └── UnsupportedError (ValueError)    a legal request that no solver here can serve
    Interrupted (KeyboardInterrupt)  Ctrl-C; carries the best solution found until then

A status is not an exception: a run that ends early returns a solution that says so.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hinge.result import Solution


class HingeError(Exception):
    """Base of every error that hinge raises on purpose."""


class InvalidInputError(HingeError, ValueError):
    """The caller's input cannot be used as it is."""


class InvalidDataError(InvalidInputError):
    """The rows cannot be used: not finite, malformed, or of a wrong shape or kind."""


class InvalidLabelsError(InvalidInputError):
    """The labels do not describe a classification problem."""


class InvalidWeightsError(InvalidInputError):
    """The sample weights are negative, not finite, or leave nothing to learn from."""


class InvalidParameterError(InvalidInputError):
    """An option is outside its legal range."""


class UnsupportedError(HingeError, ValueError):
    """A legal request that this version cannot serve; the message says what can."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; nothing found so far is lost.

    Parameters
    ----------
    message : str
        What was interrupted.
    solutions : tuple of Solution
        The best solution of every problem of the call, in order; problems that had not started
        are absent.
    """

    def __init__(self, message: str, solutions: tuple[Solution, ...] = ()) -> None:
        super().__init__(message)
        self.solutions = solutions

    @property
    def solution(self) -> Solution | None:
        """The best solution of the interrupted run, or None if it had not begun."""
        return self.solutions[-1] if self.solutions else None


def unknown_name(got: object, parameter: str, allowed: Iterable[str]) -> InvalidParameterError:
    """Return the error for a name that is none of the allowed ones, with the nearest of them."""
    names = sorted(allowed)
    listed = ", ".join(repr(name) for name in names)
    message = f"{parameter} must be one of {listed}; got {got!r}."
    if isinstance(got, str):
        near = difflib.get_close_matches(got, names, n=1)
        if near:
            message += f" Did you mean {near[0]!r}?"
    return InvalidParameterError(message)
