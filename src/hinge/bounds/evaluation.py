"""What an evaluation returns, and how far rounding may have moved it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.pieces import Pieces
from hinge.inequality import rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]

_SPARE = 16  # roundings that are not one per row or per stored value of a row


class Objective(NamedTuple):
    """What is made of the summed loss: ``scale`` times it, and ``ridge / 2`` times ``w'w``.

    Parameters
    ----------
    scale : float, default=1.0
        Greater than 0.
    ridge : float, default=0.0
        Not negative.
    """

    scale: float = 1.0
    ridge: float = 0.0


THE_SUM = Objective()


@dataclass(frozen=True)
class Evaluation:
    """The sum of a loss over all rows, its gradient, and what that took.

    Parameters
    ----------
    value : float
        Sum of weight times loss of the margin; with a scale or a ridge, the objective that they
        make of it, here and below.
    gradient : ndarray of shape (n_features,)
        Derivative of the value by the weights; zeros for the zero-one loss.
    gradient_b : float
        Derivative of the value by the intercept.
    examined : int
        Rows whose margin was computed.
    bound : float
        Value and exact value differ by at most this.
    gradient_bound : float
        Gradient and exact gradient differ by at most this in norm, ``gradient_b`` likewise, where
        no margin lies within rounding of a jump of the derivative.
    """

    value: float
    gradient: Floats
    gradient_b: float
    examined: int
    bound: float
    gradient_bound: float


class Rounding:
    """How far rounding may move sums over rows, for any way of summing them.

    Parameters
    ----------
    rows : Rows
        The data.
    terms : int
        How many rows are summed; one that is drawn twice counts twice.
    total_weight : float
        Sum of the weights.
    largest_norm : float
        The largest norm of a row.
    """

    def __init__(self, rows: Rows, terms: int, total_weight: float, largest_norm: float) -> None:
        self._total, self._norm = total_weight, largest_norm
        self._share = rounding_factor(rows.longest_row + _SPARE)
        # Every row may be added, taken away again and added in another form: three sums of them.
        # A product with second moments is one sum over the features inside another.
        once, twice = (
            3.0 * rounding_factor(3 * terms + inner * rows.n_features + _SPARE) for inner in (1, 2)
        )
        self._summing, self._summing_moments = once, twice

    def bounds(
        self, norm_w: float, b: float, pieces: Pieces, objective: Objective = THE_SUM
    ) -> tuple[float, float]:
        """Return bounds on the rounding of value and gradient.

        Parameters
        ----------
        norm_w : float
            The norm of w.
        b : float
            The intercept.
        pieces : Pieces
            The loss.
        objective : Objective, default=THE_SUM
            What is made of its sum.
        """
        reach = norm_w * self._norm + abs(b)
        summing = self._summing_moments if pieces.bend else self._summing
        margin_error = self._share * reach
        slope = pieces.largest_slope(reach)
        largest_loss = pieces.largest_value(reach)
        value = self._total * (slope * margin_error + summing * (largest_loss + 1.0 + reach))
        change_of_slope = 2.0 * (pieces.curvature + pieces.bend) * margin_error
        gradient = self._total * max(self._norm, 1.0)
        gradient *= change_of_slope + summing * (slope + 1.0)
        scale, ridge = objective
        if ridge == 0.0:
            return scale * value, scale * gradient
        # Rows are added to a vector that begins with the ridge's share, and round it every time.
        pull = summing * ridge * norm_w
        return scale * value + pull * norm_w, scale * gradient + pull
