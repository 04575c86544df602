r"""The pair of dual variables that violates optimality most, found without a pass.

In the dual of a linear machine with a free intercept,

.. math:: \min_\alpha \tfrac12 \|w(\alpha)\|^2 - \sum_i \alpha_i \quad\text{subject to}\quad
          y'\alpha = 0,\ 0 \le \alpha \le c, \qquad w(\alpha) = \sum_i \alpha_i y_i x_i,

a step moves two variables, so that :math:`y_i \alpha_i` rises and :math:`y_j \alpha_j` falls. The
derivative along it is :math:`-(u_i - u_j)` with :math:`u = y (1 - m)` and the margins m. The pair
that violates optimality most has the largest u among the variables that can rise, and the smallest
among those that can fall; :math:`\alpha` is optimal when the difference is not positive.

SMO keeps all derivatives, which for a linear machine costs a pass over the data in every step.
Here only rows are looked at whose margin may have come to be the best of a side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge._native import core
from hinge.bounds.checks import require_finite
from hinge.bounds.policy import Action
from hinge.bounds.sorted_margins import SortedMargins
from hinge.errors import InvalidDataError
from hinge.parameters import real_number

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]

_RISES, _FALLS = 1, 2
_REMEMBERED = 16  # rows of each side that were the best last time: where to look first


class ViolatingPair(NamedTuple):
    """Two variables that a step of SMO would move.

    Parameters
    ----------
    rising, falling : int
        Rows: label times coefficient of the first is to rise, of the second to fall.
    violation : float
        By how much they violate optimality; not positive at the optimum.
    examined : int
        Rows whose margin was computed to know that.
    """

    rising: int
    falling: int
    violation: float
    examined: int


class ViolatingPairs:
    """Chooses pairs for SMO on linear machines, without stored derivatives.

    Parameters
    ----------
    index : SortedMargins
        Rows and labels, with the bound and the policy that say which rows to look at. It may serve
        other searches and evaluations as well.
    upper : float or array-like of shape (n_samples,)
        Upper bounds of the coefficients: C, or C times the weight of each row.
    alpha : array-like of shape (n_samples,) or None, default=None
        The coefficients, at first all zero if None; :meth:`update` changes them.

    Examples
    --------
    >>> pairs = ViolatingPairs(SortedMargins([[0.0], [1.0], [3.0]], [-1, 1, 1]), upper=1.0)
    >>> pairs.choose([0.0])
    ViolatingPair(rising=1, falling=0, violation=2.0, examined=3)
    """

    def __init__(
        self, index: SortedMargins, upper: ArrayLike, alpha: ArrayLike | None = None
    ) -> None:
        n_rows = index.rows.n_rows
        self.index = index
        self._upper = _per_row(upper, n_rows, "upper")
        self._allowed = np.zeros(n_rows, dtype=np.uint8)
        self._room = np.empty(n_rows + 1, dtype=np.uint32)
        self._likely: RowList = np.empty(0, dtype=np.uint32)
        start = np.zeros(n_rows) if alpha is None else _per_row(alpha, n_rows, "alpha")
        self.update(np.arange(n_rows), start)

    def update(self, rows: ArrayLike, alpha: ArrayLike) -> None:
        """Take note of new coefficients.

        Parameters
        ----------
        rows : array-like of int
            Whose they are.
        alpha : array-like
            The coefficients, between 0 and the upper bounds.
        """
        numbers, values = np.atleast_1d(np.asarray(rows)), np.atleast_1d(np.asarray(alpha))
        signs = self.index.signs[numbers]
        grows, shrinks = values < self._upper[numbers], values > 0.0
        rises = np.where(signs > 0, grows, shrinks)
        falls = np.where(signs > 0, shrinks, grows)
        self._allowed[numbers] = _RISES * rises + _FALLS * falls

    def choose(self, w: ArrayLike, b: float = 0.0) -> ViolatingPair | None:
        """Return the pair that violates optimality most.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights that the coefficients make.
        b : float, default=0.0
            An intercept; which pair it is does not depend on it.

        Returns
        -------
        ViolatingPair or None
            Of equal ones those of the smallest number; None where no variable can rise, or none
            fall: then the coefficients are optimal.
        """
        index = self.index
        weights, offset = index.point(w), real_number(b, "b")
        rows = self._to_look_at(weights, offset)
        if rows is None:
            index.sort(weights, offset)
            assert index.stored.reference is not None
            margins = index.stored.reference.margins
            rows = np.arange(len(margins), dtype=np.uint32)
        else:
            rows = np.union1d(rows, self._likely)
            margins = index.passes.margins_of(weights, offset, rows)
            index.record.add(len(rows))
        require_finite(margins, rows)
        return self._best(rows, margins)

    def _to_look_at(self, w: Floats, b: float) -> RowList | None:
        """Return the rows that may be the best of a side, or None where all are to be taken."""
        index = self.index
        if index.stored.reference is None:
            return None
        if index.record.rests > 0:
            index.record.rests -= 1
            return None
        limits = self._limits(w, b)
        table, movement, positions = index.stored.movement(w, b)
        count = core.violators(
            positions, table, movement, index.signs, self._allowed, limits, self._room
        )
        if index.policy.choose(index.record, int(count)) is Action.FULL:
            index.record.miss_or_renew()
            return None
        return self._room[:count].copy()

    def _limits(self, w: Floats, b: float) -> tuple[float, float]:
        """Return what the best rows of last time have now: others must be better."""
        margins = self.index.passes.margins_of(w, b, self._likely)
        u = self.index.signs[self._likely] * (1.0 - margins)
        allowed = self._allowed[self._likely]
        rising = np.max(u[allowed & _RISES != 0], initial=-np.inf)
        falling = np.min(u[allowed & _FALLS != 0], initial=np.inf)
        return float(rising), float(falling)

    def _best(self, rows: RowList, margins: Floats) -> ViolatingPair | None:
        u = self.index.signs[rows] * (1.0 - margins)
        allowed = self._allowed[rows]
        rises = np.where(allowed & _RISES != 0, u, -np.inf)
        falls = np.where(allowed & _FALLS != 0, u, np.inf)
        size = min(_REMEMBERED, len(rows))
        if size == 0:
            return None
        high = np.argpartition(-rises, size - 1)[:size]
        low = np.argpartition(falls, size - 1)[:size]
        self._likely = np.union1d(rows[high], rows[low])
        i, j = int(np.argmax(rises)), int(np.argmin(falls))
        if np.isneginf(rises[i]) or np.isposinf(falls[j]):
            return None
        violation = float(rises[i] - falls[j])
        return ViolatingPair(int(rows[i]), int(rows[j]), violation, len(rows))


def _per_row(values: ArrayLike, n_rows: int, name: str) -> Floats:
    """Return one number for every row, or raise."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in {(), (n_rows,)}:
        message = f"{name} has shape {array.shape}; there are {n_rows} rows."
        raise InvalidDataError(message)
    if np.isnan(array).any() or np.any(array < 0.0):
        message = f"{name} must not be negative; its smallest entry is {float(np.min(array))!r}."
        raise InvalidDataError(message)
    return np.broadcast_to(array, n_rows)
