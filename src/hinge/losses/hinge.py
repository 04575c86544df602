"""The hinge loss, ``max(0, 1 - z)``."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hinge.losses.base import Floats, Kink, Loss


class Hinge(Loss):
    """The hinge loss ``max(0, 1 - z)``; at the kink z = 1 the subgradient is taken as 0."""

    name: ClassVar[str] = "hinge"
    dual_linear = 1.0
    dual_curvature = 0.0
    dual_upper = 1.0
    kinks = (Kink(margin=1.0, jump=1.0, bend=0.0),)
    left_derivative = (-1.0, 0.0)

    def value(self, margins: Floats) -> Floats:
        """Return ``max(0, 1 - z)`` at each margin."""
        return np.maximum(1.0 - margins, 0.0)

    def __repr__(self) -> str:
        return "Hinge()"
