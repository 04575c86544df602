"""``python -m benchmarks kernel-growth``: seconds of a fit against the rows of covtype."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.kernel.contest import certificate_seconds, seconds
from benchmarks.kernel.record import Record, Row
from benchmarks.kernel.registry import find_method
from benchmarks.kernel.run import FINISHED, Job, run
from benchmarks.kernel.task import KernelTask
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table

_SIZES, _QUICK_SIZES = (5_000, 10_000, 20_000, 50_000, 100_000), (500, 1000, 2000)
_METHODS = (
    "hinge SVC float32",
    "hinge SVC float64",
    "intelex SVC float32",
    "intelex SVC float64",
)
_C, _GAMMA = 10.0, 1.0
_LIMIT_SECONDS = 7200.0


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure what the record lacks, and write the page after every fit."""
    record = Record(output / "kernel-growth.json", fresh)
    for size in _QUICK_SIZES if quick else _SIZES:
        task = KernelTask("covtype", size, _C, _GAMMA)
        for name in _METHODS:
            job = Job(task, name, 1, 1e-3)
            row = record.get(job.key, partial(run, job, find_method(name), _LIMIT_SECONDS))
            told = f"{seconds(row):.3g} s" if row["outcome"] == FINISHED else row["reason"]
            print(f"{job.key:70s} {told}", flush=True)
            _write(output, arguments, list(record.rows.values()))
    print(f"wrote {output / 'kernel-growth.md'}")
    return 0


def exponent(rows: list[Row]) -> float | None:
    """Return the slope of log seconds over log rows, least squares; None for fewer than two."""
    if len(rows) < 2:
        return None
    sizes = np.log([row["n_rows"] for row in rows])
    times = np.log([seconds(row) for row in rows])
    return float(np.polyfit(sizes, times, 1)[0])


def _write(output: Path, arguments: list[str], rows: list[Row]) -> None:
    report = new_report("Kernel machines: time against the number of rows", arguments)
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    text = (
        f"covtype, that many of its rows at random, features to [0, 1], C = {_C:g}, gamma = "
        f"{_GAMMA:g}, tol = 1e-3, one thread, caches of 200 MB. Processor seconds, shortest "
        "of up to three, hinge's certificate told apart. *last slope*: between the two largest."
    )
    lines, slopes = [], []
    for name in _METHODS:
        own = [row for row in rows if row["method"] == name]
        done = [row for row in own if row["outcome"] == FINISHED]
        for row in own:
            cells = [name, row["task"].split(",")[0].split()[-1]]
            if row["outcome"] != FINISHED:
                lines.append([*cells, f"{row['outcome']}: {row['reason']}", *["-"] * 4])
                continue
            certificate = certificate_seconds(row)
            cells += [f"{seconds(row):.3g}", "-" if certificate == 0.0 else f"{certificate:.2g}"]
            cells += [str(row["support_vectors"]), f"{row['primal']:.8g}"]
            lines.append([*cells, f"{row['peak_bytes_beyond_arrays'] / 1e6:.0f}"])
        shown = [exponent(done), exponent(done[-2:])]
        slopes.append([name, *("-" if x is None else f"{x:.2f}" for x in shown)])
    header = ["method", "rows", "seconds", "certificate", "support vectors", "objective", "peak MB"]
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{table(header, lines)}\n\n## Exponent\n\n"
    page += table(["method", "least squares", "last slope"], slopes) + "\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / "kernel-growth.md").write_text(page)
