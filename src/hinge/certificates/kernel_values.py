r"""Objective values of kernel machines, with bounds on what rounding has done to them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_margins import Scores, Signs, lowest_margins
from hinge.certificates.kernel_points import KernelPoints
from hinge.certificates.kernel_sums import correct_sums, sums_above
from hinge.inequality import UNIT_ROUNDOFF
from hinge.losses import Loss

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_FEW_ROUNDINGS = 8.0 * UNIT_ROUNDOFF  # of a term of a sum, and of the sum itself
_NOT_PSD = (
    "no gap certificate: the kernel is not (known to be) positive semidefinite; the violation "
    "of the optimality conditions is all that is confirmed"
)
NO_OPTIMUM = (
    "the dual program has no optimum: along these coefficients its objective has no bound, since "
    "the kernel is not positive semidefinite and the loss has no largest slope; use loss='hinge' "
    "or 'huber', another kernel or a smaller C"
)
_BALANCED = 1e-9  # share of the sum of the coefficients by which they may miss y'alpha = 0
OUTSIDE = "the dual point leaves its box (a coefficient is negative, above its cost, or NaN)"


class Bounded(NamedTuple):
    """Numbers of every problem, and bounds on what they would be without rounding."""

    values: Floats
    bounds: Floats


def squares(pulls: Floats, scores: Scores, ends: Ids) -> Bounded:
    """Return ``b'Kb`` and upper bounds on it, from the scores of rows with coefficients b.

    Parameters
    ----------
    pulls : ndarray of shape (n,)
        The coefficients.
    scores : Scores
        ``Kb`` at the same rows.
    ends : ndarray of int64 of shape (m + 1,)
        Where the rows of every problem begin, and where the last ones end.
    """
    quadratic = correct_sums(pulls * scores.values, ends)
    size = scores.error + _FEW_ROUNDINGS * np.abs(scores.values)
    spread = sums_above(np.abs(pulls) * size, ends)
    return Bounded(quadratic, (quadratic + spread) + _FEW_ROUNDINGS * (np.abs(quadratic) + spread))


def primal_values(points: KernelPoints, pulls: Floats, scores: Scores) -> tuple[Bounded, Bounded]:
    """Return the primal values with upper bounds on them, and those of b'Kb.

    Parameters
    ----------
    points : KernelPoints
        The points, with their intercepts.
    pulls : ndarray of shape (n,)
        Coefficients b of the functions.
    scores : Scores
        Their values at the rows, without intercept.
    """
    quadratic = squares(pulls, scores, points.ends)
    losses = loss_sums(
        points.loss,
        points.at_rows(points.intercept),
        (points.signs, points.costs),
        scores,
        points.ends,
    )
    primal = 0.5 * quadratic.values + losses.values
    above = (0.5 * quadratic.bounds + losses.bounds) * (1.0 + _FEW_ROUNDINGS)
    return Bounded(primal, above), quadratic


def loss_sums(
    loss: Loss, intercept: Floats | float, rows: tuple[Signs, Floats], scores: Scores, ends: Ids
) -> Bounded:
    """Return the sums of the losses of some rows and upper bounds on them.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    intercept : ndarray of shape (n,) or float
        The intercept at every row.
    rows : tuple of ndarray of shape (n,)
        Labels and costs of the rows.
    scores : Scores
        Their scores, without intercept.
    ends : ndarray of int64 of shape (m + 1,)
        Where the rows of every problem begin, and where the last ones end.
    """
    signs, costs = rows
    margins = signs * (scores.values + intercept)
    lowest = lowest_margins(signs, intercept, scores)
    sums = correct_sums(costs * loss.value(margins), ends)
    above = correct_sums(costs * loss.value(lowest), ends) * (1.0 + _FEW_ROUNDINGS)
    return Bounded(sums, above)


def dual_values(
    points: KernelPoints, quadratic: Bounded, primal_above: Floats
) -> tuple[Bounded, list[tuple[str, ...]]]:
    """Return the dual values with lower bounds on them, and what keeps them from being bounds.

    Parameters
    ----------
    points : KernelPoints
        The points, with dual coefficients.
    quadratic : Bounded
        ``b'Kb`` of the dual points, and upper bounds on it.
    primal_above : ndarray of shape (m,)
        Upper bounds on the optima, which bound the intercepts.
    """
    loss, alpha, costs = points.loss, points.alpha, points.costs
    linear = loss.dual_linear * points.total  # of coefficients in their box: none is negative
    curved = np.zeros(len(linear))
    if loss.dual_curvature:
        safe = np.where(costs > 0, costs, np.inf)
        curved = 0.5 * loss.dual_curvature * points.sums(alpha * (alpha / safe))
    dual = linear - curved - 0.5 * quadratic.values
    losses = _FEW_ROUNDINGS * (linear + curved + np.abs(quadratic.bounds))
    below = linear - curved - 0.5 * quadratic.bounds - losses
    notes: list[tuple[str, ...]] = [()] * len(dual)
    if points.is_free:
        # No equality holds to the last bit; what is missing costs |y'a| times a bound on b*.
        balance = np.abs(points.balance)
        bound = loss.zero_from + points.reach * np.sqrt(2.0 * np.maximum(primal_above, 0.0))
        penalty = bound * balance * (1.0 + _FEW_ROUNDINGS)
        dual, below = dual - bound * balance, below - penalty
        large = penalty > 1e-6 * np.maximum(np.abs(dual), np.abs(primal_above))
        for number in np.flatnonzero(large).tolist():
            notes[number] = (f"the dual point misses y'alpha = 0 by {balance[number]:.3g}",)
    outside = points.largest(~((alpha >= 0.0) & (alpha <= loss.upper_bound(costs))))
    falling = _falls_for_ever(points, quadratic, curved)
    for number, is_outside in enumerate(outside.tolist()):
        if is_outside or not points.is_psd:
            dual[number] = below[number] = -math.inf
            notes[number] = (OUTSIDE,) if is_outside else _of_unknown(falling[number])
    return Bounded(dual, below), notes


def _falls_for_ever(points: KernelPoints, quadratic: Bounded, curved: Floats) -> list[bool]:
    """Return which dual points are a direction in which the program's objective has no bound.

    All multiples of a point are in the box of a loss without a largest slope.
    """
    if points.is_psd or math.isfinite(points.loss.dual_upper):
        return [False] * len(curved)
    found = quadratic.bounds + 2.0 * curved * (1.0 + _FEW_ROUNDINGS) < 0.0
    if points.is_free:
        found &= np.abs(points.balance) <= _BALANCED * points.total
    return [bool(is_falling) for is_falling in found]


def _of_unknown(is_falling: bool) -> tuple[str, ...]:
    """Return what there is to say of a kernel that is not known to be positive semidefinite."""
    return (_NOT_PSD, NO_OPTIMUM) if is_falling else (_NOT_PSD,)
