r"""The nearest point of a box, or of a box cut by a plane.

.. math:: \min_b \tfrac12 \|b - v\|^2 \quad\text{subject to}\quad l \le b \le u, \quad
          \sum_i b_i = r

With the multiplier :math:`\tau` of the sum the solution is ``b(tau) = clip(v - tau, l, u)``. Its
sum never rises with tau and is linear between the *corners* ``v - u`` and ``v - l``. The tau at
which it is r lies between two neighbouring corners, which are found by halving: the sum at the
median of the corners that are left tells which half of them to drop. A variable without a corner
left is part of a constant or of a straight line from then on. Every round looks at half as many
corners as the one before and the median is selected in expected linear time, hence so is the
whole.

References
----------
.. [1] P. Brucker, "An O(n) algorithm for quadratic knapsack problems", Operations Research Letters
   3, 1984.
.. [2] Y.-H. Dai and R. Fletcher, "New algorithms for singly linearly constrained quadratic programs
   subject to lower and upper bounds", Mathematical Programming 106, 2006.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError

Floats = NDArray[np.float64]

_FEW = 64  # corners that are all tried at once
_POLISHES = 3  # how often what rounding has left of the sum is shared out
_ROUNDING = 4.0 * np.finfo(np.float64).eps


def project(values: Floats, lower: Floats, upper: Floats, total: float | None = None) -> Floats:
    """Return the nearest point within bounds, and of a given sum.

    Parameters
    ----------
    values : ndarray of shape (n,)
        What to project; finite.
    lower, upper : ndarray of shape (n,)
        Bounds; they may be infinite on the outside.
    total : float or None, default=None
        What the result must sum to; None if it may sum to anything.

    Returns
    -------
    ndarray of shape (n,)
        The nearest point. Its sum differs from ``total`` by rounding alone.

    Raises
    ------
    InvalidParameterError
        If there is no such point, or something is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> project(np.array([3.0, 1.0, -4.0]), np.zeros(3), np.full(3, 2.0), total=2.5)
    array([2. , 0.5, 0. ])
    """
    _check(values, lower, upper)
    if total is None:
        return np.clip(values, lower, upper)
    _check_total(lower, upper, total)
    multiplier = _multiplier(values, lower, upper, total)
    nearest = np.clip(values - multiplier, lower, upper)
    return _polished(nearest, lower, upper, total)


def _check(values: Floats, lower: Floats, upper: Floats) -> None:
    """Refuse values that are no numbers, and bounds that leave no room."""
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        message = f"what is projected must be finite; values[{first}] is {values[first]}."
        raise InvalidParameterError(message)
    wrong = ~(lower <= upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        message = (
            "every lower bound must be at most its upper one, and either end reachable; at "
            f"{first} they are {lower[first]} and {upper[first]}."
        )
        raise InvalidParameterError(message)


def _check_total(lower: Floats, upper: Floats, total: float) -> None:
    """Refuse a sum that no point within the bounds has."""
    with np.errstate(over="ignore"):
        least, most = float(np.sum(lower)), float(np.sum(upper))
        sizes = [float(np.sum(np.abs(ends[np.isfinite(ends)]))) for ends in (lower, upper)]
        slack = _ROUNDING * (max(sizes) + abs(total)) * math.log2(len(lower) + 2)
    if not (math.isfinite(total) and least - slack <= total <= most + slack):
        message = (
            f"no point within the bounds has the sum {total}: what they allow is {least} to {most}."
        )
        raise InvalidParameterError(message)


def _multiplier(values: Floats, lower: Floats, upper: Floats, total: float) -> float:
    """Return tau at which ``clip(values - tau, lower, upper)`` sums to the total."""
    # Where the sum is at most the total for the first time, and for the last time above it.
    low, high = -math.inf, math.inf
    constant, slope = 0.0, 0  # of the variables without a corner in between
    left = values, lower, upper
    while True:
        settled_sum, settled_slope, left = _settle(*left, low, high)
        constant += settled_sum
        slope += settled_slope
        corners = np.concatenate((left[0] - left[2], left[0] - left[1]))
        corners = corners[(corners > low) & (corners < high)]
        if len(corners) == 0:
            return _on_a_line(constant, slope, total, low, high)
        if len(corners) <= _FEW:
            probes = np.sort(corners)
        else:
            probes = np.partition(corners, len(corners) // 2)[len(corners) // 2, np.newaxis]
        sums = np.clip(left[0] - probes[:, np.newaxis], left[1], left[2]).sum(axis=1)
        above = constant - slope * probes + sums > total
        low = max(low, float(np.max(probes, where=above, initial=-math.inf)))
        high = min(high, float(np.min(probes, where=~above, initial=math.inf)))


def _settle(
    values: Floats, lower: Floats, upper: Floats, low: float, high: float
) -> tuple[float, int, tuple[Floats, Floats, Floats]]:
    """Return constant and slope of the variables without a corner in between, and the others."""
    leaves, arrives = values - upper, values - lower  # tau that leaves u, and arrives at l
    is_upper, is_lower = leaves >= high, arrives <= low
    is_straight = (leaves <= low) & (arrives >= high) & ~is_upper & ~is_lower
    constant = float(np.sum(upper[is_upper])) + float(np.sum(lower[is_lower & ~is_upper]))
    constant += float(np.sum(values[is_straight]))
    others = ~(is_upper | is_lower | is_straight)
    return (
        constant,
        int(np.count_nonzero(is_straight)),
        (values[others], lower[others], upper[others]),
    )


def _on_a_line(constant: float, slope: int, total: float, low: float, high: float) -> float:
    """Return tau between two corners, where the sum is ``constant - slope * tau``."""
    if slope:
        return min(max((constant - total) / slope, low), high)
    # The sum is the same all over the interval: a corner will do, if there is any.
    return next((end for end in (high, low) if math.isfinite(end)), 0.0)


def _polished(nearest: Floats, lower: Floats, upper: Floats, total: float) -> Floats:
    """Return the point with what is left of its sum shared out among what may move."""
    for _ in range(_POLISHES):
        left = total - math.fsum(nearest)
        if left == 0.0:
            break
        may_move = nearest < upper if left > 0.0 else nearest > lower
        inside = may_move & (nearest > lower) & (nearest < upper)
        movers = np.flatnonzero(inside if inside.any() else may_move)
        if len(movers) == 0:
            break
        moved = nearest[movers] + left / len(movers)
        nearest[movers] = np.clip(moved, lower[movers], upper[movers])
    return nearest
