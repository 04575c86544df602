r"""The losses of Newton's method: flat, then a parabola, then a line.

A loss whose conjugate is :math:`-p\,a + \tfrac12\kappa a^2` on :math:`[0, u]` has the derivative

.. math:: \ell'(z) = -\frac1\kappa \min(\max(p - z, 0),\ u\kappa),

so that its second derivative is :math:`1/\kappa` in the window
:math:`p - u\kappa \le z < p` and zero elsewhere. For the squared hinge the window has no lower end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.losses import Loss

Floats = NDArray[np.float64]

# How far beyond a corner held rows come to lie, as a part of its margin: below it every rounding of
# a margin is worth a whole cost, and that of a certificate with it.
_BEYOND = 2.0**-33


@dataclass(frozen=True)
class Window:
    """Where a loss is a parabola.

    Parameters
    ----------
    top : float
        The margin from which the loss is zero.
    width : float
        How far the parabola reaches below it; may be infinite.
    bend : float
        The second derivative of the parabola.
    """

    top: float
    width: float
    bend: float

    @classmethod
    def of(cls, loss: Loss) -> Window:
        """Return the window of a loss without corners."""
        curvature = loss.dual_curvature
        return cls(loss.dual_linear, loss.dual_upper * curvature, 1.0 / curvature)

    @classmethod
    def smoothed(cls, loss: Loss, half_width: float) -> Window:
        """Return the window of a loss whose corner is a parabola of that half-width.

        Parameters
        ----------
        loss : Loss
            The hinge loss, whose corner is where its dual's linear term says.
        half_width : float
            How far from the corner the parabola reaches on either side.
        """
        bend = loss.dual_upper / (2.0 * half_width)
        return cls(loss.dual_linear + half_width, 2.0 * half_width, bend)

    @classmethod
    def held(cls, loss: Loss, spread: float) -> Window:
        """Return the window of a loss whose coefficients are held near others.

        Parameters
        ----------
        loss : Loss
            Any loss.
        spread : float
            How much wider holding makes the window, for a coefficient of a whole cost.
        """
        curvature = loss.dual_curvature + spread
        top = loss.dual_linear * (1.0 if loss.dual_curvature else 1.0 + _BEYOND)
        return cls(top, loss.dual_upper * curvature, 1.0 / curvature)

    def native(self, loss: Loss, spread: float, *, foresees: bool) -> core.LossWindow:
        """Return the window for native code, with the loss itself where coefficients are held.

        Parameters
        ----------
        loss : Loss
            What the window is one of.
        spread : float
            How much wider holding has made it; 0 if nothing is held.
        foresees : bool
            Whether rows count that a short step was stopped by.
        """
        window = core.LossWindow(self.top, self.width, self.bend, foresees)
        if not spread:
            return window
        curvature, upper = loss.dual_curvature, loss.dual_upper
        return window.held(
            *(spread, loss.dual_linear, upper * curvature if curvature else 0.0),
            *(1.0 / curvature if curvature else 0.0, upper if math.isfinite(upper) else 0.0),
        )

    def depth(self, margins: Floats) -> Floats:
        """Return how deep margins are in the window, ``-kappa`` times the derivative."""
        depth = self.top - margins
        return np.clip(depth, 0.0, self.width, out=depth)
