r"""Gradient projection: all coefficients move at once, along a projected gradient.

.. math:: \min_\beta q(\beta) = \tfrac12 \beta'(K + D)\beta - p'\beta \quad\text{subject to}\quad
          l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ (free intercept)}

With the gradient :math:`e = K\beta + D\beta - p`, a step [1]_ is

1. the direction :math:`d = P(\beta - \tau e) - \beta`, P the nearest feasible point
   (:mod:`hinge.solvers.kernel.projection`) and tau a Barzilai-Borwein length
   (:mod:`hinge.solvers.kernel.pace`);
2. the product :math:`K d`, of the rows that move alone;
3. the whole of d, or the minimum on its line if the whole would lie above the reference.

A step costs as many kernel rows as coefficients move: all of them at first, then little more than
those strictly inside their bounds. Rows of these are kept (:mod:`hinge.solvers.kernel.product`);
what does not fit is computed anew at each step, so that memory is bounded whatever the size of K.

Kernel values are float32. Where the judge refuses what they claim, or the steps come to rest,
scores are summed up anew in float64 and the run goes on in that precision. There, where few
coefficients are strictly inside their bounds, Newton steps on them finish what projected steps
would take thousands of iterations for (:mod:`hinge.solvers.kernel.face`).

What 400 steps have not brought there, because the matrix is nearly singular and C large, rounds of
the active set method finish (:mod:`hinge.solvers.kernel.active_set`).

Different from the paper: how such runs are finished, and that the first reference is the first
objective.

References
----------
.. [1] Y.-H. Dai and R. Fletcher, "New algorithms for singly linearly constrained quadratic programs
   subject to lower and upper bounds", Mathematical Programming 106, 2006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from hinge.machines import KernelCache
from hinge.parameters import positive
from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.active_set import change_set
from hinge.solvers.kernel.active_state import ActiveState, inside_bounds, mean_square
from hinge.solvers.kernel.dual_state import (
    Floats,
    best_intercept,
    note_values,
    point_of,
    present_rows,
    progress_of,
    start_beta,
)
from hinge.solvers.kernel.face import Face
from hinge.solvers.kernel.free_set import FreeSet
from hinge.solvers.kernel.pace import (
    new_pace,
    note_objective,
    note_step,
    share_of_step,
    step_length,
)
from hinge.solvers.kernel.product import advance_product
from hinge.solvers.kernel.projection import project
from hinge.solvers.protocol import Solver, Support

_ROUNDING = 1e-14  # violations below it, relative to the gradient, are none
_NEAR = 1e-3  # times 30: a violation at which the least objective is looked for
_WIDTHS = 1e5  # how many times the width of the box a step may lead out of it
_MOST_INSIDE = 1000  # coefficients over which a minimum takes some 50 ms
_STEPS_TO_NEWTON = 10  # projected steps between two attempts to finish by Newton steps
_LONG = 400  # steps after which the active set method finishes a run in float64
_SLOW = 200  # steps after which a run in float32 is finished in float64


@dataclass
class GradientState(ActiveState):
    """What gradient projection knows between steps, besides what the active set method does.

    Parameters
    ----------
    direction, image : ndarray of shape (n,)
        The direction under way, and its product with K as far as it is known.
    is_moving : bool
        Whether a direction is under way.
    pace : ndarray of shape (8,)
        The memory of the step lengths.
    """

    direction: Floats = field(default_factory=lambda: np.zeros(0))
    image: Floats = field(default_factory=lambda: np.zeros(0))
    is_moving: bool = False
    pace: Floats = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def cache(self) -> KernelCache:
        """The kept kernel rows, in the precision of the run."""
        n, room = len(self.beta), self.cache_mb - self.source.copy_mb
        return KernelCache(n, n, room, exact=self.is_exact)


class GradientProjection(Solver):
    """Projected gradients with Barzilai-Borwein steps.

    Parameters
    ----------
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=GradientProjection(), stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "gradient-projection"
    takes_kernels: ClassVar[bool] = True

    def __init__(self, cache_mb: float = 200.0) -> None:
        self.cache_mb = positive(cache_mb, "cache_mb")

    def supports(self, problem: Problem) -> Support:  # noqa: ARG002
        """Every problem with a kernel."""
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> GradientState:  # noqa: ARG002
        """Return the state before the first step; no choice of this method is random."""
        present = present_rows(problem)
        n = problem.n_rows if present is None else len(present)
        state = GradientState(
            problem=problem,
            beta=np.zeros(n),
            scores=np.zeros(n),
            cache_mb=self.cache_mb,
            deferred=np.zeros((0, n)),
            group=np.full(n, -1, dtype=np.int8),
            settled=np.zeros(n, dtype=bool),
            aim=_NEAR,
            direction=np.zeros(n),
            image=np.zeros(n),
        )
        state.beta = start_beta(problem, state.program, warm, state.source.unit)
        _sum_up(state)
        return state

    def step(self, state: GradientState, work: int) -> int:
        """Do a bounded part of a step, or the whole of one that is short."""
        state.source.threads, state.source.check = state.threads, state.stop_check
        stored = max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        steps, done = state.steps, 0
        while done < work and state.steps == steps and not state.at_rest:
            before, kept = state.source.computed, len(state.queue)
            self._advance(state)
            computed = state.source.computed - before
            done += computed * stored + (kept + 1) * len(state.beta)
        state.work += done
        return done

    def point(self, state: GradientState) -> Point:
        """Return the coefficients, and the intercept that shares the violation out."""
        return point_of(state, best_intercept(state, state.ends(state.gradient())))

    def progress(self, state: GradientState) -> Progress:
        """Return the own gap and violation, where the scores are those of the coefficients."""
        return progress_of(state)

    def go_on(self, state: GradientState, *, at_rest: bool) -> bool:  # noqa: ARG002
        """Go on in float64 where float32 has come to its end."""
        if state.is_exact:
            return False
        _turn_exact(state)
        return True

    def _advance(self, state: GradientState) -> None:
        """Do the next part of a step."""
        if len(state.queue) and state.is_moving:
            state.image = advance_product(state, state.image)
        elif len(state.queue):
            state.scores = advance_product(state, state.scores)
        elif state.is_moving:
            _arrive(state)
        else:
            _set_out(state)


def _set_out(state: GradientState) -> None:
    """Judge the point that has been reached, and choose a direction from it."""
    program = state.program
    if not state.is_exact and (state.was_refused or _is_slow(state)):
        _turn_exact(state)
        return
    gradient = state.gradient()
    if math.isnan(state.primal):
        note_values(state, state.ends(gradient))
    if state.violation <= _ROUNDING * max(1.0, float(np.max(np.abs(gradient)))):
        state.at_rest = True
        return
    if state.is_exact and state.steps >= _LONG and _is_convex(state):
        _change_set(state)
        return
    if len(state.pace) == 0:
        state.pace = new_pace(1.0 / _curvature(state))
    note_objective(state.pace, _objective(state))
    if state.is_exact and state.rounds >= _STEPS_TO_NEWTON:
        state.rounds = 0
        if _step_newton(state, gradient):
            return
    total = 0.0 if program.is_balanced else None
    length = min(step_length(state.pace), _longest(state, gradient))
    goal = project(state.beta - length * gradient, program.lower, program.upper, total)
    state.direction = goal - state.beta
    moved = np.flatnonzero(state.direction)
    if len(moved) == 0:
        state.at_rest = True
        return
    state.image = np.zeros(len(state.beta))
    state.queue, state.queue_changes = moved, state.direction[moved]
    state.is_moving = True


def _longest(state: GradientState, gradient: Floats) -> float:
    """Return a step beyond which nothing changes but the digits that are left for the bounds."""
    widest = float(np.max(state.program.upper - state.program.lower))
    return _WIDTHS * widest / float(np.max(np.abs(gradient)))


def _arrive(state: GradientState) -> None:
    """Go along the direction, whose product with K is known."""
    program, direction = state.program, state.direction
    image = state.image + program.diagonal * direction
    slope, curvature = float(state.gradient() @ direction), float(direction @ image)
    share = share_of_step(state.pace, _objective(state), slope, curvature)
    if slope >= 0.0:  # rounding is all that is left of the slope
        share, state.at_rest = 0.0, True
    state.beta = np.clip(state.beta + share * direction, program.lower, program.upper)
    state.scores = state.scores + share * state.image
    note_step(state.pace, share**2 * float(direction @ direction), share**2 * curvature)
    state.is_moving = False
    state.steps += 1
    state.rounds += 1
    note_values(state, state.ends(state.gradient()))


def _is_convex(state: GradientState) -> bool:
    kernel = state.problem.kernel
    return kernel is not None and kernel.psd is not False


def _change_set(state: GradientState) -> None:
    """Finish by rounds of the active set method what projected steps do not."""
    if len(state.packed) == 0:
        state.free = inside_bounds(state)
        state.shift = mean_square(state) if state.program.is_balanced else 0.0
    change_set(state)


def _step_newton(state: GradientState, gradient: Floats) -> bool:
    """Minimise over the coefficients inside their bounds, if they are few; return whether moved."""
    program = state.program
    inside = np.flatnonzero((state.beta > program.lower) & (state.beta < program.upper))
    if not 1 < len(inside) <= _MOST_INSIDE:
        return False
    matrix = state.source.exact_block(inside)
    matrix[np.diag_indices(len(inside))] += program.diagonal[inside]
    shift = float(np.mean(np.diagonal(matrix))) if program.is_balanced else 0.0
    free = FreeSet()
    free.factor(inside, matrix + shift)
    ids, stays = free.ids, np.isin(inside, free.ids)
    bounds = program.lower[ids], program.upper[ids]
    part = matrix[np.ix_(stays, stays)]
    face = Face(free, part, shift, state.beta[ids], gradient[ids], *bounds)
    changes = face.descend(0.0, state.stop_check)
    moved = np.flatnonzero(changes)
    if len(moved) == 0:
        return False
    state.beta = state.beta.copy()
    state.beta[ids] = np.clip(state.beta[ids] + changes, *bounds)
    state.queue, state.queue_changes = ids[moved], changes[moved]
    state.steps += 1
    state.violation, state.primal, state.dual = math.inf, math.nan, math.nan
    return True


def _objective(state: GradientState) -> float:
    """Return the dual program's objective, in the units of the kernel values."""
    program = state.program
    half = state.scores + program.diagonal * state.beta
    return float(state.beta @ (0.5 * half - program.linear))


def _curvature(state: GradientState) -> float:
    """Return a curvature to begin with: the mean of the diagonal."""
    problem, program = state.problem, state.program
    some = slice(None) if program.present is None else program.present
    diagonal = problem.image_squares[some] / state.source.unit + program.diagonal
    return abs(float(np.mean(diagonal))) or 1.0


def _is_slow(state: GradientState) -> bool:
    """Return whether projected steps alone get nowhere, and there are Newton steps to help."""
    program = state.program
    inside = int(np.count_nonzero((state.beta > program.lower) & (state.beta < program.upper)))
    return state.steps >= _SLOW and inside <= _MOST_INSIDE


def _turn_exact(state: GradientState) -> None:
    """Go on with kernel values in float64: scores are summed up anew, and rows kept anew."""
    state.is_exact, state.at_rest, state.is_moving = True, False, False
    state.__dict__.pop("cache", None)
    state.scores = np.zeros(len(state.beta))
    state.violation, state.primal, state.dual = math.inf, math.nan, math.nan
    state.pace = np.zeros(0)
    state.rounds = _STEPS_TO_NEWTON
    _sum_up(state)


def _sum_up(state: GradientState) -> None:
    """Queue all coefficients for the scores, which are zero."""
    state.queue = np.flatnonzero(state.beta)
    state.queue_changes = state.beta[state.queue]
