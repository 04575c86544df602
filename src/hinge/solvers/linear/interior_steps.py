"""What an interior point method decides between two passes.

    measure -> matrix -> [trial -> search ... -> settle -> matrix ...]
                      -> affine -> final [-> refine -> final] -> update -> matrix ...

The passes in the first brackets centre: Newton's method with a line search on the smoothed primal,

    1/2 z'Rz + sum of phi(margin),   -phi' = the coefficient that the path has for that margin,

whose minimiser is the path's point for one tau. The others follow the path by Mehrotra's steps;
where the matrix is dear, a short one is bent towards the path first (Gondzio's corrector).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.problem import Intercept
from hinge.solvers.linear.interior_state import VECTORS, InteriorState
from hinge.solvers.linear.pilot import represents, sample_sizes

Floats = NDArray[np.float64]

_START = 0.5  # the path's first parameter, in units of the mean cost
_WARM_SHARE = 0.05  # largest relative gap of the path that a known primal point is taken to
_SURPRISE = 5.0  # standard errors of a sample's mean loss that an objective may grow by unnoticed
_WARM_ROOM = 10.0  # the same in units of a known gap
_LEAST_GAP = 1e-15  # relative: a start that is optimal has a gap of 0, or less by rounding
_PILOT_GAP = 3e-3  # relative gap at which a sample has told what it can
_CLOSE = 1e-3  # squared Newton decrement, for each row, from which the path is followed
_FLAT = 0.3  # share of the slope that may be left at the end of a line search
_MOST_SEARCHES = 12
_MOST_CENTRING = 60
_TO_THE_WALL = 0.995
_WIDE = 100  # features from which two more passes cost little beside the matrix
_LONG = 0.9  # length of a step that is not bent
_HOPE = (0.1, 1.1)  # length that a bent step is to reach: a constant, and a factor of what it was
_SHORT = 0.1  # length of a step that shows the path to be lost
_MOST_SHORT = 3
_MOST_RECENTRINGS = 4
_NARROWER = 0.9  # what a gap is to become of before it counts as smaller
_MOST_IDLE = 8
_MOST_IDLE_SINGLE = 2  # the same in single precision
_ROUNDING = 1e-14  # relative gap at which nothing but rounding is left
_ACCURATE = 0.03  # share of a right-hand side that a step may leave
_MOST_CORRECTIONS = 3  # of a step that was found without some rows
_VERY_WIDE = 500  # features from which corrections cost little beside a matrix of all rows
_ROWS_PER_FEATURE = 16  # so that every eighth of them still says something of each direction
_ROWS_TO_ASK = 1 << 14  # for their weights
_MOST_ROWS = 0.5  # share of the rows from which it is worth while to leave some out
_LESS = 0.1  # what the share of rows left out is multiplied with if it was too large
_LITTLE = 1e-5  # the share of which nothing is worth leaving out
_TINY = float(np.finfo(np.float64).tiny)
_JITTER = 1e-14  # of a unit diagonal


def after_measure(state: InteriorState, sums: Floats, _: float) -> None:
    """Choose where on the path to begin."""
    expected = state.primal  # on the sample, if the weights come from one
    state.pulled[:] = sums[:-3]
    _set_values(state, sums[-3:])
    if not state.is_final_level and not represents(state.sample):
        state.next_level()
        return
    if state.is_warm and state.primal > state.value_at_zero:
        state.forget()
        return
    if not state.weights.any() and not state.is_warm:
        state.tau = _START * state.sample.cost
    else:
        if state.is_warm:
            known = max(state.primal - state.dual, _LEAST_GAP * state.primal)
            gap = min(_WARM_SHARE * state.primal, _WARM_ROOM * known)
        else:
            # The standard error of a sample's mean loss says how much its weights can lack, unless
            # the objective has grown by much more on the new rows.
            error = state.primal / math.sqrt(sample_sizes(state.problem)[state.level - 1])
            grown = state.primal - expected
            gap = grown if grown > _SURPRISE * error else error
        state.tau = gap / state.n_products
    _centre(state)


def after_matrix(state: InteriorState, sums: Floats, _: float) -> None:
    """Factorise, and choose between centring and following."""
    width = len(state.weights)
    vectors, normal = sums[: VECTORS * width], sums[VECTORS * width :].reshape(width, width)
    state.pulled[:], state.force[:], state.barrier[:] = vectors.reshape(VECTORS, width)
    residual = state.pulled - state.ridge * state.weights
    if not _factorise(state, normal + np.diag(state.ridge)):
        if state.is_single:
            _be_exact(state)
        else:
            _rest(state)
        return
    if state.is_centring:
        state.direction[:] = _solve(state, residual)
        decrement = float(state.direction @ residual) / state.tau
        is_close = decrement <= _CLOSE * state.sample.rows.n_rows
        if not is_close and state.centring_steps < _MOST_CENTRING:
            state.length, state.low, state.high = 1.0, 0.0, math.inf
            state.slope = -float(state.direction @ residual)
            state.n_searches = 0
            state.stage = "trial"
            return
        state.is_centring = False
    state.force += residual
    state.direction[:] = _solve(state, state.force)
    state.stage = "affine"


def after_search(state: InteriorState, sums: Floats, _: float) -> None:
    """Accept a length or try another one."""
    step, ridge = state.direction, state.ridge
    slope = float(step @ (ridge * (state.weights + state.length * step))) - float(sums[0])
    state.n_searches += 1
    state.stage = "search"
    # A direction along which nothing can be found may be the fault of the matrix.
    state.is_single &= state.n_searches < _MOST_SEARCHES
    if abs(slope) <= _FLAT * abs(state.slope) or state.n_searches >= _MOST_SEARCHES:
        state.stage = "settle"
    elif slope < 0.0:
        state.low = state.length
        state.length = 2.0 * state.length if math.isinf(state.high) else _middle(state)
    else:
        state.high = state.length
        state.length = _middle(state)


def after_settle(state: InteriorState, _: Floats, __: float) -> None:
    """Count a step of centring."""
    state.weights += state.length * state.direction
    state.steps += 1
    state.centring_steps += 1
    _begin_matrix(state)


def after_affine(state: InteriorState, sums: Floats, peak: float) -> None:
    """Choose tau by Mehrotra's rule, and the corrected direction."""
    now, first, second = (float(product) for product in sums[-3:])
    length = _length(peak, 1.0)
    left = (now + length * first + length * length * second) / now
    # Products far below the rounding of the objective say nothing any more, and spoil the matrix.
    least = _LEAST_GAP * abs(state.primal)
    state.tau = max(now * min(1.0, max(left, 0.0)) ** 3, least) / state.n_products
    state.right[:] = state.force + state.tau * state.barrier - sums[:-3]
    state.direction[:] = _solve(state, state.right)
    state.is_refined, state.corrections = False, 0
    state.stage = "final"


def after_final(state: InteriorState, sums: Floats, peak: float) -> None:
    """Choose the length of the step, or bend a short one towards the path first."""
    state.pull_change[:] = sums
    if state.is_single and not _is_accurate(state):
        return
    state.length = _length(peak, _TO_THE_WALL)
    state.stage = "update"
    is_wide = len(state.weights) >= _WIDE
    if is_wide and state.length < _LONG and not state.is_refined:
        state.length = min(1.0, _HOPE[0] + _HOPE[1] * state.length)
        state.stage = "refine"


def after_refine(state: InteriorState, sums: Floats, _: float) -> None:
    """Find the bent direction."""
    state.right -= sums
    state.direction[:] = _solve(state, state.right)
    state.is_refined, state.corrections = True, 0
    state.stage = "final"


def after_update(state: InteriorState, sums: Floats, _: float) -> None:
    """Judge the new point: follow on, centre again, go to more rows, or rest."""
    state.weights += state.length * state.direction
    state.pulled += state.length * state.pull_change
    state.steps += 1
    _set_values(state, sums[:3])
    gap = state.primal - state.dual
    if not state.is_final_level and gap <= _PILOT_GAP * abs(state.primal):
        _to_more_rows(state)
        return
    state.idle = 0 if gap < _NARROWER * state.smallest_gap else state.idle + 1
    state.smallest_gap = min(gap, state.smallest_gap)
    state.short_steps = state.short_steps + 1 if state.length < _SHORT else 0
    # Near the end single precision may leave a gap where it leaves nothing else to see.
    if state.idle >= _MOST_IDLE_SINGLE and state.is_single and state.is_final_level:
        state.is_single, state.idle = False, 0
    _begin_matrix(state)
    if state.idle >= _MOST_IDLE or gap <= _ROUNDING * abs(state.primal):
        _rest(state)
    elif state.short_steps >= _MOST_SHORT:
        if state.recentrings >= _MOST_RECENTRINGS:
            _rest(state)
            return
        state.recentrings += 1
        state.tau = float(sums[3]) / state.n_products
        _centre(state)


AFTER: dict[str, Callable[[InteriorState, Floats, float], None]] = {
    "measure": after_measure,
    "matrix": after_matrix,
    "trial": after_search,
    "search": after_search,
    "settle": after_settle,
    "affine": after_affine,
    "final": after_final,
    "refine": after_refine,
    "update": after_update,
}


def _centre(state: InteriorState) -> None:
    state.is_centring = True
    state.centring_steps = state.short_steps = 0
    _begin_matrix(state)


def _rest(state: InteriorState) -> None:
    """Go on to more rows, then to rest."""
    if state.is_final_level:
        state.at_rest = True
    else:
        _to_more_rows(state)


def _to_more_rows(state: InteriorState) -> None:
    state.next_level()
    state.smallest_gap, state.idle, state.recentrings = math.inf, 0, 0
    state.stage = "measure"


def _is_accurate(state: InteriorState) -> bool:
    """Return whether a step solves its equations; if not, go on to correct it.

    What is left of the equations is measured as the matrix does. If corrections by the same matrix
    leave too much, the matrix is made again, of more rows or in double precision.
    """
    reached = state.ridge * (state.weights + state.direction)
    left = state.pulled + state.pull_change - reached
    change = _solve(state, left)
    whole = float(state.right @ _solve(state, state.right))
    if whole == 0.0:
        return True  # nothing was to be solved: rows of zeros
    share = float(left @ change) / whole
    if share <= _ACCURATE**2:
        return True
    if state.corrections < (_MOST_CORRECTIONS if state.least_weight else 1):
        state.direction += change
        state.corrections += 1
        return False
    if state.least_weight:
        state.left_out *= _LESS if state.left_out > _LITTLE else 0.0
        _begin_matrix(state)
    else:
        _be_exact(state)
    return False


def _begin_matrix(state: InteriorState) -> None:
    """Go on to the matrix: of all rows, or, where it is dear, of few of those with small weights.

    Rows that are far from the margin have a small part in it, which becomes smaller with tau, and
    most are such rows: every eighth stands for all. A step is found with what these make, and
    corrected where that is not enough (``_is_accurate``).
    """
    state.stage, state.least_weight = "matrix", 0.0
    width, sample = len(state.weights), state.sample
    is_dear = width >= _VERY_WIDE and not sample.is_thin(is_single=True)
    is_dear &= sample.rows.n_rows >= _ROWS_PER_FEATURE * width
    is_known = not state.is_centring or state.centring_steps > 0
    if is_dear and is_known and state.is_single and state.left_out:
        state.least_weight = _least_weight(state)


def _least_weight(state: InteriorState) -> float:
    """Return up to which weight rows make so small a share; 0 if they are not most rows.

    It is read off every so many of them.
    """
    sample, loss = state.sample, state.problem.loss
    n_rows = sample.rows.n_rows
    some = slice(0, n_rows, -(-n_rows // _ROWS_TO_ASK))
    alpha, room, low, high = state.row_variables[:4, some]
    costs = sample.cost if sample.costs is None else np.maximum(sample.costs[some], _TINY)
    resistance = loss.dual_curvature / costs + low / alpha
    weights = 1.0 / (resistance + high / room if state.is_bounded else resistance)
    order = np.argsort(weights, kind="stable")
    parts = np.cumsum((weights * sample.rows.squared_norms[some])[order])
    count = int(np.searchsorted(parts, state.left_out * parts[-1]))
    if not math.isfinite(parts[-1]) or count < _MOST_ROWS * len(order):
        return 0.0
    return float(weights[order[count - 1]])


def _be_exact(state: InteriorState) -> None:
    """Make the matrix again, of all rows and in double precision."""
    state.is_single = False
    _begin_matrix(state)


def _length(peak: float, share: float) -> float:
    """Return how far a step may go: a share of the way to the first bound, or to its end."""
    return min(1.0, share / peak) if peak > 0.0 else 1.0


def _middle(state: InteriorState) -> float:
    return 0.5 * (state.low + state.high)


def _set_values(state: InteriorState, sums: Floats) -> None:
    """Set the objective values; what balancing the dual point will take is taken already."""
    losses, alpha, bent = (float(value) for value in sums)
    ridge = state.ridge
    squares = float(state.weights @ (ridge * state.weights))
    state.primal = 0.5 * squares + losses
    norm = float(state.pulled @ (ridge * state.pulled))
    state.dual = state.problem.loss.dual_linear * alpha - 0.5 * (bent + norm)
    if state.problem.intercept is Intercept.FREE:
        price = 2.0 * (state.problem.loss.zero_from + abs(float(state.weights[-1])))
        state.dual -= price * abs(float(state.pulled[-1]))


def _factorise(state: InteriorState, normal: Floats) -> bool:
    """Factorise a matrix scaled to a unit diagonal; return whether it went well."""
    state.scale[:] = 1.0 / np.sqrt(np.maximum(np.diag(normal), np.finfo(np.float64).tiny))
    scaled = normal * np.outer(state.scale, state.scale)
    scaled[np.diag_indices_from(scaled)] += _JITTER
    try:
        state.factor[:] = scipy.linalg.cholesky(scaled, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return bool(np.isfinite(state.factor).all())


def _solve(state: InteriorState, right: Floats) -> Floats:
    factor = (state.factor, True)
    solved = scipy.linalg.cho_solve(factor, state.scale * right, check_finite=False)
    return np.asarray(state.scale * solved)
