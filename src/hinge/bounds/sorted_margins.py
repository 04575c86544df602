"""SortedMargins: losses and gradients over the same rows again and again, most rows untouched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.cells import Bound
from hinge.bounds.evaluation import Evaluation, rounding_bounds
from hinge.bounds.moments import Moments
from hinge.bounds.names import get_bound
from hinge.bounds.passes import Passes
from hinge.bounds.pieces import Pieces, get_pieces
from hinge.bounds.policy import Action, Record, ResortPolicy, get_policy
from hinge.bounds.positions import Reference
from hinge.bounds.products import dot
from hinge.bounds.stored import StoredMargins
from hinge.errors import InvalidDataError
from hinge.labels import row_weights, two_classes
from hinge.losses import Loss
from hinge.parameters import count, real_number
from hinge.rows import Rows
from hinge.threads import thread_count

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]


@dataclass(frozen=True)
class _LinearSums:
    """Sums over the rows that the reference has on the linear piece of a loss."""

    vector: Floats
    weight: float
    labels: float


class SortedMargins:
    """An index of margins for evaluating losses at weights that change little.

    Parameters
    ----------
    X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
        The data. It is not copied and must not change: margins stored under the old rows would
        decide the new ones. For rows that move, use :class:`MovingPoints`.
    y : array-like of shape (n_samples,)
        Two labels, or -1 and +1.
    bound : str or Bound, default="trajectory"
        ``"sphere"``, ``"centred"``, ``"norms"``, ``"box"``, ``"clusters"``, ``"tree"``,
        ``"trajectory"``, or an object.
    policy : str, ResortPolicy or None, default=None
        When to sort again; None is ``"measured"``.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows.
    seed : int, default=0
        For bounds that draw rows.
    n_jobs : int or None, default=None
        Threads for large passes, as in scikit-learn; the bits do not depend on it.

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
        bound: str | Bound = "trajectory",
        policy: str | ResortPolicy | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.rows = X if isinstance(X, Rows) else Rows(X)
        self.signs = _signs(y, self.rows.n_rows)
        weights = row_weights(sample_weight, self.rows.n_rows)
        self.weights = np.ones(1) if weights is None else weights
        self.policy = get_policy(policy)
        self.bound = get_bound(bound)
        self.n_jobs = n_jobs
        n = self.rows.n_rows
        self.total_weight = float(n) if weights is None else float(self.weights.sum())
        self.record = Record(n, self.rows.n_stored / max(n, 1), self.rows.n_features)
        self.stored = StoredMargins(
            self.rows,
            self.signs,
            self.bound.cells(self.rows, self.signs, count(seed, "seed")),
            self.bound.extrapolates,
        )
        self.moments = Moments(self.rows, self.weights) if Moments.suit(self.rows) else None
        self._sums: dict[Pieces, _LinearSums] = {}
        self._square = 0.0  # of the length of the weights at hand
        self._passes: Passes | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_passes": None}

    @property
    def passes(self) -> Passes:
        """The compiled passes over these rows."""
        if self._passes is None:
            threads = thread_count(self.n_jobs)
            self._passes = Passes(self.rows, self.signs, self.weights, threads)
        return self._passes

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
        weights, offset, pieces = self.point(w), real_number(b, "b"), get_pieces(loss)
        sides = self._sides(pieces)
        open_rows = self._to_examine(weights, offset, sides)
        if open_rows is not None:
            found = self._some_rows(weights, offset, sides, open_rows)
            # Moments overflow where margins do not yet.
            if sides is pieces or math.isfinite(found.value):
                return found
        return self._all_rows(weights, offset, pieces)

    def below(
        self, w: ArrayLike, b: float = 0.0, loss: str | Loss = "zero_one"
    ) -> tuple[NDArray[np.bool_], int]:
        """Return which rows lie below the window of a loss; for zero-one, which are wrong.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.
        b : float, default=0.0
            The intercept.
        loss : str or Loss, default="zero_one"
            The loss.

        Returns
        -------
        below : ndarray of bool of shape (n_samples,)
            Whether the margin of each row is below the window.
        examined : int
            Rows whose margin was computed.
        """
        weights, offset, pieces = self.point(w), real_number(b, "b"), get_pieces(loss)
        open_rows = self._to_examine(weights, offset, pieces)
        if open_rows is None:
            self._all_rows(weights, offset, pieces)
        reference = self.stored.reference
        assert reference is not None
        found = pieces.linear(reference.margins, self.signs)
        if open_rows is None:
            require_finite(reference.margins, None)
            return found, self.rows.n_rows
        margins = self.passes.margins_of(weights, offset, open_rows)
        require_finite(margins, open_rows)
        found[open_rows] = pieces.linear(margins, self.signs[open_rows])
        self.record.add(len(open_rows))
        return found, len(open_rows)

    def _to_examine(self, w: Floats, b: float, pieces: Pieces) -> RowList | None:
        """Return the rows that are open, or None where all rows are to be taken."""
        if self.stored.reference is None:
            return None
        if self.record.rests > 0:
            self.record.rests -= 1
            return None
        # While weights move far, a sample says so for less than a scan of all keys.
        guess = self.stored.guess_open(w, b, pieces)
        if guess is None or self.policy.choose(self.record, guess) is Action.PRUNED:
            open_rows = self.stored.open_rows(w, b, pieces)
            if self.policy.choose(self.record, len(open_rows)) is Action.PRUNED:
                return open_rows
        self.record.miss_or_renew()
        return None

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
        return self._all_rows(self.point(w), real_number(b, "b"), get_pieces(loss))

    def point(self, w: ArrayLike) -> Floats:
        """Return the weights as an array of float64, or raise.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.

        Returns
        -------
        ndarray of shape (n_features,)
            The weights; the caller's own array where it already is one.
        """
        weights = np.ascontiguousarray(w, dtype=np.float64)
        if weights.shape != (self.rows.n_features,):
            message = (
                f"w has shape {weights.shape}; the rows have {self.rows.n_features} features, so "
                f"it must be ({self.rows.n_features},)."
            )
            raise InvalidDataError(message)
        # One number that is not finite makes the sum of squares so; it may also just overflow.
        self._square = dot(weights, weights)
        if not math.isfinite(self._square) and not np.isfinite(weights).all():
            wrong = int(np.flatnonzero(~np.isfinite(weights))[0])
            message = f"w[{wrong}] is {float(weights[wrong])!r}; weights must be finite."
            raise InvalidDataError(message)
        return weights

    def _all_rows(self, w: Floats, b: float, pieces: Pieces) -> Evaluation:
        margins = np.empty(self.rows.n_rows)
        sums = self.passes.all_rows(w, b, pieces, margins)
        self.stored.store(Reference(w.copy(), b, margins))
        linear = _LinearSums(sums.linear, sums.linear_weight, sums.linear_labels)
        self._sums = {pieces: linear}
        self.record.reset()
        gradient = -pieces.slope * sums.linear
        gradient -= sums.curved
        gradient_b = -pieces.slope * sums.linear_labels - sums.descent
        return self._evaluation(b, pieces, (sums.value, gradient, gradient_b), len(margins))

    def _sides(self, pieces: Pieces) -> Pieces:
        """Return the loss with its parabola as a side of the window, where moments are kept."""
        reference = self.stored.reference
        if self.moments is None or reference is None or not math.isinf(pieces.low):
            return pieces
        is_ready = self.moments.are_ready(reference, pieces, self.passes)
        return pieces.with_moments() if is_ready else pieces

    def _some_rows(self, w: Floats, b: float, pieces: Pieces, numbers: RowList) -> Evaluation:
        reference = self.stored.reference
        assert reference is not None
        value, start, descent_b = self._quiet(w, b, pieces)
        sums = self.passes.listed(w, b, pieces, numbers, reference.margins, start)
        gradient = np.negative(sums.curved, out=sums.curved)
        self.record.add(len(numbers))
        found = (value + sums.value, gradient, -descent_b - sums.descent)
        return self._evaluation(b, pieces, found, len(numbers))

    def _quiet(self, w: Floats, b: float, pieces: Pieces) -> tuple[float, Floats, float]:
        """Return the loss, and minus its derivatives, as if no row had changed its side."""
        if self.moments is not None and pieces.bend != 0.0:
            return self.moments.sums(w, b, pieces)
        base = self._linear_sums(pieces)
        value = pieces.level * base.weight
        value -= pieces.slope * (dot(base.vector, w) + b * base.labels)
        start = base.vector.copy() if pieces.slope == 1.0 else pieces.slope * base.vector
        return value, start, pieces.slope * base.labels

    def _linear_sums(self, pieces: Pieces) -> _LinearSums:
        """Return the sums over the linear piece at the reference, made for a new loss."""
        if pieces not in self._sums:
            reference = self.stored.reference
            assert reference is not None
            linear = pieces.linear(reference.margins, self.signs)
            numbers = np.flatnonzero(linear).astype(np.uint32)
            weights = np.broadcast_to(self.weights, self.rows.n_rows)[numbers]
            vector = np.zeros(self.rows.n_features)
            if pieces.slope != 0.0:
                vector = self.passes.sum_of(numbers)
            labels = float(np.sum(weights * self.signs[numbers]))
            self._sums[pieces] = _LinearSums(vector, float(np.sum(weights)), labels)
        return self._sums[pieces]

    def _evaluation(
        self, b: float, pieces: Pieces, sums: tuple[float, Floats, float], examined: int
    ) -> Evaluation:
        largest = (math.sqrt(self._square), self.stored.largest_norm)
        bounds = rounding_bounds(self.rows, self.rows.n_rows, self.total_weight, largest, b, pieces)
        return Evaluation(*sums, examined, *bounds)


def require_finite(margins: Floats, numbers: RowList | None) -> None:
    """Refuse margins that overflow: infinite ones would be compared, and NaN be given a side."""
    if np.isfinite(margins).all():
        return
    place = int(np.flatnonzero(~np.isfinite(margins))[0])
    row = place if numbers is None else int(numbers[place])
    message = (
        f"the decision value of row {row} overflows: X and w are too large to be multiplied. "
        "Scale X, and fit the machine on scaled rows."
    )
    raise InvalidDataError(message)


def _signs(y: ArrayLike, n_rows: int) -> NDArray[np.int8]:
    """Return -1 or +1 for every row; labels that are already so may be of one kind only."""
    given = np.asarray(y)
    if given.shape == (n_rows,) and given.dtype.kind in "if" and np.all(np.abs(given) == 1):
        return given.astype(np.int8)
    return two_classes(y, n_rows)[1]
