"""Run one method on one task in a process of its own, and judge what it returns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernel import data
from benchmarks.kernel.judge import judge
from benchmarks.kernel.method import KernelMethod, Machine, Setting
from benchmarks.kernel.task import KernelTask
from benchmarks.suite import arrays, environments
from benchmarks.suite.registry import PEERS

FINISHED, TIME_LIMIT, FAILED, REFUSED = "finished", "time limit", "failed", "not run"
_ROOT = Path(__file__).parents[2]
_STARTUP_SECONDS = 300.0  # imports, reading and converting, which no clock of ours counts
_PATIENCE = 20.0  # wall seconds for every processor second that a run may take
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "VECLIB", "NUMEXPR")
_ERROR_LENGTH = 300

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What to run.

    Parameters
    ----------
    task : KernelTask
        The task.
    method : str
        Name of the method.
    threads : int
        How many it may use.
    tol : float
        Its tolerance.
    cache_mb : int, default=200
        Size of its cache.
    """

    task: KernelTask
    method: str
    threads: int
    tol: float
    cache_mb: int = 200

    @property
    def key(self) -> str:
        """The name of its row in a record."""
        return f"{self.task.title} | {self.method} | {self.threads} | {self.tol:g}"


def interpreter(method: KernelMethod) -> tuple[str | None, str]:
    """Return the interpreter of a method, or None and the reason."""
    if not method.peer:
        return sys.executable, ""
    (peer,) = (peer for peer in PEERS if peer.name == method.peer)
    environment = environments.find(peer)
    return environment.python, environment.reason


def run(job: Job, method: KernelMethod, seconds: float) -> Row:
    """Return the row of a job: what was measured and judged, or why it was not."""
    row: Row = {**asdict(job), "task": job.task.title, "limit_seconds": seconds}
    python, reason = interpreter(method)
    folder = data.folder(job.task.dataset, job.task.n_rows, method.dtype)
    X, y = arrays.read(folder / "train")
    reason = reason or method.refusal(len(np.unique(y))) or ""
    if python is None or reason:
        return row | {"outcome": REFUSED, "reason": reason}
    gamma = data.scale_gamma(X) if job.task.gamma is None else job.task.gamma
    setting = Setting(job.task.C, gamma, job.tol, job.threads, job.cache_mb)
    row |= {"n_rows": X.shape[0], "n_features": X.shape[1], "gamma": gamma}
    with tempfile.TemporaryDirectory(prefix="hinge-bench-") as name:
        told = {"method": method.name, "setting": asdict(setting), "arrays": str(folder.resolve())}
        found = _in_own_process(Path(name), python, told | {"seconds": seconds}, job.threads)
        if found["outcome"] == FINISHED:
            with np.load(Path(name) / "machine.npz") as parts:
                machine = Machine(
                    parts["support"],
                    parts["dual_coef"],
                    parts["intercept"],
                    intercept_kind=found["intercept_kind"],
                )
            found |= judge(X, y, job.task.C, gamma, machine).to_json()
    return row | found


def _in_own_process(folder: Path, python: str, told: Row, threads: int) -> Row:
    """Run the worker and return what it wrote, or how it ended."""
    job_file = folder / "job.json"
    job_file.write_text(json.dumps(told))
    seconds = told["seconds"]
    # The worker itself counts processor seconds; this is for one that hangs.
    patience = _STARTUP_SECONDS + _PATIENCE * seconds
    try:
        done = subprocess.run(
            [python, "-m", "benchmarks.kernel.worker", str(job_file)],
            cwd=_ROOT,
            env=_environment(threads),
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"outcome": TIME_LIMIT, "reason": f"no result within {patience:.4g} s"}
    if done.returncode == -signal.SIGPROF:
        return {"outcome": TIME_LIMIT, "reason": f"stopped after {seconds:.4g} s"}
    if done.returncode != 0 or not (folder / "run.json").exists():
        return {"outcome": FAILED, "reason": _last_line(done.stderr, done.returncode)}
    found: Row = json.loads((folder / "run.json").read_text())
    return {"outcome": FINISHED} | found


def _environment(threads: int) -> dict[str, str]:
    """Return the environment of a worker: its threads, and this repository on the path."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    counts = {f"{library}_NUM_THREADS": str(threads) for library in _LIBRARIES}
    return kept | counts | {"PYTHONPATH": str(_ROOT)}


def _last_line(output: str, code: int) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return (lines or [f"exit code {code} without a message"])[-1][:_ERROR_LENGTH]
