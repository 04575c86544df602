"""Exceptions of hinge.

::

    HingeError
    ├── InvalidInputError (ValueError)
    │   ├── InvalidDataError         rows that cannot be used: NaN, infinity, broken CSR, shape
    │   │   └── DataFileError        a data file that cannot be read; knows path, line and column
    │   ├── InvalidLabelsError       labels that do not make a classification problem
    │   ├── InvalidWeightsError      sample weights that are negative, not finite or all zero
    │   └── InvalidParameterError    an option outside its legal range
    ├── ModelFileError (ValueError)      a model or checkpoint file that cannot be trusted
    ├── MissingDependencyError (ImportError)    an optional package is absent; says what to install
    ├── NotSeparableError (ValueError)   C is infinite and the classes cannot be separated
    ├── TooManyFeaturesError (MemoryError)      memory does not suffice for the weights
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


class DataFileError(InvalidDataError):
    """A data file cannot be read as what it should be.

    Parameters
    ----------
    reason : str
        What is wrong and what to do, as a sentence.
    path : str or None, default=None
        The file.
    line, column : int or None, default=None
        Where in the file, both counted from one; for tables, the row and the column's number.
    """

    def __init__(
        self,
        reason: str,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        places = [path]
        places += [None if line is None else f"line {line}"]
        places += [None if column is None else f"column {column}"]
        where = ", ".join(place for place in places if place is not None)
        super().__init__(f"{where}: {reason}" if where else reason)
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[type[DataFileError], tuple[object, ...]]:
        return type(self), (self.reason, self.path, self.line, self.column)


class InvalidLabelsError(InvalidInputError):
    """The labels do not describe a classification problem."""


class InvalidWeightsError(InvalidInputError):
    """The sample weights are negative, not finite, or leave nothing to learn from."""


class InvalidParameterError(InvalidInputError):
    """An option is outside its legal range."""


class ModelFileError(HingeError, ValueError):
    """A model or checkpoint file is damaged, forged or of another format; nothing was loaded."""


class MissingDependencyError(HingeError, ImportError):
    """An optional package is not installed; the message says which extra brings it."""


class NotSeparableError(HingeError, ValueError):
    """A hard margin was asked for and no hyperplane separates the classes beyond rounding.

    Parameters
    ----------
    message : str
        Which classes, what proves it, and what to do.
    solution : Solution or None, default=None
        Its certificate says what is proven, and its dual coefficients are the witness.
    """

    def __init__(self, message: str, solution: Solution | None = None) -> None:
        super().__init__(message)
        self.solution = solution


class TooManyFeaturesError(HingeError, MemoryError):
    """Memory does not suffice for the weights; the message says how many, and what to do."""


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
