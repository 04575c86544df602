"""Single queries by the clock on the wall: proven labels, and scikit-learn's predict, in turn.

Thousands of queries are asked one by one, all of them of the one library and then of the other, in
several rounds, in one process on one thread. Both evaluate the same support vectors, coefficients
and intercepts. The label of every query is compared with that of the full evaluation.
"""

from __future__ import annotations

import datetime
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hinge
from benchmarks.anytime import speed
from benchmarks.anytime.peer_worker import scikit_machine
from benchmarks.kernel import data
from benchmarks.kernel.record import Row
from benchmarks.suite import arrays
from hinge.threads import single_threaded_blas

QUERIES = 2000
_ROUNDS = 2
_WARM = 50  # queries before the first round


def measured(task: speed.SpeedTask) -> Row:
    """Return percentiles of the seconds that a single query takes, in both libraries."""
    folder = data.folder(task.dataset, task.n_rows, "float64")
    X, y = arrays.read(folder / "train")
    new, _ = arrays.read(folder / "test")
    ours = hinge.SVC(C=task.C, gamma=task.gamma).fit(X, y)
    fast = hinge.accelerate(ours, queries=X)
    with tempfile.TemporaryDirectory() as place:
        speed.write(Path(place), task, ours, (X, y, new))
        other = scikit_machine(Path(place), {"gamma": task.gamma})
    rows = [new[k : k + 1] for k in range(min(QUERIES, new.shape[0]))]
    predicts = {"anytime": fast.predict, "scikit-learn": other.predict}
    seconds = {name: np.empty((_ROUNDS, len(rows))) for name in predicts}
    with single_threaded_blas():
        for predict in predicts.values():
            _timed(predict, rows[:_WARM])
        labels = [fast.predict(row)[0] for row in rows]
        for number in range(_ROUNDS):
            for name, predict in predicts.items():
                seconds[name][number] = _timed(predict, rows)
    return {
        "outcome": "finished",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "task": task.title,
        "queries": len(rows),
        "changed": int(np.sum(labels != speed.in_full(fast, new[: len(rows)]))),
        "seconds": {name: _percentiles(found) for name, found in seconds.items()},
    }


def _timed(predict: Any, rows: list[Any]) -> NDArray[np.float64]:
    """Return the seconds of every query."""
    found = np.empty(len(rows))
    for number, row in enumerate(rows):
        begin = time.perf_counter()
        predict(row)
        found[number] = time.perf_counter() - begin
    return found


def _percentiles(seconds: NDArray[np.float64]) -> dict[str, float]:
    """Return percentiles of the least of all rounds, and of all calls."""
    least = seconds.min(axis=0)
    return {
        "p50": float(np.quantile(least, 0.5)),
        "p99": float(np.quantile(least, 0.99)),
        "most": float(least.max()),
        "every p99": float(np.quantile(seconds, 0.99)),
    }
