"""Bringing scores up to date: changed coefficients are added a bounded number of rows at a time.

Each part is done on a copy that replaces the scores at its end: a step that is abandoned half-way
leaves a state to go on from.
"""

from __future__ import annotations

import numpy as np

from hinge.machines import ADDED_A_VALUE
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
    is_kept = slots >= 0
    old = slots[is_kept], changes[is_kept]
    state.cache.write(old[0], state.source)
    ids, changes = ids[~is_kept], changes[~is_kept]
    # Rows strictly inside their bounds come first: they are stored while there is room.
    inside = _is_inside(state, ids)
    ids = np.concatenate((ids[inside], ids[~inside]))
    changes = np.concatenate((changes[inside], changes[~inside]))
    limit = max(ROWS_A_STEP, VALUES_A_STEP // len(scores) // ROWS_A_STEP * ROWS_A_STEP)
    # A row that is stored is computed everywhere. While some rest that is not worth it for one that
    # takes the place of another: with more rows inside than slots, each would soon go the same way.
    some_rest = bool(state.resting.any())
    wanted = int(np.count_nonzero(inside))
    if state.keeps_rows:
        wanted = max(wanted, state.cache.n_free)
    to_store = ids[: min(wanted, limit)]
    stored = state.cache.make_room(to_store, replace=not some_rest)
    state.keep_within(0, 4 * len(stored) * len(scores))
    everywhere = len(stored) if some_rest else limit
    _add_everywhere(state, old, (ids[:everywhere], changes[:everywhere]), stored, scores)
    some = slice(everywhere, limit)
    _add_to_active(state, ids[some], changes[some], scores)
    state.scores, state.queue, state.queue_changes = scores, ids[limit:], changes[limit:]


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


def _add_everywhere(
    state: KernelState,
    old: tuple[Ids, Floats],
    new: tuple[Ids, Floats],
    stored: Ids,
    scores: Floats,
) -> None:
    """Add kept rows and others to all scores, in one pass; the first of the others are stored."""
    slots, changes = old
    before = state.cache.adding(slots, changes, scores), -(-len(slots) // ADDED_A_VALUE)
    state.source.add_and_keep(*new, scores, (state.cache.rows, stored), before)
    state.cache.note_written(stored)


def _add_to_active(state: KernelState, ids: Ids, changes: Floats, scores: Floats) -> None:
    """Add rows that are not kept where none rests; resting rows are told later."""
    if len(ids) == 0:
        return
    groups = int(np.max(state.group)) + 1
    columns = np.flatnonzero(~state.resting)
    some = scores[columns]
    state.source.add(ids, changes, some, columns)
    scores[columns] = some
    state.deferred[:groups, ids] += changes


def _is_inside(state: KernelState, ids: Ids) -> np.ndarray:
    beta, program = state.beta[ids], state.program
    return np.asarray((beta > program.lower[ids]) & (beta < program.upper[ids]))
