"""Numbers and switches that a caller sets: read once, or refused with the name and the value."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from hinge.errors import InvalidParameterError


def real_number(value: Any, name: str) -> float:
    """Return the value as a finite float, or raise an error that names the parameter."""
    if type(value) is float and math.isfinite(value):  # asking what else it is takes as long again
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        message = f"{name} must be a number; got {value!r} of type {type(value).__name__}."
        raise InvalidParameterError(message)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        message = f"{name} must be finite; got {str(value)[:40]}."
        raise InvalidParameterError(message)
    return number


def positive(value: Any, name: str) -> float:
    """Return the value as a float greater than 0, or raise."""
    number = real_number(value, name)
    if number <= 0.0:
        message = f"{name} must be greater than 0; got {value!r}."
        raise InvalidParameterError(message)
    return number


def positive_or_infinite(value: Any, name: str) -> float:
    """Return the value as a float greater than 0, infinity included, or raise."""
    if isinstance(value, numbers.Real) and value == math.inf:
        return math.inf
    return positive(value, name)


def not_negative(value: Any, name: str) -> float:
    """Return the value as a float of at least 0, or raise."""
    number = real_number(value, name)
    if number < 0.0:
        message = f"{name} must not be negative; got {value!r}."
        raise InvalidParameterError(message)
    return number


def boolean(value: Any, name: str) -> bool:
    """Return the value, which is True or False and no word for it, or raise."""
    if not isinstance(value, bool | np.bool_):
        message = f"{name} must be True or False; got {value!r}."
        raise InvalidParameterError(message)
    return bool(value)


def count(value: Any, name: str) -> int:
    """Return the value as an integer of at least 0, or raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        message = f"{name} must be an integer of at least 0; got {value!r}."
        raise InvalidParameterError(message)
    return int(value)
