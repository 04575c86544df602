"""The Laplacian kernel, ``exp(-gamma ||a - b||_1)``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.kernels.base import Floats
from hinge.kernels.decay import DecayKernel
from hinge.kernels.gamma import checked_gamma, gamma_of, number
from hinge.kernels.products import as_pair, dense_columns

if TYPE_CHECKING:
    from hinge.rows import Rows


@dataclass(frozen=True)
class Laplacian(DecayKernel):
    """The Laplacian kernel ``exp(-gamma ||a - b||_1)``; positive semidefinite.

    Parameters
    ----------
    gamma : float or {"scale", "auto"}, default="scale"
        Not negative.
    """

    gamma: float | str = "scale"
    name: ClassVar[str] = "laplacian"
    is_never_negative: ClassVar[bool] = True
    is_dear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma))

    @property
    def psd(self) -> bool:
        """True: a product, over the features, of kernels that are."""
        return True

    def resolved(self, rows: Rows) -> Laplacian:
        """Return the kernel with gamma a number."""
        return replace(self, gamma=gamma_of(self.gamma, rows))

    def block(self, A: Any, B: Any) -> Floats:
        """Return the kernel of every row of A with every row of B, both dense or CSR."""
        from scipy.spatial.distance import cdist  # noqa: PLC0415 - slow to import, seldom used

        distances: Floats = np.asarray(cdist(*dense_columns(*as_pair(A, B)), "cityblock"))
        distances *= -number(self.gamma)
        return np.exp(distances, out=distances)

    def roundings(self, terms: int) -> int:
        """Return those of differences, and of the sum of their sizes."""
        return 2 * terms + 4
