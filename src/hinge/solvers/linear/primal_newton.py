r"""Newton's method in the primal: dear per step, indifferent to scaling and to C.

.. math:: \min_z \tfrac12 \|R z\|^2 + \sum_i c_i\, \ell(y_i z'\tilde x_i), \qquad z = (w, u),

where :math:`\tilde x_i` is row i with the constant feature, if there is an intercept, and R leaves
out u if that is free. The derivative of a loss is piecewise linear, so that Newton's method with
an exact line search ends after finitely many steps. The hinge loss has no second derivative: it
is replaced by Huber losses of ever smaller width, whose dual points are also its own.

Given: a problem small enough for a step to stay short (``MOST_FEATURES``, ``MOST_WORK``).
Returns w and the dual point :math:`\alpha_i = -c_i \ell'(m_i)`, where w(alpha) = w if optimal.
Rows of weight zero add zeros to its sums: the optimum is the same, the last bits may not be.
Cost per step: ``n d^2`` for the matrix of second derivatives, and ``d^3`` to factorise it.
Reference: Chapelle, Training a support vector machine in the primal, 2007; the rounding of the
hinge's corner in stages is ours.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.block_map import map_blocks
from hinge.losses import Huber, Loss
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.rows import Block, Rows
from hinge.solvers.protocol import Solver, State, Support

Floats = NDArray[np.float64]

MOST_FEATURES = 1000
MOST_WORK = 150_000_000  # products that one step may take: about a tenth of a second
_SEARCH_WORK = 500  # what the line search costs a row, in products
_WIDTHS = tuple(10.0**-k for k in range(1, 9))  # of the Huber losses that stand for the hinge
_LEAST_CURVATURE = 1e-3  # of the objective in a free intercept, in units of the sum of the costs
_SMALL_GAP = 1e-10  # relative gap of a stage's own problem at which the stage is over
_NO_GAIN = 1e-16  # relative decrease of the objective below which nothing moves any more


class NewtonState(State):
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
        self.weights = np.zeros(problem.n_features + (1 if self.constant else 0))
        self.alpha = np.zeros(problem.n_rows)
        self.best_weights, self.best_primal = self.weights, math.inf
        self.best_alpha, self.best_dual = self.alpha, -math.inf
        self.steps = 0
        self.work = 0
        self.at_rest = False

    def remember(self, primal: float, dual: float) -> None:
        """Keep the current weights and dual point if their values are the best so far."""
        if primal < self.best_primal:
            self.best_weights, self.best_primal = self.weights, primal
        if dual > self.best_dual:
            self.best_alpha, self.best_dual = self.alpha, dual


class PrimalNewton(Solver):
    """Newton's method in the primal, for problems with few features."""

    name: ClassVar[str] = "primal-newton"

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

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> NewtonState:  # noqa: ARG002
        """Return the state before the first step; nothing in it is random."""
        state = NewtonState(problem)
        if warm is None or warm.coef.shape != (problem.n_features,):
            return state
        start = np.append(warm.coef, warm.intercept / state.constant if state.constant else 0.0)
        if np.isfinite(start).all():
            state.weights[:] = start[: len(state.weights)]
            self._remember_dual(state, warm.dual_coef)
        return state

    def _remember_dual(self, state: NewtonState, alpha: Floats | None) -> None:
        """Take known dual coefficients, where they fit, as the best ones so far."""
        problem = state.problem
        if alpha is None or alpha.shape != (problem.n_rows,) or not np.isfinite(alpha).all():
            return
        state.alpha = _dual_point(problem, -alpha)
        scores = _scores(problem.rows, state.weights, state.constant)
        state.remember(*_values(state, problem.signs * scores))

    def step(self, state: NewtonState, work: int) -> int:  # noqa: ARG002
        """Do one Newton step on the current stage, or go to the next stage."""
        # Numbers that leave floating point end the run below; they are no news to the user.
        with np.errstate(over="ignore", invalid="ignore"):
            return self._step(state)

    def _step(self, state: NewtonState) -> int:
        problem, loss = state.problem, state.losses[0]
        rows, signs, costs = problem.rows, problem.signs.astype(np.float64), problem.costs
        margins = signs * _scores(rows, state.weights, state.constant)
        ridge = np.ones(len(state.weights))
        if problem.intercept is Intercept.FREE:
            ridge[-1] = 0.0
        slopes = costs * loss.subgradient(margins)
        state.alpha = _dual_point(problem, slopes)
        primal, dual = _values(state, margins)
        state.remember(primal, dual)
        curvature = costs * _second_derivative(loss, margins)
        gradient, matrix = _derivatives(rows, state.constant, signs * slopes, curvature)
        gradient += ridge * state.weights
        if problem.intercept is Intercept.FREE:
            # Where no row is on a curved part of the loss, nothing else keeps the step finite.
            matrix[-1, -1] = max(matrix[-1, -1], _LEAST_CURVATURE * float(costs.sum()))
        if not (np.isfinite(gradient).all() and np.isfinite(matrix).all()):
            state.at_rest = True
            return rows.n_stored
        direction = _solve(matrix, ridge, gradient)
        change = signs * _scores(rows, direction, state.constant)
        pull = float(direction @ (ridge * state.weights)), float(direction @ (ridge * direction))
        length = _line_search(loss, margins, change, costs, pull)
        gain = -length * float(direction @ gradient)
        state.weights = state.weights + length * direction
        # The gap is half the squared gradient, which may be large where the objective is flat.
        gap = 0.5 * float(gradient @ gradient)
        if gap <= _SMALL_GAP * primal or not gain > _NO_GAIN * primal:
            state.at_rest = len(state.losses) == 1
            state.losses = state.losses[1:] or state.losses
        done = rows.n_stored * (problem.n_features + 2)
        state.steps, state.work = state.steps + 1, state.work + done
        return done

    def point(self, state: NewtonState) -> Point:
        """Return the best weights and the best dual point so far."""
        n, weights = state.problem.n_features, state.best_weights
        intercept = state.constant * float(weights[-1]) if state.constant else 0.0
        return Point(weights[:n].copy(), intercept, state.best_alpha.copy())

    def progress(self, state: NewtonState) -> Progress:
        """Return the objective values of the best points so far."""
        values = state.best_primal, state.best_dual
        return Progress(state.steps, state.work, *values, at_rest=state.at_rest)


def _constant(problem: Problem) -> float:
    """Return the value of the constant feature whose weight makes the intercept, or 0."""
    if problem.intercept is Intercept.FREE:
        return 1.0
    return problem.constant_feature


def _scores(rows: Rows, weights: Floats, constant: float) -> Floats:
    out = np.empty(rows.n_rows)
    coef, offset = weights[: rows.n_features], constant * weights[-1] if constant else 0.0

    def kernel(block: Block) -> None:
        out[block.rows] = block.dot(coef) + offset

    map_blocks(kernel, rows, lambda first, _: first)
    return out


def _values(state: NewtonState, margins: Floats) -> tuple[float, float]:
    """Return primal and dual value of the weights that gave the margins."""
    problem, weights = state.problem, state.weights
    costs, alpha = problem.costs, state.alpha
    free = problem.intercept is Intercept.FREE
    pulls = problem.signs * alpha
    primal = 0.5 * float(weights @ weights) - (0.5 * float(weights[-1] ** 2) if free else 0.0)
    primal += float(costs @ problem.loss.value(margins))
    total = map_blocks(lambda block: block.transpose_dot(pulls[block.rows]), problem.rows, np.add)
    norm = float(total @ total) + (problem.constant_feature * float(pulls.sum())) ** 2
    safe = np.where(costs > 0, costs, np.inf)
    curved = 0.5 * problem.loss.dual_curvature * float((alpha * alpha / safe).sum())
    return primal, problem.loss.dual_linear * float(alpha.sum()) - curved - 0.5 * norm


def _dual_point(problem: Problem, slopes: Floats) -> Floats:
    """Return the dual point of slopes; for a free intercept with the heavier class scaled down."""
    alpha = np.clip(-slopes, 0.0, problem.loss.upper_bound(problem.costs))
    if problem.intercept is Intercept.FREE:
        positive = problem.signs > 0
        sums = float(alpha[positive].sum()), float(alpha[~positive].sum())
        if min(sums) > 0.0:
            alpha[positive] *= min(sums) / sums[0]
            alpha[~positive] *= min(sums) / sums[1]
    return np.asarray(alpha)


def _second_derivative(loss: Loss, margins: Floats) -> Floats:
    slope = np.full(len(margins), loss.left_derivative[1])
    for kink in loss.kinks:
        slope += kink.bend * (margins >= kink.margin)
    return np.asarray(np.maximum(slope, 0.0))


def _derivatives(
    rows: Rows, constant: float, pulls: Floats, curvature: Floats
) -> tuple[Floats, Floats]:
    """Return the gradient and the matrix of second derivatives of the losses."""

    def kernel(block: Block) -> tuple[Any, Any]:
        matrix = block.matrix.toarray() if rows.is_sparse else block.matrix
        if constant:
            matrix = np.column_stack([matrix, np.full(len(matrix), constant)])
        curved = matrix[curvature[block.rows] > 0]
        factors = curvature[block.rows][curvature[block.rows] > 0]
        return matrix.T @ pulls[block.rows], curved.T @ (factors[:, None] * curved)

    def merge(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
        return first[0] + second[0], first[1] + second[1]

    return map_blocks(kernel, rows, merge)


def _solve(matrix: Floats, ridge: Floats, gradient: Floats) -> Floats:
    """Return the Newton direction; scaled first, since features may be of any size."""
    full = matrix + np.diag(ridge)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(full), np.finfo(np.float64).tiny))
    scaled = full * np.outer(scale, scale) + 1e-14 * np.eye(len(scale))
    try:
        factor = scipy.linalg.cho_factor(scaled)
        return np.asarray(-scale * scipy.linalg.cho_solve(factor, scale * gradient))
    except scipy.linalg.LinAlgError:
        return np.asarray(-scale * np.linalg.lstsq(scaled, scale * gradient, rcond=None)[0])


def _line_search(
    loss: Loss, margins: Floats, change: Floats, costs: Floats, pull: tuple[float, float]
) -> float:
    r"""Return how far to go along a direction: where the derivative of the objective is zero.

    .. math:: \varphi'(t) = p + q t + \sum_i c_i s_i\, \ell'(m_i + t s_i)

    rises along straight pieces, with corners where a margin meets a kink of the loss. These are
    sorted, and the piece that crosses zero is found by sums over those before it.

    Parameters
    ----------
    loss : Loss
        A loss with a continuous derivative.
    margins, change, costs : ndarray of shape (n,)
        The margins m, how they change along the direction, and the costs.
    pull : tuple of two floats
        p and q, of the squared norm.
    """
    slope = pull[0] + float(change @ (costs * loss.subgradient(margins)))
    if not slope < 0.0:
        return 0.0
    curved = costs * change * change
    bends, curvature = [], pull[1] + loss.left_derivative[1] * float(np.sum(curved))
    places = []
    for kink in loss.kinks:
        # A margin on a kink is beyond it if it rises.
        passed = np.where(change > 0.0, margins >= kink.margin, margins > kink.margin)
        curvature += kink.bend * float(curved @ passed)
        meets = np.where(change > 0.0, ~passed, passed & (change < 0.0))
        places.append((kink.margin - margins[meets]) / change[meets])
        bends.append(kink.bend * np.copysign(curved[meets], change[meets]))
    place, bend = np.concatenate(places), np.concatenate(bends)
    order = np.argsort(place)
    place = np.concatenate(((0.0,), place[order]))
    rises = np.maximum(curvature + np.concatenate(((0.0,), np.cumsum(bend[order]))), 0.0)
    slopes = slope + np.concatenate(((0.0,), np.cumsum(rises[:-1] * np.diff(place))))
    last = int(np.searchsorted(slopes, 0.0)) - 1  # the last corner before zero
    if not rises[last] > 0.0:
        return float(place[last])
    return float(place[last] - slopes[last] / rises[last])
