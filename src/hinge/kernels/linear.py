"""The linear kernel, ``a'b``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hinge.kernels.base import Floats
from hinge.kernels.inner_product import InnerProductKernel


@dataclass(frozen=True)
class Linear(InnerProductKernel):
    """The linear kernel ``a'b``; positive semidefinite."""

    name: ClassVar[str] = "linear"

    @property
    def psd(self) -> bool:
        """True: it is an inner product."""
        return True

    @property
    def scale(self) -> float:
        """1."""
        return 1.0

    def shift(self, squared_norms: Floats) -> Floats:
        """Return zeros."""
        return np.zeros_like(squared_norms)

    def apply(self, t: Any) -> Any:
        """Return the inner products themselves."""
        return t

    def value_error(self, size: Floats, error: Floats, unit: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Return the error of the inner product."""
        return np.zeros_like(error), error
