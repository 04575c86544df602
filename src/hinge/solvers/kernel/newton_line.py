"""Newton's method for kernel machines: the parts of a loss, and the objective along a line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.losses import Loss
from hinge.losses.intercept import optimal_intercepts

Floats = NDArray[np.float64]

ZERO, CURVED, STRAIGHT = 0, 1, 2
_HALVINGS = 60


class Line:
    """The objective along a line, in units of the kernel.

    Parameters
    ----------
    loss : Loss
        The loss.
    signs, costs : ndarray of shape (n,)
        Of the rows.
    here : tuple of ndarray, ndarray and float
        Coefficients, scores and intercept where the line begins.
    there : tuple of ndarray, ndarray and float
        How they change along it.
    """

    def __init__(
        self,
        loss: Loss,
        signs: Floats,
        costs: Floats,
        here: tuple[Floats, Floats, float],
        there: tuple[Floats, Floats, float],
    ) -> None:
        beta, scores, intercept = here
        change, image, moved = there
        self._loss, self._costs = loss, costs
        self._margins = signs * (scores + intercept)
        self._slopes = signs * (image + moved)
        # A form of the second order along the line: constant, slope, curvature.
        self._norm = (float(beta @ scores), float(beta @ image), float(change @ image))

    def value(self, t: float) -> float:
        """Return the objective at t."""
        constant, slope, curve = self._norm
        losses = float(self._costs @ self._loss.value(self._margins + t * self._slopes))
        return 0.5 * (constant + t * (2.0 * slope + t * curve)) + losses

    def slope(self, t: float) -> float:
        """Return the derivative at t."""
        _, slope, curve = self._norm
        pulls = self._costs * self._loss.subgradient(self._margins + t * self._slopes)
        return slope + t * curve + float(self._slopes @ pulls)

    def best_length(self) -> float:
        """Return where the objective is least: 1 where Newton's point is the minimum."""
        scale = abs(self.slope(0.0))
        if abs(self.slope(1.0)) <= 1e-9 * scale:
            return 1.0
        low, high = 0.0, 1.0
        while self.slope(high) < 0.0 and high < 1e6:
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.slope(middle) < 0.0 else (low, middle)
        return 0.5 * (low + high)


def best_intercept(
    loss: Loss, scores: Floats, signs: Floats, costs: Floats, near: float = 0.0
) -> float:
    """Return the intercept of the least objective, the one nearest to another of several.

    Parameters
    ----------
    loss : Loss
        The loss.
    scores, signs, costs : ndarray of shape (n,)
        Of the rows.
    near : float, default=0.0
        The other intercept.
    """
    low, high = optimal_intercepts(loss, scores, signs.astype(np.int8), costs)
    return float(min(max(near, low), high))


def zones_of(loss: Loss, margins: Floats) -> NDArray[np.int8]:
    """Return on which part of its loss each row is: zero, curved or straight.

    Parameters
    ----------
    loss : Loss
        A loss with a curved part.
    margins : ndarray of shape (n,)
        The margins.
    """
    bend = np.full(len(margins), loss.left_derivative[1])
    for kink in loss.kinks:
        bend += kink.bend * (margins >= kink.margin)
    zones = np.where(margins < loss.zero_from, STRAIGHT, ZERO)
    return np.where(bend > 1e-12, CURVED, zones).astype(np.int8)
