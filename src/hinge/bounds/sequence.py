"""How many rows each of many machines gets wrong, most rows looked at once for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.cells import Bound
from hinge.bounds.linear_model import read_model
from hinge.bounds.policy import ResortPolicy
from hinge.bounds.sorted_margins import SortedMargins
from hinge.errors import InvalidLabelsError, UnsupportedError


class Errors(NamedTuple):
    """What one machine gets wrong.

    Parameters
    ----------
    wrong : int
        Rows that ``predict`` labels wrongly, up to rounding at a score of 0.
    examined : int
        Rows whose decision value had to be computed to know that.
    """

    wrong: int
    examined: int


def count_errors(
    models: Iterable[Any],
    X: Any,
    y: ArrayLike,
    *,
    bound: str | Bound = "trajectory",
    policy: str | ResortPolicy | None = None,
) -> list[Errors]:
    """Return how many rows each of a sequence of linear machines gets wrong.

    Machines that resemble the one before them, as along a path of C or in the course of training,
    cost little: only rows near the boundary are looked at again. The counts are those of
    ``predict``, up to rounding at a score of 0.

    Parameters
    ----------
    models : iterable of estimator, Solution or Point
        Machines of the same two classes; see :class:`MovingPoints` for what they may be.
    X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    bound : str or Bound, default="trajectory"
        What decides rows; see :class:`SortedMargins`.
    policy : str, ResortPolicy or None, default=None
        When all rows are looked at again; see :class:`SortedMargins`.

    Returns
    -------
    list of Errors
        For each machine the number of errors, and of rows examined.

    Examples
    --------
    >>> from hinge.result import Point
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], [-1, -1, 1, -1]
    >>> count_errors([Point([1.0], 0.0), Point([1.0], -1.5)], X, y)
    [Errors(wrong=1, examined=4), Errors(wrong=2, examined=1)]
    """
    index: SortedMargins | None = None
    classes: NDArray[Any] | None = None
    found = []
    for model in models:
        machine = read_model(model)
        if machine.n_classes != 2 or machine.weights[0].any() or machine.offsets[0] != 0.0:
            message = (
                "count_errors compares machines of two classes with one decision function; got "
                f"one of {machine.n_classes} classes. Use its predict."
            )
            raise UnsupportedError(message)
        if classes is None or index is None:
            classes = machine.classes
            index = SortedMargins(X, _signs(y, classes), bound=bound, policy=policy)
        elif not np.array_equal(machine.classes, classes):
            message = (
                f"the machines must have the same classes; got {machine.classes.tolist()!r} after "
                f"{classes.tolist()!r}."
            )
            raise InvalidLabelsError(message)
        evaluation = index.evaluate(machine.weights[1], float(machine.offsets[1]), "zero_one")
        found.append(Errors(round(evaluation.value), evaluation.examined))
    return found


def _signs(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.int8]:
    """Return +1 for labels of the second class, -1 for the first; refuse any other."""
    labels = np.asarray(y)
    is_first, is_second = labels == classes[0], labels == classes[1]
    if labels.ndim != 1 or not np.all(is_first | is_second):
        strange = labels.ravel()[~(np.ravel(is_first) | np.ravel(is_second))]
        what = f"label {strange.tolist()[0]!r}" if len(strange) else f"shape {labels.shape}"
        message = f"y must hold the machines' classes, {classes.tolist()!r}; got {what}."
        raise InvalidLabelsError(message)
    return np.where(is_second, 1, -1).astype(np.int8)
