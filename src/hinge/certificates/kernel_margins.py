"""Scores of kernel machines with bounds on their errors, and what these say of margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels import Kernel
from hinge.losses import Loss

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Signs = NDArray[np.int8] | Floats

_USEFUL = 0.1  # a relative error beyond this bounds nothing
_SMALLEST = 5e-324
_UNDERFLOW = 2.0**-100  # more than sums of any length lose to it, in parts of all coefficients


@dataclass(frozen=True)
class Scores:
    """What a machine's support vectors sum up to at some rows.

    Parameters
    ----------
    plus, minus : ndarray of shape (n,)
        Sums over the support vectors of positive and of negative coefficient, of ``|b_j| k_j``.
    magnitude : ndarray of shape (n,)
        The sum of ``|b_j| |k_j|`` over all of them, or more, which rounding is relative to.
    error : ndarray of shape (n,)
        Bound on the rounding error of their difference, and of their sum.
    """

    plus: Floats
    minus: Floats
    magnitude: Floats
    error: Floats

    @property
    def values(self) -> Floats:
        """The decision values, without intercept."""
        return self.plus - self.minus

    @staticmethod
    def zeros(n: int) -> Scores:
        """Return scores of zero, without error."""
        return Scores(*np.zeros((4, n)))

    def some(self, ids: Any) -> Scores:
        """Return the scores of some rows."""
        return Scores(self.plus[ids], self.minus[ids], self.magnitude[ids], self.error[ids])

    def put(self, ids: Ids, other: Scores) -> None:
        """Overwrite the scores of some rows."""
        for name in ("plus", "minus", "magnitude", "error"):
            getattr(self, name)[ids] = getattr(other, name)


def bounded_error(relative: Floats, magnitude: Floats, absolute: Floats) -> Floats:
    """Return a bound on the rounding errors of sums; infinity where nothing is known.

    Parameters
    ----------
    relative : ndarray
        The sum of bounds on all relative errors.
    magnitude : ndarray
        What they are relative to: the sum of absolute values.
    absolute : ndarray
        A bound on the other errors.
    """
    # Errors multiply up; while their sum is small, its square is more than that adds.
    error = relative * (1.0 + 2.0 * relative) * magnitude + absolute * 1.01
    return np.where(relative < _USEFUL, error, np.inf)


def absolute_error(
    kernel: Kernel, errors: tuple[Floats, Floats], magnitude: Floats, total: Floats | float
) -> Floats:
    """Return bounds on those errors of sums that are not relative to the values.

    Where a kernel levels off, as tanh does towards 1, what its argument is off by hardly counts.
    How large the values are in the mean is known from the sum of their sizes.

    Parameters
    ----------
    kernel : Kernel
        The kernel, without factors.
    errors : tuple of ndarray
        Relative and absolute error bounds of values; sums included in the former.
    magnitude : ndarray
        The sums of coefficients times values, both without signs.
    total : ndarray or float
        Upper bounds on the sums of the coefficients, without signs.
    """
    relative, absolute = errors
    if not kernel.levels_off:
        return absolute * total
    size = magnitude / np.maximum(total, _SMALLEST) * (1.0 - 2.0 * relative)
    slope = kernel.slope_above(np.clip(np.nan_to_num(size), 0.0, 1.0))
    # That of computed values, and of arguments that are off: true ones may be less far out.
    slope = np.minimum(1.0, slope + (absolute + 2.0 * relative))
    return absolute * total * slope + _UNDERFLOW * total


def lowest_margins(signs: Signs, intercept: Floats | float, scores: Scores) -> Floats:
    """Return lower bounds on the margins of rows of these signs."""
    slack = margin_slack(intercept, scores)
    return np.asarray(signs * (scores.values + intercept) - slack)


def margin_slack(intercept: Floats | float, scores: Scores) -> Floats:
    """Return bounds on the errors of margins, their own roundings included."""
    size = np.abs(scores.values) + np.abs(intercept) + scores.error
    return np.asarray(scores.error + 8.0 * UNIT_ROUNDOFF * size)


def surely_beyond(
    loss: Loss, signs: Signs, intercept: Floats | float, scores: Scores
) -> NDArray[np.bool_]:
    """Return which rows surely have a margin at which the loss is zero."""
    needed = max(loss.zero_from, loss.dual_linear)
    return np.asarray(lowest_margins(signs, intercept, scores) >= needed)
