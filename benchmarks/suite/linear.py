"""The benchmark of linear machines: every task, every method, one record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suite import arrays, curves, environments, tables
from benchmarks.suite.datasets import DATASETS
from benchmarks.suite.method import Method, Peer
from benchmarks.suite.objective import REFERENCE_GAP, Objective
from benchmarks.suite.peers.libsvm import SMALL_SETS
from benchmarks.suite.record import Run
from benchmarks.suite.registry import OURS, PEERS, all_methods
from benchmarks.suite.report import Report
from benchmarks.suite.sweep import Budget, sweep, this_python, time_again
from benchmarks.suite.task import Task


@dataclass(frozen=True)
class Selection:
    """What to run.

    Parameters
    ----------
    loss, intercept, dtype : str
        Fields of every task.
    datasets : tuple of str
        Names of data sets; all that suit if empty.
    methods : tuple of str
        Names of methods or peers; all if empty.
    reference_seconds : float
        Time for the reference run of a task that has none stored.
    """

    loss: str
    intercept: str
    dtype: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    reference_seconds: float

    def tasks(self, quick: bool) -> list[Task]:
        """Return the tasks of the selection."""
        chosen = [
            dataset
            for dataset in DATASETS
            if (dataset.name in self.datasets if self.datasets else True)
            and (dataset.in_quick_run or not quick or self.datasets)
            # Others solve a free intercept with kernels, which is hopeless on large sets.
            and (self.intercept != "free" or dataset.name in SMALL_SETS or self.datasets)
        ]
        return [
            Task(dataset.name, C, self.loss, self.intercept, self.dtype)
            for dataset in chosen
            for C in dataset.costs
        ]


def run(selection: Selection, budget: Budget, report: Report) -> Iterator[Task]:
    """Fill the report, and yield each task when it is done.

    What the report already holds of other methods and other tasks stays in it, and so does what is
    to be renewed, until a task has been swept with all of its methods.
    """
    tasks = selection.tasks(budget.quick)
    interpreters = _interpreters(selection, tasks, report)
    for task in tasks:
        print(f"{task.title}: reference to {REFERENCE_GAP:g}", flush=True)
        objective = Objective(task, selection.reference_seconds)
        able = [pair for pair in interpreters if pair[0].refusal(task) is None]
        fresh = [
            (python, sweep(objective, method, python, budget, print_run)) for method, python in able
        ]
        for _ in range(1, budget.rounds):
            for python, runs in fresh:
                time_again(objective, python, runs, budget)
        _replace(report, task, {method.name for method, _ in interpreters}, fresh)
        objective.store()
        measure_again(report, objective)
        others = [known for known in report.tasks if known["title"] != task.title]
        report.tasks = sorted([*others, describe(objective)], key=_place)
        yield task


def _replace(
    report: Report, task: Task, methods: set[str], fresh: Sequence[tuple[str, list[Run]]]
) -> None:
    """Put fresh runs of a task in the place of all that the report holds of these methods."""
    report.runs = [
        run for run in report.runs if run.task != task.title or run.method not in methods
    ]
    for _, runs in fresh:
        report.runs += runs


def write(report: Report, folder: Path, name: str) -> None:
    """Write the record, the page and, where matplotlib is installed, the picture."""
    record, picture, page = (folder / f"{name}.{kind}" for kind in ("json", "png", "md"))
    report.save(record)
    drawn = curves.draw(report, picture)
    page.write_text(tables.markdown(report, picture.name if drawn else None))


def _interpreters(
    selection: Selection, tasks: Sequence[Task], report: Report
) -> list[tuple[Method, str]]:
    """Return the methods that can run and where, and note every one in the report."""
    found: list[tuple[Method, str]] = []
    for method in OURS:
        if _is_selected(selection, method, None):
            found.append((method, this_python()))
            note_method(report, method, "this repository", method.note)
    for peer in PEERS:
        environment = environments.find(peer)
        for method in peer.methods:
            if not _is_selected(selection, method, peer):
                continue
            refusals = [method.refusal(task) for task in tasks]
            if all(refusals):
                note_method(report, method, "-", f"not run: {refusals[0]}")
            elif environment.python is None:
                note_method(report, method, "-", f"not run: {environment.reason}")
            else:
                found.append((method, environment.python))
                note_method(report, method, version_of(peer, environment.versions), method.note)
    return found


def _is_selected(selection: Selection, method: Method, peer: Peer | None) -> bool:
    names = {method.name} | ({peer.name} if peer else {"hinge"})
    return not selection.methods or bool(names & set(selection.methods))


def note_method(report: Report, method: Method, version: str, note: str) -> None:
    """Enter a method into the report, in the place of an earlier entry of it."""
    entry = {
        "name": method.name,
        "version": version,
        "arithmetic": method.arithmetic,
        "note": note,
    }
    order = [known.name for known in all_methods()]
    others = [known for known in report.methods if known["name"] != method.name]
    report.methods = sorted([*others, entry], key=lambda known: order.index(known["name"]))


def _place(task: dict[str, Any]) -> tuple[int, float]:
    """Return where a task stands in the tables."""
    return [dataset.name for dataset in DATASETS].index(task["dataset"]), task["C"]


def version_of(peer: Peer, versions: dict[str, str]) -> str:
    """Return the version of the requirement that the peer is about."""
    wanted = (*peer.bare_requirements, *peer.requirements)[0]
    package = wanted.split("=")[0].split("<")[0].split(">")[0]
    return f"{package} {versions.get(package, '?')}"


def measure_again(report: Report, objective: Objective) -> None:
    """Take the gaps of the others anew, against the best bound known when all have run."""
    for run in report.runs:
        claimed = "optimum_at_least" in run.measurements.get("claims", {})
        if run.task == objective.task.title and run.primal is not None and not claimed:
            run.relative_gap = objective.relative_gap(run.primal)


def describe(objective: Objective) -> dict[str, Any]:
    task, problem = objective.task, objective.problem
    description = next(d.description for d in DATASETS if d.name == task.dataset)
    X, y = arrays.read(objective.arrays)
    parts = [X] if hasattr(X, "nbytes") else [X.data, X.indices, X.indptr]
    return {
        **task.to_json(),
        "title": task.title,
        "description": description,
        "n_rows": problem.n_rows,
        "n_features": problem.n_features,
        "array_bytes": sum(part.nbytes for part in (*parts, y)),
        "optimum_at_least": objective.optimum_at_least,
        "optimum_at_most": objective.optimum_at_most,
        "reference_gap": objective.reference_gap,
    }


def print_run(run: Run) -> None:
    setting = ", ".join(f"{key}={value}" for key, value in run.setting.items())
    if run.seconds is None:
        result = f"{run.outcome}: {run.measurements.get('error', '')}"
    else:
        result = f"{run.seconds:9.4f} s   gap {run.relative_gap:9.2e}"
    print(f"  {run.method:26s} {setting:32s} {result}", flush=True)
