"""Runs that survive their process: write the state from time to time, go on from it later."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hinge.errors import InvalidParameterError, ModelFileError
from hinge.models.checkpoint_entries import (
    FINAL,
    Done,
    Running,
    done_entry,
    restored_solution,
    restored_state,
    running_entry,
)
from hinge.models.checkpoint_file import read_checkpoint, write_checkpoint
from hinge.models.files import naming
from hinge.parameters import not_negative
from hinge.problem import Problem
from hinge.result import Point, Solution, Stop
from hinge.solvers import Event, State


def save_checkpoint(
    path: str | os.PathLike[str], problem: Problem, state: State | Solution
) -> None:
    """Save the state of a run, so that another process can go on from it.

    Parameters
    ----------
    path : str or path-like
        Where to; an existing file is replaced, atomically.
    problem : Problem
        The problem of the run, of which only a fingerprint goes in.
    state : State or Solution
        The state, or a solution that has one.

    Examples
    --------
    >>> import tempfile, hinge
    >>> problem = hinge.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> begun = hinge.solve(problem, stop=hinge.Stop(steps=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_checkpoint(Path(folder, "run"), problem, begun)
    ...     state = load_checkpoint(Path(folder, "run"), problem)
    >>> str(hinge.solve(problem, resume=state).status)
    'solved'
    """
    kept = state.state if isinstance(state, Solution) else state
    if not isinstance(kept, State):
        message = f"state must be the state of a run, or a solution that has one; got {kept!r}."
        raise InvalidParameterError(message)
    write_checkpoint(path, {0: running_entry(kept, problem.fingerprint())}, {})


def load_checkpoint(path: str | os.PathLike[str], problem: Problem) -> State:
    """Load the state of a run.

    Parameters
    ----------
    path : str or path-like
        What ``save_checkpoint`` wrote, or a ``Checkpoint`` during ``solve``.
    problem : Problem
        The problem of the run; another one is refused.

    Returns
    -------
    State
        To go on from, with ``solve(problem, resume=state)``: to the same bits, on the same kind
        of processor, that the run would have reached without the interruption.

    Raises
    ------
    ModelFileError
        If the file is damaged, forged, or of another problem.
    """
    running, _ = read_checkpoint(path)
    if 0 not in running:
        message = f"{os.fspath(path)}: the checkpoint has no run under way to go on with."
        raise ModelFileError(message)
    _check_problem(path, running[0], problem)
    with naming(path):
        return restored_state(running[0], problem)


class Checkpoint:
    """Writes a checkpoint every so often during a fit, and lets a later fit go on from it.

    Pass it as ``callback=`` to an estimator, or among the ``observers`` of ``solve``. With several
    classes it keeps the state of those under way and the points of those that are done.

    Parameters
    ----------
    path : str or path-like
        The file.
    seconds : float, default=30.0
        Least time between two checkpoints.
    resume : bool, default=False
        Whether to go on from what the file has, if it is there; without it the file is replaced
        by the first checkpoint.
    then : callable or None, default=None
        Another callback, which is shown every event after this one; True from it ends the fit.

    Attributes
    ----------
    written : int
        How many checkpoints have been written.
    resumed_problems : int
        How many problems have gone on from the file, or were done in it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        seconds: float = 30.0,
        *,
        resume: bool = False,
        then: Callable[[Any], Any] | None = None,
    ) -> None:
        self.path = Path(path)
        self.written = 0
        self.resumed_problems = 0
        self._seconds = not_negative(seconds, "seconds")
        self._then = then
        self._fingerprints: dict[int, str] = {}
        self._running: dict[int, Running] = {}
        self._done: dict[int, Done] = {}
        if resume and self.path.exists():
            self._running, self._done = read_checkpoint(self.path)
        self._last_write = time.monotonic()
        self._last_state: dict[int, float] = {}

    def __call__(self, event: Event) -> Any:
        """Keep the state of the event's problem, and write the file, if it is time to."""
        number = getattr(event, "number", 0)
        now = time.monotonic()
        last = self._last_state.get(number, self._last_write)
        if now - last >= self._seconds:
            self._keep(number, event.problem, event.state())
            self._last_state[number] = now
            if now - self._last_write >= self._seconds:
                self.write()
        return None if self._then is None else self._then(event)

    def on_end(self, number: int, solution: Solution) -> None:
        """Keep the end of a problem: its point if it is done, else its last state.

        Parameters
        ----------
        number : int
            Which problem.
        solution : Solution
            What came of it, with its state.
        """
        state = solution.state
        if not isinstance(state, State):
            return  # it came out of the file, which still has it
        if solution.status in FINAL:
            fingerprint = self._fingerprint(number, state.problem)
            self._running.pop(number, None)
            self._done[number] = done_entry(solution, fingerprint)
        else:
            self._keep(number, state.problem, state)
        if time.monotonic() - self._last_write >= self._seconds:
            self.write()

    def resumed(
        self, number: int, problem: Problem, stop: Stop, seed: int
    ) -> State | Solution | Point | None:
        """Return where a problem goes on from: a state, an end, a point, or the beginning.

        Parameters
        ----------
        number : int
            Which problem.
        problem : Problem
            The problem itself; another one than that of the file is refused.
        stop : Stop
            What is asked for.
        seed : int
            The seed of the fit; another one than that of the file is refused, since what the
            file has and what is to come would not be of one run.
        """
        found = self._done.get(number) or self._running.get(number)
        if found is None:
            return None
        self._fingerprints[number] = _check_problem(self.path, found, problem)
        if seed != found.seed:
            message = (
                f"{self.path}: the checkpoint is of a fit with seed {found.seed}; this one has "
                f"seed {seed}. Go on with that seed, or start anew."
            )
            raise ModelFileError(message)
        self.resumed_problems += 1
        with naming(self.path):
            if isinstance(found, Done):
                return restored_solution(found, problem, stop)
            return restored_state(found, problem)

    def write(self) -> None:
        """Write what is known now; nothing if there is nothing yet."""
        if self._running or self._done:
            write_checkpoint(self.path, self._running, self._done)
            self.written += 1
        self._last_write = time.monotonic()

    def remove(self) -> None:
        """Remove the file, for example when the model has been saved."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    def _keep(self, number: int, problem: Problem, state: State) -> None:
        fingerprint = self._fingerprint(number, problem)
        self._done.pop(number, None)
        self._running.pop(number, None)  # so that the latest come last
        self._running[number] = running_entry(state, fingerprint)

    def _fingerprint(self, number: int, problem: Problem) -> str:
        if number not in self._fingerprints:
            self._fingerprints[number] = problem.fingerprint()
        return self._fingerprints[number]


def _check_problem(path: str | os.PathLike[str], entry: Running | Done, problem: Problem) -> str:
    """Return the fingerprint of the problem, which must be that of the entry."""
    fingerprint = problem.fingerprint()
    if fingerprint != entry.fingerprint:
        message = (
            f"{os.fspath(path)}: the checkpoint belongs to another problem (its data, labels, "
            "weights or options differ). Go on with those of the run, or start anew."
        )
        raise ModelFileError(message)
    return fingerprint
