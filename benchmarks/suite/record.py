"""What a benchmark leaves: runs, and the time to a gap as they show it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Run:
    """One setting of one method on one task.

    Parameters
    ----------
    task, method : str
        Titles.
    setting : dict
        What the method was given.
    outcome : {"finished", "time limit", "failed"}
        How the process ended.
    clock : {"wall_seconds", "processor_seconds"}
        Which clock ``seconds`` is of.
    seconds : float or None
        Shortest of the repeated fits.
    primal, relative_gap : float or None
        What the result is worth, recomputed.
    measurements : dict
        Every time, memory, iterations, the method's own claims, or the error.
    """

    task: str
    method: str
    setting: dict[str, Any]
    outcome: str
    clock: str
    seconds: float | None = None
    primal: float | None = None
    relative_gap: float | None = None
    measurements: dict[str, Any] = field(default_factory=dict)


def time_to_gap(runs: Iterable[Run], gap: float) -> float | None:
    """Return the time of the cheapest run that reaches the gap; None if none does."""
    times = [
        run.seconds
        for run in runs
        if run.seconds is not None and run.relative_gap is not None and run.relative_gap <= gap
    ]
    return min(times) if times else None


def unbeaten(runs: Iterable[Run]) -> list[Run]:
    """Return the runs that no faster run comes closer than, fastest first."""
    measured = [run for run in runs if run.seconds is not None and run.relative_gap is not None]
    best: list[Run] = []
    smallest = math.inf
    for run in sorted(measured, key=lambda run: (run.seconds, run.relative_gap)):
        if run.relative_gap is not None and run.relative_gap < smallest:
            smallest = run.relative_gap
            best.append(run)
    return best


def frontier(runs: Iterable[Run]) -> list[tuple[float, float]]:
    """Return (seconds, gap) of the unbeaten runs, fastest first."""
    return [(run.seconds or 0.0, run.relative_gap or 0.0) for run in unbeaten(runs)]
