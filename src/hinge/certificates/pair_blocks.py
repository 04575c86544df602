r"""Support vectors of the two groups of a pair against each other, once for both.

With the coefficients :math:`\alpha_g` and :math:`\alpha_h` of a pair, the block
:math:`K(S_g, S_h)` gives the sums over the other group of the support vectors of both:

.. math:: K(S_g, S_h)\, \alpha_h \quad\text{and}\quad K(S_g, S_h)'\, \alpha_g .

A task is some support vectors of the first group and all of the second. What tasks give to the
second group is kept apart and added up in their order, so that the bits do not depend on threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.pair_groups import Side
from hinge.certificates.pair_tasks import PANEL_ROWS, Arithmetic, SideScores

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Half:
    """One group of a pair: its rows that are support vectors in it.

    Parameters
    ----------
    side : Side
        The group.
    scores : SideScores
        Where to put what is found.
    place : int
        Which of the group's pairs this is.
    """

    side: Side
    scores: SideScores
    place: int

    @property
    def rows(self) -> Ids:
        """The support vectors, in the order of the group."""
        return np.flatnonzero(self.side.alpha[self.place])

    @property
    def alpha(self) -> Floats:
        """Their coefficients."""
        return np.asarray(self.side.alpha[self.place, self.rows])

    def put(self, rows: Ids, sums: Floats, errors: tuple[Floats, Floats]) -> None:
        """Put the sums of some rows over the other group, and of absolute values, in place.

        Parameters
        ----------
        rows : ndarray of int64
            The rows.
        sums : ndarray of shape (2, n)
            The sums.
        errors : tuple of two ndarray of shape (n,)
            Relative and absolute error bounds of kernel values.
        """
        scores, place = self.scores, self.place
        scores.other[place, rows], scores.other_size[place, rows] = sums
        scores.relative[place, rows], scores.absolute[place, rows] = errors


class Block:
    """The support vectors of both groups of a pair against each other.

    Parameters
    ----------
    first, second : Half
        The groups.
    arithmetic : Arithmetic
        How kernel values are computed.
    most : int
        Values that a task computes, at the most, unless a single panel has more.
    """

    def __init__(self, first: Half, second: Half, arithmetic: Arithmetic, most: int) -> None:
        self._first, self._second = first, second
        self._arithmetic = arithmetic
        self._rows = first.rows
        size = max(PANEL_ROWS, most // max(1, len(second.rows)))
        self._cuts = [slice(k, k + size) for k in range(0, len(self._rows), size)]
        self._mirrored = np.zeros((len(self._cuts), 2, len(second.rows)))

    def __len__(self) -> int:
        """Return how many tasks there are."""
        return len(self._cuts)

    def run(self, number: int) -> None:
        """Do a task.

        Parameters
        ----------
        number : int
            Which of them.
        """
        first, arithmetic = self._first, self._arithmetic
        rows, alpha = self._rows[self._cuts[number]], first.alpha[self._cuts[number]]
        pieces = arithmetic.facing(first.side, first.place)
        for start in range(0, len(rows), PANEL_ROWS):
            some = slice(start, start + PANEL_ROWS)
            panel = arithmetic.panel(first.side, rows[some])
            pulls = alpha[some] * panel.factors
            sums, begin = np.zeros((2, len(panel.factors))), 0
            for columns, weights in pieces:
                values = arithmetic.panels.values(panel, columns)
                end = begin + len(columns.factors)
                mirrored = self._mirrored[number, :, begin:end]
                sums[0] += values @ weights
                mirrored[0] += (pulls @ values) * columns.factors
                if not arithmetic.never_cancels:
                    values = np.abs(values, out=values)
                    sums[1] += values @ weights
                    mirrored[1] += (pulls @ values) * columns.factors
                begin = end
            sums *= panel.factors
            if arithmetic.never_cancels:
                sums[1] = sums[0]
            first.put(rows[some], sums, arithmetic.errors(first.side, rows[some]))

    def finish(self) -> None:
        """Put what all tasks have given to the second group in place."""
        second = self._second
        sums = np.zeros(self._mirrored.shape[1:])
        for part in self._mirrored:
            sums += part
        if self._arithmetic.never_cancels:
            sums[1] = sums[0]
        second.put(second.rows, sums, self._arithmetic.errors(second.side, second.rows))
