r"""Gradients of kernel values with respect to one of their rows, where they have any.

For rows :math:`a_i` and a point z a slope gives the values :math:`k(a_i, z)` and, for weights v,
:math:`\sum_i v_i \nabla_z k(a_i, z)`, which is one product with the rows:

- Gaussian, :math:`2\gamma \sum_i v_i k_i (a_i - z)`;
- polynomial, :math:`p\gamma \sum_i v_i (\gamma a_i'z + c)^{p-1} a_i`;
- normalised, from that of its kernel g by the rule for quotients,
  :math:`\sum_i v_i \frac{\nabla g_i}{\sqrt{g(a_i,a_i)\, g(z,z)}}
  - \frac{\nabla g(z, z)}{2 g(z, z)} \sum_i v_i k_i`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hinge.kernels.base import Kernel
from hinge.kernels.gamma import number
from hinge.kernels.linear import Linear
from hinge.kernels.normalised import Normalised
from hinge.kernels.polynomial import Polynomial
from hinge.kernels.rbf import RBF

Floats = NDArray[np.float64]


class Slope(Protocol):
    """A kernel with gradients."""

    def values(self, A: Floats, z: Floats) -> Floats:
        """Return the kernel of every row with the point."""

    def turned(self, A: Floats, z: Floats, values: Floats, v: Floats) -> Floats:
        """Return the weighted sum of the gradients of those values."""

    def own(self, z: Floats) -> tuple[float, Floats]:
        """Return the kernel of the point with itself, and the gradient of that."""

    def squares(self, A: Floats) -> Floats:
        """Return the kernel of every row with itself."""


def slope_of(kernel: Kernel) -> Slope | None:
    """Return the gradients of a kernel; None if it is not known to have any.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    """
    if isinstance(kernel, RBF):
        return _Gaussian(number(kernel.gamma))
    if isinstance(kernel, Linear):
        return _Power(1, 1.0, 0.0)
    if isinstance(kernel, Polynomial) and kernel.degree > 0:
        return _Power(kernel.degree, number(kernel.gamma), kernel.coef0)
    if isinstance(kernel, Normalised):
        inner = slope_of(kernel.kernel)
        return None if inner is None else _Quotient(inner)
    return None


@dataclass(frozen=True)
class _Gaussian:
    gamma: float

    def values(self, A: Floats, z: Floats) -> Floats:
        return np.asarray(np.exp(-self.gamma * np.sum((A - z) ** 2, axis=1)))

    def turned(self, A: Floats, z: Floats, values: Floats, v: Floats) -> Floats:
        weights = v * values
        return np.asarray(2.0 * self.gamma * (weights @ A - np.sum(weights) * z))

    def own(self, z: Floats) -> tuple[float, Floats]:
        return 1.0, np.zeros_like(z)

    def squares(self, A: Floats) -> Floats:
        return np.ones(len(A))


@dataclass(frozen=True)
class _Power:
    degree: int
    gamma: float
    coef0: float

    def _base(self, products: Floats) -> Floats:
        return self.gamma * products + self.coef0

    def values(self, A: Floats, z: Floats) -> Floats:
        return np.asarray(self._base(A @ z) ** self.degree)

    def turned(self, A: Floats, z: Floats, values: Floats, v: Floats) -> Floats:
        del values
        weights = v * self._base(A @ z) ** (self.degree - 1)
        return np.asarray(self.degree * self.gamma * (weights @ A))

    def own(self, z: Floats) -> tuple[float, Floats]:
        base = float(self.gamma * (z @ z) + self.coef0)
        slope = 2.0 * self.degree * self.gamma * base ** (self.degree - 1)
        return base**self.degree, slope * z

    def squares(self, A: Floats) -> Floats:
        return np.asarray(self._base(np.einsum("ij,ij->i", A, A)) ** self.degree)


@dataclass(frozen=True)
class _Quotient:
    inner: Slope

    def _factors(self, A: Floats) -> Floats:
        roots = np.sqrt(np.maximum(self.inner.squares(A), 0.0))
        return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)

    def values(self, A: Floats, z: Floats) -> Floats:
        own = self.inner.own(z)[0]
        scale = 1.0 / np.sqrt(own) if own > 0.0 else 0.0
        return np.asarray(self.inner.values(A, z) * self._factors(A) * scale)

    def turned(self, A: Floats, z: Floats, values: Floats, v: Floats) -> Floats:
        own, slope = self.inner.own(z)
        if not own > 0.0:
            return np.zeros_like(z)
        inner = self.inner.values(A, z)
        first = self.inner.turned(A, z, inner, v * self._factors(A)) / np.sqrt(own)
        return np.asarray(first - 0.5 * float(v @ values) / own * slope)

    def own(self, z: Floats) -> tuple[float, Floats]:
        return float(self.inner.own(z)[0] > 0.0), np.zeros_like(z)

    def squares(self, A: Floats) -> Floats:
        return np.asarray(self.inner.squares(A) > 0.0, dtype=np.float64)
