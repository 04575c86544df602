"""A path of 20 values of C against 20 fits of their own, ours and scikit-learn's.

scikit-learn is given half as many iterations again, for every value of C, until its recomputed
objective is within the same relative gap of the proven lower bound; only its last fit counts.
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
_ENOUGH = 25.0  # times the path: what is tried of scikit-learn in all
_PATH_OF_ALONE = 1 / 4
_PATH_OF_PEER = 1 / 20


@dataclass
class _Times:
    """Seconds for every value of C, in their order."""

    path: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    cut: list[bool] = field(default_factory=list)  # where the peer did not arrive


def main(output: Path, arguments: list[str], rounds: int = 3) -> int:
    """Measure, write a page, and return 1 if a promise is broken."""
    report = new_report("A path of 20 values of C", arguments)
    lines: list[list[str]] = []
    sections = []
    for name in _DATASETS:
        X, y = arrays.read(cached_arrays(name, "float64"))
        times = _measured(X, y, rounds)
        lines.append(_summary(name, times))
        print("  ".join(f"{cell:14s}" for cell in lines[-1]), flush=True)
        sections.append(f"## {name}\n\n{_details(times)}\n")
    header = ["data", "path", "20 fits", "path / 20 fits", "scikit-learn", "path / sklearn", "kept"]
    text = (
        "C from 1e-3 to 100 on a logarithmic scale, hinge loss, augmented intercept, float64, one "
        f"thread; every point certified at a relative gap of {_TARGET:g}. Seconds; path and fits "
        f"are the shortest of {rounds} rounds. scikit-learn: `LinearSVC`, for every C with the "
        "least of 2, 3, 5, 8, ... iterations after which its recomputed objective is within the "
        "same gap of the proven lower bound; only that fit counts. It is given up, in the order "
        f"of C, when its fits together have taken {_ENOUGH:g} times the path (marked >, and so is "
        "what is no longer tried). *kept*: at most 1/4 of the fits, at most 1/20 of scikit-learn."
    )
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{table(header, lines)}\n\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / "path.md").write_text(page + "\n".join(sections))
    broken = sum(line[-1] == "NO" for line in lines)
    print(f"{broken} of {len(lines)} promises broken; wrote {output / 'path.md'}")
    return int(broken > 0)


def _measured(X: Any, y: Any, rounds: int) -> _Times:
    problem = hinge.Problem(X, y, intercept="augmented")
    stop = hinge.Stop(gap=_TARGET)
    paths = [hinge.path(problem, _CS, stop=stop) for _ in range(rounds)]
    best = min(paths, key=lambda path: sum(s.seconds for s in path))
    alone = [
        min(
            (hinge.solve(problem.with_C(C), stop=stop) for _ in range(rounds)),
            key=lambda s: s.seconds,
        )
        for C in _CS
    ]
    for solution in (*best, *alone):
        if solution.status is not hinge.Status.SOLVED:
            message = f"a point is not certified: {solution.status}, {solution.certificate}"
            raise RuntimeError(message)
    times = _Times([s.seconds for s in best], [s.seconds for s in alone])
    limit = _ENOUGH * sum(times.path)
    for C, solution in zip(_CS, best, strict=True):
        bound = solution.certificate.primal - solution.certificate.gap
        left = limit - sum(times.peer)
        seconds, arrived = _peer(X, y, problem.with_C(C), bound, left) if left > 0 else (0.0, False)
        times.peer.append(seconds)
        times.cut.append(not arrived)
    return times


def _peer(X: Any, y: Any, problem: hinge.Problem, bound: float, limit: float) -> tuple[float, bool]:
    """Return the seconds of scikit-learn's fit to the same objective, and whether it arrived."""
    iterations = 2
    while True:
        model = LinearSVC(
            loss="hinge", C=problem.C, tol=_NO_TOLERANCE, max_iter=iterations, random_state=0
        )
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        seconds = time.perf_counter() - start
        point = hinge.Point(model.coef_[0], float(model.intercept_[0]))
        objective = gap(problem, point, region=False).primal
        if objective - bound <= _TARGET * objective:
            return seconds, True
        if seconds > limit:
            return seconds, False
        iterations = math.ceil(_GROWTH * iterations)


def _summary(name: str, times: _Times) -> list[str]:
    path, alone, peer = sum(times.path), sum(times.alone), sum(times.peer)
    kept = path <= _PATH_OF_ALONE * alone and path <= _PATH_OF_PEER * peer
    more = "> " if any(times.cut) else ""
    less = "< " if any(times.cut) else ""
    ratios = f"1/{alone / path:.1f}", f"{less}1/{peer / path:.1f}"
    seconds = f"{path:.2f}", f"{alone:.2f}", f"{more}{peer:.2f}"
    verdict = "yes" if kept else "NO"
    return [name, seconds[0], seconds[1], ratios[0], seconds[2], ratios[1], verdict]


def _details(times: _Times) -> str:
    rows = [
        [f"{C:.3g}", f"{path:.3f}", f"{alone:.3f}", f"{'> ' if cut else ''}{peer:.3f}"]
        for C, path, alone, peer, cut in zip(
            _CS, times.path, times.alone, times.peer, times.cut, strict=True
        )
    ]
    return table(["C", "path", "fit of its own", "scikit-learn"], rows)
