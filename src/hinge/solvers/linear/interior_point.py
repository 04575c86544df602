r"""Mehrotra's predictor-corrector method on the dual, with the rows as its low-rank factor.

.. math:: \min_\alpha \tfrac12 \alpha'(Y\tilde X\tilde X'Y + D)\alpha - p'\alpha, \qquad
          0 \le \alpha \le u, \qquad y'\alpha = 0 \text{ if the intercept is free.}

A row has its coefficient, the multipliers :math:`\lambda, \mu > 0` of its two bounds, and a margin
m; the central path is where, for one :math:`\tau`,

.. math:: m + D\alpha - p - \lambda + \mu = 0, \quad \lambda\alpha = \mu(u - \alpha) = \tau, \quad
          R z = \tilde X'Y\alpha,

with z = (w, b) and R the identity with a zero for a free intercept. A Newton step solves

.. math:: (R + \tilde X'\Theta^{-1}\tilde X)\,\Delta z
          = \tilde X'Y\alpha - R z + \tilde X'Y\Theta^{-1} h,

a system as large as there are features (Sherman-Morrison-Woodbury). It is solved twice, for an
affine direction and for the corrected one.

Given: hinge or squared hinge loss, at most ``MOST_FEATURES`` features. Returns z and alpha.
Cost per step: ``n d^2`` for the matrix and two more passes over the rows; 64 bytes for a row.
Reference: M. Ferris and T. Munson, Interior-point methods for massive support vector machines,
2002; S. Mehrotra, On the implementation of a primal-dual interior point method, 1992;
J. Gondzio, Multiple centrality corrections in a primal-dual method, 1996. Ours:
samples first; a start that is on the central path in all rows, centred by Newton's method with a
line search on the smoothed primal, so that only the weights travel from one sample to the next.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.linear.balance import balance
from hinge.solvers.linear.block_pass import add_block, groups_of, total
from hinge.solvers.linear.early_point import early_point, no_point
from hinge.solvers.linear.interior_passes import KERNELS
from hinge.solvers.linear.interior_state import ON_ROWS, ROW_VARIABLES, InteriorState
from hinge.solvers.linear.interior_steps import AFTER
from hinge.solvers.linear.newton_window import Window
from hinge.solvers.protocol import Solver, Support

Floats = NDArray[np.float64]

MOST_FEATURES = 2000
_HALF_WIDTH = 0.5  # of the parabola that smooths a corner where slopes stand for coefficients
# Values of a pass that threads share, native ones and, for matrices, those of the interpreter: with
# fewer one thread has done half before the other begins.
_WORTH_SHARING, _WORTH_HANDING_OVER = 1 << 16, 1 << 18
_PRODUCTS_PER_VALUE = 512  # multiplications of a matrix product that count as reading a value


class InteriorPoint(Solver):
    """A primal-dual interior point method for few features and any number of rows."""

    name: ClassVar[str] = "interior-point"

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss has a corner or one bound, and features are few."""
        use = "use solver='dual-coordinate'."
        if problem.n_features > MOST_FEATURES:
            many = f"{problem.n_features} features are too many for a dense matrix of them"
            return Support(False, f"{many}; {MOST_FEATURES} is the most: {use}")
        loss = problem.loss
        if loss.dual_curvature and math.isfinite(loss.dual_upper):
            return Support(False, f"{loss!r} is neither hinge nor squared hinge: {use}")
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> InteriorState:
        """Return the state before the first step, from known weights if given."""
        state = InteriorState(problem, seed)
        if warm is not None and state.take_weights(warm):
            _take_known_dual(state, warm.dual_coef)
        return state

    def step(self, state: InteriorState, work: int) -> int:
        """Go on by about this much work, but not beyond a step whose result is news."""
        done = 0
        with np.errstate(all="ignore"):
            while done < work and not state.at_rest:
                if state.step_limit is not None and state.steps >= state.step_limit:
                    break
                # Before all rows are looked at, and while their point is being centred, there is
                # no news to certify, and the schedule of certificates, which counts this work,
                # stands still.
                counts = state.is_final_level and not state.is_centring
                piece = _advance(state, work - done)
                done += piece
                state.work += piece if counts else 0
                if state.position == state.n_panels and _finish(state):
                    break
        return done

    def point(self, state: InteriorState) -> Point:
        """Return the present primal and dual point; slopes while only samples have been seen."""
        problem = state.problem
        n = problem.n_features
        if not state.is_final_level:
            loss = problem.loss
            is_smooth = loss.dual_curvature > 0.0
            return early_point(
                state, Window.of(loss) if is_smooth else Window.smoothed(loss, _HALF_WIDTH)
            )
        alpha = np.clip(state.row_variables[0], 0.0, problem.loss.upper_bound(problem.costs))
        if problem.intercept is Intercept.FREE:
            balance(alpha, problem.signs)
        intercept = state.constant * float(state.weights[-1]) if state.constant else 0.0
        return Point(state.weights[:n].copy(), intercept, alpha)

    def unproven_point(self, state: InteriorState) -> Point:
        """Return the present point, without reading rows for it."""
        return self.point(state) if state.is_final_level else no_point(state.problem)

    def progress(self, state: InteriorState) -> Progress:
        """Return the objective values of the present point, if it is one of all rows."""
        state.check()
        values = (state.primal, state.dual) if state.is_final_level else (math.nan, math.nan)
        return Progress(state.steps, state.work, *values, at_rest=state.at_rest)


def _take_known_dual(state: InteriorState, alpha: Floats | None) -> None:
    """Take known dual coefficients, where they fit."""
    problem = state.problem
    if alpha is not None and alpha.shape == (problem.n_rows,) and np.isfinite(alpha).all():
        known = np.clip(alpha, 0.0, problem.loss.upper_bound(problem.costs))
        if problem.intercept is Intercept.FREE:
            balance(known, problem.signs)
        state.row_variables[0] = known


def _advance(state: InteriorState, work: int) -> int:
    """Do panels of the present pass, one at the least; return the work."""
    kernel = KERNELS[state.stage]
    sample = state.sample
    per_panel = state.panel_rows * ROW_VARIABLES
    if state.stage not in ON_ROWS:
        per_panel = max(per_panel, sample.rows.n_stored // state.n_panels)
    if state.stage == "matrix":
        per_panel *= 1 + len(state.weights) // _PRODUCTS_PER_VALUE
    count = max(1, min(state.n_panels - state.position, round(work / per_panel)))
    work = count * per_panel
    least = _WORTH_HANDING_OVER if state.stage == "matrix" else _WORTH_SHARING
    threads = state.threads if work >= least else 1
    panels = range(state.position, state.position + count)
    for some in groups_of(panels, state.tree.shape[1], per_panel, threads):
        for sums, peak in kernel(state, some, threads):
            state.n_sums = len(sums)
            add_block(state.tree, state.position, sums)
            state.peak = math.inf if math.isnan(peak) else max(state.peak, peak)
            state.position += 1
    return work


def _finish(state: InteriorState) -> bool:
    """Conclude a pass and begin the next one; return whether there is a new point."""
    sums = total(state.tree, state.position, state.n_sums)
    stage, peak = state.stage, state.peak
    state.position, state.peak = 0, -math.inf
    if np.isfinite(sums).all():
        AFTER[stage](state, sums, peak)
    elif stage == "matrix" and state.is_single:
        # Products that overflowed may fit in double precision.
        state.is_single, state.least_weight = False, 0.0
    else:
        state.at_rest = True
    return state.at_rest or stage in ("measure", "update")
