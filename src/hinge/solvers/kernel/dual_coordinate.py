r"""Dual coordinate descent for kernel machines without an intercept: one coefficient at a time.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta \quad\text{subject to}\quad
          l \le \beta \le u

With the gradient :math:`e = K\beta + D\beta - p`, a sweep visits the rows that take part in a new
random order. Row i moves to the minimum along its axis,

.. math:: \beta_i \leftarrow \min(\max(\beta_i - e_i / (K_{ii} + D_{ii}),\ l_i),\ u_i),

and its kernel row is added to the gradient of all (``cpp/include/hinge/coordinate_sweep.hpp``). A
step costs one pass over the rows that take part; a row that does not move costs next to nothing. A
free intercept ties the coefficients together (:math:`\sum_i \beta_i = 0`), so that none can move
alone: such problems are for :mod:`hinge.solvers.kernel.smo`.

Kernel rows are kept in a cache of float32 rows and computed a panel at a time: the row that is
asked for, and the next of the sweep that are about to move. Shrinking, exact screening and the
continuation in float64 are those of :mod:`hinge.solvers.kernel.decomposition`.

Different from the paper [1]_: the gradient is kept instead of w, which a kernel does not have; rows
that violate their condition by less than half of what the run aims at are passed by, since each
would cost a kernel row.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate
   descent method for large-scale linear SVM", ICML 2008 (Algorithm 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hinge._native import core
from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.solvers.kernel.dual_solver import DualSolver, let_rest
from hinge.solvers.kernel.dual_state import Ends, Floats, Ids, KernelState, turn_exact
from hinge.solvers.kernel.kept_steps import (
    Part,
    fetch,
    is_slow,
    kept_rows,
    most_steps,
    part_of,
    put_back,
)
from hinge.solvers.kernel.working_sets import improve_working_set, rest_or_rejoin
from hinge.solvers.protocol import Support

_IDLE = 0.5  # share of the aim up to which a violation is passed by
_VISITS = 20_000  # of rows for which orders are drawn at once, or one sweep


@dataclass
class CoordinateState(KernelState):
    """What coordinate descent knows between steps, besides what every solver does.

    Parameters
    ----------
    drawn : int
        How many times orders have been drawn; what is drawn follows from the seed and this number.
    position : int
        How far they have been followed.
    """

    drawn: int = 0
    position: int = 0

    _transient: ClassVar[tuple[str, ...]] = (*KernelState._transient, "orders")

    @cached_property
    def orders(self) -> Ids:
        """The orders of some sweeps over all rows, one after the other."""
        n = len(self.beta)
        several = np.tile(np.arange(n), (max(1, _VISITS // n), 1))
        drawn = np.random.default_rng([self.seed, self.drawn]).permuted(several, axis=1)
        return np.asarray(drawn.ravel())

    def go_to(self, place: int, end: int) -> None:
        """Note how far the orders have been followed; new ones are drawn at their end."""
        self.position = place % end
        if place == end:
            self.drawn += 1
            del self.orders


class KernelDualCoordinate(DualSolver):
    """Coordinate descent with kept kernel rows, for problems without an intercept.

    Parameters
    ----------
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes; one row is kept in any case.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out of the sums until the end.
    tolerance : float, default=1e-3
        Violation at which resting rows rejoin; the run goes on below it if asked to.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf", intercept="none")
    >>> solution = hinge.solve(problem, solver="dual-coordinate", stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "dual-coordinate"
    least_kept: ClassVar[int] = 1
    state_class: ClassVar[type[KernelState]] = CoordinateState

    def supports(self, problem: Problem) -> Support:
        """Problems without an intercept."""
        if problem.intercept is Intercept.FREE:
            reason = (
                "it moves one coefficient at a time, and a free intercept ties them together; use "
                "solver='decomposition' or 'smo', or hinge.solve and a Problem with "
                "intercept='none'. An SVC always has an intercept."
            )
            return Support(False, reason)
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> KernelState:
        """Return the state before the first sweep."""
        state = super().start(problem, warm, seed)
        state.seed = seed
        return state

    def improve(self, state: CoordinateState, gradient: Floats, ends: Ends) -> int:
        """Follow the order of the rows up to the first kernel row that is not kept."""
        if is_slow(state):
            turn_exact(state)
            return 0
        if state.is_exact:
            improve_working_set(state, gradient, ends)
            return 0
        if self.shrinking and state.drawn > state.rounds:
            state.rounds = state.drawn
            let_rest(state, gradient, ends)
        part = part_of(state, gradient)
        places, order = _what_is_left(state, part)
        tolerance = _IDLE * state.aim
        position, steps, missing, clock = core.sweep_coordinates(
            kept_rows(state, part),
            part.diagonal,
            part.lower,
            part.upper,
            part.beta,
            part.gradient,
            order,
            0,
            tolerance,
            most_steps(state, part),
        )
        state.cache.used_until(clock, steps)
        put_back(state, part)
        state.steps += steps
        is_whole = state.position == 0 and position == len(order)
        state.go_to(int(places[position]), int(places[-1]))
        if missing >= 0:
            numbers = part.numbers(state)
            likely = order[position:][_violation(part)[order[position:]] > tolerance]
            fetch(state, int(numbers[missing]), numbers[likely])
        elif is_whole and steps == 0:
            rest_or_rejoin(state)
        return steps * len(part.beta)


def _what_is_left(state: CoordinateState, part: Part) -> tuple[Ids, Ids]:
    """Return the variables to visit, and their places in the orders; of the end as well."""
    orders = state.orders
    variable = np.arange(len(state.beta))
    if part.ids is not None:
        variable = np.full(len(state.beta), -1)
        variable[part.ids] = np.arange(len(part.ids))
    left = variable[orders[state.position :]]
    places = np.flatnonzero(left >= 0)
    return np.append(places + state.position, len(orders)), left[places]


def _violation(part: Part) -> Floats:
    """Return by how much every variable violates its condition."""
    up = np.where(part.beta < part.upper, -part.gradient, 0.0)
    down = np.where(part.beta > part.lower, part.gradient, 0.0)
    return np.maximum(np.maximum(up, down), 0.0)
