r"""Rows of whole multiples of one number, such as pixels / 255: distances without any error.

Terms are :math:`z = p / q + r` with whole numbers p of 16 bits, and so is a query. Squared
distances of the whole numbers are exact, and one instruction takes two features of a term; the
packed terms take half the memory of float32, which is what a single query waits for. What is left
is :math:`e = \|r_z\| + \|r_x\|`, rounding of the values to multiples: for numbers that were
written with a few digits that is of the size of float32's own roundings, or none. A squared
distance is rounded to float32 once and then multiplied once, so that with three roundings of the
exponent the bounds are those of ``near``.

The number q is the one of a short list that leaves least of the terms. A query that it leaves more
of is not for these sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.near import NearSums, bounds_of
from hinge.anytime.sides import SINGLE_ROUNDOFF
from hinge.anytime.single import SingleSums

Floats = NDArray[np.float64]

# Digits of decimal and binary fractions, percentages, pixels.
_MULTIPLES: tuple[int, ...] = (
    *(1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100, 128, 200, 255, 256, 500, 512),
    *(1000, 1024, 2000, 2048, 4096, 5000, 8192, 10000),
)
_MOST_SQUARE = 2.0**29
_ROOM = 1.1  # by how much a query's norm may exceed those of the terms
_USEFUL = 16.0 * SINGLE_ROUNDOFF  # of an exponent: what rounding to multiples may move it by
_SAMPLE_ROWS = 64
_ROUNDINGS = 3  # of a squared distance: to float32, of gamma, and of their product


@dataclass(frozen=True)
class WholeSums:
    """Functions over terms of whole multiples.

    Parameters
    ----------
    multiple : int
        q.
    left : float
        What a query may leave, as a norm.
    gamma : float
        Of the kernel of the whole numbers.
    kept : core.WholeTerms
        The packed terms.
    bounds : NearSums
        What may be wrong with the sums.
    """

    multiple: int
    left: float
    gamma: float
    kept: Any
    bounds: NearSums

    @staticmethod
    def of(sums: SingleSums, gamma: float) -> WholeSums | None:
        """Return the sums, if dense terms are whole multiples of a number; else None.

        Parameters
        ----------
        sums : SingleSums
            The functions.
        gamma : float
            Of the Gaussian kernel.
        """
        rows = sums.terms
        if rows.is_sparse or rows.n_rows == 0:
            return None
        values = np.asarray(rows.values, dtype=np.float64)
        largest = float(np.max(rows.squared_norms))
        multiple = _multiple(values, largest, gamma)
        if multiple is None:
            return None
        whole = np.rint(values * multiple)
        left = 2.0 * _left(values, whole, multiple, largest)
        if not np.sqrt(gamma) * left <= _USEFUL:
            return None
        bounds = bounds_of(sums, gamma, 2.0 * left, _ROUNDINGS)
        if bounds is None:
            return None
        coef = np.ascontiguousarray(sums.coef.T)
        kept = core.WholeTerms(whole.astype(np.int16), coef)
        return WholeSums(multiple, left, gamma / multiple**2, kept, bounds)

    def add_to(self, native: core.FewQueries) -> None:
        """Add the sums to what classifies a few queries, as one of the first.

        Parameters
        ----------
        native : core.FewQueries
            What is added to; it looks which queries are such multiples.
        """
        bounds = self.bounds
        native.add_whole(
            0,
            self.kept,
            self.gamma,
            float(self.multiple),
            self.left,
            bounds.slope,
            bounds.share,
            bounds.fixed,
        )


def _multiple(values: Floats, largest: float, gamma: float) -> int | None:
    """Return the number of the list that leaves least of some terms, if that is little enough."""
    some = values[:: max(1, len(values) // _SAMPLE_ROWS)]
    most = np.sqrt(_MOST_SQUARE / max(largest, 1e-300)) / _ROOM
    found, least = None, _USEFUL / np.sqrt(gamma) if gamma > 0.0 else np.inf
    for multiple in _MULTIPLES:
        if multiple > most:
            break
        left = _left(some, np.rint(some * multiple), multiple, largest)
        if left < least:
            found, least = multiple, left
    return found


def _left(values: Floats, whole: Floats, multiple: int, square: float) -> float:
    """Return an upper bound on the norms of what whole multiples leave of rows.

    Parameters
    ----------
    values, whole : ndarray of shape (n, n_features)
        The rows, and the whole numbers.
    multiple : int
        What the whole numbers are divided by.
    square : float
        The largest squared norm of the rows.
    """
    off = values - whole / multiple
    squares = np.einsum("ij,ij->i", off, off).max()
    # A quotient is rounded once, and so is a difference.
    return 1.001 * (math.sqrt(squares) + 2.0**-51 * math.sqrt(square))
