r"""Newton's method in the primal, on data of any size.

.. math:: \min_z \tfrac12 z'Rz + \sum_i c_i\, \ell(y_i z'\tilde x_i), \qquad z = (w, u),

where :math:`\tilde x_i` is row i with the constant feature, if there is an intercept, and R is the
identity with a zero for a free intercept. Each step solves

.. math:: (R + \tilde X'D\tilde X)\, d = -g, \qquad
          D_{ii} = c_i\,\ell''(m_i), \qquad g = Rz + \tilde X'Y c\,\ell'(m),

and minimises the objective along d exactly, on stored margins m.

Special cases: D is zero outside the window in which the loss is a parabola, and such rows are not
read. With few features the matrix is formed, once, and then changed by the rows that enter or
leave the window; with many the system is solved by conjugate gradients with the diagonal as
preconditioner, and no matrix of features is ever made. The hinge's corner is smoothed by a
parabola, which is narrowed as the gap that it makes becomes most of the gap; that falls with the
square of its width. Where steps zigzag, or a narrower parabola would hold too few rows,
coefficients are held near those found before (newton_held). Returns z and
:math:`\alpha_i = -c_i \ell'(m_i)`, whose gap is half the squared gradient and what the smoothing
makes.
Cost per step: two passes over the rows, and one for each product or ``k d^2`` for the k rows that
have changed sides; 41 bytes for a row.
Reference: C.-J. Lin, R. Weng and S. Keerthi, Trust region Newton method for large-scale logistic
regression, 2008; S. Keerthi and D. DeCoste, A modified finite Newton method for fast solution of
large scale linear SVMs, 2005. Ours: samples first; the matrix kept and changed; margins that a
bound decides are not computed; accuracy of a system from the gap that it will leave.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.parameters import not_negative
from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.linear.balance import balance
from hinge.solvers.linear.block_pass import add_block, groups_of, total
from hinge.solvers.linear.early_point import early_point, no_point
from hinge.solvers.linear.newton_held import held_dual
from hinge.solvers.linear.newton_passes import KERNELS
from hinge.solvers.linear.newton_state import ON_ROWS, NewtonState
from hinge.solvers.linear.newton_steps import AFTER
from hinge.solvers.protocol import Solver, Support

Floats = NDArray[np.float64]

_ROW_WORK = 8  # stored values that are read in the time of a row's own arithmetic
# Its passes read values that many times as fast as others do, sparse and dense ones; threads meet
# less often then.
_STRIDES = {True: 4, False: 12}
# Values of a pass that threads share, native ones and, for matrices, those of the interpreter: with
# fewer one thread has done half before the other begins.
_WORTH_SHARING, _WORTH_HANDING_OVER = 1 << 16, 1 << 21
_PRODUCTS_PER_VALUE = 16  # multiplications of a matrix product that cost what reading a value does


class Newton(Solver):
    """Newton's method for every loss, any number of rows and features.

    Parameters
    ----------
    aim : float, default=1e-3
        The relative gap that systems are solved for; it matters for speed only.
    """

    name: ClassVar[str] = "newton"

    def __init__(self, aim: float = 1e-3) -> None:
        self.aim = not_negative(aim, "aim")

    @classmethod
    def aimed_at(cls, gap: float | None) -> Newton:
        """Return the solver set up for a relative gap; None is the default."""
        return cls() if gap is None else cls(aim=gap)

    def supports(self, problem: Problem) -> Support:
        """Every loss: one with a corner is smoothed."""
        del problem
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> NewtonState:
        """Return the state before the first step, from known weights if given."""
        state = NewtonState(problem, seed, self.aim)
        if warm is not None and state.take_weights(warm):
            state.ease = 1.0
            _take_known_dual(state, warm.dual_coef)
        return state

    def step(self, state: NewtonState, work: int) -> int:
        """Go on by about this much work, but not beyond a step whose result is news."""
        done = 0
        with np.errstate(all="ignore"):
            while done < work and not state.at_rest:
                if state.step_limit is not None and state.steps >= state.step_limit:
                    break
                piece = _advance(state, work - done)
                done += piece
                # Before the problem itself is looked at there is nothing to certify, and the
                # schedule of certificates, which counts this work, has not begun.
                state.work += piece if state.is_final else 0
                if state.position == state.n_panels and _finish(state):
                    break
        return done

    def stride(self, state: NewtonState) -> int:
        """Ask for longer steps, after which threads wait for each other."""
        return _STRIDES[state.problem.rows.is_sparse]

    def point(self, state: NewtonState) -> Point:
        """Return the present primal and dual point."""
        problem, window = state.problem, state.window
        n = problem.n_features
        if not state.is_final:
            return early_point(state, window, state.ease)
        # Costs that are all the same are one number, which NumPy takes for as many as it needs.
        costs = problem.costs if problem.sample_weight is not None else problem.costs[:1]
        if state.spread:
            weights, alpha = state.best_weights, held_dual(state)
        else:
            weights, alpha = state.weights, window.depth(state.margin)
            alpha *= state.scale * window.bend * costs
        np.minimum(alpha, problem.loss.upper_bound(costs), out=alpha)
        if state.is_free:
            balance(alpha, problem.signs)
        intercept = state.constant * float(weights[-1]) if state.constant else 0.0
        return Point(weights[:n].copy(), intercept, alpha)

    def unproven_point(self, state: NewtonState) -> Point:
        """Return the present point, without reading rows for it."""
        return self.point(state) if state.is_final else no_point(state.problem)

    def progress(self, state: NewtonState) -> Progress:
        """Return the objective values of the present point, if it is one of the problem."""
        state.check()
        if state.spread:
            values = state.best_primal, state.held_dual
        else:
            values = (state.primal, state.dual) if state.is_final else (math.nan, math.nan)
        return Progress(state.steps, state.work, *values, at_rest=state.at_rest)


def _take_known_dual(state: NewtonState, alpha: Floats | None) -> None:
    """Take known dual coefficients, where they fit: they say how little to smooth."""
    problem = state.problem
    if state.smoothing and alpha is not None and alpha.shape == (problem.n_rows,):
        state.known_dual[...] = np.clip(alpha, 0.0, problem.loss.upper_bound(problem.costs))


def _advance(state: NewtonState, work: int) -> int:
    """Do panels of the present pass, one at the least; return the work."""
    kernel = KERNELS[state.stage]
    per_panel = _work_of_panel(state)
    count = max(1, min(state.n_panels - state.position, work // per_panel))
    # Made before threads ask for them.
    _ = state.sample, state.passes
    work = count * per_panel
    least = _WORTH_HANDING_OVER if state.stage == "matrix" else _WORTH_SHARING
    threads = state.threads if work >= least else 1
    panels = range(state.position, state.position + count)
    for some in groups_of(panels, state.tree.shape[1], per_panel, threads):
        for sums in kernel(state, some, threads):
            state.n_sums = len(sums)
            add_block(state.tree, state.position, sums)
            state.position += 1
    return work


def _work_of_panel(state: NewtonState) -> int:
    """Return about how many values a panel of the present pass reads."""
    rows = state.sample.rows
    n_rows = min(state.panel_rows, rows.n_rows)
    own = _ROW_WORK * n_rows
    if state.stage in ON_ROWS:
        return own
    stored = n_rows * max(1, rows.n_stored // rows.n_rows)
    if state.stage in ("product", "matrix"):
        touched = state.curved if state.stage == "product" else min(state.changed, state.curved)
        stored = stored * touched // rows.n_rows
    if state.stage == "matrix":
        per_row = rows.n_stored // rows.n_rows if rows.is_sparse else rows.n_features
        stored *= 1 + per_row // _PRODUCTS_PER_VALUE
    return own + stored


def _finish(state: NewtonState) -> bool:
    """Conclude a pass and begin the next one; return whether there is a new point."""
    sums = total(state.tree, state.position, state.n_sums)
    stage = state.stage
    state.position = 0
    if np.isfinite(sums).all():
        AFTER[stage](state, sums)
    else:
        state.at_rest = True
    return state.at_rest or stage == "gradient"
