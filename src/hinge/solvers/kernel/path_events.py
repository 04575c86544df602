r"""Where the path of optimal coefficients has its next corner.

Between two corners the coefficients, the gradient e and the multiplier nu of a hinge loss are
linear in C. With the rates of all of them known, the next corner is the smallest step t at which

- a free coefficient is zero, or has its largest value, which grows with C;
- the *excess* :math:`y_i (e_i + \nu)` of a row at a bound is zero: it is positive where the
  coefficient is zero and negative where it has its largest value.

Where no coefficient is free nu is not determined: it lies in an interval whose ends are a maximum
and a minimum of lines in C. The corner is where they meet, and a row on either side comes free
there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

ZERO, FREE, LARGEST = 0, 1, 2  # where a coefficient is
_STANDING = 1e-12  # rates below it, relative to all of them, are rounding


@dataclass(frozen=True)
class Corner:
    """The next corner of a path.

    Parameters
    ----------
    step : float
        How far C is from here; infinite if there is none.
    rows : tuple of int
        The rows that change: one, or the two that come free where none was.
    to : int
        What they become: ``ZERO``, ``FREE`` or ``LARGEST``.
    """

    step: float
    rows: tuple[int, ...] = ()
    to: int = FREE


def first_arrival(beta: Floats, rates: Floats, reach: Floats, growth: Floats, ids: Ids) -> Corner:
    """Return when the first free coefficient arrives at an end of its range.

    Parameters
    ----------
    beta, rates : ndarray of shape (m,)
        Free coefficients, times their labels, and how they change with the step.
    reach, growth : ndarray of shape (m,)
        Their largest values, and how these change.
    ids : ndarray of int64
        The rows.

    Returns
    -------
    Corner
        The first arrival.
    """
    if len(ids) == 0:
        return Corner(math.inf)
    small = _STANDING * float(np.max(np.abs(rates)) + np.max(np.abs(growth)))
    to_zero = _times(beta, -rates, small)
    to_largest = _times(reach - beta, rates - growth, small)
    low, high = int(np.argmin(to_zero)), int(np.argmin(to_largest))
    if to_zero[low] <= to_largest[high]:
        return Corner(float(to_zero[low]), (int(ids[low]),), ZERO)
    return Corner(float(to_largest[high]), (int(ids[high]),), LARGEST)


def first_departure(excess: Floats, rates: Floats, where: NDArray[np.int8], size: float) -> Corner:
    r"""Return when the first row at a bound comes free.

    Parameters
    ----------
    excess, rates : ndarray of shape (n,)
        :math:`y (e + \nu)` of every row, and how it changes with the step.
    where : ndarray of int8 of shape (n,)
        Where every coefficient is.
    size : float
        The size of what the rates are sums of: what is small beside it is rounding.

    Returns
    -------
    Corner
        The first departure.
    """
    sign = np.where(where == LARGEST, -1.0, 1.0)
    times = _times(sign * excess, -sign * rates, _STANDING * size)
    times[where == FREE] = np.inf
    row = int(np.argmin(times))
    return Corner(float(times[row]), (row,), FREE)


def _times(room: Floats, speed: Floats, small: float) -> Floats:
    """Return when rooms are used up at these speeds; rounding may have made them negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.maximum(room, 0.0) / speed
    return np.where(speed > small, times, np.inf)


def closing(
    gradient: Floats, rates: Floats, signs: Floats, where: NDArray[np.int8]
) -> tuple[Corner, float, float]:
    """Return where the interval of multipliers closes while no coefficient is free.

    Parameters
    ----------
    gradient, rates : ndarray of shape (n,)
        e of every row, and how it changes with the step.
    signs : ndarray of shape (n,)
        Labels.
    where : ndarray of int8 of shape (n,)
        Where every coefficient is; none is free.

    Returns
    -------
    tuple of Corner, float and float
        Where it closes, and the two ends of the interval here.
    """
    # y (e + nu) >= 0 where a coefficient is zero, <= 0 where it is largest.
    from_below = (where == ZERO) == (signs > 0)  # nu >= -e there, and nu <= -e elsewhere
    low, high = np.flatnonzero(from_below), np.flatnonzero(~from_below)
    if len(low) == 0 or len(high) == 0:
        ends = (
            float(np.max(-gradient[low], initial=-math.inf)),
            float(np.min(-gradient[high], initial=math.inf)),
        )
        return Corner(math.inf), *ends

    def ends_at(step: float) -> tuple[int, int]:
        return (
            int(low[np.argmax(-gradient[low] - step * rates[low])]),
            int(high[np.argmin(-gradient[high] - step * rates[high])]),
        )

    below, above = ends_at(0.0)
    ends = -float(gradient[below]), -float(gradient[above])
    # The width is concave in the step: from beyond its zero, Newton's steps come back to it.
    step = math.inf
    slopes = rates[low], rates[high]
    below, above = int(low[np.argmin(slopes[0])]), int(high[np.argmax(slopes[1])])
    while True:
        closes = float(rates[above] - rates[below])  # how fast this pair comes together
        width = float(gradient[below] - gradient[above])
        if closes <= 0.0:
            return Corner(math.inf), *ends
        nearer = max(0.0, width / closes)
        if not nearer < step:
            return Corner(step, (below, above), FREE), *ends
        step = nearer
        following = ends_at(step)
        if following == (below, above):
            return Corner(step, (below, above), FREE), *ends
        below, above = following
