r"""What every loss of a margin provides.

A loss is a convex, non-increasing function of the margin ``z = y (w'x + b)`` that is zero from
some margin on and whose derivative is piecewise linear. Its conjugate on the negative side has
the form that the dual program is written in,

.. math:: \ell^*(-a) = -p\,a + \tfrac12 \kappa\, a^2, \qquad 0 \le a \le u,

so three numbers (p, kappa, u) describe the whole dual: with a weight c on the row and a dual
coefficient alpha, ``c * conjugate(alpha / c) = -p alpha + kappa alpha^2 / (2 c)`` on
``0 <= alpha <= u c``.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Side(enum.StrEnum):
    """From which side a derivative is taken where it jumps."""

    LEFT = "left"
    RIGHT = "right"


_SMALLEST = 5e-324  # keeps infinity * 0 out of the bounds of rows without cost


@dataclass(frozen=True)
class Kink:
    """One place where the derivative of a loss changes its formula.

    Parameters
    ----------
    margin : float
        Where it happens.
    jump : float
        By how much the derivative jumps up there.
    bend : float
        By how much the slope of the derivative changes there.
    """

    margin: float
    jump: float
    bend: float


class Loss(ABC):
    """A convex, non-increasing, piecewise quadratic function of the margin."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def dual_linear(self) -> float:
        """The coefficient p of the conjugate."""

    @property
    @abstractmethod
    def dual_curvature(self) -> float:
        """The coefficient kappa of the conjugate; zero where the loss has a corner."""

    @property
    @abstractmethod
    def dual_upper(self) -> float:
        """The largest slope u; infinity where the loss grows faster than any line."""

    @property
    @abstractmethod
    def kinks(self) -> tuple[Kink, ...]:
        """Where the derivative changes its formula, by increasing margin."""

    @property
    @abstractmethod
    def left_derivative(self) -> tuple[float, float]:
        """Intercept and slope, in the margin, of the derivative left of every kink."""

    @property
    def zero_from(self) -> float:
        """The smallest margin from which the loss is zero."""
        return self.kinks[-1].margin

    @abstractmethod
    def value(self, margins: Floats) -> Floats:
        """Return the loss at each margin."""

    def subgradient(self, margins: Floats) -> Floats:
        """Return the derivative at each margin; at a jump, its value on the right."""
        return self._derivative(margins, Side.RIGHT)

    def subdifferential(self, margins: Floats) -> tuple[Floats, Floats]:
        """Return the smallest and the largest subgradient at each margin."""
        return self._derivative(margins, Side.LEFT), self._derivative(margins, Side.RIGHT)

    def conjugate(self, slopes: Floats) -> Floats:
        """Return the conjugate at ``-slopes``; infinity outside ``[0, dual_upper]``."""
        inside = (slopes >= 0.0) & (slopes <= self.dual_upper)
        safe = np.where(inside, slopes, 0.0)
        values = -self.dual_linear * safe + 0.5 * self.dual_curvature * safe * safe
        return np.where(inside, values, np.inf)

    def upper_bound(self, costs: Floats) -> Floats:
        """Return the largest dual coefficient of rows of these costs; 0 for rows without cost."""
        return np.where(costs > 0, self.dual_upper, 0.0) * np.maximum(costs, _SMALLEST)

    def derivative_pieces(self) -> tuple[Floats, Floats]:
        """Return the derivative's pieces by increasing margin: constants, and slopes in the margin.

        Between the kinks ``k - 1`` and ``k`` the derivative at a margin z is
        ``constants[k] + slopes[k] * z``.

        Returns
        -------
        constants, slopes : ndarray of shape (len(kinks) + 1,)
            What every piece is at margin 0, and its slope.
        """
        start, slope = self.left_derivative
        constants, slopes = [start], [slope]
        for kink in self.kinks:
            constants.append(constants[-1] + kink.jump - kink.bend * kink.margin)
            slopes.append(slopes[-1] + kink.bend)
        # Right of the last kink the loss is zero: the sums above may leave a rounding error.
        constants[-1] = slopes[-1] = 0.0
        return np.asarray(constants), np.asarray(slopes)

    def _derivative(self, margins: Floats, side: Side) -> Floats:
        """Evaluate the piecewise linear derivative, jumps included from the given side."""
        z = np.asarray(margins, dtype=np.float64)
        edges = [kink.margin for kink in self.kinks]
        piece = np.searchsorted(edges, z, side=side.value)
        constants, slopes = self.derivative_pieces()
        return np.asarray(constants[piece] + slopes[piece] * z)
