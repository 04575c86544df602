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
from dataclasses import asdict, dataclass, field
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
        record |= _predict(method, model, (X_test, y_test), job["seconds"] * setting.threads)
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
    apart: list[float] = []

    def fit() -> Any:
        model = method.fit(prepared, setting)
        apart.append(method.certificate_seconds(model, setting))
        return model

    model, times = _timed(fit, limit * setting.threads)
    return model, {
        "fit_seconds": times.wall,
        "fit_processor_seconds": times.processor,
        "certificate_seconds": apart,
        "conversion_seconds": conversion,
        "peak_bytes_beyond_arrays": max(peak_bytes() - before, 0),
    }


def _predict(
    method: KernelMethod, model: Any, test: tuple[Any, Any], limit: float
) -> dict[str, Any]:
    """Return times, and how many labels are right."""
    labels, times = _timed(lambda: method.predict(model, test[0]), limit)
    right = int(np.count_nonzero(np.asarray(labels) == test[1]))
    return {
        "predict_seconds": times.wall,
        "predict_processor_seconds": times.processor,
        "test_rows": len(test[1]),
        "right": right,
    }


@dataclass
class _Times:
    """Seconds of repeated work, by the clock on the wall and of all the process's threads."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def are_enough(self) -> bool:
        """Whether more repeats would cost more than they tell."""
        done = sum(self.processor)
        return len(self.wall) >= MOST_REPEATS or done + self.processor[-1] >= ENOUGH_SECONDS


def _timed(work: Callable[[], Any], limit: float) -> tuple[Any, _Times]:
    """Return the last result and all times.

    The process ends if one takes more processor seconds than the limit, which waiting for a busy
    machine does not use up.
    """
    times = _Times()
    result: Any = None
    while not times.wall or not times.are_enough:
        result = None  # not two results in memory at once
        signal.setitimer(signal.ITIMER_PROF, limit)
        start, processor = time.perf_counter(), time.process_time()
        result = work()
        times.wall.append(time.perf_counter() - start)
        times.processor.append(time.process_time() - processor)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return result, times


if __name__ == "__main__":
    main(sys.argv[1])
