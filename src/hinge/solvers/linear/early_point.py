"""The point of a run that ends while it still looks at a sample of the rows, or at eased costs.

Its weights are what they are for all rows; the dual coefficients are the slopes of a loss at the
margins of all rows, times the multiple that makes the largest dual value. That takes two passes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_blocks
from hinge.problem import Problem
from hinge.result import Point
from hinge.rows import Block
from hinge.solvers.linear.balance import balance
from hinge.solvers.linear.newton_window import Window
from hinge.solvers.linear.sampled_state import SampledState

Floats = NDArray[np.float64]


def early_point(state: SampledState, window: Window, ease: float = 1.0) -> Point:
    """Return the present weights, and dual coefficients of all rows to go with them.

    Parameters
    ----------
    state : SampledState
        A run that has not come to the problem itself.
    window : Window
        Where the loss is a parabola, or is smoothed by one.
    ease : float, default=1.0
        What costs are multiplied with.

    Returns
    -------
    Point
        The point.
    """
    problem = state.problem
    coef = state.weights[: problem.n_features].copy()
    intercept = state.constant * float(state.weights[-1]) if state.constant else 0.0
    margins = np.empty(problem.n_rows)

    def measure(block: Block) -> None:
        if state.stop_check is not None:
            state.stop_check()
        margins[block.rows] = block.dot(coef) + intercept

    with np.errstate(all="ignore"):
        map_blocks(measure, problem.rows, lambda first, _: first)
        margins *= problem.signs
        alpha = window.depth(margins) * (ease * window.bend) * problem.costs
        np.minimum(alpha, problem.loss.upper_bound(problem.costs), out=alpha)
        if state.is_free:
            balance(alpha, problem.signs)
        alpha *= _best_multiple(state, alpha)
    if not (np.isfinite(coef).all() and np.isfinite(alpha).all()):
        return no_point(problem)
    return Point(coef, intercept, alpha)


def no_point(problem: Problem) -> Point:
    """Return zero weights and coefficients.

    Parameters
    ----------
    problem : Problem
        Whose.
    """
    return Point(np.zeros(problem.n_features), 0.0, np.zeros(problem.n_rows))


def _best_multiple(state: SampledState, alpha: Floats) -> float:
    """Return what coefficients are multiplied with for the largest dual value, in their bounds."""
    problem, loss = state.problem, state.problem.loss
    pulls = problem.signs * alpha

    def pull(block: Block) -> Floats:
        if state.stop_check is not None:
            state.stop_check()
        return np.asarray(block.transpose_dot(pulls[block.rows]))

    total = map_blocks(pull, problem.rows, np.add)
    norm = float(total @ total) + (problem.constant_feature * float(pulls.sum())) ** 2
    safe = np.where(problem.costs > 0.0, problem.costs, np.inf)
    norm += loss.dual_curvature * float(np.sum(alpha * alpha / safe))
    best = loss.dual_linear * float(np.sum(alpha)) / norm if norm > 0.0 else 1.0
    return best if np.isinf(loss.dual_upper) else min(best, 1.0)
