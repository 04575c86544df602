"""Losses of drawn rows (Algorithm 3): each has its own bound, and those decided are added up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.checks import drawn_rows
from hinge.bounds.evaluation import Evaluation, Rounding
from hinge.bounds.pieces import get_pieces
from hinge.bounds.products import dot, norm
from hinge.bounds.sorted_margins import SortedMargins
from hinge.losses import Loss
from hinge.parameters import positive, real_number

Floats = NDArray[np.float64]


class SampledMargins:
    """Evaluates losses over rows that the caller draws, computing only margins left open.

    Stored margins are computed anew when the rows examined since have cost ``c`` times as much;
    where the bound spares less than it costs, it is left out until then.

    Parameters
    ----------
    index : SortedMargins
        The rows, their bound and their stored margins. ``Trajectory`` and other bounds per row
        suit best: rows are looked at one by one.
    c : float, default=10.0
        At most about 1 part in c + 1 of the time goes to storing margins.
    """

    def __init__(self, index: SortedMargins, c: float = 10.0) -> None:
        self.index, self.c = index, positive(c, "c")
        self._examined = 0
        self._pays = True
        # No row counts as being on the linear piece already.
        self._nowhere = np.full(index.rows.n_rows, np.inf)

    def evaluate(
        self, w: ArrayLike, b: float, rows: ArrayLike, loss: str | Loss = "hinge"
    ) -> Evaluation:
        """Return the summed loss of these rows and its gradient.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.
        b : float
            The intercept.
        rows : array-like of int of shape (n_drawn,)
            The rows; one that is named twice counts twice.
        loss : str or Loss, default="hinge"
            As in :meth:`SortedMargins.evaluate`.

        Returns
        -------
        Evaluation
            Value, gradient, and how many margins were computed.
        """
        index, pieces = self.index, get_pieces(loss)
        weights, offset = index.point(w), real_number(b, "b")
        drawn = drawn_rows(rows, index.rows.n_rows)
        if index.stored.reference is None or self._examined > self.c * index.rows.n_rows:
            index.sort(weights, offset, loss)
            self._examined, self._pays = 0, True
        linear, open_rows = drawn[:0], drawn
        if self._pays:
            linear, open_rows = index.stored.decided(weights, offset, pieces, drawn)
            self._pays = self._has_paid(len(drawn), len(open_rows))
        self._examined += len(open_rows)
        total = index.passes.sum_of(linear) if pieces.slope else np.zeros(len(weights))
        row_weights = np.broadcast_to(index.weights, index.rows.n_rows)[linear]
        count = float(row_weights.sum())
        labels = float((row_weights * index.signs[linear]).sum())
        value = pieces.level * count
        value -= pieces.slope * (dot(total, weights) + offset * labels)
        start = np.multiply(total, -pieces.slope, out=total)
        point = (weights, offset)
        sums = index.passes.listed(point, pieces, open_rows, self._nowhere, start, -1.0)
        share = float(np.broadcast_to(index.weights, index.rows.n_rows)[drawn].sum())
        terms = max(index.rows.n_rows, len(drawn))
        rounding = Rounding(index.rows, terms, share, index.stored.largest_norm)
        bounds = rounding.bounds(norm(weights), offset, pieces)
        gradient_b = -pieces.slope * labels - sums.descent
        return Evaluation(value + sums.value, sums.curved, gradient_b, len(open_rows), *bounds)

    def _has_paid(self, drawn: int, examined: int) -> bool:
        """Return whether the rows spared had more stored values than the bound has read."""
        rows = self.index.rows
        spared = (drawn - examined) * rows.n_stored / max(rows.n_rows, 1)
        return spared > 3.0 * rows.n_features + 8.0 * drawn
