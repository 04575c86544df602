r"""Sequential minimal optimisation: two coefficients at a time, in closed form.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta \quad\text{subject to}\quad
          l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ (free intercept)}

With the gradient :math:`e = K\beta + D\beta - p`, a step is

1. choose i, the coefficient with the smallest :math:`e_i` among those that may grow;
2. choose j among those that may shrink: the largest :math:`e_j` (``rule="first"``, the maximal
   violating pair [2]_), or the largest promise
   :math:`(e_j - e_i)^2 / (K_{ii} + K_{jj} - 2 K_{ij} + D_{ii} + D_{jj})` (``rule="second"`` [3]_);
   with ``rule="platt"`` both come from two nested loops (:mod:`hinge.solvers.kernel.platt` [1]_);
3. move :math:`\beta_i` up and :math:`\beta_j` down by :math:`(e_j - e_i)` over that curvature, or
   to the first bound; add the two kernel rows to the gradient.

Without an intercept nothing ties coefficients together, and the single one that promises most
moves. Steps are native (``cpp/include/hinge/working_set.hpp``) and cost two passes over the rows
that take part; kernel rows are kept in a cache of float32 rows, the least recently used going
first, and computed a panel at a time. Curvatures come from the same rounded values as the gradient,
or a pair could be chosen for ever.

Shrinking, exact screening and the continuation in float64 are those of
:mod:`hinge.solvers.kernel.decomposition`, which is the faster method: it reads a kernel row once
for hundreds of steps. This one is here because it is the method that other libraries have.

Different from Platt [1]_, unless ``rule="platt"`` says so: the pair is chosen from the gradient of
all rows instead of by two nested loops and an error cache. With a kernel that is not positive
semidefinite a curvature that is not positive counts as 1e-12: the step goes to a bound, and the
objective never rises.

References
----------
.. [1] J. Platt, "Fast training of support vector machines using sequential minimal optimization",
   in Advances in Kernel Methods, 1999.
.. [2] S. S. Keerthi, S. K. Shevade, C. Bhattacharyya and K. R. K. Murthy, "Improvements to Platt's
   SMO algorithm for SVM classifier design", Neural Computation 13, 2001.
.. [3] R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information
   for training support vector machines", JMLR 6, 2005.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hinge._native import core
from hinge.errors import unknown_name
from hinge.solvers.kernel.dual_solver import DualSolver, let_rest
from hinge.solvers.kernel.dual_state import (
    ROWS_A_STEP,
    Ends,
    Floats,
    Ids,
    KernelState,
    turn_exact,
)
from hinge.solvers.kernel.kept_steps import (
    Part,
    fetch,
    is_slow,
    kept_rows,
    most_steps,
    part_of,
    put_back,
)
from hinge.solvers.kernel.platt import PairState, PlattSweep
from hinge.solvers.kernel.working_sets import improve_working_set, rest_or_rejoin, smallest

RULES = ("first", "second", "platt")
_STEPS_TO_REST = 1000  # between two looks for rows that may rest
_PASSES = 2  # over the rows that take part, in one step
_PLATT_PASSES = 8


class SMO(DualSolver):
    """Pairs of coefficients, by the largest violation or by the largest promised decrease.

    Parameters
    ----------
    rule : {"first", "second", "platt"}, default="second"
        How the second of a pair is chosen: by the largest violation, or by the decrease of the
        objective that it promises. ``"platt"`` chooses both by the nested loops of Platt's paper,
        with the run's seed; it is slower, and leaves no rows out.
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes; two rows are kept in any case.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out of the sums until the end.
    tolerance : float, default=1e-3
        Violation at which resting rows rejoin; the run goes on below it if asked to.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=SMO("first"), stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "smo"
    least_kept: ClassVar[int] = 2
    state_class: ClassVar[type[KernelState]] = PairState

    def __init__(
        self,
        rule: str = "second",
        cache_mb: float = 200.0,
        shrinking: bool = True,
        tolerance: float = 1e-3,
    ) -> None:
        super().__init__(cache_mb, shrinking, tolerance)
        if rule not in RULES:
            raise unknown_name(rule, "rule", list(RULES))
        self.rule = rule

    def improve(self, state: PairState, gradient: Floats, ends: Ends) -> int:
        """Do some steps, up to the first kernel row that is not kept."""
        by_promise = self.rule == "second"
        if is_slow(state):
            turn_exact(state)
            return 0
        if state.is_exact:
            improve_working_set(state, gradient, ends, second_order=by_promise)
            return 0
        is_nested = self.rule == "platt" and state.program.is_balanced
        if is_nested and not state.resting.any():
            touched = _sweep(state, gradient)
            if touched is not None:
                return touched
        if self.shrinking and not is_nested and state.steps // _STEPS_TO_REST > state.rounds:
            state.rounds = state.steps // _STEPS_TO_REST
            let_rest(state, gradient, ends)
        part = part_of(state, gradient)
        most = min(most_steps(state, part), _STEPS_TO_REST - state.steps % _STEPS_TO_REST)
        most = min(most, 1) if is_nested else most
        kept = kept_rows(state, part)
        steps, _, missing, is_stuck, clock = core.step_pairs(
            kept,
            part.diagonal,
            part.lower,
            part.upper,
            part.beta,
            part.gradient,
            state.program.is_balanced,
            by_promise,
            state.aim,
            most,
        )
        state.cache.used_until(clock, 2 * steps)
        put_back(state, part)
        state.steps += steps
        if missing >= 0:
            numbers = part.numbers(state)
            fetch(state, int(numbers[missing]), numbers[_likely(part)])
        elif is_stuck:
            rest_or_rejoin(state)
        return _PASSES * steps * len(part.beta)


def _sweep(state: PairState, gradient: Floats) -> int | None:
    """Go on with Platt's loops; None if they move nothing, though the aim has not been reached."""
    part = part_of(state, gradient)
    most = max(1, most_steps(state, part) // _PLATT_PASSES)
    if state.step_limit is not None:
        most = min(most, state.step_limit - state.steps)
    state.cache.write_all(state.source)
    end = PlattSweep(state, part, state.source.own_values).go(most)
    put_back(state, part)
    state.steps += end.steps
    if end.missing >= 0:
        fetch(state, end.missing, _likely(part))
    elif end.is_stuck and end.steps == 0:
        return None
    return _PLATT_PASSES * (end.steps + 1) * len(part.beta)


def _likely(part: Part) -> Ids:
    """Return the variables that violate the conditions most, from either side in turn."""
    room = ROWS_A_STEP
    up = np.where(part.beta < part.upper, part.gradient, np.inf)
    down = np.where(part.beta > part.lower, -part.gradient, np.inf)
    sides = [ids[np.argsort(side[ids])] for side in (up, down) for ids in [smallest(side, room)]]
    length = max(map(len, sides))
    turns = np.full((length, 2), -1)
    for column, ids in enumerate(sides):
        turns[: len(ids), column] = ids
    return np.asarray(turns[turns >= 0])
