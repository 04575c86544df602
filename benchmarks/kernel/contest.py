"""Which runs a task consists of: who goes first, how far a tolerance is tightened, who is stopped.

scikit-learn runs first: its objective at its default tolerance is the accuracy to reach. hinge
comes next, because its time limits that of the others. A method that does not reach the objective
is run with the next of its tolerances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.kernel.method import KernelMethod
from benchmarks.kernel.record import Record
from benchmarks.kernel.registry import METHODS, OURS
from benchmarks.kernel.run import FINISHED, Job, run
from benchmarks.kernel.task import KernelTask

Row = dict[str, Any]
Runner = Callable[[Job, KernelMethod, float], Row]

REFERENCE = "scikit-learn SVC"
SLACK = 1e-6  # objectives that differ relatively by less count as the same
_LEAST_SECONDS = 30.0  # a limit is never less: below it, starting up and noise would decide


@dataclass(frozen=True)
class Limits:
    """How long runs may take.

    Parameters
    ----------
    seconds : float
        For scikit-learn and for hinge.
    factor : float
        For the others, times hinge's time.
    """

    seconds: float
    factor: float


def contest(
    task: KernelTask,
    record: Record,
    limits: Limits,
    chosen: Callable[[str, str], bool],
    runner: Runner = run,
) -> Iterator[Row]:
    """Run what the record lacks of a task, and yield every row as soon as it is there."""
    for method in METHODS:
        if not chosen(task.title, method.name):
            continue
        for threads in method.thread_counts:
            for tol in method.tolerances:
                job = Job(task, method.name, threads, tol)
                allowed = _limit(record, task, method, limits)
                row = record.get(job.key, partial(runner, job, method, allowed))
                yield row
                if row["outcome"] != FINISHED or reaches(row, target(record, task.title)):
                    break


def _limit(record: Record, task: KernelTask, method: KernelMethod, limits: Limits) -> float:
    """Return how many seconds a method has for a fit."""
    ours = time_at_default(record, task.title, OURS, 1)
    if method.name == REFERENCE or method.name in OURS or ours is None:
        return limits.seconds
    return max(limits.factor * ours, _LEAST_SECONDS)


def target(record: Record, task: str) -> float | None:
    """Return the objective that scikit-learn has reached; None while it is not known."""
    rows = rows_of(record, task, (REFERENCE,), 1)
    return rows[0]["primal"] if rows else None


def reaches(row: Row, objective: float | None) -> bool:
    """Return whether a row's objective is as good; everything is, while none is known."""
    if objective is None:
        return True
    return bool(row["primal"] is not None and row["primal"] <= objective * (1.0 + SLACK))


def rows_of(record: Record, task: str, methods: tuple[str, ...], threads: int) -> list[Row]:
    """Return the finished rows of some methods on a task, in the order of their tolerances."""
    rows = [
        row
        for row in record.rows.values()
        if row.get("task") == task
        and row["method"] in methods
        and row["threads"] == threads
        and row["outcome"] == FINISHED
    ]
    return sorted(rows, key=lambda row: -row["tol"])


def seconds(row: Row, part: str = "fit", *, on_wall: bool = False) -> float:
    """Return the shortest time of a row; of hinge's fits without their certificates.

    Processor seconds where one thread was used, which a busy machine changes least; else, or where
    asked for, seconds of the clock on the wall.
    """
    times = row[f"{part}{_clock(row, on_wall)}"]
    if part != "fit":
        return float(min(times))
    pairs = zip(times, _certificate_shares(row), strict=True)
    return float(min(time * (1.0 - share) for time, share in pairs))


def certificate_seconds(row: Row) -> float:
    """Return the least time of a row's certificates, by the clock of its fits."""
    pairs = zip(row[f"fit{_clock(row)}"], _certificate_shares(row), strict=True)
    return float(min(time * share for time, share in pairs))


def _clock(row: Row, on_wall: bool = False) -> str:
    return "_seconds" if on_wall or row["threads"] > 1 else "_processor_seconds"


def _certificate_shares(row: Row) -> list[float]:
    """Return which part of each fit its certificates took; they are timed on the wall."""
    pairs = zip(row["certificate_seconds"], row["fit_seconds"], strict=True)
    return [certificate / fit for certificate, fit in pairs]


def time_at_default(
    record: Record, task: str, methods: tuple[str, ...], threads: int, *, on_wall: bool = False
) -> float | None:
    """Return the shortest time of the methods at the default tolerance, 1e-3."""
    rows = [row for row in rows_of(record, task, methods, threads) if row["tol"] == 1e-3]
    return min(seconds(row, on_wall=on_wall) for row in rows) if rows else None


def time_to_target(
    record: Record, task: str, methods: tuple[str, ...], threads: int
) -> float | None:
    """Return the shortest time of the methods with which scikit-learn's objective is reached."""
    objective = target(record, task)
    rows = rows_of(record, task, methods, threads)
    times = [seconds(row) for row in rows if objective is not None and reaches(row, objective)]
    return min(times) if times else None


def predict_time(
    record: Record, task: str, methods: tuple[str, ...], threads: int, *, on_wall: bool = False
) -> float | None:
    """Return the shortest time of the methods for the test rows."""
    rows = rows_of(record, task, methods, threads)
    times = [seconds(row, "predict", on_wall=on_wall) for row in rows]
    return min(times) if times else None
