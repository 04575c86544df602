"""Time of proven labels against the full evaluation and against scikit-learn's predict.

Processor time of one thread, the least of several runs that take turns. scikit-learn fits its own
machine; the predictor of hinge's is compared with hinge's own predict, label by label.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC as ScikitSVC  # noqa: N811

import hinge
from benchmarks.kernel import data
from benchmarks.kernel.record import Row
from benchmarks.suite import arrays
from hinge.threads import single_threaded_blas

BATCHES = (1, 100, 0)  # 0 stands for all rows
_SINGLES = 200  # rows that are asked one by one
_ROUNDS = 3


@dataclass(frozen=True)
class SpeedTask:
    """A machine to predict with.

    Parameters
    ----------
    dataset : str
        Of ``benchmarks.kernel.data``.
    n_rows : int or None
        How many training rows.
    C, gamma : float
        Of the machine.
    """

    dataset: str
    n_rows: int | None
    C: float
    gamma: float

    @property
    def title(self) -> str:
        """What it is called."""
        rows = "" if self.n_rows is None else f" {self.n_rows}"
        return f"{self.dataset}{rows}, gamma {self.gamma:g}, C {self.C:g}"


TASKS = (
    SpeedTask("a9a", None, 1.0, 0.005),
    SpeedTask("a9a", None, 1.0, 0.05),
    SpeedTask("mnist", 10_000, 10.0, 0.02),
    SpeedTask("usps", None, 10.0, 0.008),
    SpeedTask("covtype", 50_000, 10.0, 1.0),
)
QUICK_TASKS = (SpeedTask("covtype", 2000, 10.0, 1.0),)


def measured(task: SpeedTask) -> Row:
    """Return times of all batches, and how many labels differ from the full evaluation's."""
    folder = data.folder(task.dataset, task.n_rows, "float64")
    X, y = arrays.read(folder / "train")
    new, _ = arrays.read(folder / "test")
    ours = hinge.SVC(C=task.C, gamma=task.gamma).fit(X, y)
    begin = time.process_time()
    fast = hinge.accelerate(ours, queries=X)
    build = time.process_time() - begin
    theirs = ScikitSVC(C=task.C, gamma=task.gamma, cache_size=1000).fit(X, y)
    methods = {"anytime": fast.predict, "full": ours.predict, "scikit-learn": theirs.predict}
    with single_threaded_blas():
        seconds = {str(size or "all"): _times(methods, new, size) for size in BATCHES}
    certified = fast.predict_certified(new)
    return {
        "outcome": "finished",
        "task": task.title,
        "support": int(ours.n_support_.sum()),
        "queries": int(new.shape[0]),
        "build": build,
        "seconds": seconds,
        "mean_terms": float(certified.terms.mean()),
        "changed": int(np.sum(certified.labels != ours.predict(new))),
        "other_labels": int(np.sum(fast.predict(new) != theirs.predict(new))),
        "explanation": fast.explain(),
    }


def _times(methods: dict[str, Callable[[Any], Any]], X: Any, size: int) -> dict[str, float]:
    """Return seconds per query of every method in batches of a size, taking turns."""
    rows = min(X.shape[0], _SINGLES if size == 1 else 10 * size if size else X.shape[0])
    step = size or rows
    batches = [X[k : k + step] for k in range(0, rows, step)]
    best = dict.fromkeys(methods, np.inf)
    for _ in range(_ROUNDS):
        for name, predict in methods.items():
            begin = time.process_time()
            for batch in batches:
                predict(batch)
            best[name] = min(best[name], (time.process_time() - begin) / rows)
    return best
