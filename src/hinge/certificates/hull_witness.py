r"""Whether hulls meet, from sums over the support that are exact until they are rounded once.

For :math:`\alpha \ge 0` with sum S, a free intercept and any centre c, every separating (w, b) has

.. math:: p\,S \le \sum_i \alpha_i y_i (w'(x_i - c) + b + w'c)
          \le \|w\| \, V_c, \qquad V_c = \Bigl\|\sum_i y_i\alpha_i (x_i - c)\Bigr\|
          + R_c\,|y'\alpha| ,

where each class has a row within :math:`R_c` of c. Without a free intercept c is zero and the last
term is missing. Where :math:`V_c` is zero there is no (w, b) at all. Coefficients are rounded
numbers, so that hulls which do meet seldom make it zero; it is taken for zero *up to rounding* if
every column's sum is no larger than a few roundings of each of its terms. Then classes whose
values, measured from c, are changed in their last digits do meet, and no more than that is claimed.
Sizes count column by column and from c: neither a large column nor an offset hides a margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.problem import Intercept, Problem

Floats = NDArray[np.float64]

_MOST_ENTRIES = 1 << 22  # values that are summed exactly
_SPLITTER = 134217729.0  # 2^27 + 1: halves a number's digits
_SMALLEST, _LARGEST = 1e-270, 1e270  # between these, products split without loss
_LEAST = float(np.finfo(np.float64).tiny)  # a quotient that is not zero must not become zero
# Roundings that each coefficient has seen: its own, and those of the sums that it was computed
# from. With one, a problem of 14 rows in one column had sums of twice the bound, and no proof.
_ROUNDINGS = 4
OUTWARDS = 1.0 + 16.0 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class Witness:
    """What the coefficients of a dual point prove.

    Parameters
    ----------
    widest : float
        No hyperplane has a larger geometric margin; zero only if that is exactly true.
    is_met : bool
        Whether the sums behind it are zero up to their own rounding.
    """

    widest: float
    is_met: bool


@dataclass(frozen=True)
class _Columns:
    """Where the rows of a support lie, column by column.

    Parameters
    ----------
    centre : ndarray of shape (m,)
        What the values are measured from.
    sizes : ndarray of shape (m,)
        Sums of coefficients times distances from the centre.
    reach : float
        Each class has a row within this distance of the centre.
    """

    centre: Floats
    sizes: Floats
    reach: float


def witness(problem: Problem, alpha: Floats) -> Witness | None:
    """Return what a dual point proves; None where exact sums take too long or overflow.

    Parameters
    ----------
    problem : Problem
        A problem with C infinite.
    alpha : ndarray of shape (n_samples,)
        Dual coefficients, not negative, some of them positive.
    """
    support = np.flatnonzero(alpha > 0.0)
    per_row = problem.rows.n_stored / problem.n_rows
    if len(support) * max(per_row, problem.rows.longest_row) > _MOST_ENTRIES:
        return None
    weights = alpha[support]
    if not (np.min(weights) > _SMALLEST and np.max(weights) < _LARGEST):
        return None
    rows, columns, values = problem.rows.entries(support)
    signed = problem.signs[support] * weights
    active, places = np.unique(columns, return_inverse=True)
    is_free = problem.intercept is Intercept.FREE
    if is_free:
        located = _located(problem, support, weights, (rows, places, values), len(active))
    else:
        sizes = np.zeros(len(active))
        np.add.at(sizes, places, weights[rows] * np.abs(values))
        located = _Columns(np.zeros(len(active)), sizes, 0.0)
    sums = _column_sums(signed, (rows, places, values), located.centre)
    if sums is None:
        return None
    balance, total = math.fsum(signed), math.fsum(weights)
    has_intercept = problem.intercept is not Intercept.NONE
    unbalanced = max(problem.constant_feature, located.reach) * abs(balance)
    if balance and has_intercept and not _SMALLEST < unbalanced < _LARGEST:
        return None
    length = _norm(sums) + unbalanced if is_free else _norm(np.append(sums, unbalanced))
    widest = max(length / total * OUTWARDS, _LEAST) if length > 0.0 else 0.0
    enough = rounding_factor(_ROUNDINGS * len(support))
    is_met = bool(np.all(np.abs(sums) <= enough * located.sizes))
    if has_intercept:
        is_met = is_met and abs(balance) <= enough * total
    return Witness(widest, length == 0.0 or is_met)


def _located(
    problem: Problem,
    support: NDArray[np.int64],
    weights: Floats,
    entries: tuple[NDArray[np.int64], NDArray[np.int64], Floats],
    n_active: int,
) -> _Columns:
    """Return a centre of the support, where that is apart from zero, and distances from it."""
    n = len(support)
    signs = problem.signs[support]
    if n * n_active > _MOST_ENTRIES or not ((signs > 0).any() and (signs < 0).any()):
        # Without a centre nothing is known to be small, but for zero itself.
        return _Columns(np.zeros(n_active), np.full(n_active, math.nan), problem.largest_norm)
    table = np.zeros((n, n_active))
    table[entries[:2]] = entries[2]
    base = table[int(np.argmax(weights))]
    shares = weights / weights.max()
    centre = base + (shares @ (table - base)) / shares.sum()
    deviations = shares @ np.abs(table - centre) / shares.sum()
    # A centre is of use where rows are nearer to it than to zero; a NaN is of none.
    centre = np.where(np.abs(centre) > deviations, centre, 0.0)
    apart = np.abs(table - centre)
    farthest = float(np.max(apart, initial=_LEAST))
    distances = farthest * np.linalg.norm(apart / farthest, axis=1)
    reach = max(float(distances[signs > 0].min()), float(distances[signs < 0].min()))
    # The squares of what is far smaller than the farthest value may have underflowed.
    reach = reach * (1.0 + rounding_factor(n_active + 4)) + 1e-150 * farthest
    sizes = weights @ apart
    return _Columns(centre, np.where(np.isfinite(sizes), sizes, math.nan), reach)


def _column_sums(
    signed: Floats, entries: tuple[NDArray[np.int64], NDArray[np.int64], Floats], centre: Floats
) -> Floats | None:
    """Return the sums of signed coefficients times values less the centre, each rounded once."""
    rows, places, values = entries
    exact = _products(signed[rows], values)
    offset = np.flatnonzero(centre)
    parts = _exact_sum(signed)
    pairs = np.stack(np.meshgrid(-np.asarray(parts), centre[offset]))
    shifts = _products(pairs[0].ravel(), pairs[1].ravel())
    if exact is None or shifts is None:
        return None
    terms = np.concatenate((*exact, *shifts))
    of_shift = np.repeat(offset, len(parts))
    columns = np.concatenate((places, places, of_shift, of_shift))
    order = np.argsort(columns, kind="stable")
    edges = np.searchsorted(columns[order], np.arange(1, len(centre)))
    return np.array([math.fsum(part) for part in np.split(terms[order], edges)])[: len(centre)]


def _exact_sum(values: Floats) -> list[float]:
    """Return numbers, none of them zero, whose sum the sum of the values is exactly."""
    parts: list[float] = []
    while rest := math.fsum([*values, *(-part for part in parts)]):
        parts.append(rest)
    return parts


def _norm(values: Floats) -> float:
    """Return the norm; zero only where it is."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest > 0.0:
        return largest
    scaled = values / largest
    return largest * math.sqrt(math.fsum(scaled * scaled))


def _products(a: Floats, b: Floats) -> tuple[Floats, Floats] | None:
    """Return products and what rounding took from them, exactly; None if that is impossible."""
    product = a * b
    sizes = np.abs(np.concatenate((a, b, product)))
    if len(a) and not (np.min(sizes) > _SMALLEST and np.max(sizes) < _LARGEST):
        return None
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Return two numbers of half the digits each whose sum a number is (Dekker)."""
    scaled = _SPLITTER * values
    high = scaled - (scaled - values)
    return high, values - high
