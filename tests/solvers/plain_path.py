r"""Formulas of the interior point method in NumPy: the yardstick for the native passes.

A row has a dual coefficient :math:`0 < \alpha < u`, its room :math:`u - \alpha`, the multipliers
:math:`\lambda, \mu > 0` of its two bounds, and a margin m. The conditions are

.. math:: m + D\alpha - p - \lambda + \mu = 0, \qquad \lambda\alpha = \tau, \qquad
          \mu (u - \alpha) = \tau,

and the central path is where they hold for one :math:`\tau`. Newton's step for a change t of the
margin, with :math:`\theta = D + \lambda/\alpha + \mu/(u-\alpha)`, is

.. math:: \Delta\alpha = (h - t)/\theta, \qquad h = p - m - D\alpha
          + \frac{\tau - c_1}{\alpha} - \frac{\tau + c_2}{u - \alpha},

where :math:`c_1, c_2` are the products of changes that Mehrotra's corrector puts back. Where u is
infinite, as for the squared hinge loss, everything of the upper bound is absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


MOST_SECOND_ORDER = 3.0
NEAR = 10.0  # products within this factor of tau are left alone


@dataclass(frozen=True)
class Move:
    """A change of dual coefficients and of the multipliers of their bounds."""

    alpha: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class DualRows:
    """Dual variables of some rows, as views; what is computed from them is kept until they move.

    Parameters
    ----------
    alpha, room : ndarray
        Dual coefficients, and what they are below their upper bounds.
    low, high : ndarray
        Multipliers of the lower and of the upper bounds.
    margin : ndarray
        Margins of the primal point.
    linear : float
        The number p of the loss.
    bend : ndarray or float
        The diagonal D.
    is_bounded : bool
        Whether the upper bounds are finite.
    """

    alpha: Floats
    room: Floats
    low: Floats
    high: Floats
    margin: Floats
    linear: float
    bend: Floats | float
    is_bounded: bool

    def centre(self, tau: float, upper: Floats | float) -> None:
        """Put the dual variables where the path has them for the present margins."""
        self.alpha[...], self.room[...] = centred(self, self.margin, tau, upper)
        np.divide(tau, self.alpha, out=self.low)
        if self.is_bounded:
            np.divide(tau, self.room, out=self.high)

    @cached_property
    def spread(self) -> Floats:
        """Return 1 / theta: how far a unit of force moves a coefficient."""
        stiffness = self.low / self.alpha + self.bend
        if self.is_bounded:
            stiffness += self.high / self.room
        return np.asarray(1.0 / stiffness)

    @cached_property
    def force(self) -> Floats:
        """Return h without its terms in tau and in the corrector."""
        return np.asarray(self.linear - self.margin - self.bend * self.alpha)

    def barrier(self) -> Floats:
        """Return what tau is multiplied with in h."""
        inwards = 1.0 / self.alpha
        return inwards - 1.0 / self.room if self.is_bounded else inwards

    def affine(self, change: Floats) -> Move:
        """Return the step that aims at the optimum itself."""
        alpha = (self.force - change) * self.spread
        low = -self.low * (1.0 + alpha / self.alpha)
        high = self.high * (alpha / self.room - 1.0) if self.is_bounded else self.high
        return Move(alpha, low, high)

    def second_order(self, affine: Move) -> tuple[Floats, Floats]:
        """Return the products of an affine step's changes, at most a few times what they change.

        A handful of rows with huge products would turn the whole step.
        """
        most = MOST_SECOND_ORDER * self.low * self.alpha
        low = np.clip(affine.alpha * affine.low, -most, most)
        if not self.is_bounded:
            return low, self.high
        most = MOST_SECOND_ORDER * self.high * self.room
        return low, np.clip(affine.alpha * affine.high, -most, most)

    def corrector(self, low: Floats, high: Floats) -> Floats:
        """Return what second-order products take from h."""
        taken = low / self.alpha
        return taken + high / self.room if self.is_bounded else taken

    def corrected(self, change: Floats, second: tuple[Floats, Floats], tau: float) -> Move:
        """Return the step to tau with second-order products put back."""
        force = self.force + tau * self.barrier() - self.corrector(*second)
        alpha = (force - change) * self.spread
        low = (tau - second[0] - self.low * alpha) / self.alpha - self.low
        if not self.is_bounded:
            return Move(alpha, low, self.high)
        high = (tau + second[1] + self.high * alpha) / self.room - self.high
        return Move(alpha, low, high)

    def off_centre(self, move: Move, length: float, tau: float) -> tuple[Floats, Floats]:
        """Return what products lack, or have too much, to be near tau after a step."""
        low = _lack((self.alpha + length * move.alpha) * (self.low + length * move.low), tau)
        if not self.is_bounded:
            return low, self.high
        room, high = self.room - length * move.alpha, self.high + length * move.high
        return low, _lack(room * high, tau)

    def products(self, move: Move) -> tuple[float, float, float]:
        """Return the sum of all complementarity products along a move, as a polynomial."""
        now = float(self.alpha @ self.low)
        first = float(move.alpha @ self.low + self.alpha @ move.low)
        second = float(move.alpha @ move.low)
        if self.is_bounded:
            now += float(self.room @ self.high)
            first += float(self.room @ move.high - move.alpha @ self.high)
            second -= float(move.alpha @ move.high)
        return now, first, second

    def blocked(self, move: Move) -> float:
        """Return 1 / t for the t at which the first variable of a move would be zero."""
        nearest = min(np.min(move.alpha / self.alpha), np.min(move.low / self.low))
        if self.is_bounded:
            nearest = min(nearest, np.min(move.high / self.high))
            nearest = min(nearest, -np.max(move.alpha / self.room))
        return float(-nearest)

    def take(self, move: Move, length: float) -> None:
        """Go along a move."""
        self.alpha[...] += length * move.alpha
        self.low[...] += length * move.low
        if self.is_bounded:
            self.room[...] -= length * move.alpha
            self.high[...] += length * move.high


def _lack(products: Floats, tau: float) -> Floats:
    lack = np.clip(products, tau / NEAR, NEAR * tau) - products
    return np.maximum(lack, -NEAR * tau)


def centred(
    rows: DualRows, margin: Floats, tau: float, upper: Floats | float
) -> tuple[Floats, Floats | float]:
    """Return coefficients and room of the path's point for these margins.

    Parameters
    ----------
    rows : DualRows
        The numbers of the dual program.
    margin : ndarray
        Margins.
    tau : float
        Where on the path.
    upper : ndarray or float
        Upper bounds; infinite ones for a loss with curvature.

    Returns
    -------
    alpha, room : ndarray or float
        Both positive, without cancellation.
    """
    slack = margin - rows.linear
    size = np.abs(slack)
    if not rows.is_bounded:
        root = np.sqrt(size * size + 4.0 * tau * rows.bend) + size
        return np.where(slack > 0.0, 2.0 * tau / root, root / (2.0 * rows.bend)), upper
    # The distance to the bound that the margin pushes towards, from a quadratic equation.
    push = size * upper
    near = 2.0 * tau * upper / (push + 2.0 * tau + np.hypot(push, 2.0 * tau))
    far = upper - near
    is_low = slack >= 0.0
    return np.where(is_low, near, far), np.where(is_low, far, near)
