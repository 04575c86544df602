"""``--checkpoint`` and ``--resume``: a fit that outlives its process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hinge.cli._console import Output
from hinge.cli._errors import CommandError, sentence
from hinge.cli._labels import plain
from hinge.cli._models import check_output
from hinge.cli._progress import Callback
from hinge.errors import Interrupted
from hinge.models import Checkpoint
from hinge.models.checkpoint_entries import FINAL
from hinge.result import Solution
from hinge.solvers import Event


@dataclass(frozen=True)
class CheckpointPlan:
    """Where and how often to write the state of a fit.

    Parameters
    ----------
    path : Path
        The file.
    seconds : float
        Least time between two checkpoints.
    resume : bool
        Whether to go on from the file, if it is there.
    """

    path: Path
    seconds: float
    resume: bool

    def check(self, force: bool, others: list[Path]) -> None:
        """Refuse to write over what the user may still want.

        Parameters
        ----------
        force : bool
            Whether the user allows to replace any file.
        others : list of Path
            Files that the command reads or writes besides.
        """
        # The same file may be spelled in many ways, and in the end the checkpoint is removed.
        if any(_is_same_file(self.path, other) for other in others):
            message = (
                f"the checkpoint cannot be {plain(str(self.path))}, which this command reads or "
                "writes already; name another file."
            )
            raise CommandError(message)
        if self.path.exists() and not self.resume and not force:
            message = (
                f"the checkpoint {plain(str(self.path))} exists already; pass --resume to go on "
                "from it, or --force to start anew."
            )
            raise CommandError(message)
        check_output(self.path, True, others)

    def conclude(self, solutions: Iterable[Solution], output: Output) -> None:
        """Remove the file if there is nothing left to do, else say how to go on.

        Parameters
        ----------
        solutions : iterable of Solution
            What came of every class; one that has stalled would only stall again.
        output : Output
            Where it is said.
        """
        if all(solution.status in FINAL for solution in solutions):
            self.path.unlink(missing_ok=True)
        elif self.path.exists():
            path = plain(str(self.path))
            output.note(f"to go on, run the command again with --checkpoint {path} --resume.")


def _is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, however they are spelled or linked."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    return path.exists() and other.exists() and path.samefile(other)


@contextmanager
def checkpoints(
    plan: CheckpointPlan | None, display: Callback | None, output: Output
) -> Iterator[Any]:
    """Give the callback that writes checkpoints while the block runs, and once after it.

    Parameters
    ----------
    plan : CheckpointPlan or None
        Where to; None writes nothing.
    display : callable or None
        The callback that shows progress, to be called as well.
    output : Output
        Where it is said that a fit goes on.

    Yields
    ------
    callable or None
        The ``callback`` of the estimator.
    """
    if plan is None:
        yield display
        return
    if plan.resume and not plan.path.exists():
        output.note(f"there is no checkpoint {plain(str(plan.path))} yet; training begins anew.")
    checkpoint = Checkpoint(plan.path, plan.seconds, resume=plan.resume, then=display)
    keeper = _Keeper(checkpoint, output)
    try:
        yield keeper
    except Interrupted:
        keeper.write()
        raise
    keeper.write()
    if checkpoint.resumed_problems:
        output.note(f"training went on from the checkpoint {plain(str(plan.path))}.")


class _Keeper:
    """A checkpoint whose failures to write are told, not fatal: hours of training are worth more.

    Parameters
    ----------
    checkpoint : Checkpoint
        What writes the file.
    output : Output
        Where failures are told.
    """

    def __init__(self, checkpoint: Checkpoint, output: Output) -> None:
        self._checkpoint = checkpoint
        self._output = output
        self.resumed = checkpoint.resumed

    def __call__(self, event: Event) -> Any:
        """Pass a step on."""
        return self._try(lambda: self._checkpoint(event))

    def on_end(self, number: int, solution: Solution) -> None:
        """Pass the end of a problem on."""
        self._try(lambda: self._checkpoint.on_end(number, solution))

    def write(self) -> None:
        """Write what is known now."""
        self._try(self._checkpoint.write)

    def _try(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except OSError as error:
            self._output.warning(f"the checkpoint could not be written: {sentence(error)}")
            return None
