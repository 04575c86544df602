"""A kernel given as a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels.base import Floats, Kernel, checked_psd
from hinge.kernels.products import as_pair, as_rows

_ROWS_AT_A_TIME = 64  # of a diagonal, for which the function computes their whole block


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function of two arrays of rows that returns their block of kernel values.

    What it returns is taken as the kernel itself, without any rounding error.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns an array of shape (len(A), len(B)); A and B are float64 arrays,
        or CSR where the data are sparse.
    psd : bool or None, default=None
        Whether it is positive semidefinite; a gap is certified only if you say that it is.
    """

    function: Callable[[Any, Any], Any]
    psd: bool | None = None
    name: ClassVar[str] = "callable"
    is_dear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            message = f"CallableKernel takes a function of two arrays; got {self.function!r}."
            raise InvalidParameterError(message)
        checked_psd(self.psd)

    def __repr__(self) -> str:
        place = getattr(self.function, "__module__", None)
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"CallableKernel({place}.{name}, psd={self.psd!r})"

    def block(self, A: Any, B: Any) -> Floats:
        """Return what the function returns, or refuse it."""
        first, second = as_pair(A, B)
        returned = self.function(first, second)
        values = np.array(returned.toarray() if hasattr(returned, "toarray") else returned)
        wanted = (first.shape[0], second.shape[0])
        if values.shape != wanted or values.dtype.kind not in "biuf":
            message = (
                f"the kernel function must return numbers of shape {wanted} for that many rows; "
                f"got dtype {values.dtype}, shape {values.shape}."
            )
            raise InvalidDataError(message)
        values = values.astype(np.float64, copy=False)
        if not np.isfinite(values).all():
            message = "the kernel function returned NaN or infinity."
            raise InvalidDataError(message)
        return values

    def diagonal(self, A: Any) -> Floats:
        """Return the diagonals of small blocks."""
        rows = as_rows(A)
        parts = []
        for start in range(0, rows.shape[0], _ROWS_AT_A_TIME):
            few = rows[start : start + _ROWS_AT_A_TIME]
            parts.append(np.diagonal(self.block(few, few)))
        return np.concatenate(parts) if parts else np.zeros(0)

    def block_error(
        self,
        norms: Floats,
        largest: Floats | float,  # noqa: ARG002
        terms: int,  # noqa: ARG002
        unit: float = UNIT_ROUNDOFF,  # noqa: ARG002
    ) -> tuple[Floats, Floats]:
        """Return zeros: the function's values are the kernel."""
        return np.zeros(np.shape(norms)), np.zeros(np.shape(norms))
