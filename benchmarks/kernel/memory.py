"""``python -m benchmarks kernel-memory``: peak memory of fits with small and large caches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.kernel import data
from benchmarks.kernel.record import Record, Row
from benchmarks.kernel.registry import find_method
from benchmarks.kernel.run import FINISHED, Job, run
from benchmarks.kernel.task import KernelTask
from benchmarks.suite import arrays
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table

CACHES_MB = (50, 4096)
SMALL_CACHES_MB = (20, 50)
_TWO_CLASSES = ("hinge SVC float32", "hinge SVC float64")
_ONE_THREAD, _ONE_OR_TWO = (1,), (1, 2)
_LIMIT_SECONDS = 7200.0


@dataclass(frozen=True)
class _Plan:
    """What to fit: by which methods, with which caches and how many threads."""

    task: KernelTask
    caches: tuple[int, ...] = CACHES_MB
    methods: tuple[str, ...] = _TWO_CLASSES
    threads: tuple[int, ...] = _ONE_THREAD

    def jobs(self) -> Iterator[Job]:
        """Yield the fits."""
        for name, threads in itertools.product(self.methods, self.threads):
            for cache_mb in self.caches:
                yield Job(self.task, name, threads, 1e-3, cache_mb)


_SEVERAL_CLASSES = (*_TWO_CLASSES, "hinge SVC float32 ovr")
_PLANS = (
    _Plan(KernelTask("covtype", 50_000, 10.0, 1.0)),
    _Plan(KernelTask("mnist", 20_000, 10.0, 0.02)),
    _Plan(KernelTask("a9a", None, 1.0, 0.05)),
    # Many support vectors, whose rows find no room in a small cache.
    _Plan(KernelTask("covtype", 16_000, 10.0, 8.0), SMALL_CACHES_MB),
    # Ten classes and seven, most of them solved together or one by one.
    _Plan(KernelTask("usps", None, 10.0, None), SMALL_CACHES_MB, _SEVERAL_CLASSES, _ONE_OR_TWO),
    _Plan(
        KernelTask("covtype classes", 8000, 10.0, 8.0),
        SMALL_CACHES_MB,
        _SEVERAL_CLASSES,
        _ONE_OR_TWO,
    ),
    _Plan(KernelTask("poker", 10_000, 1.0, None), SMALL_CACHES_MB, _SEVERAL_CLASSES),
)
_QUICK_PLANS = (
    _Plan(KernelTask("covtype", 5000, 10.0, 1.0)),
    _Plan(KernelTask("usps", 1500, 10.0, None), SMALL_CACHES_MB, ("hinge SVC float32 ovr",)),
)


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure what the record lacks, write a page, and return 1 if the promise is broken."""
    record = Record(output / "kernel-memory.json", fresh)
    rows = []
    for plan in _QUICK_PLANS if quick else _PLANS:
        for job in plan.jobs():
            key = f"{job.key} | {job.cache_mb}"
            rows.append(record.get(key, partial(_measured, job)))
            print(f"{key:70s} {_cells(rows[-1])[4:]}", flush=True)
            _write(output, arguments, rows)
    broken = sum(not is_kept(row) for row in rows)
    print(f"{broken} of {len(rows)} fits broke the promise; wrote {output / 'kernel-memory.md'}")
    return int(broken > 0)


def _measured(job: Job) -> Row:
    method = find_method(job.method)
    folder = data.folder(job.task.dataset, job.task.n_rows, method.dtype)
    X, _ = arrays.read(folder / "train")
    return run(job, method, _LIMIT_SECONDS) | {"data_bytes": _bytes(X)}


def _bytes(X: Any) -> int:
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def allowed_bytes(row: Row) -> float:
    """Return what a fit may use beyond the caller's arrays: cache, 10 %, and the data once more."""
    return 1.1 * float(row["cache_mb"]) * 2**20 + float(row["data_bytes"])


def is_kept(row: Row) -> bool:
    """Return whether a fit has finished within what it may use."""
    if row["outcome"] != FINISHED:
        return False
    return bool(row["peak_bytes_beyond_arrays"] <= allowed_bytes(row))


def _cells(row: Row) -> list[str]:
    cells = [row["task"], row["method"], str(row["threads"]), str(row["cache_mb"])]
    if row["outcome"] != FINISHED:
        return [*cells, f"{row['outcome']}: {row['reason']}", "-", "-", "-", "-", "NO"]
    sizes = (row["peak_bytes_beyond_arrays"], allowed_bytes(row), row["data_bytes"])
    shown = [f"{size / 2**20:.1f}" for size in sizes]
    seconds = f"{min(row['fit_seconds']):.3g}"
    return [*cells, *shown, seconds, f"{row['primal']:.8g}", "yes" if is_kept(row) else "NO"]


def _write(output: Path, arguments: list[str], rows: list[Row]) -> None:
    report = new_report("Kernel machines: memory with small and large caches", arguments)
    report.machine = report.machine.replace("(one used)", "(threads as told)")
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    text = (
        "`hinge.SVC(cache_size=...).fit` in a process of its own: peak resident memory in MB of "
        "2^20 bytes beyond the caller's arrays, after a fit of 100 rows. *allowed*: the cache, "
        "10 % of it, and the data once more. Seconds include the certificate. Of several classes "
        "pairs are fitted, or each against the rest (*ovr*)."
    )
    header = [
        "task",
        "method",
        "threads",
        "cache MB",
        "peak",
        "allowed",
        "data",
        "seconds",
        "objective",
    ]
    page = f"{head}- Date: {report.date}\n\n{text}\n\n"
    page += table([*header, "kept"], [_cells(row) for row in rows]) + "\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / "kernel-memory.md").write_text(page)
