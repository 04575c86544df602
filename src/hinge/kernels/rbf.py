"""The Gaussian kernel, ``exp(-gamma ||a - b||^2)``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.kernels.base import Floats, Kernel
from hinge.kernels.differences import GaussianOfDifferences, loses_digits
from hinge.kernels.exponential import exponential_error
from hinge.kernels.gamma import checked_gamma, gamma_of, number
from hinge.kernels.inner_product import InnerProductKernel, len_of

if TYPE_CHECKING:
    from hinge.rows import Rows


@dataclass(frozen=True)
class RBF(InnerProductKernel):
    """The Gaussian kernel ``exp(-gamma ||a - b||^2)``; positive semidefinite.

    Parameters
    ----------
    gamma : float or {"scale", "auto"}, default="scale"
        Not negative.
    """

    gamma: float | str = "scale"
    name: ClassVar[str] = "rbf"
    is_never_negative: ClassVar[bool] = True
    is_translation_invariant: ClassVar[bool] = True
    splits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma))

    @property
    def psd(self) -> bool:
        """True: it is the Fourier transform of a positive density."""
        return True

    def resolved(self, rows: Rows) -> RBF:
        """Return the kernel with gamma a number."""
        return replace(self, gamma=gamma_of(self.gamma, rows))

    def on(self, rows: Rows) -> Kernel:
        """Return the kernel, of differences where products would lose what tells rows apart."""
        gamma = number(self.gamma)
        return GaussianOfDifferences(gamma) if loses_digits(self, gamma, rows) else self

    @property
    def scale(self) -> float:
        """Twice gamma."""
        return 2.0 * number(self.gamma)

    def shift(self, squared_norms: Floats) -> Floats:
        """Return ``-gamma`` times the squared norms."""
        return np.asarray(-number(self.gamma) * squared_norms)

    def limit(self, t: Any) -> Any:
        """Return t, not above 0: a distance that rounds below zero is zero."""
        return np.minimum(t, 0.0, out=t)

    def apply(self, t: Any) -> Any:
        """Return the exponentials."""
        return np.exp(t, out=t)

    def value_error(self, size: Floats, error: Floats, unit: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Return the error of an exponential: what t is off by is relative."""
        return exponential_error(error, unit)

    def diagonal(self, A: Any) -> Floats:
        """Return ones."""
        return np.ones(len_of(A))

    def diagonal_above(self, A: Any, norms: Floats, terms: int) -> Floats:  # noqa: ARG002
        """Return the diagonal, which is exact."""
        return self.diagonal(A)
