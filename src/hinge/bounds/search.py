"""The rows of smallest margin, found without computing most margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.checks import drawn_rows
from hinge.bounds.sorted_margins import SortedMargins
from hinge.errors import InvalidParameterError
from hinge.parameters import count, real_number

Floats = NDArray[np.float64]

_FIRST_LOOK = 64  # rows examined before the first check
_FIRST_SHARE = 8  # at most one of so many


@dataclass(frozen=True)
class SmallestMargins:
    """The rows of smallest margin.

    Parameters
    ----------
    rows : ndarray of int64 of shape (k,)
        Their numbers, by increasing margin, equal margins by number.
    margins : ndarray of shape (k,)
        Their margins.
    examined : int
        How many margins were computed to find them.
    """

    rows: NDArray[np.int64]
    margins: Floats
    examined: int


def smallest_margins(
    index: SortedMargins,
    w: ArrayLike,
    b: float = 0.0,
    k: int = 1,
    *,
    among: ArrayLike | None = None,
) -> SmallestMargins:
    """Return the k rows of smallest margin, best first.

    Rows are examined by increasing lower bound, until no row left can be among the k.

    Parameters
    ----------
    index : SortedMargins
        The index; its stored margins are used, and made where there are none.
    w : array-like of shape (n_features,)
        The weights.
    b : float, default=0.0
        The intercept.
    k : int, default=1
        How many rows.
    among : array-like of int or None, default=None
        Look at these rows alone; None is all. The best of 59 rows that were drawn at random is
        among the best twentieth of all rows with a probability of 95 %: 0.95 to the power of 59
        is below 0.05. Core vector machines make do with that.

    Returns
    -------
    SmallestMargins
        The rows, their margins, and how many were examined.

    Examples
    --------
    >>> index = SortedMargins([[0.0], [2.0], [3.0]], [-1, 1, 1])
    >>> smallest_margins(index, [1.0], b=-1.5).rows
    array([1])
    """
    weights, offset = index.point(w), real_number(b, "b")
    n, rows = index.rows.n_rows, None
    if among is not None:
        rows = np.unique(drawn_rows(among, n))
        n = len(rows)
    if not 1 <= count(k, "k") <= n:
        message = f"k must lie between 1 and the number of rows, {n}; got {k!r}."
        raise InvalidParameterError(message)
    if index.stored.reference is None:
        index.sort(weights, offset)
    order, lowest = index.stored.lower_bounds(weights, offset, rows)
    # Infinity marks what is examined.
    lowest = np.minimum(np.where(np.isnan(lowest), -np.inf, lowest), np.finfo(float).max)
    examined = np.empty(0, dtype=np.uint32)
    margins = np.empty(0)
    size = max(min(_FIRST_LOOK, n // _FIRST_SHARE), 2 * k)
    while len(examined) < n:
        size = min(size, n)
        chosen = np.argpartition(lowest, size - 1)[:size] if size < n else np.arange(n)
        chosen = chosen[lowest[chosen] < np.inf]
        found = order[chosen]
        margins = np.concatenate([margins, index.passes.margins_of(weights, offset, found)])
        examined = np.concatenate([examined, found])
        lowest[chosen] = np.inf
        kth = np.partition(margins, k - 1)[k - 1] if len(margins) >= k else np.inf
        if np.min(lowest) > kth:
            break
        size *= 2
    best = np.lexsort((examined, margins))[:k]
    return SmallestMargins(examined[best].astype(np.int64), margins[best], len(examined))
