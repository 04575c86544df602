r"""Newton's method in the primal: dear per step, indifferent to scaling and to C.

.. math:: \min_z \tfrac12 \|R z\|^2 + \sum_i c_i\, \ell(y_i z'\tilde x_i), \qquad z = (w, u),

where :math:`\tilde x_i` is row i with the constant feature, if there is an intercept, and R leaves
out u if that is free. The derivative of a loss is piecewise linear, so that Newton's method with
an exact line search ends after finitely many steps. The hinge loss has no second derivative: it
is replaced by Huber losses of ever smaller width, whose dual points are also its own.

Given: a problem small enough for a step to stay short (``MOST_FEATURES``, ``MOST_WORK``).
Returns w and the dual point :math:`\alpha_i = -c_i \ell'(m_i)`, where w(alpha) = w if optimal.
Rows of weight zero are left out of every sum.
Cost per step: ``n d^2`` for the matrix of second derivatives, and ``d^3`` to factorise it.
Reference: Chapelle, Training a support vector machine in the primal, 2007; the rounding of the
hinge's corner in stages is ours.

A step is so short where data are few that the interpreter would take most of its time: steps are
done in native code (``primal_newton.hpp``), as many in a call as make up a bounded amount of work.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from hinge._native import core
from hinge.losses import Huber, Loss
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.costs import DEFAULT_GAP
from hinge.solvers.linear.newton_window import Window
from hinge.solvers.protocol import Solver, State, Support

MOST_FEATURES = 1000
MOST_WORK = 150_000_000  # products that one step may take: about a tenth of a second
_SEARCH_WORK = 500  # what the line search costs a row, in products
_WIDTHS = tuple(10.0**-k for k in range(1, 9))  # of the Huber losses that stand for the hinge
_NO_LIMIT = 1 << 62


class PrimalState(State):
    """Where Newton's method stands.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        has_corner = problem.loss.dual_curvature == 0.0
        self.losses: list[Loss] = [Huber(h) for h in _WIDTHS] if has_corner else [problem.loss]
        self.constant = _constant(problem)
        # Each the present one and the best so far.
        self.weights = np.zeros((2, problem.n_features + (1 if self.constant else 0)))
        self.alpha = np.zeros((2, problem.n_rows))
        # Values of the best ones, of which coefficients of zero are the first; steps; whether over;
        # the least objective with the loss at work, and steps since it has been found.
        self.numbers = np.array([math.inf, 0.0, 0.0, 0.0, math.inf, 0.0])
        self.work = 0
        self.at_rest = False

    @property
    def best_values(self) -> tuple[float, float]:
        """Objective values of the best weights and of the best dual point so far."""
        return float(self.numbers[0]), float(self.numbers[1])

    @property
    def steps(self) -> int:
        """How many steps have been done."""
        return int(self.numbers[2])

    @property
    def is_over(self) -> bool:
        """Whether nothing moves any more with the loss at work."""
        return bool(self.numbers[3])

    def begin_stage(self) -> None:
        """Go on with the next loss, if there is one."""
        self.losses = self.losses[1:] or self.losses
        self.numbers[4:] = math.inf, 0.0

    def native(self) -> core.PrimalSteps:
        """Return the steps with the loss at work, over this state's arrays."""
        problem, rows = self.problem, self.problem.rows
        rows.check_structure()
        columns, offsets = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
        costs = None if problem.sample_weight is None else problem.costs
        loss = self.losses[0]
        window = Window.of(loss)
        return core.PrimalSteps(
            core.RowsView(rows.values, columns, offsets, rows.n_rows, rows.n_features),
            core.PrimalState(
                problem.signs, costs, problem.C, self.weights, self.alpha, self.numbers
            ),
            core.LossWindow(window.top, window.width, window.bend, False),
            core.PrimalLine(loss.dual_upper, problem.loss.dual_curvature == 0.0),
            core.PrimalIntercept(self.constant, problem.intercept is Intercept.FREE),
        )


class PrimalNewton(Solver):
    """Newton's method in the primal, for problems with few features.

    Parameters
    ----------
    aim : float, default=1e-3
        Relative gap at which a call ends, for somebody to judge it; one that is refused goes on.
    """

    name: ClassVar[str] = "primal-newton"

    def __init__(self, aim: float = DEFAULT_GAP) -> None:
        self.aim = aim

    @classmethod
    def aimed_at(cls, gap: float | None) -> PrimalNewton:
        """Return the method for a relative gap.

        Parameters
        ----------
        gap : float or None
            The gap that is asked for, if any.
        """
        return cls() if gap is None else cls(gap)

    def supports(self, problem: Problem) -> Support:
        """Return whether one step is short enough to be answered for."""
        use = "use solver='dual-coordinate'."
        if problem.n_features > MOST_FEATURES:
            many = f"{problem.n_features} features are too many for a dense matrix of them"
            return Support(False, f"{many}; {MOST_FEATURES} is the most: {use}")
        if problem.n_rows * (problem.n_features**2 + _SEARCH_WORK) > MOST_WORK:
            many = f"{problem.n_rows} rows of {problem.n_features} features make a step too long"
            return Support(False, f"{many}: {use}")
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> PrimalState:  # noqa: ARG002
        """Return the state before the first step; nothing in it is random."""
        state = PrimalState(problem)
        if warm is None or warm.coef.shape != (problem.n_features,):
            return state
        start = np.append(warm.coef, warm.intercept / state.constant if state.constant else 0.0)
        if np.isfinite(start).all():
            state.weights[0] = start[: state.weights.shape[1]]
            alpha = warm.dual_coef
            if alpha is not None and alpha.shape == (problem.n_rows,) and np.isfinite(alpha).all():
                state.alpha[0] = alpha
                state.native().take_dual()
        return state

    def step(self, state: PrimalState, work: int) -> int:
        """Do some Newton steps on the current stage, and go to the next one where it is over."""
        most = _NO_LIMIT if state.step_limit is None else state.step_limit
        # A claim that has been made and refused does not end a call again.
        has_claimed = self.progress(state).relative_gap <= self.aim
        aim = 0.0 if has_claimed else self.aim
        done = state.native().advance(work, most, aim)
        if state.is_over:
            state.at_rest = len(state.losses) == 1
            state.begin_stage()
            done += 1  # to begin a stage is something done, be there no step left in the one before
        state.work += done
        return done

    def point(self, state: PrimalState) -> Point:
        """Return the best weights and the best dual point so far."""
        n, weights = state.problem.n_features, state.weights[1]
        intercept = state.constant * float(weights[-1]) if state.constant else 0.0
        return Point(weights[:n].copy(), intercept, state.alpha[1].copy())

    def progress(self, state: PrimalState) -> Progress:
        """Return the objective values of the best points so far."""
        return Progress(state.steps, state.work, *state.best_values, at_rest=state.at_rest)


def _constant(problem: Problem) -> float:
    """Return the value of the constant feature whose weight makes the intercept, or 0."""
    if problem.intercept is Intercept.FREE:
        return 1.0
    return problem.constant_feature
