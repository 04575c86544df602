r"""Newton's method for kernel machines in the primal.

.. math:: \min_{\beta, b} \tfrac12 \beta'K\beta + \sum_i c_i\,\ell(y_i f_i), \qquad
          f = K\beta + b 1 ,

for losses with a piecewise linear derivative: squared hinge and Huber. A row is on the part of its
loss that is zero (where the optimal :math:`\beta_i` is 0), on the straight part of Huber's
(:math:`\beta_i = y_i c_i`) or on the curved part. With the curved rows I, a step is

1. let the others have the coefficient of their part;
2. solve :math:`(K_{II} + D_I)\,\beta_I + b 1 = p_I - K_{I\bar I}\beta_{\bar I}`, for a free
   intercept with :math:`\sum \beta = 0`: Newton's equations, with :math:`D = \kappa / c` and
   :math:`p = p_\ell\, y` of the dual program;
3. go along the line to that point as far as the objective falls, exactly: it is piecewise
   quadratic;
4. choose the best intercept.

When no row changes its part, the step is the last one: the method ends after finitely many, and
exactly. Coefficients are then dual ones. Rows join in rounds, a random part of them first and
twice as many in every round, so that few steps are large.

Given: squared hinge or Huber loss, a positive semidefinite kernel. Returns the coefficients.
Cost per step: ``n |I|`` kernel values, and ``|I|^3 / 3`` operations, or, beyond 2,000 curved
rows, products with :math:`K_{II}` in conjugate gradients; all of it in bounded pieces
(:mod:`hinge.solvers.kernel.newton_pieces`).
Reference: O. Chapelle, Training a support vector machine in the primal, 2007. Ours: the straight
part of Huber's loss in the same system, the exact line search, and any sample weights.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.dual_state import point_of, start_beta
from hinge.solvers.kernel.newton_pieces import FIRST_ROWS, advance
from hinge.solvers.kernel.newton_state import NewtonState, costs_and_signs, fresh_state
from hinge.solvers.linear.balance import balance
from hinge.solvers.protocol import Solver, Support


class KernelNewton(Solver):
    """Newton's method in the primal, for kernel machines with a smooth loss.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, loss="squared_hinge", C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=KernelNewton(), stop=hinge.Stop(gap=1e-9))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "kernel-newton"
    takes_kernels: ClassVar[bool] = True

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss has a curved part and the kernel a convex problem."""
        use = "use solver='decomposition'."
        if not problem.loss.dual_curvature > 0.0:
            return Support(False, f"{problem.loss!r} has a corner and no curved part: {use}")
        if problem.kernel is None or problem.kernel.psd is not True:
            reason = f"{problem.kernel!r} is not known to be positive semidefinite"
            return Support(False, f"{reason}: {use}")
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> NewtonState:
        """Return the state before the first step, from known dual coefficients if given."""
        state = fresh_state(problem, seed, FIRST_ROWS)
        unit = state.source.unit
        known = start_beta(problem, state.program, warm, unit)
        if known.any():
            state.size = len(known)
            state.beta = known
            state.queue = np.flatnonzero(known)
            state.queue_changes = known[state.queue]
            state.intercept = 0.0 if warm is None else float(np.nan_to_num(warm.intercept))
        return state

    def step(self, state: NewtonState, work: int) -> int:
        """Do pieces of a step until so much work is done, or the step is."""
        source = state.source
        source.threads, source.check = state.threads, state.stop_check
        per_value = max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        done, steps = 0, state.steps
        with np.errstate(over="ignore", invalid="ignore"):
            while done < work and state.steps == steps:
                done += advance(state) * per_value
        state.work += done
        return done

    def point(self, state: NewtonState) -> Point:
        """Return the coefficients, within their bounds, and the intercept."""
        program = state.program
        feasible = np.clip(state.beta, program.lower, program.upper)
        if program.is_balanced:
            _, signs = costs_and_signs(state)
            alpha = np.abs(feasible)
            balance(alpha, signs.astype(np.int8))
            feasible = signs * alpha
        kept, state.beta = state.beta, feasible
        try:
            return point_of(state, state.intercept)
        finally:
            state.beta = kept

    def progress(self, state: NewtonState) -> Progress:
        """Return the own values, where the coefficients are dual ones of all rows."""
        return Progress(
            state.steps,
            state.work,
            primal=state.primal,
            dual=state.dual,
            at_rest=state.at_rest,
            kkt=state.violation,
        )
