"""The squared hinge loss, ``max(0, 1 - z)^2``."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hinge.losses.base import Floats, Kink, Loss


class SquaredHinge(Loss):
    """The squared hinge loss ``max(0, 1 - z)^2``; smooth, its derivative is 0 at z = 1."""

    name: ClassVar[str] = "squared_hinge"
    dual_linear = 1.0
    dual_curvature = 0.5
    dual_upper = float("inf")
    kinks = (Kink(margin=1.0, jump=0.0, bend=-2.0),)
    left_derivative = (-2.0, 2.0)

    def value(self, margins: Floats) -> Floats:
        """Return ``max(0, 1 - z)^2`` at each margin."""
        violation = np.maximum(1.0 - margins, 0.0)
        return violation * violation

    def __repr__(self) -> str:
        return "SquaredHinge()"
