"""The sigmoid kernel, ``tanh(gamma a'b + coef0)``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.kernels.base import Floats
from hinge.kernels.gamma import checked_gamma, gamma_of, number
from hinge.kernels.inner_product import InnerProductKernel
from hinge.parameters import real_number

if TYPE_CHECKING:
    from hinge.rows import Rows

TANH_UNITS = 16.0  # units of roundoff, so 8 ulp


@dataclass(frozen=True)
class Sigmoid(InnerProductKernel):
    """The sigmoid kernel ``tanh(gamma a'b + coef0)``; not positive semidefinite.

    Parameters
    ----------
    gamma : float or {"scale", "auto"}, default="scale"
        Factor of the inner product.
    coef0 : float, default=0.0
        What is added to it.
    """

    gamma: float | str = "scale"
    coef0: float = 0.0
    name: ClassVar[str] = "sigmoid"
    levels_off: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, may_be_negative=True))
        object.__setattr__(self, "coef0", real_number(self.coef0, "coef0"))

    @property
    def psd(self) -> bool:
        """False: some data have a kernel matrix with a negative eigenvalue."""
        return False

    def resolved(self, rows: Rows) -> Sigmoid:
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
        """Return the hyperbolic tangents."""
        return np.tanh(t, out=t)

    def slope_above(self, size: Floats) -> Floats:
        """Return ``1 - size^2``: the slope is 1 - v^2, and no mean of squares is below that."""
        return 1.0 - np.square(size)

    def value_error(self, size: Floats, error: Floats, unit: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Return the error of t, which no value magnifies, and that of the function."""
        return np.full_like(error, TANH_UNITS * unit), error
