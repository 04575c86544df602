"""Sums over rows, correctly rounded: what they lose never has to be bounded."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import rounding_factor

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


def correct_sum(terms: Floats) -> float:
    """Return the sum with a single rounding; NaN if a term is not finite.

    Parameters
    ----------
    terms : ndarray of shape (n,)
        What to sum.
    """
    return _sum(terms.tolist()) if np.isfinite(terms).all() else math.nan


def correct_sums(terms: Floats, ends: Ids) -> Floats:
    """Return the sums of consecutive parts of some terms, each with a single rounding.

    Parameters
    ----------
    terms : ndarray of shape (n,)
        What to sum.
    ends : ndarray of int64 of shape (m + 1,)
        Where every part begins, and where the last one ends.

    Returns
    -------
    ndarray of shape (m,)
        The sums; NaN where a term is not finite.
    """
    if not np.isfinite(terms).all():
        parts = itertools.pairwise(ends.tolist())
        return np.asarray([correct_sum(terms[first:last]) for first, last in parts])
    # Most rows are no support vectors and have no loss: zeros need not be summed.
    where = np.flatnonzero(terms)
    values = terms[where].tolist()
    cuts = itertools.pairwise(np.searchsorted(where, ends).tolist())
    return np.asarray([_sum(values[first:last]) for first, last in cuts])


def sums_above(terms: Floats, ends: Ids) -> Floats:
    """Return upper bounds on the sums of consecutive parts of some terms, quickly.

    Parameters
    ----------
    terms : ndarray of shape (n,)
        What to sum, not negative; what is not finite stays so.
    ends : ndarray of int64 of shape (m + 1,)
        Where every part begins, and where the last one ends.
    """
    sums = np.zeros(len(ends) - 1)
    is_there = np.diff(ends) > 0
    if is_there.any():
        sums[is_there] = np.add.reduceat(terms, ends[:-1][is_there])
    return sums * (1.0 + rounding_factor(len(terms)))


def _sum(terms: list[float]) -> float:
    """Return the correctly rounded sum of finite terms."""
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf
