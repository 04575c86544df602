"""One run in a process of its own: ``python -m benchmarks.kernel.worker job.json``.

Reads the arrays, fits a hundred rows first (compilers, thread pools), then fits and predicts,
several times if that is quick. Writes the machine to ``machine.npz`` and the rest to ``run.json``
beside the job.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernel.method import KernelMethod, Setting
from benchmarks.kernel.registry import find_method
from benchmarks.suite import arrays
from benchmarks.suite.resident import peak_bytes, reset_peak, resident_bytes

MOST_REPEATS = 3
ENOUGH_SECONDS = 20.0
WARM_UP_ROWS = 100


def main(job_file: str) -> None:
    """Run the job."""
    folder = Path(job_file).parent
    job = json.loads(Path(job_file).read_text())
    method = find_method(job["method"])
    setting = Setting(**job["setting"])
    X, y = arrays.read(Path(job["arrays"]) / "train")
    X_test, y_test = arrays.read(Path(job["arrays"]) / "test")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fit ended early is told by what it is worth
        _warm_up(method, X, y, setting)
        model, record = _fit(method, (X, y), setting, job["seconds"])
        record |= _predict(method, model, (X_test, y_test), job["seconds"])
    machine = method.machine(model)
    np.savez(
        folder / "machine.npz",
        support=machine.support,
        dual_coef=machine.dual_coef,
        intercept=machine.intercept,
    )
    record |= {"claims": machine.claims, "intercept_kind": machine.intercept_kind}
    record |= {"setting": asdict(setting)}
    (folder / "run.json").write_text(json.dumps(record))


def _warm_up(method: KernelMethod, X: Any, y: Any, setting: Setting) -> None:
    """Fit and predict a few rows of every class."""
    labels = np.unique(y)
    each = max(WARM_UP_ROWS // len(labels), 2)
    few = np.concatenate([np.flatnonzero(y == label)[:each] for label in labels])
    few = np.sort(few)
    model = method.fit(method.prepare(X[few], y[few]), setting)
    method.predict(model, X[few])


def _fit(
    method: KernelMethod, data: tuple[Any, Any], setting: Setting, limit: float
) -> tuple[Any, dict[str, Any]]:
    """Return the last fit, with times and peak memory beyond the caller's arrays."""
    before = resident_bytes()
    reset_peak()
    start = time.perf_counter()
    prepared = method.prepare(*data)
    conversion = time.perf_counter() - start
    processor = time.process_time()
    apart: list[float] = []

    def fit() -> Any:
        model = method.fit(prepared, setting)
        apart.append(method.certificate_seconds(model, setting))
        return model

    model, times = _timed(fit, limit)
    return model, {
        "fit_seconds": times,
        "certificate_seconds": apart,
        "fit_processor_seconds": (time.process_time() - processor) / len(times),
        "conversion_seconds": conversion,
        "peak_bytes_beyond_arrays": max(peak_bytes() - before, 0),
    }


def _predict(
    method: KernelMethod, model: Any, test: tuple[Any, Any], limit: float
) -> dict[str, Any]:
    """Return times, and how many labels are right."""
    labels, times = _timed(lambda: method.predict(model, test[0]), limit)
    right = int(np.count_nonzero(np.asarray(labels) == test[1]))
    return {"predict_seconds": times, "test_rows": len(test[1]), "right": right}


def _timed(work: Callable[[], Any], limit: float) -> tuple[Any, list[float]]:
    """Return the last result and all times; the process ends if one takes longer than the limit."""
    times: list[float] = []
    result: Any = None
    while not times or (len(times) < MOST_REPEATS and sum(times) + times[-1] < ENOUGH_SECONDS):
        result = None  # not two results in memory at once
        signal.setitimer(signal.ITIMER_REAL, limit)
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return result, times


if __name__ == "__main__":
    main(sys.argv[1])
