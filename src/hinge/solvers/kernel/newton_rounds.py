r"""Newton's steps on the rows inside their bounds, where pairs of rows take long.

Where many rows end strictly inside their bounds, with a large C or with classes that the kernel
separates, pairs find out soon which these are and then spend most of their time on a linear system.
A round here takes all rows inside their bounds, and those at a bound that the gradient draws inside
or nearly so, and solves the program over them by guessing who ends at a bound
(:mod:`hinge.solvers.kernel.guessed_bounds`). The factor of their matrix serves the next rounds as
well (:mod:`hinge.solvers.kernel.nearby_systems`).

*When.* Work is counted, in tenths of nanoseconds of one core. A round is due when the number of
rows inside has settled, few others are drawn there, pairs have cost half as much as the round will,
and they are not about to finish: at the pace of their last rounds they would need longer. It is
followed by others while they lower the violation.

*Damping.* Guesses that go round in circles are begun again with more damping. Where nobody moves
in or out any more and the violation falls slowly, it is the damping that keeps it: there is less
from then on. If that leads to circles again, or if there is none left, pairs go on, and for twice
as long as before.
"""

from __future__ import annotations

import math

import numpy as np

from hinge.solvers.kernel.dual_state import Ends, Floats, Ids, KernelState
from hinge.solvers.kernel.guessed_bounds import GuessedBounds
from hinge.solvers.kernel.nearby_systems import FEW_BORDERS
from hinge.solvers.kernel.working_sets import kernel_among

_INNER = 0.1  # share of the violation at which a set is left
_FEWEST = 64  # rows inside: fewer are no trouble to pairs
_DRAWN = 0.2  # of the rows inside: those that are drawn inside, with more of which pairs go on
_NEAR = 0.5  # of the rows inside: those at a bound that join them
_SETTLED = 0.01  # share by which the number of rows inside may have changed

_DAMPINGS = 1e-5, 3e-4, 1e-1  # of the diagonal: the least, at first, from which on to give up
_DAMPED = 30.0  # how much more, or less, after a round that has not done well
_FALL = 3.0  # logarithm of what a round divides the violation by, on average
_QUICK = 0.3  # share of the violation that a round leaves that does well
_SLOW = 0.9  # and one that moves rows in and out

# What things cost.
_STEP = 16  # of a pair, for each row of the set
_FLOPS = 18  # of a factorisation: this many in a unit
_BORDER = 6  # products of a border, in a unit
_VALUE = 50  # of the set's matrix: computed once, and used in some ten products
_SUM = 6  # a kernel value in the sums over all rows
_CALLS = 15_000_000  # of Python
_LEAST_WORK = 120_000_000  # of pairs in one call: ending one costs something as well

# What is known of pairs and of rounds, by its place.
_SPENT, _COST, _RATE, _VIOLATION, _INSIDE = range(5)
_PATIENCE, _NEWTON, _DAMPING, _CHANGED, _LOWERED = range(5, 10)


def note_pairs(state: KernelState, steps: int, size: int, ends: Ends) -> None:
    """Take note of rounds of pairs, with their changes in the queue.

    Parameters
    ----------
    state : KernelState
        The run.
    steps : int
        How many steps they have taken.
    size : int
        How many rows a set had.
    ends : Ends
        Where the gradient was worst before them.
    """
    pace = _pace(state)
    cost = float(steps * size * _STEP + len(state.queue) * len(state.beta) * _SUM)
    pace[_SPENT] += cost
    pace[_COST], pace[_VIOLATION], pace[_NEWTON] = cost, ends.violation, 0.0


def improve_by_newton(state: KernelState, gradient: Floats, ends: Ends) -> bool:
    """Do a round of Newton's steps if one is due; its changes go into the queue.

    Parameters
    ----------
    state : KernelState
        The run, with nothing in its queue.
    gradient : ndarray
        The gradient, as far as it is known.
    ends : Ends
        Where it is worst.

    Returns
    -------
    bool
        Whether anything has moved.
    """
    kernel = state.problem.kernel
    if state.is_exact or (kernel is not None and kernel.psd is False):
        return False
    known = _pace(state).copy(), state.factored, state.bordered, state.border_ends
    try:
        return _improve(state, gradient, ends)
    except BaseException:
        # A step that is given up is done again, and has to come to the same.
        state.pairs_pace, state.factored, state.bordered, state.border_ends = known
        state.__dict__.pop("systems", None)
        raise


def work_until_due(state: KernelState) -> int:
    """Return the work that pairs may do before it is time to think of a round: what one costs.

    Parameters
    ----------
    state : KernelState
        The run.
    """
    program = state.program
    is_inside = (state.beta > program.lower) & (state.beta < program.upper)
    inside = max(_FEWEST, int(np.count_nonzero(is_inside)))
    return max(int(_price(state, is_inside, inside)), _LEAST_WORK)


def _improve(state: KernelState, gradient: Floats, ends: Ends) -> bool:
    """Do a round if one is due; return whether anything has moved."""
    pace, program = state.pairs_pace, state.program
    takes_part = ~(state.resting | state.settled)
    is_inside = (state.beta > program.lower) & (state.beta < program.upper) & takes_part
    inside = int(np.count_nonzero(is_inside))
    before, pace[_INSIDE] = pace[_INSIDE], inside
    _note_rate(pace, ends.violation)
    has_settled = pace[_NEWTON] or abs(inside - before) <= _SETTLED * inside
    if inside < _FEWEST or not has_settled:
        return False
    held = _held(state, gradient, is_inside, takes_part)
    drawn = int(np.count_nonzero(held < 0.0)) - inside
    if drawn > _DRAWN * inside or not _is_due(state, ends, is_inside, inside):
        return False
    most = min(int((1.0 + _NEAR) * inside), _room(state))
    if most < inside + len(state.bordered):
        return False
    chosen = _chosen(state, held, ends.violation, most)
    damping = float(pace[_DAMPING])
    has_moved = _move(state, chosen, gradient, ends, ~takes_part[chosen])
    state.steps += 1
    pace[_SPENT], pace[_NEWTON], pace[_VIOLATION] = 0.0, 1.0, ends.violation
    if not has_moved or (pace[_LOWERED] and pace[_DAMPING] > damping):
        _let_pairs_go_on(pace)
    return has_moved


def _pace(state: KernelState) -> Floats:
    if len(state.pairs_pace) == 0:
        state.pairs_pace = np.zeros(10)
        state.pairs_pace[_PATIENCE], state.pairs_pace[_DAMPING] = 0.5, _DAMPINGS[1]
    return state.pairs_pace


def _let_pairs_go_on(pace: Floats) -> None:
    """Give up for now: pairs have to spend twice as much before the next round."""
    pace[_PATIENCE] *= 2.0
    pace[_NEWTON] = pace[_LOWERED] = 0.0


def _is_due(state: KernelState, ends: Ends, is_inside: np.ndarray, inside: int) -> bool:
    pace, violation = state.pairs_pace, ends.violation
    if pace[_NEWTON]:
        share = violation / pace[_VIOLATION]
        if share < _QUICK or (share < _SLOW and pace[_CHANGED] > _SETTLED * inside):
            return True
        if pace[_DAMPING] > _DAMPINGS[0]:  # nobody moves in or out, and that is all it can do
            pace[_DAMPING] /= _DAMPED
            pace[_LOWERED] = 1.0
            _forget(state)
            return True
        _let_pairs_go_on(pace)
        return False
    price = _price(state, is_inside, inside)
    if pace[_SPENT] < pace[_PATIENCE] * price or not violation > 0.0:
        return False
    still = math.log(max(1.0, violation / state.aim))
    rounds = price + still / _FALL * _fixed_price(state, inside)
    return bool(pace[_RATE] <= 0.0 or still / pace[_RATE] > rounds)


def _price(state: KernelState, is_inside: np.ndarray, inside: int) -> float:
    """Return what a round would cost."""
    anew = inside**3 / _FLOPS
    fixed = _fixed_price(state, inside)
    if len(state.factored) == 0:
        return fixed + anew
    return fixed + min(anew, _new_borders(state, is_inside) * inside**2 / _BORDER)


def _fixed_price(state: KernelState, inside: int) -> float:
    """Return what a round costs that finds everything factorised."""
    return float(_CALLS + _VALUE * inside**2 + _SUM * inside * len(state.beta))


def _note_rate(pace: Floats, violation: float) -> None:
    """Take note of how much the last pairs have done for their cost, with those before them."""
    if pace[_COST] > 0.0 and violation > 0.0 and not pace[_NEWTON]:
        rate = math.log(pace[_VIOLATION] / violation) / pace[_COST]
        pace[_RATE] = 0.5 * (pace[_RATE] + rate)


def _new_borders(state: KernelState, is_inside: np.ndarray) -> int:
    """Return how many rows differ from the base and have no border yet."""
    differs = is_inside.copy()
    differs[state.factored] ^= True
    differs[state.bordered] = False
    return int(np.count_nonzero(differs))


def _held(
    state: KernelState, gradient: Floats, is_inside: np.ndarray, takes_part: np.ndarray
) -> Floats:
    """Return how firmly the gradient holds rows at their bounds: those inside not at all."""
    program = state.program
    level = float(np.mean(gradient[is_inside])) if program.is_balanced else 0.0
    held = np.where(state.beta <= program.lower, gradient - level, level - gradient)
    held[is_inside], held[~takes_part] = -np.inf, np.inf
    return np.asarray(held)


def _chosen(state: KernelState, held: Floats, violation: float, most: int) -> Ids:
    """Return the rows of the round, in order; the systems are begun anew if that is cheaper.

    Besides those inside these are rows at a bound that the gradient draws inside, or might when
    the others have moved: it is no further from that than the violation.
    """
    is_chosen = held < violation
    if np.count_nonzero(is_chosen) > most:
        is_chosen &= held < np.partition(held, most)[most]
    is_free = is_chosen & (held < 0.0)
    if _new_borders(state, is_free) > FEW_BORDERS * len(state.factored):
        _forget(state)
        state.factored = np.flatnonzero(is_free)
    is_chosen[state.factored] = is_chosen[state.bordered] = True
    return np.flatnonzero(is_chosen)


def _room(state: KernelState) -> int:
    """Return of how many rows the matrix and its factor find room in the memory of the cache."""
    kept = 4 * int(np.count_nonzero(state.cache.kept >= 0)) * len(state.beta)
    free = (state.cache_mb - state.source.copy_mb - state.beyond_mb) * 2**20 - kept
    return math.isqrt(max(0, int(free / 10)))  # both are float32, and there are borders


def _forget(state: KernelState) -> None:
    """Let go of what has been factorised."""
    state.factored = state.bordered = state.border_ends = np.zeros(0, dtype=np.int64)
    state.__dict__.pop("systems", None)


def _move(
    state: KernelState, chosen: Ids, gradient: Floats, ends: Ends, is_fixed: np.ndarray
) -> bool:
    """Solve the program over the rows; return whether anything has moved."""
    program, pace = state.program, state.pairs_pace
    # Beside the matrix there are a factor of its size and borders, which may be half of it.
    factor = 0 if "systems" not in state.__dict__ else state.systems.nbytes
    size = 4 * len(chosen) ** 2
    state.keep_within(size, max(0, 3 * size // 2 - factor), keeps_factor=True)
    matrix = kernel_among(state, chosen)
    beta, slope, diagonal = state.beta[chosen], gradient[chosen], program.diagonal[chosen]
    lower = np.where(is_fixed, beta, program.lower[chosen])
    upper = np.where(is_fixed, beta, program.upper[chosen])
    wanted = max(_INNER * ends.violation, 0.5 * state.aim)
    own = np.abs(np.diagonal(matrix)).astype(np.float64)
    while True:
        systems, damping = state.systems, pace[_DAMPING] * own
        solver = (systems, matrix, diagonal, (lower, upper), damping, program.is_balanced)
        guessed = GuessedBounds(*solver)
        try:
            systems.enter(chosen, matrix, diagonal + damping, state.stop_check)
            has_moved = guessed.step(beta, slope, wanted, state.stop_check)
        except np.linalg.LinAlgError:
            has_moved = False
        if has_moved:
            break
        free = chosen[guessed.first_guess(beta, slope) == 0]
        _forget(state)
        if pace[_DAMPING] >= _DAMPINGS[2]:
            return False
        state.factored = free
        pace[_DAMPING] *= _DAMPED
    systems.leave()
    pace[_CHANGED] = guessed.changed
    state.factored = systems.base
    state.bordered = np.concatenate((systems.base[:0], *systems.borders))
    state.border_ends = np.cumsum([len(group) for group in systems.borders], dtype=np.int64)
    changes = beta - state.beta[chosen]
    moved = changes != 0.0
    state.beta[chosen] = beta
    state.queue, state.queue_changes = chosen[moved], changes[moved]
    state.previous = chosen
    state.rounds += 1
    return True
