"""Losses as the index sees them: known on both sides of a window, examined inside it.

A loss of the margin z is ``level - slope * z`` below ``low``, ``curvature * (high - z)^2`` between,
and 0 from ``high`` on. Rows that a bound keeps on their side of the window need no margin. Where
second moments of the rows are kept, the parabola of the squared hinge is such a side as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.errors import UnsupportedError, unknown_name
from hinge.losses import Loss, get_loss, loss_names

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pieces:
    """A loss that is linear, then quadratic, then zero.

    Parameters
    ----------
    low, high : float
        The window; where they are equal there is no quadratic piece.
    level, slope : float
        The linear piece is ``level - slope * z``.
    curvature : float
        Coefficient of the quadratic piece.
    tie_errs : bool, default=False
        Whether a positive row exactly at the window has the loss of the linear piece: the zero-one
        loss follows ``predict``, which calls a score of 0 negative.
    bend : float, default=0.0
        Coefficient of a ``(high - z)^2`` that the piece below ``low`` has besides.
    """

    low: float
    high: float
    level: float
    slope: float
    curvature: float
    tie_errs: bool = False
    bend: float = 0.0

    @property
    def is_parabola(self) -> bool:
        """Whether the loss is quadratic wherever it is not 0."""
        return math.isinf(self.low) or self.bend != 0.0

    def with_moments(self) -> Pieces:
        """Return the same loss with its parabola as the piece that is known of rows together."""
        assert math.isinf(self.low)
        return Pieces(self.high, self.high, 0.0, 0.0, 0.0, bend=self.curvature)

    def linear(self, margins: Floats, signs: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return which rows are on the linear piece."""
        below = margins < self.low
        if self.tie_errs:
            below |= (margins == self.low) & (signs > 0)
        return np.asarray(below)

    def value(self, margins: Floats, signs: NDArray[np.int8]) -> Floats:
        """Return the loss of every row."""
        below = self.linear(margins, signs)
        reach = np.maximum(self.high - margins, 0.0)
        line = self.level - self.slope * margins + self.bend * reach * reach
        return np.where(below, line, self.curvature * reach * reach)

    def descent(self, margins: Floats, signs: NDArray[np.int8]) -> Floats:
        """Return minus the derivative of the loss at every margin."""
        below = self.linear(margins, signs)
        reach = np.maximum(self.high - margins, 0.0)
        return np.where(below, self.slope + 2.0 * self.bend * reach, 2.0 * self.curvature * reach)

    def largest_slope(self, reach: float) -> float:
        """Return the largest derivative in size among margins of at most this size."""
        if self.is_parabola:
            return 2.0 * (self.curvature + self.bend) * (self.high + reach)
        return max(self.slope, 2.0 * self.curvature * (self.high - self.low))

    def largest_value(self, reach: float) -> float:
        """Return the largest loss among margins of at most this size."""
        if self.is_parabola:
            # Not a power: of floats it raises where a product overflows to infinity.
            return (self.curvature + self.bend) * (self.high + reach) * (self.high + reach)
        return self.level + self.slope * reach


ZERO_ONE = Pieces(low=0.0, high=0.0, level=1.0, slope=0.0, curvature=0.0, tie_errs=True)
_NAMES = (*loss_names(), "zero_one")


def get_pieces(loss: str | Loss | Pieces) -> Pieces:
    """Return the pieces of a loss.

    Parameters
    ----------
    loss : str, Loss or Pieces
        ``"hinge"``, ``"squared_hinge"``, ``"huber"`` (h = 0.5), ``"zero_one"``, or an object of
        :mod:`hinge.losses`.

    Returns
    -------
    Pieces
        Its pieces.

    Examples
    --------
    >>> get_pieces("hinge").low
    1.0
    """
    if isinstance(loss, Pieces):
        return loss
    if isinstance(loss, str) and loss == "zero_one":
        return ZERO_ONE
    if isinstance(loss, str) and loss not in _NAMES:
        raise unknown_name(loss, "loss", _NAMES)
    return _pieces_of(get_loss(loss))


def _pieces_of(loss: Loss) -> Pieces:
    """Return the pieces of a convex loss that is zero from some margin on."""
    constants, slopes = loss.derivative_pieces()
    edges = [kink.margin for kink in loss.kinks]
    if len(edges) == 1 and slopes[0] == 0.0:
        slope = -float(constants[0])
        return Pieces(edges[0], edges[0], slope * edges[0], slope, 0.0)
    if len(edges) == 1:
        return Pieces(-math.inf, edges[0], 0.0, 0.0, 0.5 * float(slopes[0]))
    if len(edges) == 2 and slopes[0] == 0.0:
        low, high = edges
        slope = -float(constants[0])
        level = float(loss.value(np.array([low]))[0]) + slope * low
        return Pieces(low, high, level, slope, 0.5 * float(slopes[1]))
    message = (
        f"An index of margins evaluates losses that are linear, then quadratic, then zero; got "
        f"{loss!r} with {len(edges)} kinks. Use one of {', '.join(_NAMES)}."
    )
    raise UnsupportedError(message)
