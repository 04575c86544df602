r"""The active set method on a low-rank factor of the kernel matrix.

.. math:: \min_{\beta, \gamma} \tfrac12 \gamma'\gamma - p'\beta \quad\text{subject to}\quad
          \gamma = V'\beta, \quad l \le \beta \le u, \quad \sum_i \beta_i = 0
          \text{ (free intercept)}

with :math:`K \approx VV'`, in the stages of :mod:`hinge.solvers.kernel.factor_solver`. The problem
of a stage is solved exactly, from the point of the stage before
(:mod:`hinge.solvers.kernel.factor_active`): other than an interior point method it can begin
where another ended. So the first factor is coarse, and the many changes at the beginning of a run
cost little.

Given: hinge loss, whose optimum has no more free rows than the factor has columns (with a free
intercept one more); a positive semidefinite kernel. Cost of a round: two products with V, and for
each row that changes its place some triangular systems of the free rows.
Reference: S. Fine and K. Scheinberg, Efficient SVM training using low-rank kernel representations,
JMLR 2, 2001, for the factor; K. Scheinberg, An efficient implementation of an active set method for
SVMs, JMLR 7, 2006, for the rounds. Ours: exchanges of dependent rows, exact values after every
stage, and the finish.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hinge.problem import Problem
from hinge.result import Point
from hinge.solvers.kernel.factor_active import advance, gamma_state
from hinge.solvers.kernel.factor_solver import FactorSolver
from hinge.solvers.kernel.factor_state import FactorState
from hinge.solvers.protocol import Support

_FIRST_RANK = 64
_MOST_VALUES = 1 << 26  # of a factor, half a gigabyte


class LowRankActiveSet(FactorSolver):
    """Active sets over a low-rank factor, judged by the exact kernel.

    Parameters
    ----------
    rank : int, default=64
        Columns of the factor to begin with; it is doubled where it is too coarse.
    gap : float, default=1e-6
        Relative gap of the exact problem at which the factor is good enough.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver="lowrank-active-set", stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "lowrank-active-set"

    def __init__(self, rank: int = _FIRST_RANK, gap: float = 1e-6) -> None:
        super().__init__(rank, gap)

    @classmethod
    def aimed_at(cls, gap: float | None) -> LowRankActiveSet:
        """Return a solver that refines its factor until this gap is reached."""
        return cls() if gap is None else cls(gap=gap)

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss is the hinge, and the kernel makes a convex problem."""
        use = "use solver='decomposition'."
        if problem.loss.dual_curvature:
            reason = (
                f"{problem.loss!r} has a dual whose free rows are not limited by the rank of a "
                f"factor: use solver='interior-point' or 'active-set'."
            )
            return Support(False, reason)
        if problem.kernel is None or problem.kernel.psd is not True:
            reason = f"{problem.kernel!r} is not known to be positive semidefinite"
            return Support(False, f"{reason}: {use}")
        return Support(True)

    def most_columns(self, n_rows: int) -> int:
        """Return how many columns there is room for."""
        return min(n_rows, max(64, _MOST_VALUES // max(1, n_rows)))

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> FactorState:
        """Return the state before the first column; a stage begins where a known point is."""
        state = super().start(problem, warm, seed)
        state.inner_kernel = "linear"
        return state

    def solve_over_factor(self, state: FactorState, work: int) -> int:
        """Do rounds over the factor; take the point over when they have come to rest."""
        if state.inner is None:
            state.inner = gamma_state(state.linear, state.beta / state.source.unit)
        inner = state.inner
        inner.threads, inner.stop_check = state.threads, state.stop_check
        limit = None if state.step_limit is None else state.step_limit - state.steps
        done = 0
        while done < work and not inner.at_rest:
            if limit is not None and inner.steps >= limit and len(inner.queue) == 0:
                break
            advance(inner)
            done += 2 * inner.values.size + len(inner.free) ** 2
        is_last = limit is not None and inner.steps >= limit
        if len(inner.queue) == 0 and (inner.at_rest or is_last):
            self.take_over(state, np.abs(inner.beta) / inner.source.unit)
        return done

    def look_at(self, state: FactorState, gap: float, scale: float) -> None:  # noqa: ARG002
        """Ask for a larger rank, or finish on the exact problem."""
        self.note_loss(state)
        self.refine_or_finish(state, self.allowed_loss(scale))
