r"""Gradient descent on a smooth loss, most rows of every pass left alone.

.. math:: \min_z f(z) = \tfrac\lambda2 \|R z\|^2 + \frac1S \sum_i s_i\, \ell(y_i z'\tilde x_i),
          \qquad \lambda = \frac1{C S}, \quad S = \sum_i s_i,

the problem's objective divided by C S, in z = (w, u) with the weight u of a constant feature where
there is an intercept; R leaves out u if that is free. The form with a mean is the one whose steps
do not depend on the number of rows.

1. Try :math:`z - \eta \nabla f(z)`, beginning with :math:`\eta` = 100.
2. If f has increased, halve :math:`\eta` and, unless told otherwise, stay at z.
3. Else go there. The run rests when the decrease is at most eps times f; an increase never ends it.

Loss: Huber, smooth and of bounded slope. Given: any intercept and weights.
Returns z and the dual point :math:`\alpha_i = -c_i \ell'(m_i)`, at the best intercept if that is
free. Cost of a step: one evaluation of f and its gradient, by :class:`hinge.bounds.SortedMargins`;
late in a run few rows are examined.

Reference: Guillory and Bilmes, "Practical methods for exploiting bounds on change in the margin",
section 4.2, equation 5. Changed: the paper does not say whether an increase undoes the step (here
it does by default) nor whether a small increase may end the run (here it never does); where f
changes by less than its rounding error, the gradients at both ends tell whether it increases.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_blocks
from hinge.bounds import Bound, ResortPolicy
from hinge.bounds.products import combine, dot
from hinge.losses import optimal_intercepts
from hinge.parameters import boolean, not_negative, positive
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.rows import Block
from hinge.solvers.linear.balance import balance
from hinge.solvers.linear.margin_index import EveryRow, IndexMemory, MarginIndex, no_counts
from hinge.solvers.protocol import Solver, State, Support

Floats = NDArray[np.float64]

_CALL = 40_000  # what an evaluation costs besides its rows, in stored values
# A call ends after whole rounds of steps that take at most so many stored values, so that a run
# that goes on is judged where one that was never stopped is.
_CALL_WORK = 4_000_000
_MOST = 2**63 - 1
_LOOK = 64  # steps after which to look whether anything moves: it reads all features


class GradientState(State):
    """A run of gradient descent between two steps.

    Parameters
    ----------
    problem : Problem
        What to minimise; not pickled.
    length : float
        The first step length.
    eps : float
        Relative decrease at which the run rests.
    undo : bool
        Whether a step that increases the objective is taken back.

    Attributes
    ----------
    vector, slope : ndarray of shape (n_features + 1,)
        Weights, last that of the constant feature; and the gradient there.
    value, noise : float
        The objective there in the form with a mean, and a bound on its rounding error.
    examined : int
        Rows whose margin has been computed, in all evaluations together.
    evaluations : int
        How many there were.
    stored_at, counts : ndarray of shape (2, n_features + 1), dict
        What the index is made anew from.
    """

    _transient: ClassVar[tuple[str, ...]] = ("problem", "_evaluator")

    def __init__(self, problem: Problem, length: float, eps: float, undo: bool) -> None:
        self.problem = problem
        self.length, self.eps, self.undo = length, eps, undo
        self.vector = np.zeros(problem.n_features + 1)
        self.slope = np.zeros(problem.n_features + 1)
        self.value = math.nan
        self.noise = 0.0
        self.stored_at = np.zeros((2, problem.n_features + 1))
        self.counts = no_counts()
        self.steps = 0
        self.work = 0
        self.evaluations = 0
        self.examined = 0
        self.at_rest = False

    @property
    def round(self) -> int:
        """How many steps make a call, whoever made the calls before."""
        touched = self.problem.rows.n_stored + self.problem.n_features
        return max(1, _CALL_WORK // (touched + _CALL))

    @property
    def constant(self) -> float:
        """Value of the constant feature; 0 without an intercept."""
        is_free = self.problem.intercept is Intercept.FREE
        return 1.0 if is_free else self.problem.constant_feature

    def evaluator(
        self, bound: str | Bound | None, policy: ResortPolicy | None
    ) -> MarginIndex | EveryRow:
        """Return what evaluates the losses, made anew for a state that goes on."""
        if "_evaluator" not in self.__dict__:
            self.__dict__["_evaluator"] = (
                EveryRow(self.problem)
                if bound is None
                else MarginIndex(
                    self.problem, bound, policy, IndexMemory(self.stored_at, self.counts)
                )
            )
        made: MarginIndex | EveryRow = self.__dict__["_evaluator"]
        return made

    def forget_evaluator(self) -> None:
        """Have it made anew, from what this state remembers, when it is needed again."""
        self.__dict__.pop("_evaluator", None)


class Gradient(Solver):
    """Gradient descent with the step rule of Guillory and Bilmes, over an index of margins.

    Parameters
    ----------
    bound : str, Bound or None, default="trajectory"
        What leaves rows out of an evaluation, see :class:`hinge.bounds.SortedMargins`; None looks
        at every row every time. It matters for speed only.
    length : float, default=100.0
        First step length, in the form with a mean.
    eps : float, default=0.0
        Relative decrease of the objective at which the run rests; 0 goes on until nothing moves.
    undo : bool, default=True
        Whether a step that increases the objective is taken back.
    policy : ResortPolicy or None, default=None
        When the index sorts its rows again.
    """

    name: ClassVar[str] = "gradient"

    def __init__(
        self,
        bound: str | Bound | None = "trajectory",
        *,
        length: float = 100.0,
        eps: float = 0.0,
        undo: bool = True,
        policy: ResortPolicy | None = None,
    ) -> None:
        self.bound = bound
        self.length = positive(length, "length")
        self.eps = not_negative(eps, "eps")
        self.undo = boolean(undo, "undo")
        self.policy = policy

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss is smooth and its slope bounded, as the Huber loss is."""
        if problem.loss.dual_curvature == 0.0:
            reason = (
                f"{problem.loss!r} has a corner, where steps along the slope never settle; use "
                "loss='huber', or solver='dual-coordinate'."
            )
            return Support(False, reason)
        if math.isinf(problem.loss.dual_upper):
            reason = (
                f"{problem.loss!r} grows faster than any line, and one far row would set the step "
                "length of the whole run; use loss='huber', or solver='dual-coordinate'."
            )
            return Support(False, reason)
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> GradientState:  # noqa: ARG002
        """Return the state before the first step; nothing in it is random."""
        state = GradientState(problem, self.length, self.eps, self.undo)
        if warm is not None and warm.coef.shape == (problem.n_features,):
            weight = warm.intercept / state.constant if state.constant else 0.0
            given = np.append(warm.coef, weight)
            if np.isfinite(given).all():
                state.vector = given
        return state

    def step(self, state: GradientState, work: int) -> int:
        """Do steps until about this much work is done, at least one evaluation."""
        limit = _MOST if state.step_limit is None else state.step_limit
        before = state.work
        # Numbers that leave floating point count as an increase; they are no news to the user.
        with np.errstate(over="ignore", invalid="ignore"):
            while True:
                if math.isnan(state.value):
                    square = dot(state.vector, state.vector)
                    state.value, state.slope, state.noise = self._evaluate(
                        state, state.vector, square
                    )
                    if not math.isfinite(state.value):
                        state.at_rest = True
                else:
                    self._descend(state)
                spent, is_round = state.work - before, state.steps % state.round == 0
                if state.at_rest or is_round or spent >= work or state.steps >= limit:
                    return spent

    def _descend(self, state: GradientState) -> None:
        """Try one step and take it, or halve the step length."""
        trial = np.empty_like(state.vector)
        square = combine(trial, 1.0, state.vector, -state.length, state.slope)
        step = state.steps + 1
        if step % _LOOK == 0 and np.array_equal(trial, state.vector):
            state.steps, state.at_rest = step, True
            return
        value, slope, noise = self._evaluate(state, trial, square)
        state.steps = step
        change = value - state.value
        if abs(change) <= noise + state.noise:
            # Exact for a quadratic piece, and not drowned by the rounding of two large sums.
            change = 0.5 * float((slope + state.slope) @ (trial - state.vector))
        has_increased = not change <= 0.0
        if has_increased:
            state.length *= 0.5
        if has_increased and (state.undo or not math.isfinite(value)):
            return
        if not has_increased and -change <= state.eps * abs(state.value):
            state.at_rest = state.eps > 0.0
        state.vector, state.value, state.slope, state.noise = trial, value, slope, noise

    def _evaluate(
        self, state: GradientState, vector: Floats, square: float
    ) -> tuple[float, Floats, float]:
        """Return the objective with a mean at a vector, its gradient, and its rounding error."""
        slope = np.empty_like(vector)
        if not math.isfinite(square):
            slope[:] = 0.0
            return math.inf, slope, 0.0
        problem, constant, last = state.problem, state.constant, float(vector[-1])
        evaluator = state.evaluator(self.bound, self.policy)
        try:
            found = evaluator.evaluate(
                vector[:-1], constant * last, slope[:-1], state.threads, state.stop_check
            )
        except BaseException:
            state.forget_evaluator()  # it may be ahead of what the state remembers
            raise
        state.evaluations += 1
        state.examined += found.examined
        rows = problem.rows
        touched = found.examined * rows.n_stored // max(1, rows.n_rows)
        state.work += touched + problem.n_features + _CALL
        value = found.value
        slope[-1] = constant * found.gradient_b
        if problem.intercept is Intercept.AUGMENTED:
            penalty = evaluator.penalty
            slope[-1] += penalty * last
            value += 0.5 * penalty * last * last
        return value, slope, found.bound

    def point(self, state: GradientState) -> Point:
        """Return the weights, and the dual point that the slopes of the losses make."""
        problem = state.problem
        coef, offset = state.vector[:-1].copy(), state.constant * float(state.vector[-1])
        scores = np.empty(problem.n_rows)

        def kernel(block: Block) -> None:
            scores[block.rows] = block.dot(coef)

        map_blocks(
            kernel,
            problem.rows,
            lambda first, _: first,
            threads=state.threads,
            check=state.stop_check,
        )
        is_free = problem.intercept is Intercept.FREE
        if is_free and np.isfinite(scores).all():
            low, high = optimal_intercepts(
                problem.loss, scores, problem.signs, problem.costs, state.stop_check
            )
            best = 0.5 * (low + high)
            offset = best if math.isfinite(best) else offset
        slopes = problem.loss.subgradient(problem.signs * (scores + offset))
        reach = problem.loss.upper_bound(problem.costs)
        alpha = np.clip(-problem.costs * slopes, 0.0, reach)
        if is_free:
            balance(alpha, problem.signs)
        return Point(coef, offset, alpha)

    def unproven_point(self, state: GradientState) -> Point:
        """Return the weights alone: a dual point takes a pass over the data."""
        return Point(state.vector[:-1].copy(), state.constant * float(state.vector[-1]))

    def progress(self, state: GradientState) -> Progress:
        """Return the objective, and the dual value of the slopes: half a squared gradient less."""
        scale = state.problem.C * _total_weight(state.problem)
        slope = state.slope if state.problem.intercept is Intercept.AUGMENTED else state.slope[:-1]
        primal = scale * state.value
        dual = primal - 0.5 * scale * scale * float(slope @ slope)
        return Progress(state.steps, state.work, primal, dual, at_rest=state.at_rest)


def _total_weight(problem: Problem) -> float:
    """Return the sum of the sample weights, or the number of rows."""
    weights = problem.sample_weight
    return float(problem.n_rows) if weights is None else float(np.sum(weights))
