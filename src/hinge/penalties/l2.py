"""The squared Euclidean norm, ``1/2 ||w||^2``."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class L2:
    """Half the squared Euclidean norm; its own conjugate."""

    name: ClassVar[str] = "l2"
    strong_convexity: ClassVar[float] = 1.0

    def value(self, coef: NDArray[np.float64]) -> float:
        """Return ``1/2 ||coef||^2``."""
        return 0.5 * float(coef @ coef)

    def __repr__(self) -> str:
        return "L2()"
