"""What a checkpoint keeps of each problem: the state of a run under way, or a point that is done.

A state is arrays and plain values, whose names, types and shapes those of a fresh state for the
same problem are: a file that has anything else is refused. Row numbers and positions are looked at
by the native code itself before it goes on from them. Of a problem that is done only the point is
kept; its certificate is recomputed from the data, so that a checkpoint cannot make anything solved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates import gap
from hinge.errors import ModelFileError
from hinge.models.fields import LARGEST_INTEGER
from hinge.models.strict_json import read_number, spelled_number
from hinge.problem import Problem
from hinge.result import Point, Solution, Status, Stop, Trace
from hinge.solvers import State, get_solver, solver_names

FINAL = (Status.SOLVED, Status.STALLED)  # more of the same work would change nothing


@dataclass(frozen=True)
class Running:
    """The state of a run.

    Parameters
    ----------
    fingerprint : str
        That of its problem.
    solver : str
        Name of the solver.
    values : dict
        Its numbers and words, as JSON has them.
    arrays : dict of str to ndarray
        Its arrays.
    seed : int
        The seed of the run.
    """

    fingerprint: str
    solver: str
    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    seed: int


@dataclass(frozen=True)
class Done:
    """A problem that needs no more work.

    Parameters
    ----------
    fingerprint : str
        That of its problem.
    solver : str
        Name of the solver.
    status : Status
        How its run ended.
    point : Point
        What it found.
    counts : tuple of float
        Steps, work, seconds, and seconds that went into certificates.
    seed : int
        The seed of the run.
    """

    fingerprint: str
    solver: str
    status: Status
    point: Point
    counts: tuple[float, float, float, float]
    seed: int


def running_entry(state: State, fingerprint: str) -> Running:
    """Return what a checkpoint keeps of a state.

    Parameters
    ----------
    state : State
        A state that nobody is working on.
    fingerprint : str
        That of its problem.
    """
    arrays, values = {}, {}
    for name, part in state.parts().items():
        if isinstance(part, np.ndarray):
            arrays[name] = part
        else:
            values[name] = _spelled(part)
    return Running(fingerprint, state.solver_name, values, arrays, state.seed)


def done_entry(solution: Solution, fingerprint: str) -> Done:
    """Return what a checkpoint keeps of a solution that needs no more work.

    Parameters
    ----------
    solution : Solution
        The end of a run.
    fingerprint : str
        That of its problem.
    """
    counts = (solution.steps, solution.work, solution.seconds, solution.certificate_seconds)
    return Done(
        fingerprint, solution.solver, solution.status, solution.point, counts, solution.seed
    )


def restored_state(entry: Running, problem: Problem) -> State:
    """Return the state of an entry, checked against a fresh state for the same problem.

    Parameters
    ----------
    entry : Running
        What the checkpoint has.
    problem : Problem
        The problem, whose fingerprint has been compared.

    Returns
    -------
    State
        To be passed as ``resume``.
    """
    if entry.solver not in ("auto", *solver_names()):
        message = f"the checkpoint is of a solver that this version has not: {entry.solver!r}."
        raise ModelFileError(message)
    solver = get_solver(entry.solver, problem)
    fresh = solver.start_as(problem, entry.values)
    fresh.solver_name = entry.solver
    state: State = fresh.resumed(problem)
    state.seed = entry.seed
    parts = fresh.parts()
    arrays = {name for name, part in parts.items() if isinstance(part, np.ndarray)}
    if set(entry.arrays) != arrays or set(entry.values) != set(parts) - arrays:
        message = f"the checkpoint does not have what a state of {entry.solver!r} has."
        raise ModelFileError(message)
    for name, part in parts.items():
        if name in arrays:
            state.put(name, _array(name, entry.arrays[name], part))
        else:
            state.put(name, _value(name, entry.values[name], part))
    try:
        with np.errstate(all="ignore"):
            solver.progress(state)
            solver.point(state)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        message = f"the state in the checkpoint cannot be gone on from: {error}."
        raise ModelFileError(message) from None
    return state


def restored_solution(entry: Done, problem: Problem, stop: Stop) -> Solution | Point:
    """Return the solution of an entry, certified anew; its point if that is not enough now.

    Parameters
    ----------
    entry : Done
        What the checkpoint has.
    problem : Problem
        The problem, whose fingerprint has been compared.
    stop : Stop
        What is asked for now, which may be more than it was.
    """
    certificate = gap(problem, entry.point)
    is_solved = stop.satisfied_by(certificate)
    if not is_solved and entry.status is not Status.STALLED:
        return entry.point
    steps, work, seconds, certificate_seconds = entry.counts
    return Solution(
        point=entry.point,
        certificate=certificate,
        trace=Trace(),
        status=Status.SOLVED if is_solved else Status.STALLED,
        state=None,
        solver=entry.solver,
        seed=entry.seed,
        steps=int(steps),
        work=int(work),
        seconds=seconds,
        certificate_seconds=certificate_seconds,
    )


def _spelled(part: Any) -> Any:
    """Return a part of a state as JSON has it; of a list that gets shorter, how long it is."""
    if isinstance(part, dict):
        return {name: _spelled(value) for name, value in part.items()}
    if isinstance(part, list):
        return len(part)
    return spelled_number(part) if isinstance(part, float) else part


def _array(name: str, array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    if array.dtype != like.dtype or array.shape != like.shape:
        message = (
            f"the checkpoint has {name!r} as {array.dtype} of shape {array.shape}; the problem "
            f"makes it {like.dtype} of shape {like.shape}."
        )
        raise ModelFileError(message)
    return np.array(array, dtype=like.dtype, order="C")


def _value(name: str, content: Any, like: Any) -> Any:
    """Return a value of the kind that a fresh state has in its place."""
    value: Any = None
    if isinstance(like, dict):
        if isinstance(content, dict) and set(content) == set(like):
            return {key: _value(key, content[key], like[key]) for key in like}
    elif isinstance(like, list):
        if type(content) is int and 1 <= content <= len(like):
            value = like[-content:]
    elif isinstance(like, bool | str):
        value = content if type(content) is type(like) else None
    elif isinstance(like, int):
        value = content if type(content) is int and 0 <= content <= LARGEST_INTEGER // 4 else None
    else:
        value = read_number(content)
        # What is finite in a fresh state is an option; sums begin as infinities and NaN.
        is_option = math.isfinite(like)
        value = None if value is None or (is_option and not math.isfinite(value)) else value
    if value is None:
        message = f"the checkpoint has {name!r} as what it cannot be."
        raise ModelFileError(message)
    return value
