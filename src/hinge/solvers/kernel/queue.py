"""Bringing scores up to date: changed coefficients are added a bounded number of rows at a time.

Each part is done on a copy that replaces the scores at its end: a step that is abandoned half-way
leaves a state to go on from.
"""

from __future__ import annotations

import numpy as np

from hinge.solvers.kernel.dual_state import ROWS_A_STEP, VALUES_A_STEP, Floats, Ids, KernelState


def advance_queue(state: KernelState) -> None:
    """Add some of the queued changes to the scores; kept rows all at once, they are cheap."""
    scores = state.scores.copy()
    ids, changes = state.queue, state.queue_changes
    if state.is_exact:
        limit = max(ROWS_A_STEP, VALUES_A_STEP // len(scores) // ROWS_A_STEP * ROWS_A_STEP)
        state.source.add(ids[:limit], changes[:limit], scores, exact=True)
        state.scores, state.queue, state.queue_changes = scores, ids[limit:], changes[limit:]
        return
    slots = state.cache.slots(ids)
    kept = slots >= 0
    state.cache.write(slots[kept], state.source)
    state.cache.add(slots[kept], changes[kept], scores)
    ids, changes = ids[~kept], changes[~kept]
    if len(ids):
        # Rows strictly inside their bounds come first: they are stored while there is room.
        inside = _is_inside(state, ids)
        ids = np.concatenate((ids[inside], ids[~inside]))
        changes = np.concatenate((changes[inside], changes[~inside]))
        limit = max(ROWS_A_STEP, VALUES_A_STEP // len(scores) // ROWS_A_STEP * ROWS_A_STEP)
        stored = min(int(np.count_nonzero(inside)), limit)
        if stored:
            stored = _store_and_add(state, ids[:stored], changes[:stored], scores)
        rest = slice(stored, limit)
        _add(state, ids[rest], changes[rest], scores)
        ids, changes = ids[limit:], changes[limit:]
    state.scores, state.queue, state.queue_changes = scores, ids, changes


def begin_rejoining(state: KernelState) -> None:
    """Begin to bring the scores of resting rows up to date."""
    state.is_rejoining = True


def advance_rejoining(state: KernelState) -> None:
    """Make up for some deferred changes; when all are, the resting rows take part again."""
    group = int(np.max(state.group))
    if group < 0:
        state.is_rejoining = False
        return
    columns = np.flatnonzero(state.group == group)
    deferred = state.deferred[group]
    limit = max(ROWS_A_STEP, VALUES_A_STEP // len(columns) // ROWS_A_STEP * ROWS_A_STEP)
    ids = np.flatnonzero(deferred)[:limit]
    late = state.scores[columns]
    state.source.add(ids, deferred[ids], late, columns)
    state.scores[columns] = late
    deferred[ids] = 0.0
    if not deferred.any():
        state.group[columns] = -1


def _store_and_add(state: KernelState, ids: Ids, changes: Floats, scores: Floats) -> int:
    """Compute and keep as many of the rows as there is room for; return how many."""
    slots = state.cache.make_room(ids)
    state.cache.write(slots, state.source)
    state.cache.add(slots, changes[: len(slots)], scores)
    return len(slots)


def _add(state: KernelState, ids: Ids, changes: Floats, scores: Floats) -> None:
    """Add rows without keeping them; resting rows are told later."""
    if len(ids) == 0:
        return
    groups = int(np.max(state.group)) + 1
    if groups == 0:
        state.source.add(ids, changes, scores)
        return
    columns = np.flatnonzero(~state.resting)
    some = scores[columns]
    state.source.add(ids, changes, some, columns)
    scores[columns] = some
    state.deferred[:groups, ids] += changes


def _is_inside(state: KernelState, ids: Ids) -> np.ndarray:
    beta, program = state.beta[ids], state.program
    return np.asarray((beta > program.lower[ids]) & (beta < program.upper[ids]))
