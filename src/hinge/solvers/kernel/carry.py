r"""From one problem to the next over the same rows: kernel values and kept rows serve on.

Coefficients grow with C (:mod:`hinge.solvers.path_walk`), and so do the scores, which are linear in
them: a run with another C begins without a single kernel value. A run with other labels takes the
kept rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hinge.result import Point
from hinge.solvers.kernel.dual_state import Ids, KernelState

_ROUNDING = 1e-12  # share of a bound below which a difference to it is none


@dataclass(frozen=True)
class CarriedPoint(Point):
    """A point with a state of the same rows: that of the same problem with another C, or others.

    Parameters
    ----------
    state : KernelState or None, default=None
        The state at the end of that run; whoever starts from it takes its kept rows over.
    keeps_rows : bool, default=False
        Whether others will take kept rows over: then all that are computed are kept while there
        is room.
    covered : ndarray of int64 or None, default=None
        Rows that have a coefficient, those without a cost among them; see ``KernelState``.
    """

    state: KernelState | None = field(default=None, repr=False, compare=False)
    keeps_rows: bool = False
    covered: Ids | None = field(default=None, repr=False, compare=False)


class KernelRelay:
    """Hands kept kernel rows on from one problem to the next, over the same rows.

    Parameters
    ----------
    covered : ndarray of int64 or None, default=None
        The rows of all problems, where some have no cost in some of them; None if every one has
        the same rows with a cost.
    has_other_labels : bool, default=False
        Whether every problem has labels of its own: kernel rows are all that serves the next one.
    """

    def __init__(self, covered: Ids | None = None, *, has_other_labels: bool = False) -> None:
        self._covered = covered
        self._has_other_labels = has_other_labels
        self._last: KernelState | None = None

    def start(self, warm: Point | None) -> Point:
        """Return where to start a problem, with the kernel rows that are kept.

        Parameters
        ----------
        warm : Point or None
            Where it would start otherwise.
        """
        point = Point(np.zeros(0)) if warm is None else warm
        given = point.coef, point.intercept, point.dual_coef
        return CarriedPoint(*given, self._last, keeps_rows=True, covered=self._covered)

    def note(self, state: object) -> None:
        """Take note of the state in which a problem was left.

        Parameters
        ----------
        state : State or None
            The state; what is none of a kernel machine changes nothing.
        """
        if isinstance(state, KernelState):
            self._last = _rows_of(state) if self._has_other_labels else state


def _rows_of(state: KernelState) -> KernelState:
    """Return a state that has the kept rows of another and none of its numbers of rows."""
    names = ("beta", "scores", "deferred", "group", "settled", "queue", "queue_changes", "previous")
    nothing = {name: getattr(state, name)[..., :0].copy() for name in names}
    heir = replace(state, **nothing)
    heir.share_kernel(state)
    return heir


def covered_rows(warm: Point | None) -> Ids | None:
    """Return the rows that are to have a coefficient; None for those with a cost.

    Parameters
    ----------
    warm : Point or None
        Where a run starts.
    """
    return warm.covered if isinstance(warm, CarriedPoint) else None


def take_over(state: KernelState, warm: Point | None) -> bool:
    """Start a state from another of the same rows, if that is what it is given.

    Parameters
    ----------
    state : KernelState
        A state before its first step, with no coefficients yet.
    warm : Point or None
        Where to start.

    Returns
    -------
    bool
        Whether coefficients and scores are set.
    """
    if not isinstance(warm, CarriedPoint):
        return False
    state.keeps_rows = warm.keeps_rows
    before = warm.state
    if before is None or not _has_same_rows(before, state):
        return False
    state.share_kernel(before)
    if not (before.is_complete and _is_same_but_for_cost(before, state)):
        return False
    factor = state.problem.C / before.problem.C
    then, now = before.program, state.program
    scaled = factor * before.beta
    beta = np.clip(scaled, now.lower, now.upper)
    beta = np.where(before.beta >= then.upper, now.upper, beta)
    beta = np.where(before.beta <= then.lower, now.lower, beta)
    changes = beta - scaled
    changes[np.abs(changes) <= _ROUNDING * np.maximum(now.upper, -now.lower)] = 0.0
    state.beta, state.scores = beta, factor * before.scores
    state.queue = np.flatnonzero(changes)
    state.queue_changes = changes[state.queue]
    state.previous = before.previous.copy()
    return True


def _has_same_rows(before: KernelState, after: KernelState) -> bool:
    """Return whether two states are of the same rows with the same kernel, and as much memory."""
    one, other = before.problem, after.problem
    if one.rows is not other.rows or one.kernel != other.kernel:
        return False
    if (before.cache_mb, before.least_kept) != (after.cache_mb, after.least_kept):
        return False
    present = before.present, after.present
    if present[0] is None or present[1] is None:
        return present[0] is present[1]
    return np.array_equal(present[0], present[1])


def _is_same_but_for_cost(before: KernelState, after: KernelState) -> bool:
    """Return whether two states are of problems that differ in C alone."""
    one, other = before.problem, after.problem
    return one.signs is other.signs and one.sample_weight is other.sample_weight
