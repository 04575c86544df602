"""Scores of kernel machines with bounds on their errors, and what these say of margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF
from hinge.losses import Loss

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Signs = NDArray[np.int8] | Floats

_USEFUL = 0.1  # a relative error beyond this bounds nothing


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
