"""Steps by kept kernel rows: what native code needs of a run, and what comes back from it.

Native code moves variables as long as the kernel rows that it asks for are kept, and ends where one
is not. That row is then computed together with others that are likely to be asked for soon: the
core computes a panel of 64 rows in less than three times the time of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hinge._native import core
from hinge.solvers.kernel.dual_state import ROWS_A_STEP, Floats, Ids, KernelState
from hinge.solvers.kernel.working_sets import LARGE_EXACT_SET

_VALUES_A_CALL = 1 << 23  # values of kept rows that one call touches, some 10 ms
_MOST_STEPS = 20_000
_PATIENCE = 50  # steps for a row before the method is slow


@dataclass(frozen=True)
class Part:
    """The variables whose scores are kept up to date, and their part of the program.

    Parameters
    ----------
    ids : ndarray of int64 or None
        Which rows these are; None for all.
    beta, gradient : ndarray
        Coefficients and gradient, for native code to change.
    lower, upper, diagonal : ndarray
        The program; a settled row may not move.
    before : ndarray
        The gradient before any step.
    """

    ids: Ids | None
    beta: Floats
    gradient: Floats
    lower: Floats
    upper: Floats
    diagonal: Floats
    before: Floats

    def numbers(self, state: KernelState) -> Ids:
        """Return which rows these are, also where it is all of them."""
        return np.arange(len(state.beta)) if self.ids is None else self.ids


def part_of(state: KernelState, gradient: Floats) -> Part:
    """Return the variables that do not rest, as copies.

    Parameters
    ----------
    state : KernelState
        The run.
    gradient : ndarray
        Its gradient.
    """
    program = state.program
    ids = np.flatnonzero(~state.resting) if state.resting.any() else None
    some = slice(None) if ids is None else ids
    beta, settled = state.beta[some].copy(), state.settled[some]
    return Part(
        ids,
        beta,
        gradient[some].copy(),
        np.where(settled, beta, program.lower[some]),
        np.where(settled, beta, program.upper[some]),
        program.diagonal[some].copy(),
        gradient[some],
    )


def kept_rows(state: KernelState, part: Part) -> core.Kept:
    """Return the kept kernel rows as native code takes them.

    Parameters
    ----------
    state : KernelState
        The run.
    part : Part
        The variables that steps are for.
    """
    cache, own = state.cache, state.source.own_values
    cache.write_all(state.source)
    own = own if part.ids is None else own[part.ids]
    return core.Kept(cache.rows, cache.slot_of, cache.used, cache.clock, part.ids, own)


def most_steps(state: KernelState, part: Part) -> int:
    """Return how many steps one call may do: bounded work, and never beyond the limit.

    Parameters
    ----------
    state : KernelState
        The run.
    part : Part
        The variables that steps are for.
    """
    most = min(max(1, _VALUES_A_CALL // len(part.beta)), _MOST_STEPS)
    return most if state.step_limit is None else max(0, min(most, state.step_limit - state.steps))


def is_slow(state: KernelState) -> bool:
    """Return whether few rows have taken so many steps that Newton steps will do better.

    Parameters
    ----------
    state : KernelState
        The run.
    """
    n = len(state.beta)
    is_small = n <= LARGE_EXACT_SET and not state.is_exact
    return is_small and state.steps > _MOST_STEPS + _PATIENCE * n


def put_back(state: KernelState, part: Part) -> None:
    """Take changed coefficients over, and the scores with them; resting rows are told later.

    Parameters
    ----------
    state : KernelState
        The run.
    part : Part
        The variables after some steps.
    """
    some = slice(None) if part.ids is None else part.ids
    changes = part.beta - state.beta[some]
    state.scores[some] += part.gradient - part.before - part.diagonal * changes
    state.beta[some] = part.beta
    if part.ids is not None:
        groups = int(np.max(state.group)) + 1
        state.deferred[:groups, part.ids] += changes


def fetch(state: KernelState, wanted: int, likely: Ids) -> None:
    """Compute and keep a row that is missing, and as many of the likely ones as fill a panel.

    Parameters
    ----------
    state : KernelState
        The run.
    wanted : int
        The row that was asked for.
    likely : ndarray of int64
        Rows that may be asked for soon, the likeliest first; a row may be there twice.
    """
    # At least half of what is kept stays: it was used more recently than most.
    room = min(ROWS_A_STEP, max(1, state.cache.n_slots // 2))
    missing = np.append(wanted, likely[state.cache.lookup(likely) < 0])
    ids = missing[np.sort(np.unique(missing, return_index=True)[1])[:room]]
    state.cache.slots(ids)
    state.cache.write(state.cache.make_room(ids), state.source)
