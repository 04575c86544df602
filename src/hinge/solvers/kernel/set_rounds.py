r"""Rounds of the active set method on a working set whose matrix is at hand.

A working set whose matrix is singular, or nearly so, with a large C defeats pairs of rows, and
least squares over the rows inside their bounds as well: the objective is a straight line along
whole subspaces, and only bounds end it. Rounds of :mod:`hinge.solvers.kernel.active_set` do not
mind. The rows outside the set stay as they are, and the sum of those in it if it is to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.solvers.kernel.active_set import PATIENCE, improve_set, note_progress
from hinge.solvers.kernel.active_state import ActiveState, inside_bounds
from hinge.solvers.kernel.dual_state import Floats, Ids, Program

_MOST_ROUNDS = 60
_ROUNDING = 1e-13  # violations below it, relative to the gradient, are none


@dataclass
class _SetState(ActiveState):
    """An active set over a matrix."""

    matrix: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def keep(self, ids: Ids) -> None:
        """Keep nothing: all is here."""

    def block(self, rows: Ids, columns: Ids) -> Floats:
        """Return a part of the matrix."""
        return self.matrix[np.ix_(rows, columns)].astype(np.float64)


def step_rounds(
    problem: Problem,
    kernel: NDArray[np.floating],
    diagonal: Floats,
    bounds: tuple[Floats, Floats],
    beta: Floats,
    slope: Floats,
    wanted: float,
    is_balanced: bool,
    check: Callable[[], None] | None = None,
) -> int:
    """Move the variables of a working set, and their slope with them.

    Parameters
    ----------
    problem : Problem
        The problem that the set is of.
    kernel : ndarray of shape (n, n)
        The kernel matrix of the working set.
    diagonal : ndarray of shape (n,)
        What is added to its diagonal.
    bounds : tuple of two ndarray
        Lower and upper bounds.
    beta, slope : ndarray of shape (n,)
        Variables and gradient, changed in place.
    wanted : float
        The violation to reach.
    is_balanced : bool
        Whether the sum of the variables stays as it is.
    check : callable or None, default=None
        Called between rounds; raises to abandon them.

    Returns
    -------
    int
        Rounds done.
    """
    n = len(beta)
    state = _SetState(
        problem=problem,
        beta=beta.copy(),
        scores=np.asarray(kernel @ beta, dtype=np.float64),
        cache_mb=0.0,
        deferred=np.zeros((0, n)),
        group=np.full(n, -1, dtype=np.int8),
        settled=np.zeros(n, dtype=bool),
        aim=wanted,
        matrix=np.asarray(kernel),
    )
    linear = state.scores + diagonal * beta - slope
    program = Program(None, linear, *bounds, diagonal, is_balanced)
    state.__dict__["program"] = program
    state.shift = (float(np.mean(np.abs(np.diagonal(kernel)))) or 1.0) if is_balanced else 0.0
    state.free = inside_bounds(state)
    state.stop_check = check
    for _ in range(_MOST_ROUNDS):
        if check is not None:
            check()
        gradient = state.gradient()
        ends = state.ends(gradient)
        note_progress(state)
        noise = _ROUNDING * max(1.0, float(np.max(np.abs(gradient))))
        if ends.violation <= max(noise, wanted) or state.idle > PATIENCE:
            break
        improve_set(state, gradient, ends, noise)
        state.scores = state.scores + kernel[:, state.queue] @ state.queue_changes
    beta[:] = state.beta
    slope[:] = state.gradient()
    return state.steps
