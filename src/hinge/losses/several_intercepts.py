"""Best intercepts of several problems at once, near places where they are expected.

A search for one of them (:mod:`hinge.losses.intercept`) looks at all rows, however small the
problem. Here the derivative of all problems is summed at once where a window begins, and only the
kinks in a window are looked at. Where the crossing is not in its window, that search is made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.losses.base import Floats, Loss
from hinge.losses.intercept import Kinks, crossings_between, smallest_intercept

Ids = NDArray[np.int64]
_Rows = tuple[Floats, Floats, Floats]  # scores, labels and costs

_EPS = float(np.finfo(np.float64).eps)
_ROUNDINGS = 64.0  # of a term of a sum


def smallest_intercepts(
    loss: Loss, scores: Floats, signs: Floats, costs: Floats, ends: Ids, windows: Floats
) -> Floats:
    """Return the smallest minimiser of the sum of losses of each of several problems.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores, signs, costs : ndarray of shape (n,)
        Decision values without intercept, labels and weights of the rows, problem by problem.
    ends : ndarray of int64 of shape (m + 1,)
        Where the rows of every problem begin, and where the last ones end.
    windows : ndarray of shape (2, m)
        Where to look first: from where to where. What is returned does not depend on it, but for
        rounding, which makes a minimiser only smaller.
    """
    return _crossings(loss, (scores, signs, costs), ends, windows)


def largest_intercepts(
    loss: Loss, scores: Floats, signs: Floats, costs: Floats, ends: Ids, windows: Floats
) -> Floats:
    """Return the largest minimiser of each of several problems; see ``smallest_intercepts``.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores, signs, costs : ndarray of shape (n,)
        Decision values without intercept, labels and weights of the rows, problem by problem.
    ends : ndarray of int64 of shape (m + 1,)
        Where the rows of every problem begin, and where the last ones end.
    windows : ndarray of shape (2, m)
        Where to look first.
    """
    # Scores and labels of the other sign, with -b in place of b, have the same margins.
    return -_crossings(loss, (-scores, -signs, costs), ends, -windows[::-1])


def _crossings(loss: Loss, rows: _Rows, ends: Ids, windows: Floats) -> Floats:
    """Return, for every problem, the smallest b at which S is not negative."""
    starts, sizes = ends[:-1], np.diff(ends)
    f, y, c = rows
    low, high = windows
    constants, slopes = loss.derivative_pieces()
    first, last = np.repeat(low, sizes), np.repeat(high, sizes)
    passed = np.zeros(len(f), dtype=np.intp)
    found: list[tuple[Ids, Floats, Floats, Floats]] = []
    for kink in loss.kinks:
        places = y * kink.margin - f
        passed += places <= first
        inside = np.flatnonzero((places > first) & (places < last))
        # A negative row's margin walks down as b walks up: its bends change their sign.
        bends = c[inside] * y[inside] * kink.bend
        found.append((inside, places[inside], c[inside] * kink.jump, bends))
    piece = np.where(y > 0.0, passed, len(loss.kinks) - passed)
    steepness = c * slopes[piece]
    after = np.add.reduceat(c * y * constants[piece] + steepness * (f + first), starts)
    slope = np.add.reduceat(steepness, starts)
    noise = _noise(loss, rows, ends)
    table, counts = _table(found, ends, high)
    crossings = crossings_between(low, after, slope, noise, table, counts)
    # Where it is not in the window, all rows are looked at.
    for k in np.flatnonzero(~((after < -noise) & (crossings < high))).tolist():
        part = slice(ends[k], ends[k + 1])
        crossings[k] = smallest_intercept(loss, f[part], y[part], c[part])
    return crossings


def _table(
    found: list[tuple[Ids, Floats, Floats, Floats]], ends: Ids, high: Floats
) -> tuple[Kinks, Ids]:
    """Return the kinks of every problem in a row of a table, and where its window ends; counts."""
    rows, *kinks = (np.concatenate(parts) for parts in zip(*found, strict=True))
    owner = np.searchsorted(ends, rows, side="right") - 1
    order = np.lexsort((kinks[0], owner))
    owner = owner[order]
    cuts = np.searchsorted(owner, np.arange(len(ends)))
    counts = np.diff(cuts)
    where = owner, np.arange(len(owner)) - cuts[owner]
    shape = (len(high), int(np.max(counts)) + 1)
    table = Kinks(np.repeat(high[:, None], shape[1], axis=1), np.zeros(shape), np.zeros(shape))
    for part, values in zip(table, kinks, strict=True):
        part[where] = values[order]
    return table, counts + 1


def _noise(loss: Loss, rows: _Rows, ends: Ids) -> Floats:
    """Return bounds on the rounding errors of S anywhere between its first and last kink."""
    f, _, c = rows
    starts, sizes = ends[:-1], np.diff(ends)
    constants, slopes = loss.derivative_pieces()
    total = np.add.reduceat(c, starts)
    size = float(np.max(np.abs(constants))) * total
    steepest = float(np.max(slopes))
    if steepest > 0.0:
        moment = np.add.reduceat(c * np.abs(f), starts)
        reach = np.maximum.reduceat(np.abs(f), starts)
        reach = reach + max(abs(kink.margin) for kink in loss.kinks)
        size = size + steepest * (moment + reach * total)
    return np.asarray((_ROUNDINGS + sizes) * _EPS * size)
