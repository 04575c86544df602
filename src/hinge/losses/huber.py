"""The Huber hinge loss: a hinge whose corner is a parabola of half-width h."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hinge.errors import InvalidParameterError
from hinge.losses.base import Floats, Kink, Loss
from hinge.parameters import real_number


class Huber(Loss):
    """The Huber hinge: 0 from 1+h on, ``(1+h-z)^2 / (4h)`` between, ``1-z`` up to 1-h.

    Smooth: both formulas give the same value and derivative at each end of the parabola.

    Parameters
    ----------
    h : float, default=0.5
        Half-width of the parabola, strictly between 0 and 1.
    """

    name: ClassVar[str] = "huber"
    dual_upper = 1.0
    left_derivative = (-1.0, 0.0)

    def __init__(self, h: float = 0.5) -> None:
        self.h = real_number(h, "h")
        if not 0.0 < self.h < 1.0:
            message = f"h must lie strictly between 0 and 1; got {h!r}."
            raise InvalidParameterError(message)

    @property
    def dual_linear(self) -> float:
        """The linear coefficient of the conjugate, 1 + h."""
        return 1.0 + self.h

    @property
    def dual_curvature(self) -> float:
        """The quadratic coefficient of the conjugate, 2h."""
        return 2.0 * self.h

    @property
    def kinks(self) -> tuple[Kink, ...]:
        """The two ends of the parabola."""
        bend = 0.5 / self.h
        return (Kink(1.0 - self.h, 0.0, bend), Kink(1.0 + self.h, 0.0, -bend))

    def value(self, margins: Floats) -> Floats:
        """Return the Huber hinge loss at each margin."""
        reach = np.maximum(1.0 + self.h - margins, 0.0)
        return np.where(reach >= 2.0 * self.h, reach - self.h, reach * reach / (4.0 * self.h))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Huber) and other.h == self.h

    def __hash__(self) -> int:
        return hash((self.name, self.h))

    def __repr__(self) -> str:
        return f"Huber(h={self.h!r})"
