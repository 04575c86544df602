"""What was promised of kernel machines, and whether the rows of a record keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.kernel.contest import (
    REFERENCE,
    predict_time,
    time_at_default,
    time_to_target,
)
from benchmarks.kernel.record import Record

SVC = {"float32": ("hinge SVC float32",), "float64": ("hinge SVC float64",)}
INTELEX = {"float32": ("intelex SVC float32",), "float64": ("intelex SVC float64",)}
_SCIKIT_LEARN = (REFERENCE,)

Time = Callable[[Record, str, tuple[str, ...], int], float | None]


@dataclass(frozen=True)
class Verdict:
    """One promise on one task.

    Parameters
    ----------
    task, what : str
        What it is about.
    ours, theirs : float or None
        Seconds.
    limit : float
        The ratio ours / theirs must not be larger.
    """

    task: str
    what: str
    ours: float | None
    theirs: float | None
    limit: float

    @property
    def ratio(self) -> float | None:
        """The ratio of the times, where there are both."""
        if self.ours is None or self.theirs is None:
            return None
        return self.ours / self.theirs

    @property
    def kept(self) -> str:
        """Whether the promise is kept, or that it was not measured."""
        if self.ratio is None:
            return "not measured"
        return "yes" if self.ratio <= self.limit else "NO"

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        numbers = [f"{x:.3g}" if x is not None else "-" for x in (self.ours, self.theirs)]
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        return [self.task, self.what, *numbers, ratio, f"{self.limit:.3g}", self.kept]


def better_dtype(record: Record, task: str, time: Time, threads: int = 1) -> str:
    """Return the precision in which intelex is faster; float32 if it has none."""
    times = {dtype: time(record, task, names, threads) for dtype, names in INTELEX.items()}
    known = {dtype: value for dtype, value in times.items() if value is not None}
    return min(known, key=lambda dtype: known[dtype]) if known else "float32"


def verdicts(record: Record, task: str) -> list[Verdict]:
    """Return every promise on a task."""
    found = []
    for what, time in (("default tol", time_at_default), ("same objective", time_to_target)):
        dtype = better_dtype(record, task, time)
        pair = (time(record, task, SVC[dtype], 1), time(record, task, INTELEX[dtype], 1))
        found.append(Verdict(task, f"fit / intelex {dtype}, {what}", *pair, 0.6))
        pair = (time(record, task, SVC["float64"], 1), time(record, task, _SCIKIT_LEARN, 1))
        found.append(Verdict(task, f"fit / scikit-learn, {what}", *pair, 1.0 / 8.0))
    for dtype, names in SVC.items():
        for what, clock in (("fit", time_at_default), ("predict", predict_time)):
            pair = (
                clock(record, task, names, 2, on_wall=True),
                clock(record, task, names, 1, on_wall=True),
            )
            found.append(Verdict(task, f"{what}, two threads / one, {dtype}", *pair, 1.0 / 1.6))
    for threads in (1, 2):
        dtype = better_dtype(record, task, predict_time, threads)
        pair = (
            predict_time(record, task, SVC[dtype], threads),
            predict_time(record, task, INTELEX[dtype], threads),
        )
        found.append(Verdict(task, f"predict / intelex {dtype}, threads {threads}", *pair, 1.0))
    pair = (
        predict_time(record, task, SVC["float64"], 1),
        predict_time(record, task, _SCIKIT_LEARN, 1),
    )
    found.append(Verdict(task, "predict / scikit-learn", *pair, 1.0 / 8.0))
    return found
