r"""Rows that come and go: the active set of a problem as a start for one with other rows.

What is known of the rows that stay serves on: coefficients, scores, the free rows and their
factor. A new row begins with no coefficient, and costs the kernel of the support vectors with it. A
row that goes takes its coefficient away from all scores, for one kernel row each; where the
coefficients sum to zero, the nearest feasible point is taken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hinge.errors import InvalidParameterError
from hinge.problem import Problem
from hinge.solvers.kernel.active_state import ActiveState, new_state
from hinge.solvers.kernel.dual_state import Ids
from hinge.solvers.kernel.projection import project


def with_rows(state: ActiveState, problem: Problem, origin: ArrayLike) -> ActiveState:
    """Return a state of another problem, some of whose rows are those of this state.

    Parameters
    ----------
    state : ActiveState
        The state of a run of ``active-set``, with its problem; it stays as it is.
    problem : Problem
        The other problem, with the same kernel, loss and intercept.
    origin : array-like of int of shape (problem.n_rows,)
        For every row of it, which row of the state's problem it is; -1 for a new one. Whether they
        are the same is the caller's word.

    Returns
    -------
    ActiveState
        A state to ``resume`` from; ``hinge.solve(problem, solver="active-set", resume=state)``.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0, 0]
    >>> kernel = hinge.kernels.RBF(gamma=1.0)
    >>> few = hinge.Problem(X[:4], y[:4], kernel=kernel)
    >>> state = hinge.solve(few, solver="active-set", stop=hinge.Stop(gap=1e-9)).state
    >>> more = hinge.Problem(X, y, kernel=kernel)
    >>> state = with_rows(state, more, [0, 1, 2, 3, -1])
    >>> str(hinge.solve(more, resume=state, stop=hinge.Stop(gap=1e-9)).status)
    'solved'
    """
    numbers = _checked(state, problem, np.asarray(origin))
    fresh = new_state(problem, state.cache_mb)
    fresh.solver_name, fresh.seed = state.solver_name, state.seed
    before, now = _places(state, fresh, numbers)
    unit = fresh.source.unit / state.source.unit
    stays = np.zeros(len(state.beta), dtype=bool)
    stays[before] = True
    scores = state.scores.copy()
    pending = np.zeros(len(state.beta))
    pending[state.queue] = state.queue_changes
    # What the scores do not have of the rows that stay, and have of those that go.
    told = np.where(stays, -pending, state.beta - pending)
    late = np.flatnonzero(told)
    state.source.add(late, -told[late], scores, exact=True)
    fresh.beta[now] = unit * state.beta[before]
    fresh.scores[now] = scores[before]
    new = np.setdiff1d(np.arange(len(fresh.beta)), now)
    terms = np.flatnonzero(fresh.beta)
    if len(new) and len(terms):
        sums = np.zeros(len(new))
        fresh.source.add(terms, fresh.beta[terms], sums, new, exact=True)
        fresh.scores[new] = sums
    _make_feasible(fresh)
    _carry_factor(state, fresh, before, now, unit)
    return fresh


def _checked(state: ActiveState, problem: Problem, origin: np.ndarray) -> Ids:
    """Return the origins of the rows, if they are some."""
    old = state.problem
    for name in ("kernel", "loss", "intercept"):
        ours, theirs = repr(getattr(old, name)), repr(getattr(problem, name))
        if ours != theirs:
            message = f"rows may come and go, but the {name} must stay {ours}; got {theirs}."
            raise InvalidParameterError(message)
    if origin.shape != (problem.n_rows,) or not np.issubdtype(origin.dtype, np.integer):
        message = (
            f"origin must be {problem.n_rows} integers, one for each row of the problem; got "
            f"{origin.dtype} of shape {origin.shape}."
        )
        raise InvalidParameterError(message)
    known = origin[origin >= 0]
    out_of_range = bool((origin < -1).any() or (known >= old.n_rows).any())
    if out_of_range or len(np.unique(known)) < len(known):
        message = (
            f"origin must name rows of the earlier problem, 0 to {old.n_rows - 1}, each at most "
            "once, or -1 for a new row."
        )
        raise InvalidParameterError(message)
    return origin.astype(np.int64)


def _places(state: ActiveState, fresh: ActiveState, origin: Ids) -> tuple[Ids, Ids]:
    """Return the numbers of the rows that stay among those with a cost, before and now."""
    old, new = state.program.present, fresh.program.present
    place = np.full(state.problem.n_rows, -1, dtype=np.int64)
    place[slice(None) if old is None else old] = np.arange(len(state.beta))
    here = origin if new is None else origin[new]
    before = np.where(here >= 0, place[here], -1)
    now = np.flatnonzero(before >= 0)
    return before[now], now


def _make_feasible(state: ActiveState) -> None:
    """Take the coefficients to the nearest feasible point; what changes goes into the queue."""
    program = state.program
    total = 0.0 if program.is_balanced else None
    beta = project(state.beta, program.lower, program.upper, total)
    off = abs(math.fsum(state.beta)) if program.is_balanced else 0.0
    inside = (state.beta >= program.lower) & (state.beta <= program.upper)
    if inside.all() and off <= 1e-14 * float(np.sum(np.abs(state.beta))):
        return
    changes = beta - state.beta
    state.beta = beta
    state.queue = np.flatnonzero(changes)
    state.queue_changes = changes[state.queue]


def _carry_factor(
    state: ActiveState, fresh: ActiveState, before: Ids, now: Ids, unit: float
) -> None:
    """Carry the free rows over, and their factor if all of them stay free."""
    number = np.full(len(state.beta), -1, dtype=np.int64)
    number[before] = now
    free = number[state.free]
    program = fresh.program
    is_free = (fresh.beta > program.lower) & (fresh.beta < program.upper)
    stay = bool((free >= 0).all()) and len(free) == int(np.count_nonzero(is_free))
    if stay and bool(is_free[free].all()) and unit == 1.0 and not program.diagonal.any():
        # The shift is part of the factor: it serves on as it is.
        fresh.free, fresh.packed = free, state.packed.copy()
        fresh.shift = state.shift
        return
    fresh.free = np.flatnonzero(is_free)
