r"""Active set: the exact minimum over the free coefficients, and one change of the set at a time.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta \quad\text{subject to}\quad
          l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ (free intercept)}

The rows are free (F), or at their lower or upper bound. With the gradient
:math:`e = K\beta + D\beta - p` and the multiplier :math:`\nu` of the sum, a round [1]_ is

1. go to the minimum over F (:mod:`hinge.solvers.kernel.face`), where :math:`e_F = -\nu`; variables
   that arrive at a bound leave F;
2. bring the scores of all rows up to date;
3. free the rows at a bound that violate the optimality conditions most, a few of them at once. One
   that the matrix of the free rows says nothing new about (a duplicate, say) has no curvature of
   its own: it moves along the direction in which the objective is a straight line, to a bound.

The factor of the free part (:mod:`hinge.solvers.kernel.free_set`) is carried from round to round,
and along a path from one C to the next. All is in float64: the end is exact to rounding, and the
method stops there by itself. A round costs the kernel rows of what is new in F, a product of the
kernel rows of F with a vector, and a number of operations quadratic in F: it is for problems with
at most some thousands of free rows.

Different from the paper: several rows are freed at once, and steps towards the nearest feasible
point take several to their bounds.

References
----------
.. [1] K. Scheinberg, "An efficient implementation of an active set method for SVMs", JMLR 7, 2006.
.. [2] A. Shilton, M. Palaniswami, D. Ralph and A. C. Tsoi, "Incremental training of support vector
   machines", IEEE Transactions on Neural Networks 16, 2005.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from hinge.parameters import positive
from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.active_state import ActiveState, inside_bounds, new_state
from hinge.solvers.kernel.carry import CarriedPoint, take_over
from hinge.solvers.kernel.dual_state import (
    Ends,
    Floats,
    Ids,
    best_intercept,
    note_values,
    point_of,
    progress_of,
    start_beta,
)
from hinge.solvers.kernel.face import Face
from hinge.solvers.kernel.free_set import FreeSet
from hinge.solvers.kernel.product import advance_product
from hinge.solvers.protocol import Solver, Support

_ROUNDING = 1e-13  # violations below it, relative to the gradient, are none
_FEWEST, _MOST = 16, 256  # rows that are freed at once
_SHARE = 0.5  # of the free rows, that may be freed at once
_WORTH_IT = 0.1  # of the worst violation, below which a row waits
_UNFINISHED = 1e-3  # of it, by which the free rows may miss their minimum
PATIENCE = 20  # rounds without progress after which nothing is expected any more


class ActiveSet(Solver):
    """Exact minima over free coefficients, with a Cholesky factor that is kept up to date.

    Parameters
    ----------
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=ActiveSet(), stop=hinge.Stop(gap=1e-10))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "active-set"
    takes_kernels: ClassVar[bool] = True

    def __init__(self, cache_mb: float = 200.0) -> None:
        self.cache_mb = positive(cache_mb, "cache_mb")

    def supports(self, problem: Problem) -> Support:
        """Every problem whose dual is convex."""
        assert problem.kernel is not None
        if problem.kernel.psd is False:
            reason = (
                "its kernel is not positive semidefinite, so that minima over free rows need not "
                "exist; use solver='decomposition'."
            )
            return Support(False, reason)
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> ActiveState:  # noqa: ARG002
        """Return the state before the first round; no choice of this method is random."""
        state = new_state(problem, self.cache_mb)
        if _take_over(state, warm):
            return state
        state.beta = start_beta(problem, state.program, warm, state.source.unit)
        state.queue = np.flatnonzero(state.beta)
        state.queue_changes = state.beta[state.queue]
        state.free = inside_bounds(state)
        return state

    def step(self, state: ActiveState, work: int) -> int:  # noqa: ARG002
        """Do a bounded part of a round: bring some scores up to date, or change the set."""
        state.source.threads, state.source.check = state.threads, state.stop_check
        stored = max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        before, rows = state.source.computed, len(state.queue)
        if len(state.queue):
            state.scores = advance_product(state, state.scores)
        else:
            rows = len(state.free)
            change_set(state)
        computed = state.source.computed - before
        done = computed * stored + (rows + 1) * len(state.beta)
        state.work += done
        return done

    def point(self, state: ActiveState) -> Point:
        """Return the coefficients, and the intercept of the least objective."""
        return point_of(state, best_intercept(state, state.ends(state.gradient())))

    def progress(self, state: ActiveState) -> Progress:
        """Return the own gap and violation, where the scores are complete."""
        return progress_of(state)

    def go_on(self, state: ActiveState, *, at_rest: bool) -> bool:  # noqa: ARG002
        """Sum the scores up and factor anew, once: what rounding has added up is gone then."""
        if state.is_summed:
            return False
        state.is_summed, state.at_rest, state.idle = True, False, 0
        state.least = math.inf
        state.scores, state.packed = np.zeros(len(state.beta)), np.zeros(0)
        state.free = inside_bounds(state)
        state.queue = np.flatnonzero(state.beta)
        state.queue_changes = state.beta[state.queue]
        state.violation, state.primal, state.dual = math.inf, math.nan, math.nan
        return True


def _take_over(state: ActiveState, warm: Point | None) -> bool:
    """Start from the active set of the same problem with another C; return whether it is one."""
    before = warm.state if isinstance(warm, CarriedPoint) else None
    if not isinstance(before, ActiveState) or not take_over(state, warm):
        return False
    state.shift = before.shift
    state.free = inside_bounds(state)
    is_as_before = len(state.free) == len(before.free) and not state.program.diagonal.any()
    if is_as_before and set(state.free.tolist()) == set(before.free.tolist()):
        state.free, state.packed = before.free.copy(), before.packed.copy()
    return True


def change_set(state: ActiveState) -> None:
    """Judge the point, free some rows, and go to the minimum over the free ones.

    Parameters
    ----------
    state : ActiveState
        A run whose scores are those of its coefficients; what it moves goes into the queue.
    """
    gradient = state.gradient()
    ends = state.ends(gradient)
    note_values(state, ends)
    note_progress(state)
    noise = _ROUNDING * max(1.0, float(np.max(np.abs(gradient))))
    if ends.violation <= noise or state.idle > PATIENCE:
        state.at_rest = True
        return
    improve_set(state, gradient, ends, noise)


def improve_set(state: ActiveState, gradient: Floats, ends: Ends, noise: float) -> None:
    """Free some rows, and go to the minimum over the free ones.

    Parameters
    ----------
    state : ActiveState
        A run whose scores are those of its coefficients; what it moves goes into the queue.
    gradient : ndarray of shape (n,)
        The gradient of all rows.
    ends : Ends
        Where it is worst.
    noise : float
        Violations that are rounding.
    """
    face = current_face(state, gradient)
    entering = entering_rows(state, gradient, ends, face, noise)
    refused = free_rows(state, face, entering, gradient)
    if len(entering) and len(refused) == len(entering):
        moves = _along_a_line(state, face, int(refused[0]), gradient)
    else:
        ids = face.free.ids
        moves = np.zeros(len(state.beta))
        moves[ids] = face.descend(0.1 * noise, state.stop_check)
    commit(state, face.free, moves)


def note_progress(state: ActiveState) -> None:
    """Count the rounds in which the objective has not become less.

    Parameters
    ----------
    state : ActiveState
        A run whose scores are those of its coefficients.
    """
    program = state.program
    half = 0.5 * (state.scores + program.diagonal * state.beta)
    objective = float(state.beta @ (half - program.linear))
    state.idle = 0 if objective < state.least else state.idle + 1
    state.least = min(state.least, objective)
    state.steps += 1
    state.rounds += 1


def current_face(state: ActiveState, gradient: Floats) -> Face:
    """Return the face of the free rows; its changes leave the state alone.

    Parameters
    ----------
    state : ActiveState
        The run.
    gradient : ndarray of shape (n,)
        The gradient of all rows.

    Returns
    -------
    Face
        Variables, matrix and factor.
    """
    free = FreeSet(state.free, state.packed.copy())
    state.keep(free.ids)
    matrix = matrix_among(state, free.ids)
    if len(free) and len(state.packed) == 0:
        before = free.ids
        free.factor(before, matrix + state.shift)
        stays = np.isin(before, free.ids)
        matrix = matrix[np.ix_(stays, stays)]
    ids, program = free.ids, state.program
    bounds = program.lower[ids], program.upper[ids]
    return Face(free, matrix, state.shift, state.beta[ids], gradient[ids], *bounds)


def entering_rows(
    state: ActiveState, gradient: Floats, ends: Ends, face: Face, noise: float
) -> Ids:
    """Return the rows to free: those that violate the conditions most; none before a minimum.

    Parameters
    ----------
    state : ActiveState
        The run.
    gradient : ndarray of shape (n,)
        The gradient of all rows.
    ends : Ends
        Where it is worst.
    face : Face
        The free rows.
    noise : float
        Violations that are rounding.

    Returns
    -------
    ndarray of int64
        Rows at a bound, or inside but not free; the worst first.
    """
    program = state.program
    if program.is_balanced:
        nu = -float(np.mean(face.gradient)) if len(face.free) else ends.intercept
    else:
        nu = 0.0
    excess = gradient + nu
    grows, shrinks = state.beta < program.upper, state.beta > program.lower
    violation = np.maximum(np.where(grows, -excess, 0.0), np.where(shrinks, excess, 0.0))
    violation[face.free.ids] = 0.0
    worst = float(np.max(violation))
    if face.violation > max(noise, _UNFINISHED * worst):
        return np.zeros(0, dtype=np.int64)
    candidates = np.flatnonzero(violation > max(noise, _WORTH_IT * worst))
    if state.idle > 1 and len(
        candidates
    ):  # one at a time, and in the end the first, cannot go round in circles
        pick = np.argmax(violation[candidates]) if state.idle < PATIENCE // 2 else 0
        return candidates[pick : pick + 1]
    most = min(max(int(_SHARE * len(face.free)), _FEWEST), _MOST)
    order = np.argsort(-violation[candidates], kind="stable")[:most]
    return np.asarray(candidates[order], dtype=np.int64)


def free_rows(state: ActiveState, face: Face, rows: Ids, gradient: Floats) -> Ids:
    """Add rows to a face as far as they do not depend on it.

    Parameters
    ----------
    state : ActiveState
        The run.
    face : Face
        The face; changed.
    rows : ndarray of int64
        Rows that are not part of it.
    gradient : ndarray of shape (n,)
        The gradient of all rows.

    Returns
    -------
    ndarray of int64
        The rows that depend on the others.
    """
    if len(rows) == 0:
        return rows
    state.keep(np.concatenate((face.free.ids, rows)))
    everyone = np.concatenate((face.free.ids, rows))
    across = state.block(rows, everyone)
    first = len(face.free)
    places = list(range(first))
    added: list[int] = []
    for number, row in enumerate(rows):
        own = float(across[number, first + number]) + float(state.program.diagonal[row])
        if face.free.append(int(row), across[number, places] + state.shift, own + state.shift):
            places.append(first + number)
            added.append(number)
    m = len(places)
    matrix = np.empty((m, m))
    matrix[:first, :first] = face.matrix
    matrix[first:] = across[np.ix_(added, places)]
    matrix[:first, first:] = matrix[first:, :first].T
    matrix[range(first, m), range(first, m)] += state.program.diagonal[rows[added]]
    ids, program = face.free.ids, state.program
    face.matrix, face.beta, face.gradient = matrix, state.beta[ids], gradient[ids]
    face.lower, face.upper = program.lower[ids], program.upper[ids]
    return np.delete(rows, added)


def _along_a_line(state: ActiveState, face: Face, row: int, gradient: Floats) -> Floats:
    """Return how to move with a dependent row, as far as a bound; who arrives there leaves."""
    program, ids = state.program, face.free.ids
    column = state.block(np.array([row]), np.append(ids, row))[0]
    own = float(column[-1]) + float(program.diagonal[row])
    answer = face.free.dependence(column[:-1] + state.shift)
    slope = float(gradient[row]) + float(face.gradient @ answer)
    curvature = max(own + float(answer @ (column[:-1] * 2.0 + face.matrix @ answer)), 0.0)
    sign = -1.0 if slope > 0.0 else 1.0
    everyone = np.append(ids, row)
    direction = sign * np.append(answer, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = np.where(direction > 0.0, program.upper[everyone], program.lower[everyone])
        room = ahead - state.beta[everyone]
        reach = np.where(direction != 0.0, np.maximum(room / direction, 0.0), np.inf)
    length = float(np.min(reach))
    if curvature > 0.0:
        length = min(length, abs(slope) / curvature)
    if not math.isfinite(length):
        length = 0.0
    moves = np.zeros(len(state.beta))
    moves[everyone] = np.where(reach <= length, room, length * direction)
    arrived = reach[:-1] <= length
    for place in np.flatnonzero(arrived)[::-1]:
        face.free.remove(int(place))
    return moves


def commit(state: ActiveState, free: FreeSet, moves: Floats) -> None:
    """Take moves and a set of free rows over; the moves go into the queue.

    Parameters
    ----------
    state : ActiveState
        The run; changed.
    free : FreeSet
        The free rows and their factor.
    moves : ndarray of shape (n,)
        Changes of the coefficients.
    """
    program = state.program
    moved = np.flatnonzero(moves)
    beta = np.clip(state.beta[moved] + moves[moved], program.lower[moved], program.upper[moved])
    changes = beta - state.beta[moved]
    state.beta = state.beta.copy()
    state.beta[moved] = beta
    state.queue, state.queue_changes = moved[changes != 0.0], changes[changes != 0.0]
    state.free, state.packed = free.ids, free.packed
    state.violation, state.primal, state.dual = math.inf, math.nan, math.nan


def matrix_among(state: ActiveState, ids: Ids) -> Floats:
    """Return the part of K + D that belongs to some rows."""
    matrix = state.block(ids, ids)
    matrix[np.diag_indices(len(ids))] += state.program.diagonal[ids]
    return matrix
