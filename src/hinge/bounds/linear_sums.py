"""Sums over the rows that stored margins have on the linear piece of a loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.passes import Passes, Sums
from hinge.bounds.pieces import Pieces

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearSums:
    """What such rows add up to.

    Parameters
    ----------
    vector : ndarray of shape (n_features,)
        The rows, each times its weight and label.
    weight, labels : float
        Their weights; their weights times labels.
    """

    vector: Floats
    weight: float
    labels: float

    @classmethod
    def of_pass(cls, sums: Sums) -> LinearSums:
        """Return what a pass over all rows has added up."""
        return cls(sums.linear, sums.linear_weight, sums.linear_labels)

    @classmethod
    def of_margins(
        cls,
        pieces: Pieces,
        margins: Floats,
        passes: Passes,
        signs: NDArray[np.int8],
        weights: Floats,
    ) -> LinearSums:
        """Return the sums for a loss that was not evaluated when these margins were stored."""
        numbers = np.flatnonzero(pieces.linear(margins, signs)).astype(np.uint32)
        own = np.broadcast_to(weights, len(margins))[numbers]
        vector = passes.sum_of(numbers) if pieces.slope else np.zeros(passes.rows.n_features)
        return cls(vector, float(np.sum(own)), float(np.sum(own * signs[numbers])))
