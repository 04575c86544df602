r"""The active set method over a factor: :math:`\gamma = V'\beta` is all that rows need to know.

With :math:`VV'` in place of the kernel matrix the program is

.. math:: \min_{\beta, \gamma} \tfrac12 \gamma'\gamma - p'\beta \quad\text{subject to}\quad
          \gamma = V'\beta, \quad l \le \beta \le u, \quad \sum_i \beta_i = 0
          \text{ (free intercept)}

and the gradient of row i is :math:`v_i'\gamma - p_i`: r operations, and no kernel value. A round is
that of :mod:`hinge.solvers.kernel.active_set`, on a factor of :math:`V_F V_F'`, with a difference.
No more than r rows (r + 1 with a free intercept) can be free and independent; soon every row that
enters depends on them. Along the direction d in which the free rows make up for such a row,
:math:`V'd = 0`: gamma stays as it is, and with it the gradients of all rows. The objective is a
straight line, something arrives at a bound, and the row takes the place of the free one that did
(an exchange, as in the simplex method). So a round makes many exchanges one after the other, each
for the operations of some triangular systems, where the exact kernel needs a pass over all rows.

Before the first round projected gradient steps (:mod:`hinge.solvers.kernel.pace`), which are two
products with V each, take most rows to the bounds where they belong: one by one that would be as
many exchanges as there are support vectors [1]_.

The optimal gamma is unique, and so is the function that it stands for; beta need not be.

References
----------
.. [1] J. J. More and G. Toraldo, "On the solution of large quadratic programming problems with
   bound constraints", SIAM Journal on Optimization 1, 1991.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from hinge.problem import Problem
from hinge.solvers.kernel.active_set import (
    PATIENCE,
    commit,
    current_face,
    entering_rows,
    free_rows,
    note_progress,
)
from hinge.solvers.kernel.active_state import ActiveState, inside_bounds, mean_square
from hinge.solvers.kernel.dual_state import Floats, Ids, note_values
from hinge.solvers.kernel.free_set import FreeSet
from hinge.solvers.kernel.pace import (
    new_pace,
    note_objective,
    note_step,
    share_of_step,
    step_length,
)
from hinge.solvers.kernel.projection import project

_ROUNDING = 1e-13  # violations below it, relative to the gradient, are none
_STILL = 1e-12  # how little a free coefficient may answer before it does not answer at all
_EPSILON = 2.0**-52
_PROJECTED = 100  # projected steps before the first round
_MOST_FREE = 1024  # rows to begin with, or as many as there are columns
_WIDTHS = 1e5  # how many times the width of the box a step may lead out of it


@dataclass
class GammaState(ActiveState):
    """What the active set method over a factor knows between rounds.

    Its problem has the linear kernel of the factor's rows; the scores are the products of these
    with gamma.

    Parameters
    ----------
    projected : int
        Projected steps done.
    pace : ndarray
        The memory of their lengths.
    """

    projected: int = 0
    pace: Floats = field(default_factory=lambda: np.zeros(0))
    _transient: ClassVar[tuple[str, ...]] = (*ActiveState._transient, "values")

    @cached_property
    def values(self) -> Floats:
        """The factor V."""
        return np.asarray(self.problem.rows.matrix)

    def keep(self, ids: Ids) -> None:
        """Keep nothing: products with V are all that is needed."""

    def block(self, rows: Ids, columns: Ids) -> Floats:
        """Return products of rows of V with others."""
        return np.asarray(self.values[rows] @ self.values[columns].T) / self.source.unit

    def advance_scores(self) -> None:
        """Bring the scores up to date: two products with V."""
        gamma = self.values[self.queue].T @ self.queue_changes
        self.scores = self.scores + (self.values @ gamma) / self.source.unit
        self.queue, self.queue_changes = np.zeros(0, dtype=np.int64), np.zeros(0)

    def sum_up(self) -> None:
        """Compute the scores from nothing."""
        self.scores = np.zeros(len(self.beta))
        self.queue = np.flatnonzero(self.beta)
        self.queue_changes = self.beta[self.queue]


def gamma_state(problem: Problem, beta: Floats) -> GammaState:
    """Return the state before the first round.

    Parameters
    ----------
    problem : Problem
        The problem over the factor, with the linear kernel and the hinge loss; every row has a
        cost.
    beta : ndarray of shape (n,)
        Feasible coefficients to begin with.

    Returns
    -------
    GammaState
        The state.
    """
    n = problem.n_rows
    state = GammaState(
        problem=problem,
        beta=np.zeros(n),
        scores=np.zeros(n),
        cache_mb=0.0,
        deferred=np.zeros((0, n)),
        group=np.full(n, -1, dtype=np.int8),
        settled=np.zeros(n, dtype=bool),
        aim=1e-3,
        is_exact=True,
    )
    program = state.program
    state.beta = np.clip(beta * state.source.unit, program.lower, program.upper)
    state.shift = mean_square(state) if program.is_balanced else 0.0
    state.sum_up()
    return state


def advance(state: GammaState) -> None:
    """Do the next thing: bring scores up to date, a projected step, or a round.

    Parameters
    ----------
    state : GammaState
        The run; changed.
    """
    if len(state.queue):
        state.advance_scores()
    elif state.projected < _PROJECTED:
        _step_projected(state)
        state.projected += 1
        if state.projected == _PROJECTED:
            state.free = _most_inside(state)
    else:
        change_set(state)


def _most_inside(state: GammaState) -> Ids:
    """Return the rows that lie deepest inside their bounds, as many as a small matrix holds.

    There may be tens of thousands inside while projected steps have not arrived. The others take
    part in exchanges, as rows at a bound do.
    """
    program, inside = state.program, inside_bounds(state)
    most = max(state.values.shape[1] + 1, _MOST_FREE)
    if len(inside) <= most:
        return inside
    beta = state.beta[inside]
    depth = np.minimum(beta - program.lower[inside], program.upper[inside] - beta)
    deepest = np.argsort(-depth, kind="stable")[:most]
    return np.sort(inside[deepest])


def _step_projected(state: GammaState) -> None:
    """Do a projected gradient step; the last one if nothing moves any more."""
    program, gradient = state.program, state.gradient()
    objective = float(state.beta @ (0.5 * state.scores - program.linear))
    if len(state.pace) == 0:
        state.pace = new_pace(1.0 / mean_square(state))
    note_objective(state.pace, objective)
    total = 0.0 if program.is_balanced else None
    widest, steepest = float(np.max(program.upper - program.lower)), float(np.max(np.abs(gradient)))
    if steepest == 0.0:
        state.projected = _PROJECTED - 1
        return
    length = min(step_length(state.pace), _WIDTHS * widest / steepest)
    goal = project(state.beta - length * gradient, program.lower, program.upper, total)
    direction = goal - state.beta
    slope = float(gradient @ direction)
    if not slope < 0.0:
        state.projected = _PROJECTED - 1
        return
    gamma = state.values.T @ direction
    curvature = float(gamma @ gamma) / state.source.unit
    share = share_of_step(state.pace, objective, slope, curvature)
    state.beta = np.clip(state.beta + share * direction, program.lower, program.upper)
    state.scores = state.scores + (share / state.source.unit) * (state.values @ gamma)
    note_step(state.pace, share**2 * float(direction @ direction), share**2 * curvature)


def change_set(state: GammaState) -> None:
    """Judge the point, free some rows, go to the minimum over them, and exchange dependent ones.

    Parameters
    ----------
    state : GammaState
        A run whose scores are those of its coefficients; what it moves goes into the queue.
    """
    gradient = state.gradient()
    ends = state.ends(gradient)
    note_values(state, ends)
    note_progress(state)
    noise = _noise(state, gradient)
    if ends.violation <= noise or state.idle > PATIENCE:
        state.at_rest = True
        return
    face = current_face(state, gradient)
    entering = entering_rows(state, gradient, ends, face, noise)
    refused = free_rows(state, face, entering, gradient)
    ids = face.free.ids
    beta = state.beta.copy()
    beta[ids] += face.descend(0.1 * noise, state.stop_check)
    _exchange(state, face.free, beta, refused, noise)
    commit(state, face.free, beta - state.beta)


def _noise(state: GammaState, gradient: Floats) -> float:
    """Return what rounding may make of a gradient: that of its own size, and of the sums."""
    summed = float(np.sum(np.abs(state.beta))) * mean_square(state)
    return max(_ROUNDING * max(1.0, float(np.max(np.abs(gradient)))), _EPSILON * summed)


def _exchange(state: GammaState, free: FreeSet, beta: Floats, rows: Ids, noise: float) -> None:
    """Move rows that depend on the free ones, each until something is at a bound."""
    values, unit, program = state.values, state.source.unit, state.program
    gamma = values.T @ beta
    for row in rows.tolist():
        if state.stop_check is not None:
            state.stop_check()
        ids, own = free.ids, values[row]
        part = values[ids]
        answer = _answer(free, part @ own / unit, state.shift)
        change = own + part.T @ answer  # of gamma: nothing, but for rounding
        linear = program.linear[row] + program.linear[ids] @ answer
        slope = float(gamma @ change) / unit - float(linear)
        if not abs(slope) > noise:
            continue
        sign = -1.0 if slope > 0.0 else 1.0
        everyone, direction = np.append(ids, row), sign * np.append(answer, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(direction > 0.0, program.upper[everyone], program.lower[everyone])
            room = ahead - beta[everyone]
            moves = np.abs(direction) > _STILL
            reach = np.where(moves, np.maximum(room / direction, 0.0), np.inf)
        length, curvature = float(np.min(reach)), float(change @ change) / unit
        if curvature > 0.0:
            length = min(length, abs(slope) / curvature)
        if not 0.0 < length < math.inf:
            continue
        beta[everyone] += np.where(reach <= length, room, length * direction)
        np.clip(beta, program.lower, program.upper, out=beta)
        gamma += (sign * length) * change
        arrived = reach <= length
        for place in np.flatnonzero(arrived[:-1])[::-1]:
            free.remove(int(place))
        if not arrived[-1]:
            column = values[free.ids] @ own / unit
            square = float(own @ own) / unit
            free.append(row, column + state.shift, square + state.shift)


def _answer(free: FreeSet, column: Floats, shift: float) -> Floats:
    """Return how the free coefficients answer a dependent one that grows by 1."""
    answer = free.dependence(column + shift)
    if shift > 0.0 and len(answer):
        # A row that depends on them only nearly leaves a little of the sum.
        ones = free.solve(np.ones(len(answer)))
        answer -= ((1.0 + float(np.sum(answer))) / float(np.sum(ones))) * ones
    return answer
