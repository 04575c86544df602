"""Gap-safe screening of kernel machines: rows that the optimum is proven to leave where they are.

With absolute gap g the optimal function differs at x by at most ``sqrt(2 g k(x, x))`` from the
current one, apart from its intercept; a free intercept lies in an interval that follows from the
same bound (:mod:`hinge.certificates.settled`). A row whose score stays beyond the margins at which
its loss has a corner, for every function in that region, keeps its coefficient at the bound that it
is at. The run's own values decide this, so nothing false can come of it but a refused certificate.
"""

from __future__ import annotations

import math

import numpy as np

from hinge.inequality import UNIT_ROUNDOFF
from hinge.losses.intercept import largest_intercept, smallest_intercept
from hinge.solvers.kernel.dual_state import Ends, Floats, KernelState

_SLACK = 1e-4  # of a margin: scores are sums of float32 values


def screen(state: KernelState, ends: Ends) -> int:
    """Settle rows for good; the scores must be complete.

    Parameters
    ----------
    state : KernelState
        The run; its settled rows are marked.
    ends : Ends
        Where the gradient is worst.

    Returns
    -------
    int
        How many rows are settled.
    """
    gap = state.primal - state.dual
    program, problem = state.program, state.problem
    if problem.kernel is None or problem.kernel.psd is not True or not math.isfinite(gap):
        return 0
    some = slice(None) if program.present is None else program.present
    diagonal = problem.image_squares[some]
    rounding = 8.0 * UNIT_ROUNDOFF * len(state.beta) * abs(state.primal)
    reach = np.sqrt(2.0 * (max(gap, 0.0) + rounding) * diagonal) + _SLACK
    intercepts = _intercepts(state, reach, ends)
    signs = problem.signs[some]
    low, high = state.scores - reach + intercepts[0], state.scores + reach + intercepts[1]
    least, most = np.where(signs > 0, low, -high), np.where(signs > 0, high, -low)
    at_zero = (state.beta == 0.0) & (least > problem.loss.zero_from)
    at_reach = np.abs(state.beta) >= np.maximum(program.upper, -program.lower)
    at_cost = at_reach & (most < problem.loss.kinks[0].margin)
    state.settled |= at_zero | at_cost
    return int(np.count_nonzero(state.settled))


def _intercepts(state: KernelState, reach: Floats, ends: Ends) -> tuple[float, float]:
    """Return an interval that holds the optimal intercepts; without end if nothing bounds them."""
    if not ends.is_balanced:
        return 0.0, 0.0
    loss, program = state.problem.loss, state.program
    some = slice(None) if program.present is None else program.present
    costs, signs = state.problem.costs[some], state.problem.signs[some]
    low = smallest_intercept(loss, state.scores + reach, signs, costs, state.stop_check)
    high = largest_intercept(loss, state.scores - reach, signs, costs, state.stop_check)
    return low, high
