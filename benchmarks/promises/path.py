"""A path of 20 values of C against 20 fits of their own, ours and scikit-learn's.

scikit-learn is given half as many iterations again, for every value of C, until its recomputed
objective is within the same relative gap of the proven lower bound; only its last fit counts.
Both are given up, in the order of C, when they have taken clearly more than the promise allows.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import hinge
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table
from hinge.certificates import gap

_DATASETS = ("a9a", "mnist")
_CS = np.logspace(-3, 2, 20)
_TARGET = 1e-3
_NO_TOLERANCE = 1e-12  # so that the number of iterations decides
_GROWTH = 1.5  # of that number, until the objective is reached
_PROMISED = {"fits": 4.0, "peer": 20.0}  # how many times the path they take
_TRIED = {"fits": 8.0, "peer": 25.0}  # from which on they are given up


@dataclass
class _Series:
    """What one method took: processor seconds for every value of C, as far as it was tried."""

    seconds: list[float] = field(default_factory=list)
    passes: list[float] = field(default_factory=list)
    is_whole: bool = True

    @property
    def total(self) -> float:
        return sum(self.seconds)


def main(output: Path, arguments: list[str]) -> int:
    """Measure, write a page after every data set, and return 1 if a promise is broken."""
    report = new_report("A path of 20 values of C", arguments)
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    head += f"- Date: {report.date}\n\n{_explained()}\n"
    header = ["data", "path", "20 fits", "ratio", "scikit-learn", "ratio", "kept"]
    lines: list[list[str]] = []
    sections = []
    output.mkdir(parents=True, exist_ok=True)
    for name in _DATASETS:
        X, y = arrays.read(cached_arrays(name, "float64"))
        problem = hinge.Problem(X, y, intercept="augmented")
        path, solutions = _path(problem)
        fits = _fits(problem, _TRIED["fits"] * path.total)
        peer = _peer(X, y, problem, solutions, _TRIED["peer"] * path.total)
        lines.append(_summary(name, path, fits, peer))
        print("  ".join(f"{cell:14s}" for cell in lines[-1]), flush=True)
        sections.append(f"## {name}\n\n{_details(path, fits, peer)}\n")
        page = "\n".join([head, table(header, lines), "", *sections])
        (output / "path.md").write_text(page)
    broken = sum(line[-1] == "NO" for line in lines)
    print(f"{broken} of {len(lines)} promises broken; wrote {output / 'path.md'}")
    return int(broken > 0)


def _explained() -> str:
    """Return what the columns are."""
    return (
        "C from 1e-3 to 100 on a logarithmic scale, hinge loss, augmented intercept, float64, one "
        f"thread; every point certified at a relative gap of {_TARGET:g}. Seconds of processor "
        "time. scikit-learn: `LinearSVC`, for every C with the least of 2, 3, 5, 8, ... "
        "iterations after which its recomputed objective is within the same gap of the proven "
        "lower bound; only that fit counts. Fits are given up, in the order of C, at "
        f"{_TRIED['fits']:g} times the path, scikit-learn's at {_TRIED['peer']:g} times (marked "
        f">). *kept*: the fits take at least {_PROMISED['fits']:g} times the path and "
        f"scikit-learn's at least {_PROMISED['peer']:g} times."
    )


def _path(problem: hinge.Problem) -> tuple[_Series, list[hinge.Solution]]:
    """Return what the path took and its solutions; one that is not certified is an error."""
    series = _Series()
    start = time.process_time()
    solutions = hinge.path(problem, _CS, stop=hinge.Stop(gap=_TARGET))
    series.seconds = [time.process_time() - start]
    series.passes = [solution.work / problem.rows.n_stored for solution in solutions]
    for solution in solutions:
        if solution.status is not hinge.Status.SOLVED:
            message = f"a point is not certified: {solution.status}, {solution.certificate}"
            raise RuntimeError(message)
    return series, solutions


def _fits(problem: hinge.Problem, limit: float) -> _Series:
    """Return what fits of their own took, until they have taken the limit."""
    series = _Series()
    for C in _CS:
        left = limit - series.total
        if left <= 0.0:
            series.is_whole = False
            break
        start = time.process_time()
        stop = hinge.Stop(gap=_TARGET, seconds=left)
        solution = hinge.solve(problem.with_C(C), stop=stop)
        series.seconds.append(time.process_time() - start)
        series.passes.append(solution.work / problem.rows.n_stored)
        series.is_whole &= solution.status is hinge.Status.SOLVED
    return series


def _peer(
    X: Any, y: Any, problem: hinge.Problem, solutions: list[hinge.Solution], limit: float
) -> _Series:
    """Return what scikit-learn took to the same objectives, until it has taken the limit."""
    series = _Series()
    iterations = 2
    for C, solution in zip(_CS, solutions, strict=True):
        left = limit - series.total
        bound = solution.certificate.primal - solution.certificate.gap
        while True:
            seconds, objective = _peer_fit(X, y, problem.with_C(C), iterations)
            if objective - bound <= _TARGET * objective or seconds > left:
                break
            iterations = math.ceil(_GROWTH * iterations)
        series.seconds.append(seconds)
        if series.total > limit:
            series.is_whole = False
            break
        # A larger C mostly needs more of them; where it does not, one step fewer is tried first.
        iterations = max(2, int(iterations / _GROWTH))
    return series


def _peer_fit(X: Any, y: Any, problem: hinge.Problem, iterations: int) -> tuple[float, float]:
    """Return the seconds of one fit by scikit-learn, and its objective, recomputed."""
    model = LinearSVC(
        loss="hinge", C=problem.C, tol=_NO_TOLERANCE, max_iter=iterations, random_state=0
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    seconds = time.process_time() - start
    point = hinge.Point(model.coef_[0], float(model.intercept_[0]))
    return seconds, gap(problem, point, region=False).primal


def _summary(name: str, path: _Series, fits: _Series, peer: _Series) -> list[str]:
    cells = [name, f"{path.total:.2f}"]
    kept = True
    for promised, series in ((_PROMISED["fits"], fits), (_PROMISED["peer"], peer)):
        ratio = series.total / path.total
        kept = kept and ratio >= promised
        more = "" if series.is_whole else "> "
        cells += [f"{more}{series.total:.2f}", f"{more}{ratio:.1f}"]
    return [*cells, "yes" if kept else "NO"]


def _details(path: _Series, fits: _Series, peer: _Series) -> str:
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
        for k, C in enumerate(_CS)
    ]
    header = ["C", "path, passes", "fit, passes", "fit, seconds", "scikit-learn, seconds"]
    return table(header, rows)
