"""The polynomial kernel, ``(gamma a'b + coef0)^degree``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.inequality import rounding_factor
from hinge.kernels.base import Floats
from hinge.kernels.gamma import checked_gamma, gamma_of, number
from hinge.kernels.inner_product import InnerProductKernel
from hinge.parameters import count, real_number

if TYPE_CHECKING:
    from hinge.rows import Rows


@dataclass(frozen=True)
class Polynomial(InnerProductKernel):
    """The polynomial kernel ``(gamma a'b + coef0)^degree``.

    Parameters
    ----------
    degree : int, default=3
        At least 0.
    gamma : float or {"scale", "auto"}, default="scale"
        Factor of the inner product.
    coef0 : float, default=0.0
        What is added to it.
    """

    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "poly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", count(self.degree, "degree"))
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, may_be_negative=True))
        object.__setattr__(self, "coef0", real_number(self.coef0, "coef0"))

    @property
    def psd(self) -> bool | None:
        """True if neither gamma nor coef0 is negative (sums and products of such kernels are)."""
        positive = isinstance(self.gamma, str) or self.gamma >= 0.0
        return True if positive and self.coef0 >= 0.0 else None

    def resolved(self, rows: Rows) -> Polynomial:
        """Return the kernel with gamma a number."""
        return replace(self, gamma=gamma_of(self.gamma, rows))

    @property
    def scale(self) -> float:
        """The factor gamma."""
        return number(self.gamma)

    def shift(self, squared_norms: Floats) -> Floats:
        """Return half of coef0 for each row: two rows make the whole."""
        return np.full_like(squared_norms, 0.5 * self.coef0)

    def apply(self, t: Any) -> Any:
        """Return the powers, by multiplications alone: their rounding is known."""
        power = np.ones_like(t)
        factor = t
        left = self.degree
        while left:
            if left & 1:
                power *= factor
            left >>= 1
            if left:
                factor *= factor
        return power

    def value_error(self, size: Floats, error: Floats, unit: float) -> tuple[Floats, Floats]:
        """Return the error of the power: that of its base, magnified, and of its products."""
        if self.degree == 0:
            return np.zeros_like(error), np.zeros_like(error)
        reach = size + error
        with np.errstate(over="ignore", invalid="ignore"):
            absolute = self.degree * reach ** (self.degree - 1) * error
            # A product may overflow, where nothing is proven, or lose a fixed amount.
            info = np.finfo(np.float32 if unit > 1e-10 else np.float64)
            largest = np.maximum(1.0, reach) ** self.degree
            absolute = absolute + 4.0 * self.degree * float(info.smallest_normal) * largest
            fits = 2.0 * largest < float(info.max)
        relative = np.full_like(error, rounding_factor(self.degree, unit))
        return relative, np.where(fits, absolute, np.inf)
