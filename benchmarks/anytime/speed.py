"""Time of proven labels against full evaluations: hinge's own, and those of other libraries.

Processor time of one thread, the least of several runs. The other libraries run in environments of
their own (``peer_worker``); hinge's predictor is compared with the full evaluation, label by label.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import hinge
from benchmarks.anytime.peer_worker import SINGLES, times
from benchmarks.kernel import data
from benchmarks.kernel.record import Row
from benchmarks.suite import arrays, environments
from benchmarks.suite.peers import intelex, onnxruntime, thundersvm
from hinge.models import write_libsvm
from hinge.threads import single_threaded_blas

BATCHES = (1, 100, 0)  # 0 stands for all rows
PEERS = ("scikit-learn", "intelex", "onnxruntime", "thundersvm")
_ENVIRONMENTS = {
    "intelex": intelex.PEER,
    "onnxruntime": onnxruntime.PEER,
    "thundersvm": thundersvm.PEER,
}
_LIMIT = int(os.environ.get("HINGE_BENCH_LIMIT", "600"))  # seconds for a library on one task


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
# The geometric mean is over one machine for each set.
IN_MEAN = tuple(task.title for task in (TASKS[0], *TASKS[2:]))
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
    with single_threaded_blas():
        seconds = {
            str(size or "all"): {
                "anytime": times(fast.predict, new, size),
                "full": times(partial(in_full, fast), new, size),
                "predict": times(ours.predict, new, size),
            }
            for size in BATCHES
        }
    certified = fast.predict_certified(new)
    full = in_full(fast, new)
    row: Row = {
        "outcome": "finished",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "task": task.title,
        "support": int(ours.n_support_.sum()),
        "queries": int(new.shape[0]),
        "build": build,
        "seconds": seconds,
        "mean_terms": float(certified.terms.mean()),
        "changed": int(
            sum(
                np.sum(labels != full)
                for labels in (certified.labels, fast.predict(new), ours.predict(new))
            )
            + sum(fast.predict(new[k : k + 1])[0] != full[k] for k in range(SINGLES))
        ),
        "explanation": fast.explain(),
        "others": {},
    }
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), task, ours, (X, y, new))
        for library in PEERS:
            row["others"][library] = _other(library, Path(place), seconds, full)
    return row


def in_full(fast: hinge.anytime.AnytimePredictor, X: Any) -> Any:
    """Return the labels of the full evaluation in float64, which all labels are compared with."""
    return fast.classes[fast.rule.codes(fast.machine.values(fast.rows(X)))]


def write(folder: Path, task: SpeedTask, model: Any, parts: tuple[Any, Any, Any]) -> None:
    """Write a machine and its rows to files that every interpreter reads."""
    X, y, new = parts
    for name, matrix in (("train", X), ("queries", new), ("support", model.support_vectors_)):
        if sp.issparse(matrix):
            sp.save_npz(folder / f"{name}.npz", sp.csr_matrix(matrix), compressed=False)
        else:
            np.save(folder / f"{name}.npy", matrix)
    coef = model.dual_coef_
    np.save(folder / "coef.npy", coef.toarray() if sp.issparse(coef) else np.asarray(coef))
    for name, values in (
        ("intercept", model.intercept_),
        ("classes", model.classes_),
        ("n_support", model.n_support_),
        ("y", y),
    ):
        np.save(folder / f"{name}.npy", np.asarray(values))
    write_libsvm(model, folder / "model.libsvm")
    told = {"C": task.C, "gamma": task.gamma, "batches": BATCHES}
    (folder / "task.json").write_text(json.dumps(told))


def _other(library: str, folder: Path, seconds: Any, full: Any) -> dict[str, Any]:
    """Add another library's times to ours; return how many of the first labels differ, or why not.

    Parameters
    ----------
    library : str
        Its name.
    folder : Path
        Where the machine is.
    seconds : dict
        Times by batch and method, which are added to.
    full : ndarray
        Labels of hinge's full evaluation.
    """
    python = sys.executable
    if library in _ENVIRONMENTS:
        found = environments.find(_ENVIRONMENTS[library])
        if found.python is None:
            return {"reason": found.reason}
        python = found.python
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    script = Path(__file__).with_name("peer_worker.py")
    try:
        done = subprocess.run(
            [python, str(script), str(folder), library],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT,
            env={**os.environ, **one},
        )
    except subprocess.TimeoutExpired:
        return {"reason": f"stopped after {_LIMIT} s, training included"}
    if done.returncode != 0:
        return {"reason": (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    for batch, found_times in json.loads(done.stdout.strip().splitlines()[-1]).items():
        seconds[batch][library] = found_times
    labels = np.load(folder / f"labels-{library}.npy")
    return {"other_labels": int(np.sum(labels != full[: len(labels)])), "reason": ""}
