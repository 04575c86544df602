"""A path of 20 values of C against 20 fits of their own, ours and scikit-learn's.

scikit-learn is given twice as many iterations again, for every value of C, until its recomputed
objective is within the same relative gap of the proven lower bound; only its last fit counts.
Fits go from the largest C to the smallest, since the largest take longest, and both are given up
when they have clearly taken more than the promise allows. Every measurement is kept as it comes.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import hinge
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.kept import Kept
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table
from hinge.certificates import gap

_DATASETS = ("a9a", "mnist")
_QUICK_DATASETS = ("usps",)
_CS = np.logspace(-3, 2, 20)
_TARGET = 1e-3
_NO_TOLERANCE = 1e-12  # so that the number of iterations decides
_FIRST_ITERATIONS = 16
_PROMISED = {"fits": 4.0, "peer": 20.0}  # how many times the path they take
_TRIED = {"fits": 5.0, "peer": 22.0}  # from which on they are given up


@dataclass
class _Series:
    """What one method took: processor seconds for every value of C, from the largest on."""

    seconds: list[float] = field(default_factory=list)
    passes: list[float] = field(default_factory=list)
    is_whole: bool = True

    @property
    def total(self) -> float:
        return sum(self.seconds)


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure, write a page after every series, and return 1 if a promise is broken."""
    kept = Kept(output / "path.json", fresh)
    found: dict[str, dict[str, _Series]] = {}
    for name in _QUICK_DATASETS if quick else _DATASETS:
        measure = _Measure(name)
        found[name] = {}
        for kind, make in (("path", measure.path), ("peer", measure.peer), ("fits", measure.fits)):
            stored = kept.get(f"{name} {kind}", partial(_plain, make))
            found[name][kind] = measure.known[kind] = _Series(**stored)
            _write(output, arguments, found)
        print("  ".join(f"{cell:14s}" for cell in _summary(name, **found[name])), flush=True)
    broken = sum(_summary(name, **series)[-1] == "NO" for name, series in found.items())
    print(f"{broken} of {len(found)} promises broken; wrote {output / 'path.md'}")
    return int(broken > 0)


def _plain(make: Callable[[], _Series]) -> dict[str, Any]:
    return asdict(make())


def _write(output: Path, arguments: list[str], found: dict[str, dict[str, _Series]]) -> None:
    """Write the page of the data sets that are done."""
    report = new_report("A path of 20 values of C", arguments)
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    head += f"- Date: {report.date}\n\n{_explained()}\n"
    header = ["data", "path", "20 fits", "ratio", "scikit-learn", "ratio", "kept"]
    whole = {name: series for name, series in found.items() if len(series) == 3}
    lines = [_summary(name, **series) for name, series in whole.items()]
    sections = [f"## {name}\n\n{_details(**series)}\n" for name, series in whole.items()]
    output.mkdir(parents=True, exist_ok=True)
    (output / "path.md").write_text("\n".join([head, table(header, lines), "", *sections]))


def _explained() -> str:
    """Return what the columns are."""
    return (
        "C from 1e-3 to 100 on a logarithmic scale, hinge loss, augmented intercept, float64, one "
        f"thread; every point certified at a relative gap of {_TARGET:g}. Seconds of processor "
        "time. scikit-learn: `LinearSVC`, for every C with the least of "
        f"{_FIRST_ITERATIONS}, {2 * _FIRST_ITERATIONS}, {4 * _FIRST_ITERATIONS}, ... iterations "
        "after which its recomputed objective is within the same gap of the proven lower bound; "
        "only that fit counts. Fits are given up, from the largest C downwards, at "
        f"{_TRIED['fits']:g} times the path, scikit-learn's at {_TRIED['peer']:g} times (marked >; "
        "a fit that was stopped counts with the time that it had). *kept*: the fits take at least "
        f"{_PROMISED['fits']:g} times the path and scikit-learn's at least "
        f"{_PROMISED['peer']:g} times."
    )


class _Measure:
    """The measurements of one data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    """

    def __init__(self, name: str) -> None:
        self.folder = cached_arrays(name, "float64")
        self.problem = hinge.Problem(*arrays.read(self.folder), intercept="augmented")
        hinge.path(_few_rows(), _CS)  # loads the solvers, which the fits would find loaded
        self.known: dict[str, _Series] = {}
        self._solutions: list[hinge.Solution] = []

    def path(self) -> _Series:
        """Return what the path took; a point that is not certified is an error."""
        series = _Series()
        start = time.process_time()
        solutions = hinge.path(self.problem, _CS, stop=hinge.Stop(gap=_TARGET))
        series.seconds = [time.process_time() - start]
        stored = self.problem.rows.n_stored
        series.passes = [solution.work / stored for solution in solutions][::-1]
        for solution in solutions:
            if solution.status is not hinge.Status.SOLVED:
                message = f"a point is not certified: {solution.status}, {solution.certificate}"
                raise RuntimeError(message)
        self._solutions = solutions
        return series

    def fits(self) -> _Series:
        """Return what fits of their own took, until they have taken the limit."""
        series = _Series()
        limit = _TRIED["fits"] * self.known["path"].total
        for C in _CS[::-1]:
            left = limit - series.total
            if left <= 0.0:
                series.is_whole = False
                break
            start = time.process_time()
            stop = hinge.Stop(gap=_TARGET, seconds=left)
            solution = hinge.solve(self.problem.with_C(C), stop=stop)
            series.seconds.append(time.process_time() - start)
            series.passes.append(solution.work / self.problem.rows.n_stored)
            series.is_whole &= solution.status is hinge.Status.SOLVED
        return series

    def peer(self) -> _Series:
        """Return what scikit-learn took to the same objectives, until it has taken the limit."""
        series = _Series()
        limit = _TRIED["peer"] * self.known["path"].total
        if not self._solutions:  # the path was measured by an earlier run
            self.path()
        for C, solution in zip(_CS[::-1], self._solutions[::-1], strict=True):
            bound = solution.certificate.primal - solution.certificate.gap
            seconds = self._least_fit(self.problem.with_C(C), bound, limit - series.total)
            series.seconds.append(seconds)
            if series.total >= limit:
                series.is_whole = False
                break
        return series

    def _least_fit(self, problem: hinge.Problem, bound: float, left: float) -> float:
        """Return the seconds of the first fit that reaches the gap; what is left if none does."""
        iterations = _FIRST_ITERATIONS
        while True:
            fitted = peer_fit(self.folder, problem.C, iterations, left)
            if fitted is None:
                return left
            seconds, coef, intercept = fitted
            objective = gap(problem, hinge.Point(coef, intercept), region=False).primal
            if objective - bound <= _TARGET * objective:
                return seconds
            iterations *= 2


def _few_rows() -> hinge.Problem:
    """Return a problem that takes no time."""
    X = np.arange(20.0).reshape(10, 2)
    return hinge.Problem(X, X[:, 0] > X.mean(), intercept="augmented")


def peer_fit(
    folder: Path, C: float, iterations: int, limit: float
) -> tuple[float, Any, float] | None:
    """Return seconds, weights and intercept of a fit by scikit-learn; None beyond the limit.

    It runs in a process of its own, which an alarm ends when it has used so much processor time.
    """
    with tempfile.TemporaryDirectory(prefix="hinge-bench-") as name:
        result = Path(name) / "fit.npz"
        job = json.dumps([str(folder), C, iterations, limit, str(result)])
        done = subprocess.run([sys.executable, "-m", __name__, job], check=False)
        if done.returncode == -signal.SIGPROF:
            return None
        if done.returncode != 0:
            message = f"the fit by scikit-learn ended with code {done.returncode}"
            raise RuntimeError(message)
        with np.load(result) as stored:
            return float(stored["seconds"]), stored["coef"], float(stored["intercept"])


def fit_here(folder: str, C: float, iterations: int, limit: float, result: str) -> None:
    """Fit in this process and write what came of it; beyond the limit the process ends."""
    X, y = arrays.read(Path(folder))
    model = LinearSVC(
        loss="hinge", C=C, tol=_NO_TOLERANCE, max_iter=iterations, dual=True, random_state=0
    )
    signal.setitimer(signal.ITIMER_PROF, limit)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    seconds = time.process_time() - start
    np.savez(result, seconds=seconds, coef=model.coef_[0], intercept=model.intercept_[0])


def _summary(name: str, path: _Series, peer: _Series, fits: _Series) -> list[str]:
    cells = [name, f"{path.total:.2f}"]
    kept = True
    for promised, series in ((_PROMISED["fits"], fits), (_PROMISED["peer"], peer)):
        ratio = series.total / path.total
        kept = kept and ratio >= promised
        more = "" if series.is_whole else "> "
        cells += [f"{more}{series.total:.2f}", f"{more}{ratio:.1f}"]
    return [*cells, "yes" if kept else "NO"]


def _details(path: _Series, peer: _Series, fits: _Series) -> str:
    def cell(values: list[float], k: int) -> str:
        return f"{values[k]:.3g}" if k < len(values) else "not tried"

    rows = [
        [
            f"{C:.3g}",
            cell(path.passes, k),
            cell(fits.passes, k),
            cell(fits.seconds, k),
            cell(peer.seconds, k),
        ]
        for k, C in enumerate(_CS[::-1])
    ]
    header = ["C", "path, passes", "fit, passes", "fit, seconds", "scikit-learn, seconds"]
    return table(header, rows)


if __name__ == "__main__":
    fit_here(*json.loads(sys.argv[1]))
