"""Run methods on a task, every setting in a process of its own, and measure the results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite.method import Ladder, Method, Setting
from benchmarks.suite.objective import Objective
from benchmarks.suite.record import Run, unbeaten

FINISHED, TIME_LIMIT, FAILED = "finished", "time limit", "failed"
_ROOT = Path(__file__).parents[2]
_STARTUP_SECONDS = 180.0  # imports, reading and converting, which no clock of ours counts
_ERROR_LENGTH = 300
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "VECLIB", "NUMEXPR")
}


@dataclass(frozen=True)
class Budget:
    """How much to run.

    Parameters
    ----------
    seconds : float
        Limit on one fit.
    tightest_gap : float
        A sweep from loose to tight ends when it is reached.
    quick : bool
        Whether to run the short version.
    rounds : int, default=1
        How often to time the runs that count; later rounds spread the times over the hour.
    clock : {"wall_seconds", "processor_seconds"}, default="wall_seconds"
        Which clock counts. Both are recorded; the processor's is for a machine that others use.
    is_strict : bool, default=False
        Whether a fit that takes longer than the limit is killed then, and has no result.
    """

    seconds: float
    tightest_gap: float
    quick: bool
    rounds: int = 1
    clock: str = "wall_seconds"
    is_strict: bool = False


def sweep(
    objective: Objective,
    method: Method,
    python: str,
    budget: Budget,
    report: Callable[[Run], None],
) -> list[Run]:
    """Return the runs of a method on a task, over all of its ladders of settings."""
    runs = []
    for ladder in method.ladders(objective.task, budget.quick):
        for run in climb(objective, method, python, ladder, budget):
            report(run)
            runs.append(run)
    return runs


def time_again(objective: Objective, python: str, runs: list[Run], budget: Budget) -> None:
    """Time the unbeaten runs of a method once more and keep the shorter times."""
    for run in unbeaten(runs):
        job = _job(objective, run.method, run.setting, budget)
        again = _run(objective, job, python)
        if again.seconds is not None and run.seconds is not None:
            run.seconds = min(run.seconds, again.seconds)
            for clock in ("wall_seconds", "processor_seconds"):
                run.measurements[clock] += again.measurements[clock]


def _job(objective: Objective, method: str, setting: Setting, budget: Budget) -> dict[str, Any]:
    """Return what a worker is told."""
    return {
        "task": objective.task.to_json(),
        "method": method,
        "setting": dict(setting),
        "arrays": str(objective.arrays.resolve()),
        "seconds": budget.seconds,
        "clock": budget.clock,
        "is_strict": budget.is_strict,
    }


def climb(
    objective: Objective, method: Method, python: str, ladder: Ladder, budget: Budget
) -> Iterator[Run]:
    """Run settings from loose to tight until one is tight enough or takes too long."""
    primal = None
    for setting in ladder:
        run = _run(objective, _job(objective, method.name, setting, budget), python)
        yield run
        if budget.is_strict and run.primal is not None and run.primal == primal:
            break  # a limit of its own has ended this run where it ended the one before
        primal = run.primal
        if run.outcome != FINISHED or (run.seconds or 0.0) > budget.seconds:
            break
        if run.relative_gap is not None and run.relative_gap <= budget.tightest_gap:
            break


def _run(objective: Objective, job: dict[str, Any], python: str) -> Run:
    """Run one job in its own process and judge what it returns."""
    run = Run(objective.task.title, job["method"], job["setting"], FINISHED, job["clock"])
    with tempfile.TemporaryDirectory(prefix="hinge-bench-") as name:
        folder = Path(name)
        job_file = folder / "job.json"
        job_file.write_text(json.dumps(job))
        # Repeats stop at the limit, so one fit more than the limit is the most there can be.
        patience = _STARTUP_SECONDS + 2.0 * job["seconds"]
        command = [python, "-m", "benchmarks.suite.worker", str(job_file)]
        try:
            done = subprocess.run(
                command,
                cwd=_ROOT,
                env=_environment(),
                capture_output=True,
                text=True,
                timeout=patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            run.outcome = TIME_LIMIT
            run.measurements = {"error": f"no result within {patience:g} s"}
            return run
        if done.returncode in (-signal.SIGALRM, -signal.SIGPROF):
            run.outcome = TIME_LIMIT
            run.measurements = {"error": f"stopped after {job['seconds']:.3g} s"}
            return run
        if done.returncode != 0 or not (folder / "run.json").exists():
            run.outcome = FAILED
            run.measurements = {"error": _last_line(done.stderr, done.returncode)}
            return run
        _judge(objective, run, folder)
    return run


def _judge(objective: Objective, run: Run, folder: Path) -> None:
    """Fill in what the run's weights are worth."""
    run.measurements = json.loads((folder / "run.json").read_text())
    run.seconds = min(run.measurements[run.clock])
    with np.load(folder / "weights.npz") as weights:
        coef = np.asarray(weights["coef"], dtype=np.float64)
        run.primal = objective.primal(coef, float(weights["intercept"]))
    claims = run.measurements["claims"]
    if "optimum_at_least" in claims:
        objective.learn_bounds(run.primal, claims["optimum_at_least"])
        run.relative_gap = claims["relative_gap"]
    else:
        run.relative_gap = objective.relative_gap(run.primal)


def _environment() -> dict[str, str]:
    """Return the environment of a worker: one thread, and this repository on the path."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return kept | _ONE_THREAD | {"PYTHONPATH": str(_ROOT)}


def _last_line(output: str, code: int) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return (lines or [f"exit code {code} without a message"])[-1][:_ERROR_LENGTH]


def this_python() -> str:
    """Return the interpreter that hinge is installed in."""
    return sys.executable
