"""One run in a process of its own: ``python -m benchmarks.suite.worker job.json``.

Reads the arrays, warms up on a hundred rows (compilers, thread pools), then converts and fits,
several times if it is quick. Writes the weights to ``weights.npz`` and the rest to ``run.json``
beside the job.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite import arrays
from benchmarks.suite.method import Fitted, Floats, Method, Setting
from benchmarks.suite.registry import find_method
from benchmarks.suite.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.suite.task import Task

LEAST_REPEATS = 3
MOST_REPEATS = 15
ENOUGH_SECONDS = 1.0
WARM_UP_ROWS = 100
ALARMS = {"wall_seconds": signal.ITIMER_REAL, "processor_seconds": signal.ITIMER_PROF}


def main(job_file: str) -> None:
    """Run the job."""
    folder = Path(job_file).parent
    job = json.loads(Path(job_file).read_text())
    task = Task(**job["task"])
    method = find_method(job["method"])
    X, y = arrays.read(Path(job["arrays"]))
    with warnings.catch_warnings():
        # A warning that a run did not converge is what a sweep over tolerances expects.
        warnings.simplefilter("ignore")
        warm_up(method, X, y, task, job["setting"])
        limit = job["seconds"]
        alarm = ALARMS[job["clock"]] if job.get("is_strict") else None
        fitted, record = measure(method, (X, y), task, job["setting"], limit, alarm)
    np.savez(folder / "weights.npz", coef=fitted.coef, intercept=fitted.intercept)
    record |= {"iterations": fitted.iterations, "claims": fitted.claims}
    (folder / "run.json").write_text(json.dumps(record))


def warm_up(method: Method, X: Any, y: Floats, task: Task, setting: Setting) -> None:
    """Fit a few rows of both classes."""
    half = WARM_UP_ROWS // 2
    few = np.concatenate([np.flatnonzero(y == label)[:half] for label in (-1.0, 1.0)])
    prepared = method.prepare(X[few], y[few], task)
    method.fit(prepared, task, setting)


def measure(
    method: Method,
    data: tuple[Any, Floats],
    task: Task,
    setting: Setting,
    limit: float,
    alarm: int | None,
) -> tuple[Fitted, dict[str, Any]]:
    """Return the result of the last fit with times and peak memory.

    A fit is repeated at least three times unless that takes longer than the limit, and more often
    while all of them together are short. An alarm, if there is one, ends this process when the
    first fit has taken the limit, whatever code it is in.
    """
    before = resident_bytes()
    reset_peak()
    start = time.perf_counter()
    prepared = method.prepare(*data, task)
    conversion = time.perf_counter() - start
    times: list[float] = []
    processor_times: list[float] = []
    peak = 0
    raw: Any = None
    while _wants_another(times, limit):
        raw = None  # not two results in memory at once
        if alarm is not None:
            signal.setitimer(alarm, 0.0 if times else limit)
        start, processor_start = time.perf_counter(), time.process_time()
        raw = method.fit(prepared, task, setting)
        processor_times.append(time.process_time() - processor_start)
        times.append(time.perf_counter() - start)
        if alarm is not None:
            signal.setitimer(alarm, 0.0)
        peak = peak or peak_bytes()
    record = {
        "wall_seconds": times,
        "processor_seconds": processor_times,
        "conversion_seconds": conversion,
        "peak_bytes_beyond_arrays": max(peak - before, 0),
        "peak_bytes": peak,
    }
    return method.result(prepared, raw), record


def _wants_another(times: list[float], limit: float) -> bool:
    total = sum(times)
    if len(times) < LEAST_REPEATS:
        return not times or total + times[-1] <= limit
    return len(times) < MOST_REPEATS and total < ENOUGH_SECONDS


if __name__ == "__main__":
    main(sys.argv[1])
