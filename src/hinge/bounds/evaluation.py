"""What an evaluation returns, and how far rounding may have moved it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.pieces import Pieces
from hinge.inequality import rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]

_SPARE = 16  # roundings that are not one per row or per stored value of a row


@dataclass(frozen=True)
class Evaluation:
    """The sum of a loss over all rows, its gradient, and what that took.

    Parameters
    ----------
    value : float
        Sum of weight times loss of the margin.
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


def rounding_bounds(
    rows: Rows,
    terms: int,
    total_weight: float,
    largest: tuple[float, float],
    b: float,
    pieces: Pieces,
) -> tuple[float, float]:
    """Return bounds on the rounding of value and gradient, for any way of summing the rows.

    Parameters
    ----------
    rows : Rows
        The data.
    terms : int
        How many rows are summed; one that is drawn twice counts twice.
    total_weight : float
        Sum of the weights.
    largest : tuple of two float
        The norm of w and the largest norm of a row.
    b : float
        The intercept.
    pieces : Pieces
        The loss.
    """
    norm_w, norm_x = largest
    reach = norm_w * norm_x + abs(b)
    share = rounding_factor(rows.longest_row + _SPARE)
    # Every row may be added, taken away again and added in another form: three sums of them.
    # A product with second moments is one sum over the features inside another.
    inner = 2 if pieces.bend else 1
    summing = 3.0 * rounding_factor(3 * terms + inner * rows.n_features + _SPARE)
    margin_error = share * reach
    slope = pieces.largest_slope(reach)
    largest_loss = pieces.largest_value(reach)
    value = total_weight * (slope * margin_error + summing * (largest_loss + 1.0 + reach))
    change_of_slope = 2.0 * (pieces.curvature + pieces.bend) * margin_error
    gradient = total_weight * max(norm_x, 1.0) * (change_of_slope + summing * (slope + 1.0))
    return value, gradient
