"""Contests: what must be so many times faster than what, to the same recomputed objective.

hinge runs first; another method is then given its whole ladder of settings, each in a process of
its own, until one reaches the gap or takes so many times as long as hinge did. A record is written
after every method, and what it holds is not run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.suite import environments
from benchmarks.suite.linear import describe, measure_again, note_method, print_run, version_of
from benchmarks.suite.method import Method
from benchmarks.suite.objective import Objective
from benchmarks.suite.record import Run, time_to_gap
from benchmarks.suite.registry import OURS, PEERS
from benchmarks.suite.report import Report
from benchmarks.suite.sweep import FAILED, TIME_LIMIT, Budget, climb, this_python
from benchmarks.suite.tables import heading, methods_table, seconds_table, table, tasks_table
from benchmarks.suite.task import Task

AUTO = "hinge auto"
LEAST_SECONDS = 1.0  # what the fastest contest allows for one fit
LEAST_FACTOR = 4.0  # and how many times hinge's time it has at least, to show by how much it lost
OUR_SECONDS = 60.0


@dataclass(frozen=True)
class Promise:
    """Another method takes at least ``factor`` times as long as ``hinge auto`` to ``gap``."""

    method: str
    gap: float
    factor: float


@dataclass(frozen=True)
class Case:
    """A task, the gaps that hinge is run to, and what is promised of it.

    Parameters
    ----------
    task : Task
        What is solved.
    gaps : tuple of float
        Relative gaps, from loose to tight.
    promises : tuple of Promise
        Whom hinge must beat, and by how much.
    """

    task: Task
    gaps: tuple[float, ...]
    promises: tuple[Promise, ...]


@dataclass(frozen=True)
class Contest:
    """Cases, and which of hinge's own methods take part.

    Parameters
    ----------
    title : str
        What stands above the page.
    cases : tuple of Case
        The cases.
    ours : tuple of str
        Methods of hinge, ``hinge auto`` among them.
    """

    title: str
    cases: tuple[Case, ...]
    ours: tuple[str, ...] = (AUTO, "hinge interior-point")


def run(
    contest: Contest, report: Report, reference_seconds: float, budget: Budget
) -> Iterator[None]:
    """Fill the report, and yield whenever it holds more than before.

    Of the budget, the clock counts and whether to be quick; limits come of hinge's own times.
    """
    for case in contest.cases:
        title = case.task.title
        wanted = [*contest.ours, *dict.fromkeys(promise.method for promise in case.promises)]
        missing = [name for name in wanted if not report.of(title, name)]
        if not missing:
            continue
        print(f"{title}: reference", flush=True)
        objective = Objective(case.task, reference_seconds)
        for name in missing:
            report.runs += _runs(objective, case, name, report, budget)
            objective.store()
            measure_again(report, objective)
            others = [known for known in report.tasks if known["title"] != title]
            report.tasks = [*others, describe(objective)]
            yield


def _runs(objective: Objective, case: Case, name: str, report: Report, given: Budget) -> list[Run]:
    """Return the runs of one method on one case."""
    method, python = _find(name, report)
    if method in OURS:
        budget = replace(given, seconds=OUR_SECONDS, tightest_gap=min(case.gaps))
        ladders: Sequence[Any] = [[{"gap": gap} for gap in case.gaps]]
    else:
        promises = [promise for promise in case.promises if promise.method == name]
        tightest = min(promise.gap for promise in promises)
        limit = max(_limit(promise, case, report) for promise in promises)
        budget = replace(
            given, seconds=max(LEAST_SECONDS, limit), tightest_gap=tightest, is_strict=True
        )
        ladders = method.ladders(case.task, given.quick)
    if python is None or method.refusal(case.task) is not None:
        return []
    runs = []
    for ladder in ladders:
        for done in climb(objective, method, python, ladder, budget):
            print_run(done)
            runs.append(done)
    return runs


def _limit(promise: Promise, case: Case, report: Report) -> float:
    ours = time_to_gap(report.of(case.task.title, AUTO), promise.gap)
    return LEAST_SECONDS if ours is None else 1.05 * max(promise.factor, LEAST_FACTOR) * ours


def _find(name: str, report: Report) -> tuple[Method, str | None]:
    """Return a method and its interpreter, and enter it into the report."""
    for method in OURS:
        if method.name == name:
            note_method(report, method, "this repository", method.note)
            return method, this_python()
    peer, method = next((p, m) for p in PEERS for m in p.methods if m.name == name)
    environment = environments.find(peer)
    if environment.python is None:
        note_method(report, method, "-", f"not run: {environment.reason}")
    else:
        note_method(report, method, version_of(peer, environment.versions), method.note)
    return method, environment.python


def write(contest: Contest, report: Report, folder: Path, name: str) -> None:
    """Write the record and the page."""
    order = [case.task.title for case in contest.cases]
    report.tasks.sort(key=lambda task: order.index(task["title"]))
    report.save(folder / f"{name}.json")
    parts = [heading(report), _promises(contest, report), _own(contest, report)]
    parts += [tasks_table(report), seconds_table(report), methods_table(report)]
    (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n")


def verdicts(contest: Contest, report: Report) -> list[list[str]]:
    """Return a line for every promise; its last cell says whether it is kept."""
    lines = []
    for case in contest.cases:
        ours = report.of(case.task.title, AUTO)
        for promise in case.promises:
            theirs = report.of(case.task.title, promise.method)
            cells = _verdict(ours, theirs, promise)
            lines.append([case.task.title, f"{promise.gap:g}", promise.method, *cells])
    return lines


def _verdict(ours: Sequence[Run], theirs: Sequence[Run], promise: Promise) -> list[str]:
    """Return our time, theirs, the ratio, what was promised, and whether that is kept."""
    mine, other = time_to_gap(ours, promise.gap), time_to_gap(theirs, promise.gap)
    wanted = f"{promise.factor:g}"
    if mine is None:
        cells = ["not reached", "NO"] if ours else ["-", "not measured"]
        return [cells[0], "-", "-", wanted, cells[1]]
    if not theirs:
        return [f"{mine:.3g}", "-", "-", wanted, "not run"]
    if other is not None:
        ratio = other / mine
        kept = "yes" if ratio >= promise.factor else "NO"
        return [f"{mine:.3g}", f"{other:.3g}", f"{ratio:.2f}", wanted, kept]
    if any(run.outcome == FAILED for run in theirs):
        return [f"{mine:.3g}", "failed", "-", wanted, "not measured"]  # a crash is nobody's victory
    longest = max((run.seconds or 0.0 for run in theirs), default=0.0)
    gaps = [run.relative_gap for run in theirs if run.relative_gap is not None]
    best = f", gap {min(gaps):.1e}" if gaps else ""
    stopped = any(run.outcome == TIME_LIMIT for run in theirs)
    tried = f"not reached{' when stopped' if stopped else ''} (longest fit {longest:.3g} s{best})"
    return [f"{mine:.3g}", tried, "-", wanted, "yes"]


def _promises(contest: Contest, report: Report) -> str:
    columns = ("other (s)", "other / hinge", "promised", "kept")
    header = ["task", "gap", "other", f"{AUTO} (s)", *columns]
    text = (
        "Seconds of the cheapest run whose recomputed relative gap is at most the one named. "
        "A fit of another method is stopped at the promised factor times hinge's time, or at "
        f"{LEAST_FACTOR:g} times if that is more, but not before {LEAST_SECONDS:g} s; it is *not "
        "reached* if no setting gets there by then. Where none gets there and one of them failed, "
        "nothing is measured."
    )
    return f"## What is promised\n\n{text}\n\n{table(header, verdicts(contest, report))}"


def _own(contest: Contest, report: Report) -> str:
    """Return how hinge's own methods compare, and what a tighter gap costs."""
    rows = []
    for case in contest.cases:
        for name in contest.ours:
            runs = report.of(case.task.title, name)
            times = {gap: time_to_gap(runs, gap) for gap in case.gaps}
            cells = [f"{gap:g}: {'-' if t is None else f'{t:.3g}'}" for gap, t in times.items()]
            solvers = {run.measurements.get("claims", {}).get("solver", "-") for run in runs}
            loose, tight = times.get(1e-4), times.get(1e-6)
            tighter = "-" if loose is None or tight is None else f"{tight / loose:.2f}"
            solved_by = ", ".join(sorted(solvers))
            rows.append([case.task.title, name, "; ".join(cells), tighter, solved_by])
    header = ["task", "method", "seconds to each gap", "1e-6 / 1e-4", "solved by"]
    text = "Promised for C = 100: 1e-6 in at most twice the time that 1e-4 takes."
    return f"## hinge's own methods\n\n{text}\n\n" + table(header, rows)
