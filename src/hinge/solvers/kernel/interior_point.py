r"""An interior point method for kernel machines, on a low-rank factor of their matrix.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta, \qquad l \le \beta \le u, \qquad
          \sum_i \beta_i = 0 \text{ if the intercept is free.}

Every step of an interior point method solves :math:`(K + \Theta)\,u = r` with a diagonal
:math:`\Theta`. With :math:`K \approx VV'` that is a system as large as V has columns
(Sherman-Morrison-Woodbury), and the whole method is that of linear machines with the rows of V
(:mod:`hinge.solvers.linear.interior_point`, whose code runs here). A round is

1. grow the factor to the rank of the stage, by random pivots (:mod:`hinge.lowrank.cholesky`);
2. solve the linear problem over it to a gap, from the point of the last round;
3. compute the scores of its dual point with the *exact* kernel, and from them the objective values;
4. if the linear problem's own gap is what is missing, ask for a smaller one; if the factor is,
   double its rank.

Given: hinge or squared hinge loss, a positive semidefinite kernel. Returns dual coefficients of
the exact problem, which the judge certifies. A factor of ``MOST_FEATURES`` columns that is too
coarse for the gap that is asked for ends the run at rest: it is not solved, and says so.
Cost per step: ``n r^2`` operations; per round ``n`` kernel values for every support vector.
Reference: S. Fine and K. Scheinberg, Efficient SVM training using low-rank kernel
representations, JMLR 2, 2001. Ours: exact values after every round, and ranks that grow by need.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.dual_state import best_intercept, note_values, point_of, start_beta
from hinge.solvers.kernel.factor_state import FactorState, clean, factor_state
from hinge.solvers.kernel.inside_steps import MOST_INSIDE, step_inside
from hinge.solvers.linear.balance import balance
from hinge.solvers.linear.interior_point import MOST_FEATURES, InteriorPoint
from hinge.solvers.protocol import Solver, Support

_FIRST_RANK = 256
_SMALLEST_GAP = 1e-13  # that is asked of a linear problem
_TIGHTER = 0.03  # the next gap of a linear problem, in units of the last one
_LITTLE = 0.01  # share of the exact gap below which the factor is not what is missing
_NEXT_TO = 1e-13  # a bound, in units of it: a coefficient that is put on it
_BATCH = 64
_VALUES_A_STEP = 1 << 23


class KernelInteriorPoint(Solver):
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
    takes_kernels: ClassVar[bool] = True

    def __init__(self, rank: int = _FIRST_RANK, gap: float = 1e-6) -> None:
        self.rank = max(1, min(int(rank), MOST_FEATURES))
        self.gap = float(gap)

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

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> FactorState:
        """Return the state before the first column; a known point is looked at first.

        If it is good enough the run is over; on its way inside it is of no use to this method.
        """
        state = factor_state(problem, seed, MOST_FEATURES, self.rank)
        state.beta = start_beta(problem, state.program, warm, state.source.unit)
        state.queue = np.flatnonzero(state.beta)
        state.queue_changes = state.beta[state.queue]
        return state

    def step(self, state: FactorState, work: int) -> int:
        """Grow the factor, go on with the linear problem, or bring exact scores up to date."""
        source = state.source
        source.threads, source.check = state.threads, state.stop_check
        before = source.computed
        done = 0
        with np.errstate(over="ignore", invalid="ignore"):
            if len(state.queue):
                self._add_scores(state)
            elif not state.is_grown:
                room = state.stages[-1] - state.growth.rank
                state.grow(min(_BATCH, room))
                done = len(state.beta) * state.growth.rank
            else:
                done = self._solve(state, work)
        values = source.computed - before + len(state.beta)
        done += values * max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        state.work += done
        return done

    def point(self, state: FactorState) -> Point:
        """Return the dual point of the last round, with the best intercept of its scores."""
        return point_of(state, best_intercept(state, state.ends(state.gradient())))

    def progress(self, state: FactorState) -> Progress:
        """Return the values of the exact problem, where its scores are known."""
        steps = state.steps + (0 if state.inner is None else state.inner.steps)
        known = len(state.queue) == 0
        return Progress(
            steps,
            state.work,
            primal=state.primal if known else math.nan,
            dual=state.dual if known else math.nan,
            at_rest=state.at_rest,
            kkt=state.violation if known else math.nan,
        )

    def _solve(self, state: FactorState, work: int) -> int:
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
            self._take_over(state, method.point(inner))
        return done

    def _take_over(self, state: FactorState, point: Point) -> None:
        """Begin to look at a dual point with the exact kernel."""
        program = state.program
        assert point.dual_coef is not None
        reach = np.maximum(program.upper, -program.lower)
        alpha = clean(point.dual_coef * state.source.unit, reach, _NEXT_TO)
        signs = np.where(program.linear > 0.0, 1.0, -1.0)
        if program.is_balanced:
            balance(alpha, signs.astype(np.int8))
        beta = signs * alpha
        change = beta - state.beta
        state.beta = beta
        state.queue = np.flatnonzero(change)
        state.queue_changes = change[state.queue]
        if len(state.queue) == 0:
            self._judge(state)

    def _add_scores(self, state: FactorState) -> None:
        """Add some kernel functions to the scores; when all are, look at the exact problem."""
        limit = max(64, _VALUES_A_STEP // len(state.beta))
        scores = state.scores.copy()
        ids, changes = state.queue[:limit], state.queue_changes[:limit]
        state.source.add(ids, changes, scores, exact=True)
        state.scores = scores
        state.queue, state.queue_changes = state.queue[limit:], state.queue_changes[limit:]
        if len(state.queue) == 0:
            self._judge(state)

    def _judge(self, state: FactorState) -> None:
        """Store the exact values, and decide what is to be better next time."""
        ends = state.ends(state.gradient())
        state.aim = max(ends.violation, 0.0)
        note_values(state, ends)
        inner = state.inner
        if inner is None:
            return  # a point that the run was started from
        gap = state.primal - state.dual
        lost = inner.dual - state.dual  # half of b'(K - V V')b
        scale = max(abs(state.primal), abs(state.dual))
        has_arrived = gap <= self.gap * scale and not state.was_refused
        if not inner.at_rest and (has_arrived or lost <= _LITTLE * gap):
            state.inner_gap = max(_TIGHTER * state.inner_gap, _SMALLEST_GAP)
        elif state.growth.is_exhausted:
            if inner.at_rest:
                self._cross_over(state)
            state.inner_gap = max(_TIGHTER * state.inner_gap, _SMALLEST_GAP)
        else:
            self._refine(state)

    def _cross_over(self, state: FactorState) -> None:
        """Go from the inside to where the bounds meet: once, and then rest.

        A coefficient that is smaller than the multiplier of its bound is on it. The others solve a
        linear system, which a point inside, however near, does only to some digits.
        """
        state.at_rest = state.is_crossed
        if state.is_crossed:
            return
        state.is_crossed = True
        program = state.program
        alpha, room, low, high = state.inner.row_variables[:4]
        reach = np.maximum(program.upper, -program.lower)
        sides = np.where(alpha * state.source.unit < low, 0.0, np.nan)
        if state.inner.is_bounded:
            sides = np.where(room * state.source.unit < high, reach, sides)
        signs = np.where(program.linear > 0.0, 1.0, -1.0)
        inside = np.flatnonzero(np.isnan(sides))
        if not 0 < len(inside) <= MOST_INSIDE:
            state.at_rest = True
            return
        beta = np.where(np.isnan(sides), state.beta, signs * np.nan_to_num(sides))
        change = beta - state.beta
        moved = np.flatnonzero(change)
        scores = state.scores.copy()
        state.source.add(moved, change[moved], scores, exact=True)
        kernel = state.source.exact_block(inside)
        diagonal = program.diagonal[inside]
        slope = (scores + program.diagonal * beta - program.linear)[inside]
        if program.is_balanced:
            # What putting coefficients on their bounds has unbalanced, the largest makes up for.
            most = int(np.argmax(np.minimum(beta - program.lower, program.upper - beta)[inside]))
            off = -float(np.sum(beta))
            beta[inside[most]] += off
            slope += off * (kernel[:, most] + np.eye(len(inside))[most] * diagonal)
        bounds = program.lower[inside], program.upper[inside]
        some = np.clip(beta[inside], *bounds)
        step_inside(kernel, diagonal, bounds, some, slope, program.is_balanced)
        beta[inside] = some
        change = beta - state.beta
        state.beta = beta
        state.queue = np.flatnonzero(change)
        state.queue_changes = change[state.queue]
        state.at_rest = len(state.queue) == 0

    def _refine(self, state: FactorState) -> None:
        """Go on to twice the rank."""
        state.steps += state.inner.steps
        state.inner = None
        state.__dict__.pop("linear", None)
        state.stages = (*state.stages, min(2 * state.growth.rank, state.most_columns))
        state.inner_gap = max(state.inner_gap, _SMALLEST_GAP)
