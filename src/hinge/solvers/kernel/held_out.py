"""Scores of rows by machines that were not trained on them, from the state of one that was.

To hold rows out, their coefficients are set to zero and kept there; the sums over the kernel rows
that this takes out of the scores are all that a start costs, and the kept kernel rows of the fit
serve on. The scores of the rows that are held out stay up to date with all others, so that no
kernel value is computed for them either. Nothing is certified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hinge.problem import Problem
from hinge.result import Point
from hinge.solvers.kernel.decomposition import Decomposition
from hinge.solvers.kernel.dual_state import Floats, Ids, KernelState

_CACHE_MB = 200.0


def held_out_scores(
    fitted: tuple[Problem, Point, KernelState | None],
    folds: Sequence[Ids],
    violation: float,
    work: int,
    is_over: Callable[[], bool] = lambda: False,
    is_late: Callable[[], bool] = lambda: False,
) -> list[Floats | None]:
    """Return the decision values of rows by machines that were not trained on them.

    Parameters
    ----------
    fitted : tuple of Problem, Point and KernelState or None
        The problem, its solution, and the state that the solution came from; without it the
        scores of all rows are computed first.
    folds : sequence of ndarray of int
        The rows of the problem that are held out together; every one has a cost.
    violation : float
        Violation of the optimality conditions at which a machine is good enough.
    work : int
        Stored values that the solver may touch for each fold, before it ends with what it has.
    is_over : callable
        Returns whether to give up; what is returned then is of no use.
    is_late : callable
        Returns whether there is no time left; a machine whose scores are known is taken as it is.

    Returns
    -------
    list of ndarray or None
        The decision values of each fold's rows; None where there was no time for them.
    """
    if is_late():
        return [None] * len(folds)
    problem, point, state = fitted
    if not isinstance(state, KernelState):
        solver = Decomposition(_CACHE_MB, shrinking=False)
        state = solver.start(problem, point)
    solver = Decomposition(state.cache_mb, shrinking=False)
    place = np.arange(problem.n_rows)
    if state.program.present is not None:
        place = np.full(problem.n_rows, -1)
        place[state.program.present] = np.arange(len(state.program.present))
    begun = _whole(state, solver)
    scores: list[Floats | None] = []
    for rows in folds:
        held = place[rows]
        twin = _without(begun, held, violation)
        limit = twin.work + work
        ends = twin.ends(twin.gradient())
        while not (is_over() or twin.at_rest):
            if twin.is_complete:
                ends = twin.ends(twin.gradient())
                if ends.violation <= violation or twin.work > limit:
                    break
            if is_late():
                break
            solver.step(twin, work)
        scores.append(twin.scores[held] + ends.intercept if twin.is_complete else None)
    return scores


def _whole(state: KernelState, solver: Decomposition) -> KernelState:
    """Return a copy of the state in which every row takes part and every score is up to date."""
    twin = _copied(state)
    twin.settled[:] = False
    if twin.resting.any():
        twin.is_rejoining = True
    while not twin.is_complete:
        solver.step(twin, 0)
    return twin


def _copied(state: KernelState) -> KernelState:
    """Return a copy of the state that shares kernel values with it."""
    twin = state.resumed(state.problem)
    twin.__dict__["program"] = state.program
    twin.share_kernel(state)
    return twin


def _without(state: KernelState, held: Ids, aim: float) -> KernelState:
    """Return a copy of the state whose coefficients of some rows are zero and stay so."""
    twin = _copied(state)
    program = state.program
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[held] = upper[held] = 0.0
    twin.__dict__["program"] = replace(program, lower=lower, upper=upper)
    bounds = program.lower, program.upper
    twin.beta = without_rows(state.beta, *bounds, [held], is_balanced=program.is_balanced)[0]
    changes = twin.beta - state.beta
    twin.queue = np.flatnonzero(changes)
    twin.queue_changes = changes[twin.queue]
    # Native code goes on until it is at the aim, or for some 10 ms: much longer than most need.
    twin.aim, twin.at_rest = aim, False
    return twin


def without_rows(
    beta: Floats, lower: Floats, upper: Floats, folds: Sequence[Ids], *, is_balanced: bool = True
) -> Floats:
    """Return coefficients of which those of some rows are zero, and others less for it.

    Where they must add up to zero, few of the side that is too heavy are lessened. Those strictly
    inside their bounds come first: their kernel rows are kept.

    Parameters
    ----------
    beta, lower, upper : ndarray of shape (n,)
        Coefficients and their bounds.
    folds : sequence of ndarray of int
        The rows that are held out together.
    is_balanced : bool, default=True
        Whether coefficients add up to zero.

    Returns
    -------
    ndarray of shape (n_folds, n)
        The coefficients without each of the folds.
    """
    left = np.tile(beta, (len(folds), 1))
    for coefficients, held in zip(left, folds, strict=True):
        coefficients[held] = 0.0
    if not is_balanced:
        return left
    excess = left.sum(axis=1, keepdims=True)
    sizes = np.where(left * excess > 0.0, np.abs(left), 0.0)
    is_inside = (beta > lower) & (beta < upper)
    order = np.lexsort((-np.abs(beta), ~is_inside))
    sizes = sizes[:, order]
    before = np.cumsum(sizes, axis=1) - sizes
    left[:, order] -= np.sign(excess) * np.clip(np.abs(excess) - before, 0.0, sizes)
    return left
