r"""The intercepts that are best for given scores: exact, by one sort.

With scores :math:`f_i = w'x_i` fixed, the objective is a convex, piecewise quadratic function of
the intercept whose derivative

.. math:: S(b) = \sum_i c_i\, y_i\, \ell'(y_i (f_i + b))

is non-decreasing. Its kinks are those of every row's loss, at ``b = y_i z_k - f_i``; sorting them
and summing jumps and bends gives S everywhere, hence the interval on which it is zero. For the
hinge this is the weighted order statistic of ``y_i - f_i``.
"""

from __future__ import annotations

import numpy as np

from hinge.losses.base import Floats, Loss


def optimal_intercepts(
    loss: Loss, scores: Floats, signs: Floats, costs: Floats
) -> tuple[float, float]:
    """Return both ends of the interval of intercepts that minimise the sum of losses.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores : ndarray of shape (n,)
        Decision values without intercept.
    signs : ndarray of shape (n,)
        Labels, -1 or +1; both must occur with a positive cost.
    costs : ndarray of shape (n,)
        Weight of every row's loss, not negative.

    Returns
    -------
    low, high : float
        The smallest and the largest minimiser; equal where there is only one.
    """
    places, jumps, bends = _sorted_kinks(loss, scores, signs, costs)
    # Left of every kink only positive rows contribute: S(b) = constant + slope * b.
    positive = signs > 0
    start, slope = loss.left_derivative
    total = float(np.sum(costs[positive]))
    constant = start * total + slope * float(costs[positive] @ scores[positive])
    slopes_after = slope * total + np.cumsum(bends)
    slopes_before = slopes_after - bends
    before = np.cumsum(slopes_before * np.diff(places, prepend=places[:1]))
    before += constant + slope * total * places[0]
    after = before + np.cumsum(jumps)
    before = after - jumps
    # Running sums of many terms: what is below their rounding error counts as zero.
    variation = abs(float(before[0])) + float(after[-1] - before[0])
    variation += abs(start) * total + abs(slope) * float(costs @ np.abs(scores))
    variation += abs(slope * total * float(places[0]))
    bending = float(np.sum(np.abs(bends))) * float(places[-1] - places[0])
    noise = len(places) * float(np.finfo(np.float64).eps) * (variation + bending)
    return (
        _first_crossing(places, before, after, slopes_after, -noise),
        _last_crossing(places, before, after, slopes_before, noise),
    )


def _sorted_kinks(
    loss: Loss, scores: Floats, signs: Floats, costs: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return place, jump and bend of every kink of S, by increasing place."""
    kinks = loss.kinks
    places = np.concatenate([signs * kink.margin - scores for kink in kinks])
    order = np.argsort(places, kind="stable")
    jumps = np.concatenate([costs * kink.jump for kink in kinks])[order]
    # Walking up in b walks a negative row's margin down, so its bends come with the other sign.
    bends = np.concatenate([signs * costs * kink.bend for kink in kinks])[order]
    return places[order], jumps, bends


def _first_crossing(
    places: Floats, before: Floats, after: Floats, slopes_after: Floats, level: float
) -> float:
    """Return the smallest b with S(b) >= level, S given around each sorted kink."""
    k = int(np.argmax(after >= level)) if np.any(after >= level) else len(places) - 1
    if before[k] >= level and k > 0 and slopes_after[k - 1] > 0:
        # Crossed on the sloped piece that ends here.
        root = places[k - 1] + (level - after[k - 1]) / slopes_after[k - 1]
        return float(min(max(root, places[k - 1]), places[k]))
    return float(places[k])


def _last_crossing(
    places: Floats, before: Floats, after: Floats, slopes_before: Floats, level: float
) -> float:
    """Return the largest b with S(b) <= level, S given around each sorted kink."""
    reached = np.flatnonzero(before <= level)
    k = int(reached[-1]) if len(reached) else 0
    if after[k] <= level and k + 1 < len(places) and slopes_before[k + 1] > 0:
        root = places[k] + (level - after[k]) / slopes_before[k + 1]
        return float(min(max(root, places[k]), places[k + 1]))
    return float(places[k])
