"""Products of the kernel matrix with a vector of changes, a bounded number of rows at a time.

Rows strictly inside their bounds are kept, as many as there is room for: they will be wanted again.
The others are computed and added without being stored. Which is which follows from the coefficients
alone, never from what happens to be kept, and so does the order of the terms: a run that goes on
from a file has the same bits.
"""

from __future__ import annotations

import numpy as np

from hinge.solvers.kernel.dual_state import ROWS_A_STEP, VALUES_A_STEP, Floats, Ids, KernelState


def advance_product(state: KernelState, sums: Floats) -> Floats:
    """Return sums of kernel rows with some of the queued changes added; they leave the queue.

    Parameters
    ----------
    state : KernelState
        The run.
    sums : ndarray of shape (n,)
        What to add to; stays as it is.

    Returns
    -------
    ndarray of shape (n,)
        The new sums; the old ones where rows had to be computed first.
    """
    ids, changes = state.queue, state.queue_changes
    limit = max(ROWS_A_STEP, VALUES_A_STEP // len(sums) // ROWS_A_STEP * ROWS_A_STEP)
    keeping = _worth_keeping(state, ids)
    if keeping.any():
        wanted = ids[keeping]
        slots = state.cache.slots(wanted)
        missing = wanted[slots < 0][:limit]
        state.cache.make_room(missing)
        slots = state.cache.lookup(wanted)
        state.cache.write(slots[slots >= 0], state.source)
        if len(missing) == limit:
            return sums  # there may be more of them
        added = sums.copy()
        state.cache.add(slots, changes[keeping], added, state.source)
        state.queue, state.queue_changes = ids[~keeping], changes[~keeping]
        return added
    added = sums.copy()
    state.source.add(ids[:limit], changes[:limit], added, exact=state.is_exact)
    state.queue, state.queue_changes = ids[limit:], changes[limit:]
    return added


def _worth_keeping(state: KernelState, ids: Ids) -> np.ndarray:
    """Return which of the rows are to be kept: all if there is room, else those inside."""
    room = state.cache.n_slots
    if len(state.beta) <= room:
        return np.ones(len(ids), dtype=bool)
    beta, program = state.beta[ids], state.program
    inside = (beta > program.lower[ids]) & (beta < program.upper[ids])
    return np.asarray(inside & (np.cumsum(inside) <= room))
