"""SortedMargins: losses and gradients over the same rows again and again, most rows untouched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.cells import Bound, Cells
from hinge.bounds.evaluation import Evaluation, rounding_bounds
from hinge.bounds.names import get_bound
from hinge.bounds.pieces import Pieces, get_pieces
from hinge.bounds.policy import Action, Record, ResortPolicy, get_policy
from hinge.errors import InvalidDataError
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.labels import row_weights, two_classes
from hinge.losses import Loss
from hinge.parameters import real_number
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]


@dataclass
class _Stored:
    """Margins under the weights of the last sort, in order, and the sums they allow."""

    w: Floats
    b: float
    margins: Floats
    order: NDArray[np.int64]  # rows by cell, then by margin
    keys: Floats  # margins in that order
    starts: NDArray[np.int64]  # where each cell begins
    sums: dict[Pieces, tuple[Floats, float, float]]  # of the linear piece: rows, weights, labels


class SortedMargins:
    """An index of margins for evaluating losses at weights that change little.

    Parameters
    ----------
    X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Two labels, or -1 and +1.
    bound : str or Bound, default="sphere"
        ``"sphere"``, ``"centred"``, ``"box"``, ``"clusters"``, ``"tree"``, or an object.
    policy : str, ResortPolicy or None, default=None
        When to sort again; None is ``"measured"``.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows.
    seed : int, default=0
        For bounds that draw rows.

    Examples
    --------
    >>> import numpy as np
    >>> index = SortedMargins([[0.0], [2.0], [3.0]], [-1, 1, 1])
    >>> index.evaluate(np.array([1.0]), b=-1.5).value
    0.5
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        bound: str | Bound = "sphere",
        policy: str | ResortPolicy | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        self.rows = X if isinstance(X, Rows) else Rows(X)
        self.signs = _signs(y, self.rows.n_rows)
        weights = row_weights(sample_weight, self.rows.n_rows)
        self.weights = np.ones(self.rows.n_rows) if weights is None else weights
        self.policy = get_policy(policy)
        self.bound = get_bound(bound)
        self.cells: Cells = self.bound.cells(self.rows, self.signs, seed)
        self.norms = self.rows.norm_bounds(self.rows.squared_norms)
        self.largest_norm = float(np.max(self.norms, initial=0.0))
        n = self.rows.n_rows
        self.record = Record(n, self.rows.n_stored / max(n, 1), self.rows.n_features)
        self._stored: _Stored | None = None

    def evaluate(self, w: ArrayLike, b: float = 0.0, loss: str | Loss = "hinge") -> Evaluation:
        """Return the summed loss and its gradient at these weights.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.
        b : float, default=0.0
            The intercept.
        loss : str or Loss, default="hinge"
            ``"hinge"``, ``"squared_hinge"``, ``"huber"``, ``"zero_one"``, or a loss object.

        Returns
        -------
        Evaluation
            Value, gradient, and how many rows were examined.
        """
        weights, offset, pieces = self._point(w), real_number(b, "b"), get_pieces(loss)
        with single_threaded_blas():
            if self._stored is None or pieces not in self._stored.sums:
                return self._all_rows(weights, offset, pieces, sort=True)
            open_rows = self._open_rows(weights, offset, pieces)
            action = self.policy.choose(self.record, len(open_rows))
            if action is Action.PRUNED:
                return self._some_rows(weights, offset, pieces, open_rows)
            return self._all_rows(weights, offset, pieces, sort=action is Action.SORT)

    def sort(self, w: ArrayLike, b: float = 0.0, loss: str | Loss = "hinge") -> Evaluation:
        """Evaluate all rows and store their margins, whatever the policy says.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.
        b : float, default=0.0
            The intercept.
        loss : str or Loss, default="hinge"
            The loss to evaluate.

        Returns
        -------
        Evaluation
            Value and gradient.
        """
        pieces = get_pieces(loss)
        with single_threaded_blas():
            return self._all_rows(self._point(w), real_number(b, "b"), pieces, sort=True)

    def _point(self, w: ArrayLike) -> Floats:
        weights = np.ascontiguousarray(w, dtype=np.float64)
        if weights.shape != (self.rows.n_features,):
            message = (
                f"w has shape {weights.shape}; the rows have {self.rows.n_features} features, so "
                f"it must be ({self.rows.n_features},)."
            )
            raise InvalidDataError(message)
        if not np.isfinite(weights).all():
            message = f"w holds {weights[~np.isfinite(weights)][0]!r}; weights must be finite."
            raise InvalidDataError(message)
        return weights

    def _margins(self, w: Floats, b: float) -> Floats:
        margins = np.empty(self.rows.n_rows)
        for block in self.rows.blocks():
            margins[block.rows] = self.signs[block.rows] * (block.dot(w) + b)
        return margins

    def _sum_of_rows(self, coefficients: Floats) -> Floats:
        total = np.zeros(self.rows.n_features)
        for block in self.rows.blocks():
            total += block.transpose_dot(coefficients[block.rows])
        return total

    def _all_rows(self, w: Floats, b: float, pieces: Pieces, *, sort: bool) -> Evaluation:
        margins = self._margins(w, b)
        if sort:
            self._store(w, b, margins, pieces)
        value = float(self.weights @ pieces.value(margins, self.signs))
        descent = -(self.weights * self.signs) * pieces.descent(margins, self.signs)
        gradient = self._sum_of_rows(descent)
        if not sort:
            self.record.add(self.rows.n_rows)
        return self._evaluation(w, b, pieces, (value, gradient, float(descent.sum())), len(margins))

    def _store(self, w: Floats, b: float, margins: Floats, pieces: Pieces) -> None:
        order = np.lexsort((margins, self.cells.of_row))
        starts = np.searchsorted(self.cells.of_row[order], np.arange(self.cells.count + 1))
        linear = self.weights * pieces.linear(margins, self.signs)
        signed = linear * self.signs
        sums = {pieces: (self._sum_of_rows(signed), float(linear.sum()), float(signed.sum()))}
        self._stored = _Stored(w.copy(), b, margins, order, margins[order], starts, sums)
        self.record.reset()

    def _open_rows(self, w: Floats, b: float, pieces: Pieces) -> NDArray[np.int64]:
        stored = self._stored
        assert stored is not None  # noqa: S101 - evaluate sorts first
        shift, spread = self.cells.change(w - stored.w, b - stored.b)
        spread = spread + self._rounding(w, b, stored)
        low = np.minimum(pieces.low, pieces.low - shift - spread)
        high = np.maximum(pieces.high, pieces.high - shift + spread)
        parts = []
        for cell in range(self.cells.count):
            begin, end = stored.starts[cell], stored.starts[cell + 1]
            keys = stored.keys[begin:end]
            first = begin + np.searchsorted(keys, low[cell], side="left")
            last = begin + np.searchsorted(keys, high[cell], side="right")
            parts.append(stored.order[first:last])
        return np.sort(np.concatenate(parts))

    def _rounding(self, w: Floats, b: float, stored: _Stored) -> float:
        """Bound the rounding of stored and new margins and of the comparison itself."""
        sizes = (np.linalg.norm(w) + np.linalg.norm(stored.w)) * self.largest_norm
        sizes = sizes + abs(b) + abs(stored.b) + 2.0
        return float(sizes * (rounding_factor(self.rows.longest_row + 8) + 8.0 * UNIT_ROUNDOFF))

    def _some_rows(
        self, w: Floats, b: float, pieces: Pieces, numbers: NDArray[np.int64]
    ) -> Evaluation:
        stored = self._stored
        assert stored is not None  # noqa: S101 - evaluate sorts first
        total, count, labels = stored.sums[pieces]
        rows, columns, values = self.rows.entries(numbers)
        signs, weights = self.signs[numbers], self.weights[numbers]
        scores = np.bincount(rows, values * w[columns], minlength=len(numbers))
        margins = signs * (scores + b)
        was_linear = pieces.linear(stored.margins[numbers], signs)
        value = pieces.level * count - pieces.slope * float(total @ w + b * labels)
        before = np.where(was_linear, pieces.level - pieces.slope * margins, 0.0)
        value += float(weights @ (pieces.value(margins, signs) - before))
        correction = pieces.descent(margins, signs) - pieces.slope * was_linear
        correction = weights * signs * correction
        gradient = -pieces.slope * total
        gradient -= np.bincount(columns, values * correction[rows], minlength=len(total))
        gradient_b = -pieces.slope * labels - float(correction.sum())
        self.record.add(len(numbers))
        return self._evaluation(w, b, pieces, (value, gradient, gradient_b), len(numbers))

    def _evaluation(
        self, w: Floats, b: float, pieces: Pieces, sums: tuple[float, Floats, float], examined: int
    ) -> Evaluation:
        largest = (float(np.linalg.norm(w)), self.largest_norm)
        bounds = rounding_bounds(self.rows, float(self.weights.sum()), largest, b, pieces)
        return Evaluation(*sums, examined, *bounds)


def _signs(y: ArrayLike, n_rows: int) -> NDArray[np.int8]:
    """Return -1 or +1 for every row; labels that are already so may be of one kind only."""
    given = np.asarray(y)
    if given.shape == (n_rows,) and given.dtype.kind in "if" and np.all(np.abs(given) == 1):
        return given.astype(np.int8)
    return two_classes(y, n_rows)[1]
