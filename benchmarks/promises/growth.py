"""Time and memory against the number of rows: from an array, and from a memory-mapped file.

Each fit runs in a process of its own. Memory is the peak of anonymous resident memory beyond what
was there before the fit: pages of a mapped file belong to the system, which drops them as it likes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hinge
from benchmarks.suite import arrays
from benchmarks.suite.arrays import cache_folder
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.kept import Kept
from benchmarks.suite.report import new_report
from benchmarks.suite.resident import anonymous_bytes
from benchmarks.suite.tables import table
from hinge.data import Dataset, open_shards, write_shards

_COVTYPE, _SHARDS = "covtype", "shards"
_SIZES = {
    _COVTYPE: (10_000, 30_000, 100_000, 300_000, 581_012),
    _SHARDS: (500_000, 1_600_000, 5_000_000),
}
_QUICK_SIZES = {_COVTYPE: (10_000, 20_000), _SHARDS: (50_000, 100_000)}
_SOLVERS = ("interior-point", "auto")
_FEATURES, _ROWS_AT_ONCE = 50, 100_000
_C, _GAP = 1.0, 1e-4
_LARGEST_EXPONENT = 1.05
_ENOUGH_SECONDS = 10.0  # fits are repeated until they have taken so long, three times at most
_SAMPLE_SECONDS = 0.01


@dataclass(frozen=True)
class Fit:
    """One fit to measure.

    Parameters
    ----------
    source : str
        Where the rows come from.
    n_rows : int
        How many.
    solver : str
        By which solver.
    """

    source: str
    n_rows: int
    solver: str


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure, write a page after every fit, and return 1 if the promise is broken."""
    kept = Kept(output / "growth.json", fresh)
    sizes = _QUICK_SIZES if quick else _SIZES
    found: dict[Fit, dict[str, Any]] = {}
    fits = [Fit(s, n, solver) for s, many in sizes.items() for solver in _SOLVERS for n in many]
    for fit in fits:
        name = " ".join(str(value) for value in asdict(fit).values())
        found[fit] = kept.get(name, partial(_in_own_process, fit))
        print(f"{name:40s} {found[fit]}", flush=True)
        _write(output, arguments, found)
    worst = max(_exponents(found).values())
    print(f"largest exponent {worst:.3f}; wrote {output / 'growth.md'}")
    return int(worst > _LARGEST_EXPONENT)


def measured(fit: Fit) -> dict[str, Any]:
    """Return seconds, memory and gap of a fit in this process.

    Parameters
    ----------
    fit : Fit
        The fit.
    """
    X, y = _rows(fit.source, fit.n_rows)
    few = slice(None, 2000)
    _solve(X[few], y[few], fit.solver)  # what is loaded on first use is loaded now
    times: list[float] = []
    memory = 0
    while len(times) < 3 and sum(times) < _ENOUGH_SECONDS:
        with _peak_memory() as peak:
            start = time.process_time()
            solution = _solve(X, y, fit.solver)
            times.append(time.process_time() - start)
        memory = max(memory, peak[0])
    if solution.status is not hinge.Status.SOLVED:
        message = f"{fit} is not solved: {solution.status}, {solution.certificate}"
        raise RuntimeError(message)
    return {
        "seconds": min(times),
        "bytes": memory,
        "gap": solution.certificate.relative_gap,
        "passes": solution.work / X.size,
        "solver": solution.solver,
    }


def _solve(X: Any, y: Any, solver: str) -> hinge.Solution:
    problem = hinge.Problem(X, y, C=_C, intercept="free")
    return hinge.solve(problem, solver=solver, stop=hinge.Stop(gap=_GAP))


@contextmanager
def _peak_memory() -> Iterator[list[int]]:
    """Sample the anonymous memory while the block runs; the list then has the growth."""
    before = anonymous_bytes()
    peak, done = [0], threading.Event()

    def sample() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            peak[0] = max(peak[0], anonymous_bytes() - before)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _rows(source: str, n_rows: int) -> tuple[Any, Any]:
    if source == _COVTYPE:
        X, y = arrays.read(cached_arrays("covtype", "float64"))
        chosen = np.random.default_rng(0).permutation(len(y))[:n_rows]
        return np.ascontiguousarray(X[chosen]), y[chosen]
    return shards(n_rows)


def shards(n_rows: int) -> tuple[Any, Any]:
    """Return the synthetic rows in their memory-mapped file, which is written if it is not there.

    Parameters
    ----------
    n_rows : int
        How many.
    """
    path = cache_folder() / "shards" / f"{n_rows}x{_FEATURES}.hingedata"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_shards(path, _synthetic(n_rows))
    opened = open_shards(path)
    return opened.X, opened.y


def _synthetic(n_rows: int) -> Iterator[Dataset]:
    """Return blocks of float32 rows with one class on either side of a plane, a tenth astray."""
    random = np.random.default_rng(0)
    weights = random.normal(size=_FEATURES)
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, n_rows - first)
        X = random.normal(size=(count, _FEATURES)).astype(np.float32)
        y = np.where((X @ weights > 0) ^ (random.uniform(size=count) < 0.1), 1, 0)
        yield Dataset(X, y)


def _in_own_process(fit: Fit) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, json.dumps(asdict(fit))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _exponents(found: dict[Fit, dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Return how seconds grow with the rows, for every source and solver: slope of logarithms."""
    exponents = {}
    for source, solver in dict.fromkeys((fit.source, fit.solver) for fit in found):
        fits = [fit for fit in found if (fit.source, fit.solver) == (source, solver)]
        if len(fits) > 1:
            sizes = np.log([fit.n_rows for fit in fits])
            seconds = np.log([found[fit]["seconds"] for fit in fits])
            exponents[source, solver] = float(np.polyfit(sizes, seconds, 1)[0])
    return exponents


def _write(output: Path, arguments: list[str], found: dict[Fit, dict[str, Any]]) -> None:
    report = new_report("Time and memory against the number of rows", arguments)
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    text = (
        f"`hinge.Problem` and `hinge.solve` to a certified relative gap of {_GAP:g}, hinge loss, "
        f"C = {_C:g}, free intercept, one thread; seconds of processor time, shortest of up to "
        "three. *covtype*: that many of its rows at random, float64, 54 features. *shards*: "
        f"synthetic rows in a memory-mapped file, float32, {_FEATURES} features. Memory is the "
        "peak of anonymous resident memory that the fit adds."
    )
    rows = [
        [
            fit.source,
            fit.solver,
            str(fit.n_rows),
            f"{result['seconds']:.3g}",
            f"{1e6 * result['seconds'] / fit.n_rows:.3g}",
            f"{result['passes']:.0f}",
            f"{result['bytes'] / 1e6:.0f}",
            f"{result['bytes'] / fit.n_rows:.0f}",
            f"{result['gap']:.1e}",
        ]
        for fit, result in found.items()
    ]
    columns = ["passes", "MB", "bytes per row", "gap"]
    lines = table(["rows from", "solver", "rows", "seconds", "µs per row", *columns], rows)
    verdicts = [
        [source, solver, f"{value:.3f}", "yes" if value <= _LARGEST_EXPONENT else "NO"]
        for (source, solver), value in _exponents(found).items()
    ]
    slopes = table(["rows from", "solver", "exponent", f"at most {_LARGEST_EXPONENT}"], verdicts)
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{lines}\n\n## Exponent of the time\n\n"
    page += f"Slope of log seconds over log rows, least squares.\n\n{slopes}\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / "growth.md").write_text(page)


if __name__ == "__main__":
    print(json.dumps(measured(Fit(**json.loads(sys.argv[1])))))
