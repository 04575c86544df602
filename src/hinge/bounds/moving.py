r"""Labels of points that move, kept right while almost no margin is computed.

A point was last read at x', under the weights w'. Since then it has moved to x, at most a distance
delta away, and the weights have become w. Its decision value has changed by at most

.. math:: |w'x + b - (w'^{\prime} x' + b')| \le \|w - w'\| \, \|x'\| + \|w\| \, \delta + |b - b'|,

the change of b being known exactly. While that leaves the largest decision value the largest, the
label stands, and neither the point nor the weights need be looked at. What cannot be decided so is
read and computed again.

Rounding is part of the bound: a label that stands is the one that ``predict`` would compute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.linear_model import LinearModel, read_model
from hinge.bounds.products import SMALLEST
from hinge.bounds.tracked import Tracked
from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Readings = Callable[[NDArray[Any]], Any]

_OWN_ROUNDINGS = 1.0 + 16.0 * UNIT_ROUNDOFF  # of the sums and products of the bound itself
_LARGEST_ID = int(np.iinfo(np.int64).max)  # ids of any other kind of integer would become floats


@dataclass(frozen=True)
class Update:
    """What an update found, and what it took.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The label of every point of the update, in its order.
    changed : ndarray of shape (n,)
        Which of them differ from the label before; True for a point that is new.
    examined : ndarray of shape (n,)
        Which of them had their decision values computed.
    """

    labels: NDArray[Any]
    changed: NDArray[np.bool_]
    examined: NDArray[np.bool_]


class MovingPoints:
    """Exact labels of moving points under a linear machine that may change as well.

    Parameters
    ----------
    model : estimator, Solution or Point
        A fitted linear machine: an object with ``coef_``, ``intercept_`` and ``classes_`` (of this
        library or of scikit-learn), or one with ``coef`` and ``intercept`` (labels -1 and +1).
    keep_rows : bool, default=True
        Keep the rows as they were last read, so that distances can be measured where ``moved`` is
        not given. Without them ``update`` must always be told how far points have moved.

    Attributes
    ----------
    asked, examined : int
        How many labels updates have been asked for, and for how many of them decision values were
        computed. The difference is what the bound has saved.

    Notes
    -----
    To measure how far a point has moved costs as much as its decision value. The saving is real
    where ``moved`` is known without looking (a sensor has a largest rate of change; a vehicle has
    a largest speed), above all where ``X`` is a function: only what the bound cannot decide is
    then fetched at all.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge.bounds import MovingPoints
    >>> from hinge.result import Point
    >>> points = MovingPoints(Point(np.array([1.0, 0.0]), 0.0))
    >>> points.update([7, 8], [[3.0, 0.0], [-0.5, 1.0]]).labels
    array([ 1, -1])
    >>> points.update([7, 8], [[2.5, 0.0], [0.5, 1.0]], moved=1.0).labels
    array([1, 1])
    >>> points.asked, points.examined  # the first point was far from the boundary
    (4, 3)
    """

    def __init__(self, model: Any, *, keep_rows: bool = True) -> None:
        self.keep_rows = bool(keep_rows)
        self.asked = 0
        self.examined = 0
        self._models = [read_model(model)]
        self._points = Tracked(self.model.n_classes)

    @property
    def model(self) -> LinearModel:
        """The machine that labels are exact for."""
        return self._models[-1]

    def __len__(self) -> int:
        return len(self._points)

    @property
    def saved(self) -> int:
        """How many labels needed no decision value."""
        return self.asked - self.examined

    def update(self, ids: ArrayLike, X: Any, moved: ArrayLike | float | None = None) -> Update:
        """Tell where some points are now, and learn their labels.

        Parameters
        ----------
        ids : array-like of shape (n,)
            Who the points are: integers below ``2**63`` or words, all different. New ones are
            tracked from now on.
        X : array-like or sparse matrix of shape (n, n_features), or callable
            Where they are. A callable is given the ids that it is needed for (an array) and
            returns their rows; it is not called if there are none.
        moved : array-like of shape (n,), float or None, default=None
            Bounds on how far each of them has moved since its last update, in Euclidean distance.
            None measures it, for which X must be dense rows and ``keep_rows`` true; a point that
            was last read from sparse rows is then read again.

        Returns
        -------
        Update
            Labels, which of them changed, and which were computed.
        """
        names = _names(ids)
        rows = None if callable(X) else self._rows_of(X, len(names))
        slots = self._points.slots(names)
        known = slots >= 0
        travelled = self._travelled(slots, rows, moved)
        stands = np.zeros(len(names), dtype=bool)
        stands[known] = self._stands(slots[known], travelled[known])
        if not stands.all():
            rows, picks = self._needed(X, rows, names, stands)
        # Nothing has been written until here: an update that fails leaves everything as it was.
        slots = self._points.with_new(names)
        before = self._points.winner[slots]
        self._points.travelled[slots] = travelled
        if not stands.all():
            assert rows is not None
            self._read(slots[~stands], rows, picks)
        self.asked += len(names)
        self.examined += int(np.count_nonzero(~stands))
        winner = self._points.winner[slots]
        return Update(self.model.classes[winner], (winner != before) | ~known, ~stands)

    def change_model(self, model: Any) -> NDArray[Any]:
        """Go on with another machine of the same classes and features.

        Parameters
        ----------
        model : estimator, Solution or Point
            The new machine.

        Returns
        -------
        ndarray of shape (n_open,)
            The points whose label the bound no longer proves: their labels are unknown until the
            next ``update`` of them, with rows.
        """
        new = read_model(model)
        new.check_like(self.model)
        self._models.append(new)
        self._forget_unused_models()
        everyone = np.arange(len(self._points), dtype=np.int64)
        stands = self._stands(everyone, self._points.travelled)
        self._points.open[~stands] = True
        return self._points.names[~stands]

    def labels(self, ids: ArrayLike) -> NDArray[Any]:
        """Return the labels of some points as of their last update; nothing is computed.

        Parameters
        ----------
        ids : array-like of shape (n,)
            Who the points are.

        Returns
        -------
        ndarray of shape (n,)
            Their labels.
        """
        names = _names(ids)
        slots = self._points.slots(names)
        if np.any(slots < 0):
            unknown = names[slots < 0].tolist()[0]
            message = f"point {unknown!r} is not tracked; tell where it is with update(ids, X)."
            raise InvalidDataError(message)
        if np.any(self._points.open[slots]):
            unsure = names[self._points.open[slots]].tolist()[0]
            message = (
                f"the label of point {unsure!r} has been unknown since the machine changed; tell "
                "where it is with update(ids, X)."
            )
            raise InvalidDataError(message)
        return self.model.classes[self._points.winner[slots]]

    def forget(self, ids: ArrayLike) -> None:
        """Track some points no longer; ids that are not tracked are left alone.

        Parameters
        ----------
        ids : array-like of shape (n,)
            Who they are.
        """
        self._points.drop(_names(ids))

    def _travelled(
        self, slots: Numbers, rows: Rows | None, moved: ArrayLike | float | None
    ) -> Floats:
        """Return bounds on how far each point is from where it was last read; 0 for new ones."""
        known = slots >= 0
        distances = np.zeros(len(slots))
        if moved is None:
            if rows is None or not self.keep_rows or rows.is_sparse:
                message = (
                    "moved=None measures how far points have moved, which needs dense rows as X "
                    "and keep_rows=True; pass moved=, a bound on the distance of every point."
                )
                raise InvalidParameterError(message)
            is_kept = known.copy()
            is_kept[known] = self._points.is_kept[slots[known]]
            distances[known] = np.inf  # a point last read from sparse rows may be anywhere
            distances[is_kept] = self._measured(slots[is_kept], rows, np.flatnonzero(is_kept))
            return distances
        steps = np.asarray(moved, dtype=np.float64)
        if steps.shape not in ((), slots.shape):
            message = (
                f"moved must be one number or one for each of the {len(slots)} points; got an "
                f"array of shape {steps.shape}."
            )
            raise InvalidParameterError(message)
        if not np.all(steps >= 0.0):
            message = f"moved must not be negative or NaN; got {float(np.min(steps))!r}."
            raise InvalidParameterError(message)
        before = self._points.travelled[slots[known]]
        distances[known] = (before + np.broadcast_to(steps, slots.shape)[known]) * _OWN_ROUNDINGS
        return distances

    def _measured(self, slots: Numbers, rows: Rows, picks: Numbers) -> Floats:
        """Return upper bounds on the distances of rows from where these points were read."""
        if len(slots) == 0:
            return np.zeros(0)
        differences = rows.values[picks] - self._points.rows(rows.n_features)[slots]
        squares = np.einsum("ij,ij->i", differences, differences)
        lengths = np.sqrt(squares + rows.n_features * SMALLEST)
        return np.asarray(lengths * (1.0 + 2.0 * rounding_factor(rows.n_features)))

    def _stands(self, slots: Numbers, travelled: Floats) -> NDArray[np.bool_]:
        """Return which known points keep their label wherever they are within their distances."""
        points, model = self._points, self.model
        stands = np.zeros(len(slots), dtype=bool)
        may_stand = ~points.open[slots] & np.isfinite(travelled)
        for number, old in enumerate(self._models):
            mine = np.flatnonzero((points.version[slots] == number) & may_stand)
            if len(mine) == 0:
                continue
            at = slots[mine]
            winner, norms, far = points.winner[at], points.norm[at], travelled[mine]
            scores = points.scores[at]
            lead = scores[np.arange(len(at)), winner][:, None] - scores
            pairs = model.pairs(old)
            lead += pairs.shift[winner]
            size = norms + far
            rounding = rounding_factor(model.n_features + 16)
            reach = pairs.change[winner] * norms[:, None] + pairs.norm[winner] * far[:, None]
            # Both decision values were, or would be, computed; so were their differences.
            sizes = (model.largest_norm + old.largest_norm) * size
            sizes += model.largest_offset + old.largest_offset
            reach += 2.0 * rounding * sizes[:, None]
            is_safe = lead > reach * _OWN_ROUNDINGS
            is_safe[np.arange(len(at)), winner] = True
            stands[mine] = is_safe.all(axis=1)
        return stands

    def _needed(
        self, X: Any, rows: Rows | None, names: NDArray[Any], stands: NDArray[np.bool_]
    ) -> tuple[Rows, Numbers]:
        """Return rows, and which of them are those of the points that must be read."""
        if rows is not None:
            return rows, np.flatnonzero(~stands)
        wanted = names[~stands]
        fetched = self._rows_of(X(wanted), len(wanted))
        return fetched, np.arange(len(wanted), dtype=np.int64)

    def _rows_of(self, X: Any, count: int) -> Rows:
        rows = Rows(X)
        if (rows.n_rows, rows.n_features) != (count, self.model.n_features):
            message = (
                f"X must have one row for each of the {count} points and "
                f"{self.model.n_features} features; got shape {(rows.n_rows, rows.n_features)}."
            )
            raise InvalidDataError(message)
        return rows

    def _read(self, slots: Numbers, rows: Rows, picks: Numbers) -> None:
        """Compute the decision values of some rows and start their distances anew."""
        points = self._points
        scores = self.model.scores(rows, picks)
        points.scores[slots] = scores
        points.winner[slots] = np.argmax(scores, axis=1)
        points.norm[slots] = rows.norm_bounds(rows.squared_norms[picks])
        points.travelled[slots] = 0.0
        points.version[slots] = len(self._models) - 1
        points.open[slots] = False
        points.is_kept[slots] = self.keep_rows and not rows.is_sparse
        if self.keep_rows and not rows.is_sparse:
            points.rows(rows.n_features)[slots] = rows.values[picks]

    def _forget_unused_models(self) -> None:
        """Keep only machines that some point was last read under, and the current one."""
        last = len(self._models) - 1
        used = np.union1d(np.unique(self._points.version), [last])
        self._models = [self._models[number] for number in used]
        self._points.version[:] = np.searchsorted(used, self._points.version)


def _names(ids: ArrayLike) -> NDArray[Any]:
    """Return ids as a vector, or refuse them."""
    names = np.asarray(ids)
    if names.ndim != 1 or (names.dtype.kind not in "iuUS" and len(names)):
        message = (
            "ids must be a vector of integers or words, one for each point; got an array of "
            f"shape {names.shape} and type {names.dtype}."
        )
        raise InvalidParameterError(message)
    if names.dtype.kind == "u":
        if len(names) and int(names.max()) > _LARGEST_ID:
            message = f"ids must be below 2**63; got {int(names.max())}."
            raise InvalidParameterError(message)
        names = names.astype(np.int64)
    if len(names) and len(np.unique(names)) != len(names):
        values, counts = np.unique(names, return_counts=True)
        twice = values[counts > 1].tolist()[0]
        message = f"ids must all be different; got {twice!r} more than once."
        raise InvalidParameterError(message)
    return names
