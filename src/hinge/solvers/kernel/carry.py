r"""From one C to the next: kernel values, scores and kept rows serve on.

Coefficients grow with C (:mod:`hinge.solvers.path_walk`), and so do the scores, which are linear in
them: a run with another C begins without a single kernel value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hinge.result import Point
from hinge.solvers.kernel.dual_state import KernelState

_ROUNDING = 1e-12  # share of a bound below which a difference to it is none


@dataclass(frozen=True)
class CarriedPoint(Point):
    """A point with the state that it comes from, of the same problem with another C.

    Parameters
    ----------
    state : KernelState or None, default=None
        The state at the end of that run; whoever starts from it takes its kept rows over.
    """

    state: KernelState | None = field(default=None, repr=False, compare=False)


def take_over(state: KernelState, warm: Point | None) -> bool:
    """Start a state from that of the same problem with another C, if that is what it is given.

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
    before = warm.state if isinstance(warm, CarriedPoint) else None
    if before is None or not _is_same(before, state):
        return False
    state.share_kernel(before)
    if not before.is_complete:
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


def _is_same(before: KernelState, after: KernelState) -> bool:
    """Return whether two states are of the same rows with the same kernel, and as much memory."""
    one, other = before.problem, after.problem
    return (
        one.rows is other.rows
        and one.signs is other.signs
        and one.sample_weight is other.sample_weight
        and one.kernel == other.kernel
        and before.cache_mb == after.cache_mb
    )
