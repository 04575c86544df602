r"""Kernels that are a function of one number, which inner products give.

.. math:: k(a, b) = \varphi(t), \qquad t = s\,a'b + h(\|a\|^2) + h(\|b\|^2)

Linear, polynomial and sigmoid kernels have a constant h; the RBF kernel has
:math:`s = 2\gamma`, :math:`h(q) = -\gamma q` and :math:`\varphi = \exp`. One bound on the rounding
of t serves them all: with rows of norms at most :math:`\rho` and R, sums of n products, and the
unit roundoff u of the arithmetic,

.. math:: |\hat t - t| \le \frac{(n + 8)u}{1 - (n + 8)u}
          \bigl(|s|\rho R + |h(\rho^2)| + |h(R^2)|\bigr) .

It includes the rounding of the rows themselves, once each: of their conversion to float32, or of
the subtraction of a centre, whose error is relative to the difference.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels.base import Floats, Kernel
from hinge.kernels.products import as_pair, as_rows, inner, squared_norms

ROUNDINGS = 8  # of the rows, the scale and the two shifts, with some to spare


class InnerProductKernel(Kernel):
    """A function of ``t = scale * a'b + shift(a'a) + shift(b'b)``."""

    is_translation_invariant: ClassVar[bool] = False
    splits: ClassVar[bool] = False  # whether the value of a sum is the product of the values

    @property
    @abstractmethod
    def scale(self) -> float:
        """The factor s of the inner product."""

    @abstractmethod
    def shift(self, squared_norms: Floats) -> Floats:
        """Return h of squared norms: what a row adds to t."""

    @abstractmethod
    def apply(self, t: Any) -> Any:
        """Return the values for an array of t, which is overwritten; float32 or float64."""

    def limit(self, t: Any) -> Any:
        """Return t with what only rounding can have made of it put right, in place."""
        return t

    @abstractmethod
    def value_error(self, size: Floats, error: Floats, unit: float) -> tuple[Floats, Floats]:
        """Return relative and absolute error bounds of values, given those of t.

        Parameters
        ----------
        size, error : ndarray
            Bounds on the size of t and on its error.
        unit : float
            Unit roundoff of the arithmetic.
        """

    def block(self, A: Any, B: Any) -> Floats:
        """Return the kernel of every row of A with every row of B, both dense or CSR."""
        first, second = as_pair(A, B)
        is_dense = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
        if self.is_translation_invariant and is_dense and len_of(first):
            # Distances do not depend on the origin; what they lose by subtraction does.
            centre = first.mean(axis=0)
            first, second = first - centre, second - centre
        t = inner(first, second)
        t *= self.scale
        t += self.shift(squared_norms(first))[:, None]
        t += self.shift(squared_norms(second))[None, :]
        return np.asarray(self.apply(self.limit(t)))

    def diagonal(self, A: Any) -> Floats:
        """Return the kernel of every row with itself."""
        squares = squared_norms(as_rows(A))
        return np.asarray(self.apply(self.scale * squares + 2.0 * self.shift(squares)))

    def block_error(
        self, norms: Floats, largest: Floats | float, terms: int, unit: float = UNIT_ROUNDOFF
    ) -> tuple[Floats, Floats]:
        """Return what rounding may have done to the values of ``block``, row by row."""
        size, error = self.argument_error(norms, largest, terms, unit)
        return self.value_error(size, error, unit)

    def argument_error(
        self, norms: Floats, largest: Floats | float, terms: int, unit: float
    ) -> tuple[Floats, Floats]:
        """Return bounds on the size and on the rounding error of t, for rows of these norms."""
        rho = np.asarray(norms, dtype=np.float64)
        far = np.asarray(largest, dtype=np.float64)
        size = abs(self.scale) * rho * far
        size = size + np.abs(self.shift(rho * rho)) + np.abs(self.shift(far * far))
        # A product below the range of normal numbers loses a fixed amount instead.
        lost = float(np.finfo(np.float32 if unit > 1e-10 else np.float64).smallest_subnormal)
        vanished = 4.0 * (terms + 4) * lost * (1.0 + abs(self.scale)) * (1.0 + rho) * (1.0 + far)
        return size, rounding_factor(terms + ROUNDINGS, unit) * size + vanished


def len_of(A: Any) -> int:
    """Return how many rows there are."""
    return int(A.shape[0])
