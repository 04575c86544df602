r"""Second moments of the rows on the parabola of a loss: its sum without their margins.

With :math:`\tilde x = (x, 1)`, :math:`z = (w, b)` and sums over rows of margin below h,

.. math:: \sum_i s_i (h - y_i z'\tilde x_i)^2
          = h^2 \sum_i s_i - 2 h\, z' \sum_i s_i y_i \tilde x_i
          + z' \Bigl(\sum_i s_i \tilde x_i \tilde x_i'\Bigr) z .

The terms are as large as the squares of the largest margins, and so is their rounding, which is
what :class:`hinge.bounds.evaluation.Rounding` allows for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.passes import Passes
from hinge.bounds.pieces import Pieces
from hinge.bounds.positions import Reference
from hinge.bounds.products import dot, dots
from hinge.rows import Rows

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]

MOST_FEATURES = 511  # two matrices of one more: 4 MB
# A multiplication into a matrix that the cache holds, in values of a row that memory is read for.
_PRICE = 0.25


class Moments:
    """Sums of the rows on a loss's parabola, brought up to date when that is worth it.

    They take two square matrices with a side of one more than there are features, 4 MB at most,
    and two bytes for every row.

    Parameters
    ----------
    rows : Rows
        The data.
    weights : ndarray
        One weight, or one for every row.
    """

    def __init__(self, rows: Rows, weights: Floats) -> None:
        self._side = rows.n_features + 1
        self._weights = np.broadcast_to(weights, rows.n_rows)
        self._total = float(self._weights.sum())
        self._row_work = rows.n_stored / max(rows.n_rows, 1)
        self._high = np.nan
        self._reference: Reference | None = None  # what follows is about
        self._wanted = np.zeros(rows.n_rows, dtype=bool)
        self._changed: RowList = np.empty(0, dtype=np.uint32)
        self._is_current = self._is_finite = False
        self._rent = 0.0  # work done for want of the sums since they were last current
        self._members = np.zeros(rows.n_rows, dtype=bool)
        self._lower: Floats = np.zeros((self._side, self._side))
        self._matrix: Floats = self._lower
        self._sums: Floats = np.zeros(self._side)
        self._age, self._moved = 0, 0.0  # rows and weight that have changed since all were summed

    @staticmethod
    def suit(rows: Rows) -> bool:
        """Return whether a product with the moments costs less than a pass over such rows."""
        side = rows.n_features + 1
        return rows.n_features <= MOST_FEATURES and 2 * side * side <= rows.n_stored

    def are_ready(self, reference: Reference, pieces: Pieces, passes: Passes) -> bool:
        """Return whether they hold the rows that were below the window; see to it if it pays.

        Rows examined for want of them are counted. Once they have cost as much as bringing the
        sums up to date would, that is done: at worst twice the least that was possible is spent.
        """
        if self._reference is not reference or self._high != pieces.high:
            self._reference, self._high = reference, pieces.high
            self._wanted = reference.margins < pieces.high
            self._changed = np.flatnonzero(self._wanted != self._members).astype(np.uint32)
            self._is_current = False
        if self._is_current:
            return self._is_finite
        self._rent += self._row_work * float(np.count_nonzero(self._wanted))
        price = _PRICE * 0.5 * self._row_work * (self._row_work + 1.0) * len(self._changed)
        if self._rent < price:
            return False
        self._bring_up_to_date(passes)
        self._rent = 0.0
        return self._is_finite

    def sums(self, w: Floats, b: float, pieces: Pieces) -> tuple[float, Floats, float]:
        """Return the loss of the members, minus its gradient, and minus its derivative by b."""
        point = np.append(w, b)
        product = dots(self._matrix, point)
        weight = float(self._matrix[-1, -1])
        high, bend = pieces.high, pieces.bend
        linear = dot(self._sums, point)
        value = bend * (high * (high * weight - 2.0 * linear) + dot(product, point))
        descent = 2.0 * bend * (high * self._sums - product)
        return value, descent[:-1].copy(), float(descent[-1])

    def _bring_up_to_date(self, passes: Passes) -> None:
        """Add rows that have come below the window, and take those away that have left it.

        Beyond as many as there are rows, or as much weight, the sums are made anew: what their
        rounding adds up to is thereby bounded.
        """
        changed, wanted = self._changed, self._wanted
        changes = float(self._weights[changed].sum())
        if self._age + len(changed) > len(wanted) or self._moved + changes > self._total:
            self._forget()
            changed = np.flatnonzero(wanted).astype(np.uint32)
        else:
            self._age += len(changed)
            self._moved += changes
        come = wanted[changed]
        passes.add_moments(changed[come], 1.0, self._lower.ravel(), self._sums)
        passes.add_moments(changed[~come], -1.0, self._lower.ravel(), self._sums)
        self._matrix = np.tril(self._lower) + np.tril(self._lower, -1).T
        self._members = wanted
        self._is_current = True
        self._is_finite = bool(np.isfinite(self._matrix).all() and np.isfinite(self._sums).all())

    def _forget(self) -> None:
        self._lower[...] = 0.0
        self._sums[...] = 0.0
        self._age, self._moved = 0, 0.0
