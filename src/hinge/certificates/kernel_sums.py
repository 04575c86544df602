"""Sums over rows, correctly rounded: what they lose never has to be bounded."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def correct_sum(terms: Floats) -> float:
    """Return the sum with a single rounding; NaN if a term is not finite.

    Parameters
    ----------
    terms : ndarray of shape (n,)
        What to sum.
    """
    if not np.isfinite(terms).all():
        return math.nan
    try:
        return math.fsum(terms.tolist())
    except OverflowError:
        return math.inf
