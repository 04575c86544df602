"""Rounds of decomposition in native code, on problems whose whole kernel matrix may be kept.

A round of :mod:`hinge.solvers.kernel.working_sets` on a thousand rows takes less time than the
interpreter needs to lead through it. Where all kernel rows find room in the cache, native code
(``cpp/include/hinge/resident_rounds.hpp``) does round after round, until the violation is what is
aimed at or enough has been done for one step. Rounds that would take too long in one piece are left
to the others.
"""

from __future__ import annotations

import numpy as np

from hinge._native import core
from hinge.solvers.kernel.dual_state import KernelState, turn_exact
from hinge.solvers.kernel.newton_rounds import work_until_due
from hinge.solvers.kernel.working_sets import MOST_PAIRS, fewest_rows, rest_or_rejoin

MOST_ROWS = 4096  # whose kernel matrix has 64 MB
WORK_A_CALL = 1 << 28  # products of features, some 5 to 20 ms
WORK_A_ROUND = 1 << 29
NO_LIMIT = 1 << 62
# Why native code has ended, as it numbers them.
_TOO_LARGE, _STILL, _SLOW = 2, 3, 4


def improve_resident(state: KernelState) -> bool:
    """Do rounds in native code, if the problem is one for it.

    Parameters
    ----------
    state : KernelState
        The run, with nothing in its queue.

    Returns
    -------
    bool
        Whether anything was done.
    """
    n = len(state.beta)
    moving = n if state.covered is None else int(np.count_nonzero(state.problem.costs))
    if moving > MOST_ROWS or state.is_exact or state.resting.any() or state.cache.n_slots < n:
        return False
    native = state.source.native_rows
    if native is None:
        return False
    program, cache = state.program, state.cache
    # Native code has the matrix of a set itself.
    state.keep_within(0, 4 * min(n, state.largest_set) ** 2)
    stored = max(1, state.problem.rows.n_stored // n)
    left = NO_LIMIT if state.step_limit is None else max(0, state.step_limit - state.steps)
    last_set = np.zeros(n, dtype=np.int64)
    last_set[: len(state.previous)] = state.previous
    beta, scores = state.beta.copy(), state.scores.copy()
    rounds, steps, computed, stop, size = core.solve_rounds(
        *native,
        core.ResidentProgram(
            program.linear,
            program.diagonal,
            program.lower,
            program.upper,
            state.settled,
            program.is_balanced,
        ),
        cache.all_slots(state.source),
        beta,
        scores,
        core.RoundLimits(
            state.aim,
            fewest_rows(n),
            state.largest_set,
            left,
            MOST_PAIRS,
            stored,
            min(WORK_A_CALL, work_until_due(state)),
            WORK_A_ROUND,
        ),
        last_set,
        len(state.previous),
    )
    if stop == _TOO_LARGE and rounds == 0:
        return False
    state.beta, state.scores, state.previous = beta, scores, last_set[:size].copy()
    state.steps += steps
    state.rounds += rounds
    state.source.computed += computed
    if stop == _SLOW:
        turn_exact(state)  # all rows are in the set, and pairs will not do it
    elif stop == _STILL:
        rest_or_rejoin(state)
    return True
