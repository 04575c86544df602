"""The page of tables that a record of kernel machines makes."""

from __future__ import annotations

from typing import Any

from benchmarks.kernel.contest import (
    REFERENCE,
    SLACK,
    certificate_seconds,
    reaches,
    rows_of,
    seconds,
    target,
)
from benchmarks.kernel.data import DESCRIPTIONS
from benchmarks.kernel.floor import floor_seconds
from benchmarks.kernel.record import Record, Row
from benchmarks.kernel.registry import METHODS, OURS
from benchmarks.kernel.run import FINISHED
from benchmarks.kernel.task import KernelTask
from benchmarks.kernel.verdicts import verdicts
from benchmarks.suite.report import Report
from benchmarks.suite.tables import heading, table

Tasks = tuple[KernelTask, ...]
_NONE = "-"


def page(report: Report, record: Record, tasks: Tasks) -> str:
    """Return the whole page."""
    parts = [
        heading(report),
        _promises(record, tasks),
        _runs(record, tasks),
        _floors(record, tasks),
        _work(record, tasks),
        _methods(tasks),
    ]
    return "\n\n".join(parts) + "\n"


def _promises(record: Record, tasks: Tasks) -> str:
    rows = [verdict.cells() for task in tasks for verdict in verdicts(record, task.title)]
    text = (
        "Processor seconds on one thread, seconds of the clock on the wall where two threads are "
        "compared; *fit* without hinge's certificate, whose time is in the next table. *default "
        "tol*: both at 1e-3. *same objective*: each with the largest of its tolerances that "
        f"reaches {REFERENCE}'s objective (to {SLACK:g}, relatively). Against intelex both are "
        "given the rows in the precision in which intelex is faster, against scikit-learn in "
        "float64."
    )
    header = ["task", "promise", "hinge", "other", "ratio", "at most", "kept"]
    return f"## What was promised\n\n{text}\n\n" + table(header, rows)


def _runs(record: Record, tasks: Tasks) -> str:
    """Return the table of every run, a method that was stopped or failed included."""
    lines = []
    for task in tasks:
        bounds = [
            row["optimum_at_least"]
            for row in record.rows.values()
            if row.get("task") == task.title and row.get("intercept_kind") == "free"
        ]
        best = max((bound for bound in bounds if bound is not None), default=None)
        rows = [row for row in record.rows.values() if row.get("task") == task.title]
        order = {method.name: k for k, method in enumerate(METHODS)}
        rows.sort(
            key=lambda row: (order.get(row["method"], len(order)), row["threads"], -row["tol"])
        )
        objective = target(record, task.title)
        lines += [[task.title, *_run_cells(row, best, objective)] for row in rows]
    header = ["task", "method", "threads", "tol", "fit", "certificate", "predict", "objective"]
    header += ["reached", "gap", "kkt", "support vectors", "test error", "peak MB"]
    text = (
        "Seconds, shortest of up to three: of the processor on one thread, of the clock on the "
        "wall on two; fit and certificate together are what a call takes. "
        "*objective*: recomputed by hinge's certificates from the machine that was returned. "
        "*reached*: whether it is scikit-learn's or lower. *gap*: how far it can be above the "
        "optimum, relative, by the best lower bound that any machine's dual point proves. *kkt*: "
        "violation of the optimality conditions, recomputed. *peak MB*: resident memory beyond "
        "the caller's arrays, during the fits."
    )
    return f"## Runs\n\n{text}\n\n" + table(header, lines)


def _run_cells(row: Row, best: float | None, objective: float | None) -> list[str]:
    cells = [row["method"], str(row["threads"]), f"{row['tol']:g}"]
    if row["outcome"] != FINISHED:
        return [*cells, f"{row['outcome']}: {row.get('reason', '')}", *[_NONE] * 9]
    certificate = certificate_seconds(row)
    is_same = row.get("intercept_kind") == "free"
    bound = best if is_same else row["optimum_at_least"]
    gap = None if bound is None else (row["primal"] - bound) / row["primal"]
    return [
        *cells,
        f"{seconds(row):.3g}",
        _NONE if certificate == 0.0 else f"{certificate:.2g}",
        f"{seconds(row, 'predict'):.3g}",
        f"{row['primal']:.8g}",
        ("yes" if reaches(row, objective) else "no") if is_same else _NONE,
        _NONE if gap is None else f"{gap:.1e}",
        f"{row['kkt']:.1e}",
        str(row["support_vectors"]),
        f"{1.0 - row['right'] / row['test_rows']:.4f}",
        f"{row['peak_bytes_beyond_arrays'] / 1e6:.0f}",
    ]


def _floors(record: Record, tasks: Tasks) -> str:
    """Return how far above the least time hinge is."""
    lines = []
    for task in tasks:
        for threads in (1, 2):
            speed = record.rows.get(f"speed | {threads}")
            names = (*OURS, "hinge decomposition")
            rows = [r for r in rows_of(record, task.title, names, threads) if r["tol"] == 1e-3]
            for row in rows if speed is not None else []:
                least = floor_seconds(row["kernel_values"], row["n_features"], speed or {})
                counted = row["claims"].get("kernel_values")
                computed = _NONE if counted is None else f"{counted / row['kernel_values']:.2f}"
                times = [f"{least:.3g}", f"{seconds(row):.3g}", f"{seconds(row) / least:.2f}"]
                values = f"{row['kernel_values']:.3g}"
                lines.append([task.title, row["method"], str(threads), values, *times, computed])
    speeds = [
        f"{threads} thread(s): {speed['operations'] / 1e9:.0f} GFlop/s in sgemm, "
        f"{speed['exponentials'] / 1e6:.0f} million exponentials per second"
        for threads in (1, 2)
        if (speed := record.rows.get(f"speed | {threads}")) is not None
    ]
    text = (
        "The kernel between the support vectors and all rows of their problems, each value once: "
        "a product of dense float32 rows and an exponential, at the speeds of NumPy in this run "
        f"({'; '.join(speeds)}). *computed*: kernel values that hinge has computed, over these."
    )
    header = ["task", "method", "threads", "values", "floor", "hinge", "hinge / floor", "computed"]
    return f"## The floor\n\n{text}\n\n" + table(header, lines)


def _work(record: Record, tasks: Tasks) -> str:
    """Return what hinge's runs have counted."""
    lines = []
    for task in tasks:
        for row in record.rows.values():
            claims: dict[str, Any] = row.get("claims") or {}
            if row.get("task") == task.title and "work" in claims:
                hits, misses = claims.get("cache_hits"), claims.get("cache_misses")
                share = _NONE if not hits or misses is None else f"{hits / (hits + misses):.3f}"
                values = claims.get("kernel_values")
                shown = _NONE if values is None else f"{values:.3g}"
                cells = [row["method"], str(row["threads"]), f"{row['tol']:g}"]
                ends = [f"{claims['work']:.3g}", shown, share, claims["solver"], claims["status"]]
                gap = claims["relative_gap"]
                ends.append(_NONE if gap is None else f"{gap:.1e}")
                lines.append([task.title, *cells, *ends])
    header = ["task", "method", "threads", "tol", "work", "kernel values", "share of cache hits"]
    header += ["solver", "status", "certified gap"]
    return "## Work\n\n" + table(header, lines)


def _methods(tasks: Tasks) -> str:
    rows = [[method.name, method.dtype, method.note] for method in METHODS]
    known = {task.dataset for task in tasks}
    notes = "".join(f"\n- {name}: {text}" for name, text in DESCRIPTIONS.items() if name in known)
    return "## Methods\n\n" + table(["method", "given", "note"], rows) + f"\n\n## Data\n{notes}"
