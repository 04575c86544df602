"""Rounds on a working set: some rows are chosen, and the program over them is solved in the cache.

:mod:`hinge.solvers.kernel.decomposition` is made of such rounds; other methods end with them, in
float64, where float32 is not exact enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.solvers.kernel.dual_state import (
    Ends,
    Floats,
    Ids,
    KernelState,
    turn_exact,
)
from hinge.solvers.kernel.inside_steps import step_inside
from hinge.solvers.kernel.projected_set import solve_by_projection
from hinge.solvers.kernel.queue import begin_rejoining
from hinge.solvers.kernel.set_memory import WHOLE_SET
from hinge.solvers.kernel.set_rounds import step_rounds

_INNER = 0.1  # share of the violation at which a working set is left
INNER_SOLVERS = ("pairs", "gradient-projection")
_MOST_PROJECTIONS = 200  # steps on one working set, each a product with its matrix
MOST_PAIRS = 20_000  # steps on one working set: some 20 ms
_SMALLEST_SET, _SMALL_SET = 64, 512
_PICKED = 256  # kept rows whose values are copied at a time
LARGE_EXACT_SET = 1024  # rows whose matrix in float64 is no larger than others in float32
_KEPT = 0.75  # share of a working set that rows of the last one may fill
_ROUNDING = 1e-14  # violations below it, relative to the gradient, are none


def rounding_of(gradient: Floats) -> float:
    """Return the violation below which only rounding would move rows.

    Parameters
    ----------
    gradient : ndarray
        The gradient.
    """
    return _ROUNDING * max(1.0, float(np.max(gradient)), -float(np.min(gradient)))


def improve_working_set(
    state: KernelState,
    gradient: Floats,
    ends: Ends,
    *,
    size: int | None = None,
    inner: str = "pairs",
    second_order: bool = True,
) -> None:
    """Choose and solve a working set; its changes go into the queue.

    Parameters
    ----------
    state : KernelState
        The run, with nothing in its queue.
    gradient : ndarray
        The gradient, as far as it is known.
    ends : Ends
        Where it is worst.
    size : int or None, default=None
        Rows to choose; None goes by how many are strictly inside their bounds.
    inner : {"pairs", "gradient-projection"}, default="pairs"
        How the set is solved.
    second_order : bool, default=True
        Whether pairs inside the set are chosen by the decrease that they promise.
    """
    chosen = _choose(state, gradient, size or _set_size(state))
    _solve(state, chosen, gradient, ends, (inner, second_order))


def _choose(state: KernelState, gradient: Floats, size: int) -> Ids:
    """Return the rows of the next working set, in order."""
    taking_part = ~(state.resting | state.settled)
    if size >= np.count_nonzero(taking_part):
        return np.flatnonzero(taking_part)
    most = min(int(_KEPT * size), size - 2)  # there is room for one on either side
    kept = _still_inside(state, taking_part)[:most]
    violators = np.empty((2, (size - len(kept)) // 2), dtype=np.int64)
    n_up, n_down = core.most_violating(state.variables, gradient, violators)
    found = np.sort(np.concatenate((violators[0, :n_up], violators[1, :n_down], kept)))
    return np.concatenate((found[:1], found[1:][found[1:] != found[:-1]]))


def _solve(
    state: KernelState, chosen: Ids, gradient: Floats, ends: Ends, how: tuple[str, bool]
) -> None:
    """Solve the program over the working set and queue what has changed."""
    program = state.program
    inner, second_order = how
    most = MOST_PAIRS if inner == "pairs" else _MOST_PROJECTIONS
    if state.step_limit is not None:
        most = min(most, state.step_limit - state.steps)
    state.keep_within((8 if state.is_exact else 4) * len(chosen) ** 2)
    kernel = kernel_among(state, chosen)
    beta, slope = state.beta[chosen], gradient[chosen]
    bounds = program.lower[chosen], program.upper[chosen]
    diagonal = program.diagonal[chosen]
    wanted, most = _INNER * ends.violation, max(0, most)
    if inner == "pairs":
        steps, left = core.solve_working_set(
            kernel,
            diagonal,
            *bounds,
            beta,
            slope,
            program.is_balanced,
            second_order,
            wanted,
            most,
        )
    else:
        steps, left = solve_by_projection(
            kernel,
            diagonal,
            bounds,
            beta,
            slope,
            program.is_balanced,
            wanted,
            most,
            state.stop_check,
        )
    is_slow = left > wanted
    if is_slow and state.is_exact:
        steps += step_inside(kernel, diagonal, bounds, beta, slope, program.is_balanced)
        if _is_stiff(state, beta, slope, bounds, wanted):
            how_far = wanted, program.is_balanced, state.stop_check
            steps += step_rounds(state.problem, kernel, diagonal, bounds, beta, slope, *how_far)
    state.steps += steps
    state.rounds += 1
    changes = beta - state.beta[chosen]
    moved = changes != 0.0
    state.beta[chosen] = beta
    state.queue, state.queue_changes = chosen[moved], changes[moved]
    state.previous = chosen
    if is_slow and not state.is_exact and len(chosen) == len(state.beta):
        turn_exact(state)  # all rows are here, and pairs will not do it
        return
    if not moved.any() or ends.violation <= rounding_of(gradient):
        rest_or_rejoin(state)


def _is_stiff(
    state: KernelState, beta: Floats, slope: Floats, bounds: tuple[Floats, Floats], wanted: float
) -> bool:
    """Return whether pairs and Newton steps have left more than is wanted, of a convex problem."""
    kernel = state.problem.kernel
    grows, shrinks = beta < bounds[1], beta > bounds[0]
    up = float(np.min(slope, where=grows, initial=np.inf))
    down = float(np.max(slope, where=shrinks, initial=-np.inf))
    left = Ends(up, down, state.program.is_balanced).violation
    return kernel is not None and kernel.psd is not False and left > wanted


def rest_or_rejoin(state: KernelState) -> None:
    """Note that nothing moves any more; where rows are resting, they are to take part first.

    Parameters
    ----------
    state : KernelState
        The run.
    """
    state.at_rest = state.is_complete
    if not state.is_complete:
        begin_rejoining(state)


def _set_size(state: KernelState) -> int:
    """Return how many rows to take: those that interact are the ones inside their bounds."""
    program = state.program
    inside = int(np.count_nonzero((state.beta > program.lower) & (state.beta < program.upper)))
    most = state.largest_set // 2 if state.is_exact else state.largest_set
    return min(max(2 * inside, fewest_rows(len(state.beta))), max(most, WHOLE_SET))


def fewest_rows(n: int) -> int:
    """Return how many rows a working set has at the least.

    Parameters
    ----------
    n : int
        How many rows the problem has.
    """
    if n <= WHOLE_SET:
        return n  # where few rows are stiff, parts of them crawl
    return min(max(n // 16, _SMALLEST_SET), _SMALL_SET)


def _still_inside(state: KernelState, taking_part: np.ndarray) -> Ids:
    """Return the rows of the last working set that are strictly inside their bounds."""
    last = state.previous
    beta, program = state.beta[last], state.program
    inside = (beta > program.lower[last]) & (beta < program.upper[last]) & taking_part[last]
    return np.asarray(last[inside], dtype=np.int64)


def smallest(values: Floats, most: int) -> Ids:
    """Return where the smallest finite values are, in no order.

    Parameters
    ----------
    values : ndarray
        The values.
    most : int
        How many to return at most.
    """
    if most < len(values):
        candidates = np.argpartition(values, most)[:most]
    else:
        candidates = np.arange(len(values))
    return np.asarray(candidates[np.isfinite(values[candidates])], dtype=np.int64)


def kernel_among(state: KernelState, chosen: Ids) -> NDArray[Any]:
    """Return the kernel matrix of a working set: kept rows are looked up, others computed.

    Where values are cheap, all are computed: what is kept lies apart in memory. All matrices of a
    run are written to the same memory, one after the other.

    Parameters
    ----------
    state : KernelState
        The run.
    chosen : ndarray of int64
        The rows of the set, in order.

    Returns
    -------
    ndarray of shape (len(chosen), len(chosen))
        The values, float64 if the run is in that precision and float32 if not.
    """
    if state.is_exact:
        return state.source.exact_block(chosen, state.set_memory.matrix(len(chosen), np.float64))
    slots = state.cache.lookup(chosen)
    if len(chosen) == len(state.beta) <= state.cache.n_slots:
        _keep(state, chosen[slots < 0])  # its rows are whole rows
        slots = state.cache.lookup(chosen)
    elif state.source.is_cheap:
        matrix = state.set_memory.matrix(len(chosen), np.float32)
        return state.source.square(chosen, out=matrix)
    matrix = state.set_memory.matrix(len(chosen), np.float32)
    missing = np.flatnonzero(slots < 0)
    state.source.write(chosen[missing], matrix, missing, chosen)
    found = np.flatnonzero(slots >= 0)
    state.cache.write(slots[found], state.source)
    for start in range(0, len(found), _PICKED):
        some = found[start : start + _PICKED]
        matrix[some] = state.cache.pick(slots[some], chosen)
    return matrix


def _keep(state: KernelState, ids: Ids) -> None:
    """Compute and keep rows; there is room for all."""
    state.cache.slots(ids)
    slots = state.cache.make_room(ids)
    state.cache.write(slots, state.source)
