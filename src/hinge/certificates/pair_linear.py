r"""Scores of linear machines of pairs of groups of rows, by their weights.

What :mod:`hinge.certificates.kernel_linear` does for one machine is done here for all: with the
support vectors :math:`S_g` of a group and their coefficients :math:`A_g` in all of its pairs, a
column for each,

.. math:: K(\text{rows}, S_g)\, A_g = X\, (S_g' A_g) .
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_linear import in_float64, lost_to_underflow
from hinge.certificates.kernel_operands import PANEL_ROWS, parts
from hinge.certificates.pair_groups import PairPoints, Side
from hinge.certificates.pair_tasks import SideScores
from hinge.inequality import rounding_factor

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class PairWeights:
    """The weights of the machines of all pairs, group by group.

    Parameters
    ----------
    points : PairPoints
        The points, with the linear kernel.
    totals : ndarray of shape (n_pairs,)
        Bounds on the sums of the coefficients of every pair, greater than 0.
    """

    def __init__(self, points: PairPoints, totals: Floats) -> None:
        self._points = points
        self._totals = totals
        self._sides = {side.group: side for side in points.sides}
        self._weights = {group: self._of(side) for group, side in self._sides.items()}
        self._most = max(side.n_support for side in points.sides)

    def tasks(self, scores: list[SideScores], size: int) -> list[Callable[[], None]]:
        """Return what computes the scores of all rows.

        Parameters
        ----------
        scores : list of SideScores
            Where to put those of every side.
        size : int
            Rows that a task has, at the most.
        """
        return [
            partial(self._run, side, found, np.arange(start, min(start + size, len(side.ids))))
            for side, found in zip(self._points.sides, scores, strict=True)
            for start in range(0, len(side.ids), size)
        ]

    def _of(self, side: Side) -> Floats:
        """Return the weights of a group in all of its pairs, and those of absolute values."""
        rows = self._points.rows
        found = np.zeros((2, rows.n_features, len(side.numbers)))
        for part in parts(np.arange(side.n_support)):
            matrix = in_float64(rows.take(side.ids[part]).matrix)
            alpha = side.alpha[:, part].T
            found += np.stack((matrix.T @ alpha, abs(matrix).T @ np.abs(alpha)))
        return found

    def _facing(self, side: Side) -> Floats:
        """Return the weights of the other group of every pair of a group."""
        columns = [
            self._weights[other][:, :, self._sides[other].place_of(number)]
            for other, number in zip(side.others, side.numbers, strict=True)
        ]
        return np.stack(columns, axis=2)

    def _run(self, side: Side, scores: SideScores, which: Ids) -> None:
        """Compute the scores of some rows of a group."""
        rows, ids = self._points.rows, side.ids[which]
        matrix = in_float64(rows.take(ids).matrix)
        sizes = abs(matrix)
        own, other = self._weights[side.group], self._facing(side)
        scores.own[:, which], scores.own_size[:, which] = (matrix @ own[0]).T, (sizes @ own[1]).T
        scores.other[:, which] = (matrix @ other[0]).T
        scores.other_size[:, which] = (sizes @ other[1]).T
        panels = -(-self._most // PANEL_ROWS)
        scores.relative[:, which] = rounding_factor(PANEL_ROWS + panels + rows.longest_row + 4)
        lost = lost_to_underflow((rows, ids), 2 * self._most, rows.longest_row)
        # It will be multiplied by the same totals: rounded up, it does not vanish before that.
        scores.absolute[:, which] = np.nextafter(lost / self._totals[side.numbers, None], np.inf)
