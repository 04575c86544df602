r"""A step of Newton's method for kernel machines, in pieces of bounded work.

A step is a chain of sums of kernel functions with little between them. Every sum is added up a few
terms at a time, and what is to be done when it is complete is the *phase* of the run:

=========  ====================================  =============================================
phase      the sum that was awaited              what is done then
=========  ====================================  =============================================
start      none                                  choose the parts of the losses; let the rows
                                                 off the curved part go to their coefficients
caught-up  scores of a warm start                keep them if they are better than nothing
system     the rows that moved, at the curved    Newton's equations; solved at once if few
solving    (those of conjugate gradients)        a piece of conjugate gradients
line       the whole change, at all members      the line search; what follows from it
join       none                                  ask for the scores of twice as many rows
joined     all coefficients, at rows that join   they take part
=========  ====================================  =============================================

So a run answers to limits and observers between pieces, and its state can be stored there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hinge.solvers.kernel.bordered import factorised, solve_bordered
from hinge.solvers.kernel.conjugate import ConjugateGradients
from hinge.solvers.kernel.dual_state import Floats, Ids, note_values
from hinge.solvers.kernel.kernel_sum import KernelSum
from hinge.solvers.kernel.newton_line import CURVED, STRAIGHT, Line, best_intercept, zones_of
from hinge.solvers.kernel.newton_state import NewtonState, OpenStep, costs_and_signs

MOST_FACTORISED = 2000
FIRST_ROWS = 500
_MOST_PRODUCTS = 300  # of conjugate gradients in a step
_KEPT_ROWS = 8000  # curved rows whose matrix is kept as float32, 256 MB; else it is computed anew
_SHARE = 1e-4  # of the right-hand side that conjugate gradients leave: the next step sees to it
_ROUNDING = 1e-14  # violations below it, relative to the gradient, are none
_NO_GAIN = 1e-15  # relative decrease of the objective below which nothing moves


def advance(state: NewtonState) -> int:
    """Do a piece of work.

    Parameters
    ----------
    state : NewtonState
        The run.

    Returns
    -------
    int
        Values that were read or computed.
    """
    source = state.source
    before = source.computed
    read = 0
    if state.phase == "solving":
        read = _solve(state)
    elif state.awaited is not None and not state.awaited.is_complete:
        state.awaited.advance(source)
    else:
        found = np.zeros(0) if state.awaited is None else state.awaited.out
        state.awaited = None
        _PHASES[state.phase](state, found)
        read = len(state.beta)
    return max(1, source.computed - before + read)


def _await(
    state: NewtonState, phase: str, ids: Ids, coef: Floats, at: Ids | None, out: Floats
) -> None:
    """Begin a sum, and say what is to be done when it is complete."""
    state.awaited = KernelSum(ids, coef, at, out)
    state.phase = phase


def _start(state: NewtonState, _: Floats) -> None:
    """Begin a step, or catch up with what a warm start brought."""
    if len(state.queue):
        zero = np.zeros(len(state.beta))
        _await(state, "caught-up", state.queue, state.queue_changes, None, zero)
        return
    members, program, loss = state.members, state.program, state.problem.loss
    costs, signs = (values[members] for values in costs_and_signs(state))
    scores, beta = state.scores[members], state.beta[members]
    intercept = state.intercept
    if state.steps == 0 and program.is_balanced:
        intercept = best_intercept(loss, scores, signs, costs)
    zones = zones_of(loss, signs * (scores + intercept))
    reach = np.where(program.linear[members] > 0.0, program.upper[members], program.lower[members])
    target = np.where(zones == STRAIGHT, reach, 0.0)
    change = np.where(zones == CURVED, 0.0, target - beta)
    state.open_step = OpenStep(zones, intercept, change)
    curved = np.flatnonzero(zones == CURVED)
    if len(curved) == 0:
        _look_ahead(state)
        return
    # Rows that leave the curved part, or change sides, first: the system is about what is left.
    moving = np.flatnonzero(change)
    _await(state, "system", members[moving], change[moving], members[curved], scores[curved])


def _caught_up(state: NewtonState, scores: Floats) -> None:
    """Take the scores of coefficients that a warm start brought."""
    loss = state.problem.loss
    costs, signs = costs_and_signs(state)
    value = 0.5 * float(state.beta @ scores)
    value += float(costs @ loss.value(signs * (scores + state.intercept)))
    if not value <= float(costs @ loss.value(np.zeros(len(costs)))):
        # No better than nothing: rounding would be relative to what it has to undo.
        state.beta, scores = np.zeros(len(costs)), np.zeros(len(costs))
        state.intercept, state.size = 0.0, min(len(costs), FIRST_ROWS)
    state.scores = scores
    state.queue, state.queue_changes = state.queue[:0], state.queue_changes[:0]
    state.phase = "start"


def _set_up(state: NewtonState, at_curved: Floats) -> None:
    """Set Newton's equations up; solve them, if there are few enough."""
    step, program, members = state.step_at_work, state.program, state.members
    curved = np.flatnonzero(step.zones == CURVED)
    ids, beta = members[curved], state.beta[members]
    diagonal = program.diagonal[ids]
    right = program.linear[ids] - at_curved - diagonal * beta[curved] - step.intercept
    wanted = -float(np.sum(beta) + np.sum(step.change)) if program.is_balanced else None
    m = len(ids)
    if m > MOST_FACTORISED:
        scale = diagonal + _own_values(state, ids)
        limits = _SHARE, _MOST_PRODUCTS
        kept = m <= _KEPT_ROWS
        step.system = ConjugateGradients(ids, diagonal, scale, right, wanted, kept, limits)
        state.phase = "solving"
        return
    try:
        matrix = state.source.exact_block(ids)
        matrix[np.diag_indices(m)] += diagonal
        found, moved = solve_bordered(factorised(matrix, state.stop_check), right, wanted)
    except BaseException:
        # Given up: the sum is complete, and this is done again.
        state.awaited = KernelSum(ids[:0], right[:0], ids, at_curved)
        raise
    _take_solution(state, found, moved)


def _solve(state: NewtonState) -> int:
    """Do a piece of conjugate gradients."""
    system = state.step_at_work.system
    assert system is not None
    read = system.advance(state.source, state.stop_check)
    if system.is_over:
        _take_solution(state, system.x, system.multiplier)
    return read


def _take_solution(state: NewtonState, found: Floats, moved: float) -> None:
    """Complete the change of the coefficients."""
    step = state.step_at_work
    change = step.change.copy()
    change[step.zones == CURVED] = found
    state.open_step = OpenStep(step.zones, step.intercept, change, moved)
    _look_ahead(state)


def _look_ahead(state: NewtonState) -> None:
    """Begin the sum that says what the whole change does to the members."""
    members, change = state.members, state.step_at_work.change
    moving = np.flatnonzero(change)
    zero = np.zeros(len(members))
    _await(state, "line", members[moving], change[moving], members, zero)


def _go(state: NewtonState, image: Floats) -> None:
    """Go along the line as far as the objective falls, and store everything."""
    step, members = state.step_at_work, state.members
    loss, program = state.problem.loss, state.program
    costs, signs = (values[members] for values in costs_and_signs(state))
    scores, beta = state.scores[members], state.beta[members]
    here, there = (beta, scores, step.intercept), (step.change, image, step.moved)
    line = Line(loss, signs, costs, here, there)
    length = line.best_length()
    gain = line.value(0.0) - line.value(length)
    beta, scores = beta + length * step.change, scores + length * image
    intercept = step.intercept + length * step.moved
    if program.is_balanced:
        intercept = best_intercept(loss, scores, signs, costs, intercept)
    after = zones_of(loss, signs * (scores + intercept))
    state.beta[members], state.scores[members] = beta, scores
    state.intercept = intercept
    state.zones[members] = after
    state.steps += 1
    state.open_step, state.phase = None, "start"
    is_exact = np.count_nonzero(step.zones == CURVED) <= MOST_FACTORISED
    is_over = bool(is_exact and length == 1.0 and np.array_equal(after, step.zones))
    is_over |= not gain > _NO_GAIN * line.value(length)
    if state.has_all:
        _note(state, is_over)
    elif is_over or state.steps >= 50 * (1 + state.size // FIRST_ROWS):
        state.phase = "join"


def _begin_joining(state: NewtonState, _: Floats) -> None:
    """Begin the sum that rows which join have as scores."""
    joining, ids = _joining(state), np.flatnonzero(state.beta)
    _await(state, "joined", ids, state.beta[ids], joining, np.zeros(len(joining)))


def _joining(state: NewtonState) -> Ids:
    """Return the rows that join next: twice as many as there are take part then."""
    return np.sort(state.order[state.size : 2 * state.size])


def _join(state: NewtonState, scores: Floats) -> None:
    """Let rows whose scores are known now take part."""
    joining = _joining(state)
    state.scores[joining] = scores
    state.size += len(joining)
    state.phase = "start"


def _note(state: NewtonState, is_over: bool) -> None:
    """Store own values if the coefficients are within their bounds, up to rounding."""
    program = state.program
    feasible = np.clip(state.beta, program.lower, program.upper)
    reach = float(np.max(np.abs(state.beta), initial=0.0))
    outside = float(np.max(np.abs(state.beta - feasible), initial=0.0))
    state.primal = state.dual = state.violation = np.nan
    if outside <= 1e-12 * reach:
        state.beta = feasible
        gradient = state.gradient()
        ends = state.ends(gradient)
        state.aim = max(ends.violation, 0.0)
        note_values(state, ends)
        is_over |= ends.violation <= _ROUNDING * max(1.0, float(np.max(np.abs(gradient))))
    state.at_rest = is_over


def _own_values(state: NewtonState, ids: Ids) -> Floats:
    """Return the kernel of rows with themselves, in the source's unit."""
    problem, program = state.problem, state.program
    assert problem.kernel is not None
    values = problem.kernel.training_diagonal(problem.rows) / state.source.unit
    return np.asarray((values if program.present is None else values[program.present])[ids])


_PHASES: dict[str, Callable[[NewtonState, Floats], None]] = {
    "start": _start,
    "caught-up": _caught_up,
    "system": _set_up,
    "line": _go,
    "join": _begin_joining,
    "joined": _join,
}
