"""Early stopping: an observer that watches the errors on rows that a run does not train on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.bounds import Bound, SortedMargins
from hinge.errors import InvalidLabelsError, InvalidParameterError, UnsupportedError
from hinge.parameters import count
from hinge.result import Point
from hinge.rows import Rows
from hinge.solvers.driver import Event

_LOOK_SHARE = 10  # a look may cost this fraction of the work before it


@dataclass(frozen=True)
class Look:
    """What a monitor saw once.

    Parameters
    ----------
    steps, work : int
        How far the run was.
    errors : int
        Rows of the validation set that its point labelled wrongly.
    examined : int
        Rows of it whose decision value was computed to know that.
    """

    steps: int
    work: int
    errors: int
    examined: int


class ValidationMonitor:
    """Stops a run when the errors on a validation set no longer decrease.

    Pass it in ``observers=`` of :func:`hinge.solve`. Between two looks the weights change little,
    so that most rows of the set keep their side and are not looked at; the counts are those of a
    full pass all the same, up to rounding at a score of 0. A look is taken when ten times as many
    stored values as the set has were touched since the last one. A run that it ends has the status
    ``interrupted`` and is certified. A monitor that is shown another run, one with less work done
    than was last seen, begins anew.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows that the run does not train on.
    y : array-like of shape (n_samples,)
        Their labels, among the problem's classes.
    patience : int, default=5
        Looks without fewer errors after which the run ends.
    bound : str or Bound, default="trajectory"
        What decides rows; see :class:`hinge.bounds.SortedMargins`.

    Attributes
    ----------
    best : Point or None
        The point of the run with the fewest errors; the first one of several.
    looks : list of Look
        Every look at the run.

    Examples
    --------
    >>> import numpy as np, hinge
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> y = X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=400) > 0
    >>> monitor = ValidationMonitor(X[300:], y[300:], patience=3)
    >>> problem = hinge.Problem(X[:300], y[:300], C=0.01, intercept="none")
    >>> solution = hinge.solve(problem, "pegasos", hinge.Stop(gap=0.0), observers=[monitor])
    >>> len(monitor.looks) > 3, monitor.best is not None
    (True, True)
    """

    def __init__(
        self, X: Any, y: ArrayLike, patience: int = 5, *, bound: str | Bound = "trajectory"
    ) -> None:
        self.patience = count(patience, "patience")
        if self.patience < 1:
            message = f"patience must be at least 1; got {patience!r}."
            raise InvalidParameterError(message)
        self.rows = Rows(X)
        self.labels = np.asarray(y)
        self.bound = bound
        self._begin()

    def _begin(self) -> None:
        """Know nothing of a run yet; its problem may have other classes than the one before."""
        self.best: Point | None = None
        self.looks: list[Look] = []
        self._index: SortedMargins | None = None
        self._fewest = self.rows.n_rows + 1
        self._since = 0
        self._work = 0  # of the run when it was last seen

    def __call__(self, event: Event) -> bool:
        """Look at the current point if enough has been done; return whether to stop.

        Parameters
        ----------
        event : Event
            What the driver shows.

        Returns
        -------
        bool
            True when the errors have not decreased for so many looks.
        """
        if event.problem.kernel is not None:
            message = "a validation monitor watches linear machines; the problem has a kernel."
            raise UnsupportedError(message)
        progress = event.progress
        if progress.work < self._work:
            self._begin()
        self._work = progress.work
        done = progress.work - self.looks[-1].work if self.looks else progress.work
        if done < _LOOK_SHARE * self.rows.n_stored and not progress.at_rest:
            return False
        if self._index is None:
            self._index = SortedMargins(self.rows, self._signs(event), bound=self.bound)
        point = event.point()
        found = self._index.evaluate(point.coef, point.intercept, "zero_one")
        errors = round(found.value)
        self.looks.append(Look(progress.steps, progress.work, errors, found.examined))
        self._since += 1
        if errors < self._fewest:
            self.best, self._fewest, self._since = point, errors, 0
        return self._since >= self.patience

    def _signs(self, event: Event) -> NDArray[np.int8]:
        """Return the labels as -1 and +1, or refuse ones that the problem does not know."""
        classes = event.problem.classes
        signs = np.where(self.labels == classes[1], 1, -1).astype(np.int8)
        known = (self.labels == classes[0]) | (self.labels == classes[1])
        if self.labels.shape != (self.rows.n_rows,) or not np.all(known):
            strange = "" if np.all(known) else f", {self.labels[~known].tolist()[0]!r} among them"
            message = (
                f"the validation set needs one label out of {classes.tolist()!r} for each of its "
                f"{self.rows.n_rows} rows; got labels of shape {self.labels.shape}{strange}."
            )
            raise InvalidLabelsError(message)
        return signs
