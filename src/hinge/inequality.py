r"""The one inequality behind hinge: Cauchy-Schwarz on a change.

.. math:: |(w - w')' x| \le \|w - w'\| \, \|x\|

If ``w`` is known only to lie within a radius of a centre, every decision value it gives lies
within ``radius * ||x||`` of the centre's. All uses (screening, settled labels, pruned evaluation)
call the functions below, so that the bound and its rounding are written once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53


def rounding_factor(terms: int, unit: float = UNIT_ROUNDOFF) -> float:
    """Return a bound on the relative error of a sum of products of that many terms.

    The classical ``n u / (1 - n u)`` with two spare roundings, for any order of summation.

    Parameters
    ----------
    terms : int
        How many products are summed.
    unit : float, default=2**-53
        Unit roundoff of the arithmetic; 2**-24 for float32.
    """
    spread = (terms + 2) * unit
    return spread / (1.0 - spread) if spread < 1.0 else float("inf")


def score_rounding(norm: float, row_norms: Floats, terms: int) -> Floats:
    """Return a bound on the rounding error of ``w'x`` for rows of those norms.

    Parameters
    ----------
    norm : float
        Euclidean norm of w.
    row_norms : ndarray of shape (n,)
        Euclidean norms of the rows.
    terms : int
        The most terms that one dot product sums.
    """
    return (rounding_factor(terms) * norm) * row_norms


def score_bounds(
    scores: Floats, row_norms: Floats, radius: Floats | float, rounding: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Return bounds on ``w'x`` for every w within a radius of the centre that gave the scores.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Decision values of the centre.
    row_norms : ndarray of shape (n,)
        Euclidean norms of the rows, with whatever constant feature w has a weight for.
    radius : float or ndarray of shape (n,)
        How far w may be from the centre, the same for all rows or not.
    rounding : ndarray of shape (n,) or float, default=0.0
        Bound on the rounding error of the scores.

    Returns
    -------
    lower, upper : ndarray of shape (n,)
        Bounds that hold in real arithmetic.
    """
    # The factor covers the roundings of the products and sums of this function itself.
    reach = (radius * row_norms + rounding) * (1.0 + 8.0 * UNIT_ROUNDOFF)
    slack = 2.0 * UNIT_ROUNDOFF * np.abs(scores)
    return scores - reach - slack, scores + reach + slack
