"""The parameter gamma: a number, or a rule that makes one from the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hinge.errors import InvalidParameterError, unknown_name
from hinge.inequality import UNIT_ROUNDOFF
from hinge.parameters import real_number

if TYPE_CHECKING:
    from hinge.rows import Rows

RULES = ("auto", "scale")


def checked_gamma(gamma: float | str, *, may_be_negative: bool = False) -> float | str:
    """Return gamma as a float or the name of a rule, or raise."""
    if isinstance(gamma, str):
        if gamma not in RULES:
            raise unknown_name(gamma, "gamma", RULES)
        return gamma
    number = real_number(gamma, "gamma")
    if number < 0.0 and not may_be_negative:
        message = f"gamma must not be negative; got {gamma!r}."
        raise InvalidParameterError(message)
    return number


def gamma_of(gamma: float | str, rows: Rows) -> float:
    """Return the number that gamma stands for on these data.

    ``"scale"`` is one over the number of features times the variance of all entries (zeros of
    sparse rows included), or 1 if they are all the same; ``"auto"`` is one over the number of
    features.
    """
    if not isinstance(gamma, str):
        return gamma
    if gamma == "auto":
        return 1.0 / rows.n_features
    variance = _variance(rows)
    return 1.0 / (rows.n_features * variance) if variance > 0.0 else 1.0


def number(gamma: float | str) -> float:
    """Return a gamma that is a number, or say that the data are needed first."""
    if isinstance(gamma, str):
        message = (
            f"gamma={gamma!r} depends on the training data: call resolved(rows) first, or give "
            "a number."
        )
        raise InvalidParameterError(message)
    return gamma


def _variance(rows: Rows) -> float:
    """Return the variance of all entries, about their mean; two passes, since squares cancel."""
    entries = float(rows.n_rows) * rows.n_features
    total = sum(float(np.sum(block.values)) for block in rows.blocks())
    mean = total / entries
    squares = 0.0
    for block in rows.blocks():
        # Not a product: BLAS would share it out to its threads, whose number is nobody's promise.
        squares += float(np.sum(np.square(block.values - mean)))
    absent = entries - rows.n_stored
    variance = (squares + absent * mean * mean) / entries
    # The mean of equal numbers is rounded: what that leaves of them is no variance.
    return variance if variance > (8.0 * UNIT_ROUNDOFF * mean) ** 2 else 0.0
