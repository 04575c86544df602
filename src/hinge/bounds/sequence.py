"""What many machines say of the same rows, most rows looked at once for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds.cells import Bound
from hinge.bounds.linear_model import LinearModel, read_model
from hinge.bounds.policy import ResortPolicy
from hinge.bounds.sorted_margins import SortedMargins
from hinge.errors import InvalidLabelsError, UnsupportedError
from hinge.rows import Rows


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


class LabelSequence:
    """The labels of the same rows under one machine of two classes after another.

    Labels are those of ``predict``, up to rounding at a score of 0.

    Parameters
    ----------
    X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
        The rows.
    bound : str or Bound, default="trajectory"
        What decides rows; see :class:`SortedMargins`.
    policy : str, ResortPolicy or None, default=None
        When all rows are looked at again; see :class:`SortedMargins`.
    n_jobs : int or None, default=None
        Threads for large passes.

    Attributes
    ----------
    examined : int
        Rows whose decision value the last machine had computed.

    Examples
    --------
    >>> from hinge.result import Point
    >>> labels = LabelSequence([[-2.0], [-1.0], [1.0], [2.0]])
    >>> labels.predict(Point([1.0], 0.0))
    array([-1, -1,  1,  1])
    >>> labels.predict(Point([1.0], -1.5)), labels.examined
    (array([-1, -1, -1,  1]), 1)
    """

    def __init__(
        self,
        X: Any,
        *,
        bound: str | Bound = "trajectory",
        policy: str | ResortPolicy | None = None,
        n_jobs: int | None = None,
    ) -> None:
        rows = X if isinstance(X, Rows) else Rows(X)
        # With labels of one kind a margin is a decision value.
        signs = np.ones(rows.n_rows, dtype=np.int8)
        self._index = SortedMargins(rows, signs, bound=bound, policy=policy, n_jobs=n_jobs)
        self.examined = 0

    def predict(self, model: Any) -> NDArray[Any]:
        """Return the label of every row under this machine.

        Parameters
        ----------
        model : estimator, Solution or Point
            A machine of two classes; see :class:`MovingPoints` for what it may be.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of the classes of the machine.
        """
        machine = _of_two_classes(model, "LabelSequence")
        is_first, self.examined = self._index.below(machine.weights[1], float(machine.offsets[1]))
        return np.asarray(machine.classes[np.where(is_first, 0, 1)])


def _of_two_classes(model: Any, who: str) -> LinearModel:
    """Return the numbers of a machine with one decision function, or refuse another."""
    machine = read_model(model)
    if machine.n_classes != 2 or machine.weights[0].any() or machine.offsets[0] != 0.0:
        message = (
            f"{who} takes machines of two classes with one decision function; got one of "
            f"{machine.n_classes} classes. Use its predict."
        )
        raise UnsupportedError(message)
    return machine


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
        machine = _of_two_classes(model, "count_errors")
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
