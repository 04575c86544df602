"""The exponential chi-squared kernel, ``exp(-gamma sum (a - b)^2 / (a + b))``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.errors import InvalidDataError
from hinge.kernels.base import Floats
from hinge.kernels.decay import DecayKernel
from hinge.kernels.products import as_pair, dense_columns
from hinge.parameters import not_negative

if TYPE_CHECKING:
    from hinge.rows import Rows


_ROWS_AT_A_TIME = 32  # so that what is between two features stays in the cache
_SMALLEST = float(np.finfo(np.float64).smallest_normal)


@dataclass(frozen=True)
class ChiSquared(DecayKernel):
    """The kernel ``exp(-gamma sum (a - b)^2 / (a + b))`` of rows that are not negative.

    A feature that is zero in both rows adds nothing. Positive semidefinite.

    Parameters
    ----------
    gamma : float, default=1.0
        Not negative.
    """

    gamma: float = 1.0
    name: ClassVar[str] = "chi2"
    is_never_negative: ClassVar[bool] = True
    is_dear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", not_negative(self.gamma, "gamma"))

    @property
    def psd(self) -> bool:
        """True: the exponent is a conditionally negative definite distance."""
        return True

    def resolved(self, rows: Rows) -> ChiSquared:
        """Return this kernel, or refuse data with negative values."""
        for block in rows.blocks():
            if np.size(block.values) and float(np.min(block.values)) < 0.0:
                matrix = block.matrix
                worst = matrix.min(axis=1)
                low = np.ravel(worst.toarray() if hasattr(worst, "toarray") else worst)
                row = int(np.flatnonzero(low < 0.0)[0])
                message = (
                    f"the chi-squared kernel takes values of at least 0; row {block.start + row} "
                    f"of X has {float(low[row])!r}. Shift or scale the features, for example with "
                    "sklearn.preprocessing.MinMaxScaler."
                )
                raise InvalidDataError(message)
        return self

    def block(self, A: Any, B: Any) -> Floats:
        """Return the kernel of every row of A with every row of B, both dense or CSR."""
        first, second = dense_columns(*as_pair(A, B))
        distances = np.empty((len(first), len(second)))
        columns = np.ascontiguousarray(second.T)
        for start in range(0, len(first), _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            distances[some] = _chi_squared(first[some], columns)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def roundings(self, terms: int) -> int:
        """Return those of quotients, and of their sum."""
        return 2 * terms + 8

    def lost(self, terms: int) -> float:
        """Return what quotients of numbers below the normal ones lose."""
        return (2 * terms + 8) * _SMALLEST * self.gamma


def _chi_squared(rows: Floats, columns: Floats) -> Floats:
    """Return the distances of some rows, one feature after another."""
    distances = np.zeros((len(rows), columns.shape[1]))
    differences, quotients = np.empty_like(distances), np.empty_like(distances)
    for a, b in zip(rows.T, columns, strict=True):
        np.subtract(a[:, None], b, out=differences)
        np.add(a[:, None], b, out=quotients)
        np.maximum(quotients, _SMALLEST, out=quotients)  # two zeros have the quotient zero
        np.divide(differences, quotients, out=quotients)  # before the square, which may overflow
        quotients *= differences
        distances += quotients
    return distances
