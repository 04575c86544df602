"""Rules that make a label of decision values, and of bounds on them where that is enough.

A rule sees the values that the full evaluation would compute, or intervals that hold them: a label
that every value inside the intervals gives is the label of the full evaluation, ties included.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hinge.multiclass.votes import winners

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

_SLACK = 1e-12  # what the roundings of sums of votes and of their fractions may add up to
_LARGEST = 1e300  # of a decision value that is summed, as in the count of votes


class Rule(Protocol):
    """How decision values become a code: the position of a class."""

    def codes(self, values: Floats) -> Codes:
        """Return the code of every row of decision values."""

    def settled(self, lower: Floats, upper: Floats) -> tuple[NDArray[np.bool_], Codes]:
        """Return which rows have one code all over their intervals, and that code."""


def widened(lower: Floats, upper: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Return intervals that are wider by a margin on both sides; nothing known is everything.

    Parameters
    ----------
    lower, upper, margin : ndarray of shape (n, n_functions)
        The intervals, and by how much to widen them.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = lower - margin, upper + margin
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


@dataclass(frozen=True)
class SignRule:
    """Two classes and one function: the second class where its value is not negative.

    Parameters
    ----------
    is_strict : bool, default=False
        Whether a value of zero is the first class's instead.
    """

    is_strict: bool = False

    def codes(self, values: Floats) -> Codes:
        """Return 1 where the value is on the second class's side."""
        one = values[:, 0]
        return (one > 0.0 if self.is_strict else one >= 0.0).astype(np.intp)

    def settled(self, lower: Floats, upper: Floats) -> tuple[NDArray[np.bool_], Codes]:
        """Return where both ends are on one side."""
        low, high = lower[:, 0], upper[:, 0]
        is_second = low > 0.0 if self.is_strict else low >= 0.0
        is_first = high <= 0.0 if self.is_strict else high < 0.0
        return is_first | is_second, is_second.astype(np.intp)


@dataclass(frozen=True)
class LargestRule:
    """One function per class: the first of those with the largest value."""

    def codes(self, values: Floats) -> Codes:
        """Return the position of the largest value."""
        return np.asarray(values.argmax(axis=1))

    def settled(self, lower: Floats, upper: Floats) -> tuple[NDArray[np.bool_], Codes]:
        """Return where one class's lower bound is above the upper bounds of all others."""
        codes = lower.argmax(axis=1)
        rows = np.arange(len(lower))
        others = upper.copy()
        others[rows, codes] = -np.inf
        return lower[rows, codes] > others.max(axis=1), np.asarray(codes)


@cache
def _sides_of_pairs(n_classes: int) -> tuple[Floats, Floats]:
    """Return which class is the first and which the second of every pair, as matrices."""
    first, second = np.triu_indices(n_classes, 1)
    classes = np.arange(n_classes)
    return (first[:, None] == classes).astype(float), (second[:, None] == classes).astype(float)


@cache
def _votes_of_sides(n_classes: int) -> Floats:
    """Return what counts every class's sure votes, and then those that it has lost.

    The factor is which pairs are surely their first class's, and then which their second's.
    """
    first, second = _sides_of_pairs(n_classes)
    return np.block([[first, second], [second, first]])


@dataclass(frozen=True)
class VoteRule:
    """One function per pair of classes: most votes, then the largest sum of decision values.

    Parameters
    ----------
    n_classes : int
        At least 3.
    """

    n_classes: int

    def codes(self, values: Floats) -> Codes:
        """Return the position of the class that wins."""
        return winners(values, self.n_classes)

    def settled(self, lower: Floats, upper: Floats) -> tuple[NDArray[np.bool_], Codes]:
        """Return where a class wins whatever the votes and sums that are still open.

        Votes between classes that cannot win any more need not be known. Most queries have a class
        with more sure votes than any other can have; only the others need sums of values.
        """
        n, rows = self.n_classes, np.arange(len(lower))
        # What is no number is neither a sure vote nor a lost one.
        sides = np.concatenate((lower > 0.0, upper <= 0.0), axis=1).astype(float)
        votes = sides @ _votes_of_sides(n)
        sure, possible = votes[:, :n], (n - 1) - votes[:, n:]
        codes = sure.argmax(axis=1)
        most = sure[rows, codes]
        possible[rows, codes] = -1.0
        settled = most > possible.max(axis=1)
        if not settled.all():
            ids = np.flatnonzero(~settled)
            low, high = self._class_bounds(lower[ids], upper[ids])
            settled[ids], codes[ids] = LargestRule().settled(low, high + _SLACK)
        return settled, codes

    def _class_bounds(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return bounds on the value of every class, of which the largest wins."""
        first, second = _sides_of_pairs(self.n_classes)
        low, high = np.clip(lower, -_LARGEST, _LARGEST), np.clip(upper, -_LARGEST, _LARGEST)
        votes = np.stack(
            (
                (low > 0.0) @ first + (high <= 0.0) @ second,
                (high > 0.0) @ first + (low <= 0.0) @ second,
            )
        )
        sums = np.stack((low @ first - high @ second, high @ first - low @ second))
        # Where rounding of a sum could matter it is relative to its largest term.
        span = 1e-14 * self.n_classes * np.maximum(np.abs(lower), np.abs(upper)).max(axis=1)
        sums[0] -= np.minimum(span, _LARGEST)[:, None]
        sums[1] += np.minimum(span, _LARGEST)[:, None]
        bounds = votes + sums / (np.abs(sums) + 1.0) / 3.0
        return bounds[0], bounds[1]
