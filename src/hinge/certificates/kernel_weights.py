r"""Sums of kernel values times weights, in the arithmetic that the values are in.

Values in float32 are summed there as well, a few at a time, since a pass that only makes them
longer costs as much as their exponentials save. With :math:`u = 2^{-24}`, m terms at a time, and
weights that are divided by a power of two so that the largest is about one, the sum of a row is off
by at most

.. math:: \frac{(m + 4)u}{1 - (m + 4)u} \sum_j |w_j v_j| + n\,2^{-149} \max_j |w_j| :

a rounding of each weight and each product and m - 1 of the sum; products below the normal numbers
lose a fixed amount instead. The few sums that are left are added up in float64. Weights so small
that float32 does not know them beside the largest are a reason to do it all in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import rounding_factor

Floats = NDArray[np.float64]

SINGLE_UNIT = 2.0**-24  # the unit roundoff of float32
_SINGLE_SUM = 64  # values that are summed at a time in float32
_SMALLEST = 2.0**-100  # in parts of the largest weight: far above what underflows
_LOST = 2.0**-148  # of a product that underflows, in parts of the largest weight, at the most


class PanelWeights:
    """Weights of the columns of a panel.

    Parameters
    ----------
    weights : ndarray of shape (w,) or (w, m)
        The weights, not negative, of one sum or of several.
    dtype : dtype
        What the values are in.
    """

    def __init__(self, weights: Floats, dtype: Any) -> None:
        self._weights = weights
        self._width = weights.shape[1] if weights.ndim > 1 else 1
        self._scaled: NDArray[np.float32] | None = None
        self._unit: Floats | float = 1.0
        if np.dtype(dtype) == np.float32:
            self._scale()

    def _scale(self) -> None:
        largest = np.max(self._weights, axis=0, initial=0.0)  # of every sum
        tiny = (self._weights < _SMALLEST * largest) & (self._weights != 0.0)
        if np.any(largest) and np.all(np.isfinite(largest)) and not tiny.any():
            exponents = np.frexp(largest)[1]
            self._scaled = np.ldexp(self._weights, -exponents).astype(np.float32)
            self._unit = np.ldexp(1.0, exponents)

    def sums(self, values: NDArray[Any]) -> Floats:
        """Return the weighted sums of every row of a panel of values.

        Parameters
        ----------
        values : ndarray of shape (n, w)
            The values.
        """
        if self._scaled is None:
            return np.asarray(values @ self._weights, dtype=np.float64)
        n, size = len(values), _SINGLE_SUM
        groups = len(self._weights) // size
        whole = groups * size
        weights = self._scaled.reshape(len(self._weights), self._width)
        # One product for every group of columns, all in one call.
        parts = np.matmul(
            values[:, :whole].reshape(n, groups, size).transpose(1, 0, 2),
            weights[:whole].reshape(groups, size, self._width),
        )
        found = np.sum(parts, axis=0, dtype=np.float64)
        if whole < len(weights):
            found += values[:, whole:] @ weights[whole:]
        return np.asarray(found * self._unit).reshape(n, *self._weights.shape[1:])


def sum_error(dtype: Any) -> float:
    """Return what sums add to the relative errors of values in such an arithmetic.

    Parameters
    ----------
    dtype : dtype
        What the values are in; the sums of float64 are for others to bound.
    """
    if np.dtype(dtype) == np.float64:
        return 0.0
    return rounding_factor(_SINGLE_SUM + 2, SINGLE_UNIT)


def sum_loss(dtype: Any, terms: int) -> float:
    """Return what sums lose to underflow at the most, in parts of the sum of all weights.

    Parameters
    ----------
    dtype : dtype
        What the values are in.
    terms : int
        How many values are summed.
    """
    return 0.0 if np.dtype(dtype) == np.float64 else terms * _LOST
