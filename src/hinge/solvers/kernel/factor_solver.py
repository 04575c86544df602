r"""What solvers over a low-rank factor share: a factor that grows, exact values after a stage.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta, \qquad l \le \beta \le u, \qquad
          \sum_i \beta_i = 0 \text{ if the intercept is free.}

A stage is

1. grow a factor :math:`K \approx VV'` to the rank of the stage, by random pivots
   (:mod:`hinge.lowrank.cholesky`);
2. solve the problem over it, with :math:`VV'` in place of K: that is the method's own part;
3. compute the scores of its dual point with the *exact* kernel, and from them the objective values.
   What the factor has lost is half of :math:`\beta'(K - VV')\beta`;
4. if the factor is what is missing, double its rank. Where the losses of the last two stages
   forecast that no rank that there is room for will do, or the factor cannot grow, rounds of the
   active set method on the exact problem (:mod:`hinge.solvers.kernel.active_set`) finish the run:
   from a point near the optimum few rows change their places.

The judge certifies dual coefficients of the exact problem. Cost of a stage beside step 2: ``n r``
kernel values and ``n r^2`` operations for the factor, and ``n`` kernel values for every row whose
coefficient has changed.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.active_set import ActiveSet, change_set
from hinge.solvers.kernel.active_state import inside_bounds, mean_square
from hinge.solvers.kernel.dual_state import (
    Floats,
    best_intercept,
    note_values,
    point_of,
    start_beta,
)
from hinge.solvers.kernel.factor_state import FactorState, clean, factor_state
from hinge.solvers.kernel.product import advance_product
from hinge.solvers.kernel.projection import project
from hinge.solvers.linear.balance import balance
from hinge.solvers.protocol import Solver

_NEXT_TO = 1e-13  # a bound, in units of it: a coefficient that is put on it
_BATCH = 64
_VALUES_A_STEP = 1 << 23
_WORTH_KEEPING = 0.9  # the best multiple of a dual point, below which it is given up
_MOST_INSIDE = 1000  # rows inside their bounds, over which nothing has been decided
_ENOUGH = 0.5  # share of the gap that is asked for which a factor may lose


class FactorSolver(Solver):
    """A method over a low-rank factor, judged by the exact kernel.

    Parameters
    ----------
    rank : int
        Columns of the factor to begin with; it is doubled where it is too coarse.
    gap : float
        Relative gap of the exact problem at which the factor is good enough.
    """

    takes_kernels: ClassVar[bool] = True

    def __init__(self, rank: int, gap: float) -> None:
        self.rank = max(1, int(rank))
        self.gap = float(gap)

    @abstractmethod
    def most_columns(self, n_rows: int) -> int:
        """Return how many columns a factor of so many rows may have."""

    @abstractmethod
    def solve_over_factor(self, state: FactorState, work: int) -> int:
        """Go on with the problem over the factor; give its point to ``take_over`` when it is there.

        Returns the stored values touched.
        """

    @abstractmethod
    def look_at(self, state: FactorState, gap: float, scale: float) -> None:
        """Decide what comes next after a stage whose exact gap is known."""

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> FactorState:
        """Return the state before the first column; a known point is looked at first."""
        most = self.most_columns(problem.n_rows)
        state = factor_state(problem, seed, most, min(self.rank, most))
        state.beta = start_beta(problem, state.program, warm, state.source.unit)
        state.queue = np.flatnonzero(state.beta)
        state.queue_changes = state.beta[state.queue]
        return state

    def step(self, state: FactorState, work: int) -> int:
        """Grow the factor, go on with the problem over it, or bring exact scores up to date."""
        source = state.source
        source.threads, source.check = state.threads, state.stop_check
        before = source.computed
        done = 0
        with np.errstate(over="ignore", invalid="ignore"):
            if state.is_finishing:
                self._finish_on(state)
                done = (len(state.free) + 1) * len(state.beta)
            elif len(state.queue):
                self._add_scores(state)
            elif not state.is_grown:
                room = state.stages[-1] - state.growth.rank
                state.grow(min(_BATCH, room))
                done = len(state.beta) * state.growth.rank
            else:
                done = self.solve_over_factor(state, work)
        values = source.computed - before + len(state.beta)
        done += values * max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        state.work += done
        return done

    def point(self, state: FactorState) -> Point:
        """Return the dual point of the last stage, with the best intercept of its scores."""
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

    def go_on(self, state: FactorState, *, at_rest: bool) -> bool:
        """Finish on the exact problem what a factor cannot, and sum scores up anew there, once."""
        if state.is_finishing:
            return ActiveSet().go_on(state, at_rest=at_rest)
        if not at_rest or len(state.queue):
            return False
        self.finish(state, self.corner(state))
        return True

    def corner(self, state: FactorState) -> Floats:
        """Return the coefficients with those that belong on a bound put there."""
        return state.beta

    def note_loss(self, state: FactorState) -> float:
        """Note what the factor of this stage has lost of the objective, and return it."""
        lost = max(0.0, float(state.inner.dual) - state.dual)
        state.losses = (*state.losses[: len(state.stages) - 1], lost)
        return lost

    def take_over(self, state: FactorState, alpha: Floats) -> None:
        """Begin to look at a dual point of the problem over the factor with the exact kernel."""
        program = state.program
        reach = np.maximum(program.upper, -program.lower)
        signs = np.where(program.linear > 0.0, 1.0, -1.0)
        alpha = clean(alpha * state.source.unit, reach, _NEXT_TO)
        if program.is_balanced:
            balance(alpha, signs.astype(np.int8))
        self._move_to(state, signs * alpha)
        if len(state.queue) == 0:
            self._judge(state)

    def refine_or_finish(self, state: FactorState, wanted: float) -> None:
        """Go on to twice the rank, or leave the factor where no rank is forecast to do.

        Parameters
        ----------
        state : FactorState
            A run whose factor has lost more than it may.
        wanted : float
            What it may lose, in units of the objective.
        """
        lost, rank = state.losses[-1], state.growth.rank
        most = min(state.most_columns, len(state.beta) // 2)  # beyond it, low rank is no gain
        doublings = math.log2(max(1.0, most / max(1, rank)))
        shrinks = lost / state.losses[-2] if len(state.losses) > 1 else 0.0
        is_hopeless = lost * min(shrinks, 1.0) ** doublings > wanted
        if state.growth.is_exhausted or (len(state.losses) > 1 and is_hopeless):
            self.finish(state, self.corner(state))
            return
        state.steps += 0 if state.inner is None else state.inner.steps
        state.inner = None
        state.__dict__.pop("linear", None)
        state.stages = (*state.stages, min(2 * rank, state.most_columns))

    def finish(self, state: FactorState, beta: Floats) -> None:
        """Go on with the exact problem, by rounds of the active set method.

        Parameters
        ----------
        state : FactorState
            The run; its factor is let go.
        beta : ndarray of shape (n,)
            Where to go on from; the nearest feasible point is taken. What a coarse factor gives
            may be worse than nothing: then the run begins anew.
        """
        program = state.program
        total = 0.0 if program.is_balanced else None
        curved = float(state.beta @ (state.scores + program.diagonal * state.beta))
        if float(program.linear @ state.beta) < _WORTH_KEEPING * curved:
            beta = np.zeros(len(beta))
        reach = np.maximum(program.upper, -program.lower)
        beta = np.sign(beta) * clean(np.abs(beta), reach, _NEXT_TO)
        beta = project(beta, program.lower, program.upper, total)
        inside = np.count_nonzero((beta > program.lower) & (beta < program.upper))
        self._move_to(state, beta if inside <= _MOST_INSIDE else np.zeros(len(beta)))
        state.steps += 0 if state.inner is None else state.inner.steps
        state.inner = None
        state.is_finishing, state.is_exact, state.at_rest = True, True, False
        for name in ("linear", "growth"):
            state.__dict__.pop(name, None)
        state.aim = 1e-3
        state.shift = mean_square(state) if program.is_balanced else 0.0
        state.free, state.packed = inside_bounds(state), np.zeros(0)
        state.violation, state.primal, state.dual = math.inf, math.nan, math.nan

    def _move_to(self, state: FactorState, beta: Floats) -> None:
        """Take coefficients over; what changes goes into the queue."""
        change = beta - state.beta
        state.beta = beta
        state.queue = np.flatnonzero(change)
        state.queue_changes = change[state.queue]

    def _finish_on(self, state: FactorState) -> None:
        """Do a bounded part of a round on the exact problem."""
        if len(state.queue):
            state.scores = advance_product(state, state.scores)
        else:
            change_set(state)

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
        if state.inner is None:
            return  # a point that the run was started from
        scale = max(abs(state.primal), abs(state.dual))
        self.look_at(state, state.primal - state.dual, scale)

    def allowed_loss(self, scale: float) -> float:
        """Return what a factor may lose of the objective, for a gap that is asked for."""
        return _ENOUGH * self.gap * scale
