r"""An interior point method for kernel machines, on a low-rank factor of their matrix.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta, \qquad l \le \beta \le u, \qquad
          \sum_i \beta_i = 0 \text{ if the intercept is free.}

Every step of an interior point method solves :math:`(K + \Theta)\,u = r` with a diagonal
:math:`\Theta`. With :math:`K \approx VV'` that is a system as large as V has columns
(Sherman-Morrison-Woodbury), and the whole method is that of linear machines with the rows of V
(:mod:`hinge.solvers.linear.interior_point`, whose code runs here), in the stages of
:mod:`hinge.solvers.kernel.factor_solver`. If the linear problem's own gap is what is missing after
a stage, it goes on to a smaller one; if the factor is, its rank is doubled, up to
``MOST_FEATURES`` columns.

Given: hinge or squared hinge loss, a positive semidefinite kernel. Returns dual coefficients of
the exact problem, which the judge certifies. Before the run is finished on the exact problem, a
coefficient that is smaller than the multiplier of its bound is put on it. Cost of a step: ``n r^2``
operations; of a stage: ``n`` kernel values for every support vector.
Reference: S. Fine and K. Scheinberg, Efficient SVM training using low-rank kernel
representations, JMLR 2, 2001. Ours: exact values after every stage, ranks that grow by
need, and the finish.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from hinge.problem import Problem
from hinge.solvers.kernel.dual_state import Floats
from hinge.solvers.kernel.factor_solver import FactorSolver
from hinge.solvers.kernel.factor_state import FactorState
from hinge.solvers.linear.interior_point import MOST_FEATURES, InteriorPoint
from hinge.solvers.protocol import Support

_FIRST_RANK = 256
_SMALLEST_GAP = 1e-13  # that is asked of a linear problem
_TIGHTER = 0.03  # the next gap of a linear problem, in units of the last one
_LITTLE = 0.01  # share of the exact gap below which the factor is not what is missing


class KernelInteriorPoint(FactorSolver):
    """An interior point method on a low-rank factor, judged by the exact kernel.

    Parameters
    ----------
    rank : int, default=256
        Columns of the factor to begin with; it is doubled where it is too coarse.
    gap : float, default=1e-6
        Relative gap of the exact problem at which the factor is good enough.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver="interior-point", stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "interior-point"

    def __init__(self, rank: int = _FIRST_RANK, gap: float = 1e-6) -> None:
        super().__init__(rank, gap)

    @classmethod
    def aimed_at(cls, gap: float | None) -> KernelInteriorPoint:
        """Return a solver that refines its factor until this gap is reached."""
        return cls() if gap is None else cls(gap=gap)

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss has a corner or one bound, and the kernel a convex problem."""
        use = "use solver='decomposition'."
        loss = problem.loss
        if loss.dual_curvature and math.isfinite(loss.dual_upper):
            return Support(False, f"{loss!r} is neither hinge nor squared hinge: {use}")
        if problem.kernel is None or problem.kernel.psd is not True:
            reason = f"{problem.kernel!r} is not known to be positive semidefinite"
            return Support(False, f"{reason}: {use}")
        return Support(True)

    def most_columns(self, n_rows: int) -> int:
        """Return how many columns the linear method takes."""
        return min(n_rows, MOST_FEATURES)

    def solve_over_factor(self, state: FactorState, work: int) -> int:
        """Go on with the linear problem; take its point over when it is good enough."""
        if state.inner is None:
            state.inner = InteriorPoint().start(state.linear, None, state.seed)
        inner, method = state.inner, InteriorPoint()
        inner.threads, inner.stop_check = state.threads, state.stop_check
        inner.step_limit = None
        if state.step_limit is not None:
            inner.step_limit = state.step_limit - state.steps
        done = method.step(inner, work)
        claim = method.progress(inner)
        is_last = inner.step_limit is not None and inner.steps >= inner.step_limit
        if claim.at_rest or claim.relative_gap <= state.inner_gap or is_last:
            alpha = method.point(inner).dual_coef
            assert alpha is not None
            self.take_over(state, alpha)
        return done

    def look_at(self, state: FactorState, gap: float, scale: float) -> None:
        """Ask for a smaller gap of the linear problem, a larger rank, or the finish."""
        inner = state.inner
        lost = self.note_loss(state)
        has_arrived = gap <= self.gap * scale and not state.was_refused
        is_whole = state.growth.is_exhausted and state.growth.rank < state.most_columns
        is_whole |= state.growth.rank == len(state.beta)
        if not inner.at_rest and (has_arrived or is_whole or lost <= _LITTLE * gap):
            state.inner_gap = max(_TIGHTER * state.inner_gap, _SMALLEST_GAP)
        elif is_whole:
            self.finish(state, self.corner(state))
        else:
            self.refine_or_finish(state, self.allowed_loss(scale))

    def corner(self, state: FactorState) -> Floats:
        """Return coefficients on the bounds whose multipliers are larger than they are.

        The others will solve a linear system, which a point inside, however near, does only to some
        digits.
        """
        program = state.program
        if state.inner is None:
            return state.beta
        alpha, room, low, high = state.inner.row_variables[:4]
        reach = np.maximum(program.upper, -program.lower)
        sides = np.where(alpha * state.source.unit < low, 0.0, np.nan)
        if state.inner.is_bounded:
            sides = np.where(room * state.source.unit < high, reach, sides)
        signs = np.where(program.linear > 0.0, 1.0, -1.0)
        return np.where(np.isnan(sides), state.beta, signs * np.nan_to_num(sides))
