"""``python -m benchmarks duals``: every solver of kernel machines, and exact paths in C.

Keeps what it has measured; a second run goes on where the first one was cut short.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks.duals import paths, ranks
from benchmarks.duals.data import TASKS, Task
from benchmarks.duals.worker import OTHER_PROBLEMS, PROJECTED
from benchmarks.kernel.record import Record, Row
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table
from hinge.solvers import kernel_solver_names

_SECONDS = 12.0  # of the processor, after which a fit is ended
_QUICK = ("sonar", "haberman")
_OUTCOMES = {"interrupted": "not in time"}
_CHANGES: dict[str, tuple[str, ...]] = {
    name: tuple("no intercept" if key == "intercept" else value for key, value in other.items())
    for name, other in OTHER_PROBLEMS.items()
}
OLDER = ranks.OLDER
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure what the record lacks, and write the page after every fit."""
    record = Record(output / "duals.json", fresh)
    for task in TASKS:
        if quick and task.name not in _QUICK:
            continue
        for solver in (*kernel_solver_names(), PROJECTED):
            row = record.get(f"{task.name} | {solver}", _dated(partial(_fit, task, solver)))
            print(f"{task.name:12s} {solver:38s} {_told(row)}", flush=True)
            _write(output, arguments, record.rows)
    for task in paths.PATHS[: 1 if quick else None]:
        row = record.get(f"path | {task.name}", _dated(partial(paths.measure, task)))
        print(f"path of {task.name}: {row['corners']} corners, {row['seconds']:.3g} s", flush=True)
        paths.draw(task, output / f"duals-path-{task.name}.png")
        _write(output, arguments, record.rows)
    for label, problem, approximation in ranks.names(quick):
        row = record.get(label, _dated(partial(ranks.measure, problem, approximation)))
        print(f"{label}: {row['seconds']:.3g} s, accuracy {row['accuracy']:.4f}", flush=True)
        _write(output, arguments, record.rows)
    print(f"wrote {output / 'duals.md'}")
    return 0


def _dated(measure: Callable[[], Row]) -> Callable[[], Row]:
    """Return what measures a row and notes the day."""
    return lambda: {**measure(), "date": datetime.now(UTC).date().isoformat()}


def _fit(task: Task, solver: str) -> Row:
    """Measure a fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.duals.worker", task.name, solver, str(_SECONDS)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **_ONE_THREAD}, check=False
    )
    if done.returncode:
        return {"outcome": "failed", "reason": done.stderr.strip().splitlines()[-1]}
    row: Row = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def _told(row: Row) -> str:
    if "seconds" not in row:
        return f"{row['outcome']}: {row['reason']}"
    return f"{row['outcome']}, {row['seconds']:.3g} s, gap {row['gap']:.1e}"


def _cells(name: str, row: Row, newest: str) -> list[str]:
    if "seconds" not in row:
        return [name, f"{row['outcome']}: {row['reason']}", *["-"] * 6]
    name += "".join(f" ({what.replace('_', ' ')})" for what in _CHANGES.get(name, ()))
    name += "" if row.get("date") == newest else OLDER
    values = row["kernel_values"]
    return [
        name,
        _OUTCOMES.get(str(row["outcome"]), str(row["outcome"])),
        f"{row['seconds']:.3g}",
        f"{row['certificate_seconds']:.2g}",
        f"{row['gap']:.1e}",
        f"{row['primal']:.8g}",
        "-" if values is None else f"{values / row['n_rows'] ** 2:.2f}",
        f"{row['peak_bytes'] / 1e6:.0f}",
    ]


def _write(output: Path, arguments: list[str], rows: dict[str, Row]) -> None:
    report = new_report("Kernel machines: the solvers of the dual", arguments)
    page = (
        f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
        f"- Date: {report.date}\n\n"
        f"One fit in a process of its own, one thread, seconds of the processor with the "
        f"certificate, ended after {_SECONDS:g} s. RBF kernel, hinge loss, free intercept. "
        "*kernel values* are in units of the whole matrix; memory is beyond the data. Solvers that "
        "do not take this problem have another one, named in brackets. *not in time*: ended by "
        "the limit, with the gap that was proven then. Others used the machine meanwhile."
    )
    newest = max((str(row.get("date", "")) for row in rows.values()), default="")
    older = sorted({str(row.get("date", "")) for row in rows.values()} - {newest})
    if older:
        page += (
            f" Rows with{OLDER} are of an earlier run ({', '.join(older)}), the others of {newest}."
        )
    page += "\n\n"
    header = ["solver", "outcome", "seconds", "of them certificate", "gap", "objective"]
    header += ["kernel values", "peak MB"]
    for task in TASKS:
        wanted = (f"{task.name} | {solver}" for solver in (*kernel_solver_names(), PROJECTED))
        own = {name: rows[name] for name in wanted if name in rows}
        if not own:
            continue
        page += f"## {task.name}\n\nC = {task.C:g}, gamma = {task.gamma:g}, to a gap of "
        page += f"{task.gap:g}.\n\n"
        lines = [_cells(name.split(" | ")[1], row, newest) for name, row in own.items()]
        page += table(header, lines) + "\n\n"
    page += paths.section(rows, output)
    page += ranks.section(rows, newest)
    output.mkdir(parents=True, exist_ok=True)
    (output / "duals.md").write_text(page.rstrip() + "\n")
