"""SortedMargins: losses and gradients over the same rows again and again, most rows untouched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.cells import Bound
from hinge.bounds.checks import (
    require_finite,
    require_finite_weights,
    room_for_gradient,
    shaped_weights,
    signs_of,
)
from hinge.bounds.evaluation import (
    THE_SUM,
    Evaluation,
    Objective,
    Rounding,
)
from hinge.bounds.linear_sums import LinearSums
from hinge.bounds.moments import Moments
from hinge.bounds.names import get_bound
from hinge.bounds.passes import Passes
from hinge.bounds.pieces import Pieces, get_pieces
from hinge.bounds.policy import Action, Record, ResortPolicy, get_policy
from hinge.bounds.positions import Moved, Reference
from hinge.bounds.products import combine, dot
from hinge.bounds.stored import StoredMargins
from hinge.labels import row_weights
from hinge.losses import Loss
from hinge.parameters import count, not_negative, positive, real_number
from hinge.rows import Rows
from hinge.threads import thread_count

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]


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
        self.signs = signs_of(y, self.rows.n_rows)
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
        self._sums: dict[Pieces, LinearSums] = {}
        self._square = 0.0  # of the length of the weights at hand
        self._rounding = Rounding(self.rows, n, self.total_weight, self.stored.largest_norm)
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

    def evaluate(
        self,
        w: ArrayLike,
        b: float = 0.0,
        loss: str | Loss = "hinge",
        *,
        scale: float = 1.0,
        ridge: float = 0.0,
        out: Floats | None = None,
    ) -> Evaluation:
        """Return the summed loss and its gradient at these weights.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            The weights.
        b : float, default=0.0
            The intercept.
        loss : str or Loss, default="hinge"
            ``"hinge"``, ``"squared_hinge"``, ``"huber"``, ``"zero_one"``, or a loss object.
        scale : float, default=1.0
            What the sum is multiplied with.
        ridge : float, default=0.0
            ``ridge / 2`` times the squared length of the weights is added. Where rows are sparse
            this costs less than adding it to what is returned: vectors are then most of the work.
        out : ndarray of float64 of shape (n_features,) or None, default=None
            Where to write the gradient; None makes an array.

        Returns
        -------
        Evaluation
            Value, gradient, and how many rows were examined.
        """
        weights = shaped_weights(w, self.rows.n_features)
        gradient = np.empty(len(weights)) if out is None else room_for_gradient(out, weights)
        objective = Objective(positive(scale, "scale"), not_negative(ridge, "ridge"))
        return self.evaluate_into(
            gradient, weights, real_number(b, "b"), get_pieces(loss), objective
        )

    def evaluate_into(
        self, gradient: Floats, w: Floats, b: float, pieces: Pieces, objective: Objective
    ) -> Evaluation:
        """Evaluate as :meth:`evaluate` does what is known to be of the right kind and shape.

        Parameters
        ----------
        gradient : ndarray of shape (n_features,)
            Where to write the gradient; shares no memory with the weights.
        w : ndarray of shape (n_features,)
            The weights.
        b : float
            The intercept.
        pieces : Pieces
            The loss.
        objective : Objective
            What is made of its sum.

        Returns
        -------
        Evaluation
            Value, gradient, and how many rows were examined.
        """
        sides, to = self._sides(pieces), (objective, gradient)
        base = self._sums.get(sides)
        moved = self._moved(w, base)
        if moved is not None:
            open_rows = self._to_examine(moved, b, sides)
            if open_rows is not None:
                found = self._some_rows(moved, b, sides, open_rows, base, to)
                # Moments overflow where margins do not yet.
                if sides is pieces or math.isfinite(found.value):
                    return found
        return self._all_rows(w, b, pieces, to)

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
        weights = shaped_weights(w, self.rows.n_features)
        offset, pieces = real_number(b, "b"), get_pieces(loss)
        moved = self._moved(weights)
        open_rows = None if moved is None else self._to_examine(moved, offset, pieces)
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

    def _moved(self, w: Floats, base: LinearSums | None = None) -> Moved | None:
        """Return how far the weights are from the stored ones; None where that does not matter."""
        if self.stored.reference is None or self.record.rests > 0:
            self._keep_square(w, dot(w, w))
            self.record.rests = max(0, self.record.rests - 1)
            return None
        moved = self.stored.moved(w, None if base is None else base.vector)
        self._keep_square(w, moved.square)
        return moved

    def _to_examine(self, moved: Moved, b: float, pieces: Pieces) -> RowList | None:
        """Return the rows that are open, or None where all rows are to be taken."""
        # While weights move far, a sample says so for less than a scan of all keys.
        guess = self.stored.guess_open(moved, b, pieces)
        if guess is None or self.policy.choose(self.record, guess) is Action.PRUNED:
            open_rows = self.stored.open_rows(moved, b, pieces)
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
        weights = shaped_weights(w, self.rows.n_features)
        self._keep_square(weights, dot(weights, weights))
        return weights

    def _keep_square(self, w: Floats, square: float) -> None:
        """Keep the square of the length of the weights; refuse ones that are not finite."""
        self._square = square
        require_finite_weights(w, square)

    def _all_rows(
        self, w: Floats, b: float, pieces: Pieces, to: tuple[Objective, Floats] | None = None
    ) -> Evaluation:
        (scale, ridge), gradient = to or (THE_SUM, np.empty(len(w)))
        margins = np.empty(self.rows.n_rows)
        sums = self.passes.all_rows(w, b, pieces, margins)
        self.stored.store(Reference(w.copy(), b, margins))
        self._sums = {pieces: LinearSums.of_pass(sums)}
        self.record.reset()
        slope, third = pieces.slope, (ridge, w) if ridge else None
        combine(gradient, -scale * slope, sums.linear, -scale, sums.curved, third)
        gradient_b = -scale * (pieces.slope * sums.linear_labels + sums.descent)
        found = (sums.value, gradient, gradient_b)
        return self._evaluation(b, pieces, found, len(margins), Objective(scale, ridge))

    def _sides(self, pieces: Pieces) -> Pieces:
        """Return the loss with its parabola as a side of the window, where moments are kept."""
        reference = self.stored.reference
        if self.moments is None or reference is None or not math.isinf(pieces.low):
            return pieces
        is_ready = self.moments.are_ready(reference, pieces, self.passes)
        return pieces.with_moments() if is_ready else pieces

    def _some_rows(
        self,
        moved: Moved,
        b: float,
        pieces: Pieces,
        numbers: RowList,
        base: LinearSums | None,
        to: tuple[Objective, Floats],
    ) -> Evaluation:
        reference = self.stored.reference
        assert reference is not None
        objective, gradient = to
        if base is None:
            value, labels = self._quiet(moved.w, b, pieces, to)
        else:
            value, labels = self._of_linear(moved.w, b, pieces, base, moved.with_base, to)
        sums = self.passes.listed(
            (moved.w, b), pieces, numbers, reference.margins, gradient, -objective.scale
        )
        self.record.add(len(numbers))
        found = (value + sums.value, gradient, -objective.scale * (labels + sums.descent))
        return self._evaluation(b, pieces, found, len(numbers), objective)

    def _quiet(
        self, w: Floats, b: float, pieces: Pieces, to: tuple[Objective, Floats]
    ) -> tuple[float, float]:
        """Return the sum, and minus its derivative by b, as if no row had changed its side.

        The gradient of the objective is written as if that were so.
        """
        if self.moments is not None and pieces.bend != 0.0:
            (scale, ridge), gradient = to
            value, vector, labels = self.moments.sums(w, b, pieces)
            combine(gradient, ridge, w, -scale, vector)
            return value, labels
        reference = self.stored.reference
        assert reference is not None
        base = self._sums[pieces] = LinearSums.of_margins(
            pieces, reference.margins, self.passes, self.signs, self.weights
        )
        return self._of_linear(w, b, pieces, base, dot(base.vector, w), to)

    def _of_linear(
        self,
        w: Floats,
        b: float,
        pieces: Pieces,
        base: LinearSums,
        product: float,
        to: tuple[Objective, Floats],
    ) -> tuple[float, float]:
        """Do the same from the sums over the linear piece, and their product with the weights."""
        (scale, ridge), gradient = to
        combine(gradient, ridge, w, -scale * pieces.slope, base.vector)
        value = pieces.level * base.weight - pieces.slope * (product + b * base.labels)
        return value, pieces.slope * base.labels

    def _evaluation(
        self,
        b: float,
        pieces: Pieces,
        sums: tuple[float, Floats, float],
        examined: int,
        objective: Objective,
    ) -> Evaluation:
        scale, ridge = objective
        value, gradient, gradient_b = sums
        value *= scale
        if ridge:
            value += 0.5 * ridge * self._square
        bounds = self._rounding.bounds(math.sqrt(self._square), b, pieces, objective)
        return Evaluation(value, gradient, gradient_b, examined, *bounds)
