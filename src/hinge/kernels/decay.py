r"""Kernels :math:`e^{-\gamma\,\delta(a, b)}` of a distance that is a sum of terms, none negative.

Nothing cancels in such a sum: a distance is off by some roundings of itself, and its exponential by
as many of 1/e at the most.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels.base import Floats, Kernel
from hinge.kernels.exponential import decay_error


class DecayKernel(Kernel):
    """An exponential of minus a sum; the distance of a row from itself is exactly 0."""

    @abstractmethod
    def roundings(self, terms: int) -> int:
        """Return how many roundings a distance of rows with so many values has.

        Parameters
        ----------
        terms : int
            The most values that a row stores.
        """

    def lost(self, terms: int) -> float:  # noqa: ARG002
        """Return what a distance, times gamma, loses of terms below the range of normal numbers.

        Parameters
        ----------
        terms : int
            The most values that a row stores.
        """
        return 0.0

    def diagonal(self, A: Any) -> Floats:
        """Return ones."""
        return np.ones(A.shape[0])

    def diagonal_above(self, A: Any, norms: Floats, terms: int) -> Floats:  # noqa: ARG002
        """Return the diagonal, which is exact."""
        return self.diagonal(A)

    def block_error(
        self,
        norms: Floats,
        largest: Floats | float,  # noqa: ARG002
        terms: int,
        unit: float = UNIT_ROUNDOFF,
    ) -> tuple[Floats, Floats]:
        """Return what rounding may have done: as much for all rows, however long they are."""
        relative, absolute = decay_error(rounding_factor(self.roundings(terms), unit), unit)
        absolute += 2.0 * self.lost(terms)
        return np.full(np.shape(norms), relative), np.full(np.shape(norms), absolute)
