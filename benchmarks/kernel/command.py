"""``python -m benchmarks kernel``: hinge's kernel machines beside other libraries."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from benchmarks.kernel.contest import Limits, contest, seconds
from benchmarks.kernel.floor import measured
from benchmarks.kernel.page import page
from benchmarks.kernel.record import Record
from benchmarks.kernel.registry import METHODS
from benchmarks.kernel.run import FINISHED
from benchmarks.kernel.task import QUICK_TASKS, SMALL_TASKS, TASKS
from benchmarks.kernel.verdicts import verdicts
from benchmarks.suite.arrays import cache_folder
from benchmarks.suite.report import new_report

_TITLE = "Kernel machines"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--quick", action="store_true", help="small subsamples, a few minutes")
    parser.add_argument(
        "--small", action="store_true", help="sets of some thousand rows, a page of its own"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        help="run only rows whose task or method contains one of these words; with several words, "
        "a row must match one among tasks and one among methods if there are such",
    )
    parser.add_argument("--update", action="store_true", help="run the chosen rows again")
    parser.add_argument("--fresh", action="store_true", help="drop every stored row first")
    parser.add_argument(
        "--seconds", type=float, default=7200.0, help="limit on a fit of scikit-learn and hinge"
    )
    parser.add_argument(
        "--factor",
        type=float,
        default=20.0,
        help="others are stopped at so many times hinge's time",
    )


def chooser(words: list[str], titles: list[str], methods: list[str]) -> _Chosen:
    """Return what tells whether a row is among the chosen ones."""
    return _Chosen(
        [word for word in words if any(word in title for title in titles)],
        [word for word in words if any(word in method for method in methods)],
        words,
    )


class _Chosen:
    """Whether a task and a method are chosen by words that are parts of their names."""

    def __init__(self, tasks: list[str], methods: list[str], words: list[str]) -> None:
        unknown = [word for word in words if word not in tasks and word not in methods]
        if unknown:
            message = f"--only: no task or method has {unknown[0]!r} in its name."
            raise SystemExit(message)
        self._tasks, self._methods = tasks, methods

    def __call__(self, task: str, method: str) -> bool:
        fits_task = not self._tasks or any(word in task for word in self._tasks)
        fits_method = not self._methods or any(word in method for word in self._methods)
        return fits_task and fits_method

    def row(self, name: str) -> bool:
        """Return whether a row of that name is chosen."""
        parts = name.split(" | ")
        return parts[0] == "speed" or self(parts[0], parts[1])


def main(options: argparse.Namespace, arguments: list[str], output: Path) -> int:
    """Run what the record lacks, write the page after every row; return 1 if a promise broke."""
    tasks = QUICK_TASKS if options.quick else SMALL_TASKS if options.small else TASKS
    name = "kernel-small" if options.small else "kernel"
    folder = cache_folder() / "quick" if options.quick else output
    chosen = chooser(options.only, [t.title for t in tasks], [m.name for m in METHODS])
    renewed = chosen.row if options.update else None
    record = Record(folder / f"{name}.json", options.fresh, renewed)
    shown = [word for word in arguments if word not in ("--fresh", "--update")]
    title = f"{_TITLE}: some thousand rows" if options.small else _TITLE
    report = new_report(title, ["kernel"] if options.only else shown)
    report.machine = report.machine.replace("(one used)", "(threads as told)")
    report.remarks = [
        "Every run in a process of its own, after a fit of 100 rows; caches of 200 MB.",
        f"Others than scikit-learn are stopped at {options.factor:g} times hinge's time.",
    ]
    for threads in (1, 2):
        record.get(f"speed | {threads}", partial(measured, threads))
    limits = Limits(options.seconds, options.factor)
    path = folder / f"{name}.md"
    for task in tasks:
        for row in contest(task, record, limits, chosen):
            path.write_text(page(report, record, tasks))
            told = f"{seconds(row):.3g} s" if row["outcome"] == FINISHED else row["reason"]
            title = f"{row['task']}  {row['method']}  {row['threads']}  {row['tol']:g}"
            print(f"{title:80s} {row['outcome']}: {told}", flush=True)
    path.write_text(page(report, record, tasks))
    found = [verdict for task in tasks for verdict in verdicts(record, task.title)]
    broken = sum(verdict.kept == "NO" for verdict in found)
    unknown = sum(verdict.kept == "not measured" for verdict in found)
    print(f"{broken} of {len(found)} promises broken, {unknown} not measured; wrote {path}")
    return int(broken > 0)
