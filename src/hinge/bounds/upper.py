r"""A fast upper bound on the logistic loss: chords over buckets of rows of similar margin.

On an interval a convex loss lies below its chord, and the sum of a chord over rows needs only the
sum of the rows. Each cell's rows are cut into buckets by margin; a bucket's margins lie in an
interval that the bound of the cell widens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.positions import Reference
from hinge.bounds.products import dots
from hinge.bounds.sorted_margins import SortedMargins
from hinge.inequality import rounding_factor
from hinge.parameters import real_number

Floats = NDArray[np.float64]

_BUCKETS = 16  # of each cell


@dataclass
class _Buckets:
    """Sums over the rows of each bucket, and the extremes of their stored margins."""

    reference: Reference
    cell: NDArray[np.int64]
    lowest: Floats
    highest: Floats
    weights: Floats
    labels: Floats
    vectors: Floats


class LogisticBound:
    """Upper bounds on the summed logistic loss ``log(1 + exp(-z))`` without a pass.

    Parameters
    ----------
    index : SortedMargins
        The index whose stored margins are used. Sums of its buckets are made once after each of
        its full passes and take ``16 * n_cells * n_features`` numbers.

    Examples
    --------
    >>> index = SortedMargins([[0.0], [2.0], [3.0]], [-1, 1, 1])
    >>> first = index.evaluate([1.0], b=-1.5)
    >>> round(LogisticBound(index).upper_bound([1.0], b=-1.5), 6)
    0.876904
    """

    def __init__(self, index: SortedMargins) -> None:
        self.index = index
        self._buckets: _Buckets | None = None

    def upper_bound(self, w: ArrayLike, b: float = 0.0) -> float:
        """Return a number that the summed logistic loss at these weights does not exceed.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.
        b : float, default=0.0
            The intercept.

        Returns
        -------
        float
            The upper bound.
        """
        weights, offset = self.index.point(w), real_number(b, "b")
        stored = self.index.stored
        if stored.reference is None:
            self.index.sort(weights, offset)
        assert stored.reference is not None
        if self._buckets is None or self._buckets.reference is not stored.reference:
            self._buckets = self._make(stored.reference)
        # Numbers that overflow bound nothing: where one is not finite, neither is the bound.
        with np.errstate(over="ignore", invalid="ignore"):
            bound = self._chords(self._buckets, weights, offset)
        return bound if math.isfinite(bound) else math.inf

    def _chords(self, buckets: _Buckets, w: Floats, b: float) -> float:
        """Return the sum of the chords over all buckets, rounding included."""
        shift, reach = self.index.stored.cell_changes(w, b)
        low = buckets.lowest + (shift - reach)[buckets.cell]
        high = buckets.highest + (shift + reach)[buckets.cell]
        at_low, at_high = np.logaddexp(0.0, -low), np.logaddexp(0.0, -high)
        width = np.maximum(high - low, np.finfo(float).tiny)
        slopes = np.where(high > low, (at_high - at_low) / width, 0.0)
        sums = dots(buckets.vectors, w) + b * buckets.labels
        chords = at_low * buckets.weights + slopes * (sums - low * buckets.weights)
        # Where rounding has put a chord above its left end, that end bounds the bucket.
        total = float(np.minimum(chords, at_low * buckets.weights).sum())
        sizes = np.abs(sums) + (np.abs(low) + at_low + 1.0) * buckets.weights
        terms = self.index.rows.n_rows + len(w) + 64
        return total + 4.0 * rounding_factor(terms) * float(sizes.sum())

    def _make(self, reference: Reference) -> _Buckets:
        index = self.index
        layout = index.stored.layout
        weights = np.broadcast_to(index.weights, index.rows.n_rows)
        cells, lowest, highest, sums, labels, vectors = [], [], [], [], [], []
        for cell in range(len(layout.starts) - 1):
            members = layout.order[layout.starts[cell] : layout.starts[cell + 1]]
            ordered = members[np.argsort(reference.margins[members], kind="stable")]
            for part in np.array_split(ordered, min(_BUCKETS, max(1, len(ordered)))):
                if len(part):
                    cells.append(cell)
                    lowest.append(reference.margins[part[0]])
                    highest.append(reference.margins[part[-1]])
                    sums.append(weights[part].sum())
                    labels.append((weights[part] * index.signs[part]).sum())
                    # The chord is in y w'x, so that the labels are part of the vectors.
                    vectors.append(index.passes.sum_of(np.ascontiguousarray(part)))
        return _Buckets(
            reference,
            np.array(cells),
            np.array(lowest),
            np.array(highest),
            np.array(sums),
            np.array(labels),
            np.array(vectors),
        )
