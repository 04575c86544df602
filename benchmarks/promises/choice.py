"""What ``solver="auto"`` chooses, against every solver by name.

Every combination of data, loss, intercept, C and gap is solved by ``auto`` first, and then by every
solver that takes it, each given up when it has taken clearly longer: only a faster one matters.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets as bundled

import hinge
from benchmarks.promises import growth, made
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.datasets.base import archive
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table
from hinge.solvers import get_solver, solver_names

_PROMISED = 1.3  # how many times what the best solver takes
_EVEN = 0.003  # seconds that are not worth a comparison
_LIMIT = 60.0  # seconds after which a combination is given up
_SHORT = 0.3  # seconds below which a fit is timed again
_ROUNDS = 5
_LOSSES = ("hinge", "squared_hinge", "huber")
_INTERCEPTS = ("augmented", "free")
_CS = (1e-3, 1.0, 100.0, 1e4)
_GAPS = (1e-3, 1e-4, 1e-6)
_SAMPLE = 100_000


def _raw(name: str, positive: Callable[[Any], Any], **options: Any) -> Callable[[], Any]:
    """Return a reader of a bundled data set as it was measured, one class against the rest."""

    def load() -> tuple[Any, Any]:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True, **options)
        return np.ascontiguousarray(X, dtype=np.float64), np.where(positive(y), 1, -1)

    return load


def _suite(name: str, size: int | None = None) -> Callable[[], Any]:
    """Return a reader of a data set of the suite, or of some of its rows."""

    def load() -> tuple[Any, Any]:
        X, y = arrays.read(cached_arrays(name, "float64"))
        if size is None:
            return X, y
        picks = np.sort(np.random.default_rng(0).permutation(len(y))[:size])
        return X[picks], y[picks]

    return load


def _archived(name: str) -> Callable[[], Any]:
    """Return a reader of a data set outside the suite; dense columns are scaled to at most 1."""

    def load() -> tuple[Any, Any]:
        data = archive(name)
        y = np.where(data["y_train"] > 0, 1, -1)
        if "X_train" not in data:
            parts = tuple(data[f"X_train_{part}"] for part in ("data", "indices", "indptr"))
            return sp.csr_array(parts, shape=tuple(data["X_train_shape"])).astype(np.float64), y
        X = data["X_train"].astype(np.float64)
        return X / np.maximum(np.abs(X).max(axis=0), 1.0), y

    return load


_READERS: dict[str, Callable[[], Any]] = {
    "iris (raw)": _raw("iris", lambda y: y == 1),
    "wine (raw)": _raw("wine", lambda y: y == 1),
    "diabetes (raw)": _raw("diabetes", lambda y: y > np.median(y), scaled=False),
    "breast_cancer (raw)": _raw("breast_cancer", lambda y: y == 1),
    "usps": _suite("usps"),
    "a9a": _suite("a9a"),
    "reuters_moneyfx": _suite("reuters_moneyfx"),
    "reuters21578": _suite("reuters21578"),
    "covtype (100,000)": _suite("covtype", _SAMPLE),
    "mnist": _suite("mnist"),
    "covtype": _suite("covtype"),
    "adult (scaled)": _archived("adult"),
    "rcv1_small": _archived("rcv1_small"),
    "words (50,000)": lambda: made.words(50_000, 300, 12),
    "categories (60,000)": lambda: made.categories(60_000, 8, 100),
    "shards (500,000)": lambda: growth.shards(500_000),
    "shards (5,000,000)": lambda: growth.shards(5_000_000),
}


@dataclass
class _Line:
    """One combination: what every solver took, and who ended what ``auto`` began."""

    words: list[str]
    auto: float
    by: str
    certified: bool
    best: str = ""
    seconds: float = math.inf

    @property
    def ratio(self) -> float:
        return self.auto / self.seconds

    @property
    def is_kept(self) -> bool:
        """Whether nothing that certifies is clearly faster."""
        if not self.certified:
            return math.isinf(self.seconds)
        return self.ratio <= _PROMISED or self.auto - self.seconds <= _EVEN

    @property
    def cells(self) -> list[str]:
        best = [self.best, f"{self.seconds:.4f}", f"{self.ratio:.2f}"]
        mine = f"{self.auto:.4f}" if self.certified else "not certified"
        kept = "yes" if self.is_kept else "NO"
        return [*self.words, mine, self.by, *(best if self.best else ["none", "", ""]), kept]


def main(output: Path, arguments: list[str]) -> int:
    """Measure, write a page after every data set, and return 1 if the promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks choice", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=list(_READERS), choices=list(_READERS))
    parser.add_argument("--losses", nargs="+", default=list(_LOSSES), choices=_LOSSES)
    parser.add_argument("--intercepts", nargs="+", default=list(_INTERCEPTS), choices=_INTERCEPTS)
    parser.add_argument("--costs", nargs="+", type=float, default=list(_CS))
    parser.add_argument("--gaps", nargs="+", type=float, default=list(_GAPS))
    parser.add_argument("--limit", type=float, default=_LIMIT, help="seconds of a combination")
    options = parser.parse_args(arguments[1:])
    report = new_report("The choice of a solver", arguments)
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    head += f"- Date: {report.date}\n\n{_explained(options.limit)}\n"
    head += f"\n{_covered(options)}\n"
    lines: list[_Line] = []
    output.mkdir(parents=True, exist_ok=True)
    for name in options.datasets:
        for line in _measured(name, options):
            lines.append(line)
            print("  ".join(f"{cell:15s}" for cell in line.cells), flush=True)
        (output / "choice.md").write_text(f"{head}\n{_summary(lines)}\n\n{_table(lines)}\n")
    broken = sum(not line.is_kept for line in lines)
    print(f"{broken} of {len(lines)} promises broken; wrote {output / 'choice.md'}")
    return int(broken > 0)


def _explained(limit: float) -> str:
    return (
        "Seconds of processor time, one thread, float64, the shortest of up to "
        f"{_ROUNDS} fits. *by*: the method that ended what `auto` began. *best*: the fastest "
        "solver by name that certifies the gap; one is given up when it has taken twice as long "
        f"as `auto`. Combinations that `auto` does not end in {limit:g} s are marked as not "
        f"certified. *kept*: at most {_PROMISED:g} times the best, or within "
        f"{1000 * _EVEN:g} ms of it."
    )


def _covered(options: argparse.Namespace) -> str:
    """Return how much of what could be measured is."""
    values = ", ".join(f"{C:g}" for C in options.costs)
    gaps = ", ".join(f"{gap:g}" for gap in options.gaps)
    return (
        f"Asked for: {len(options.datasets)} of the {len(_READERS)} sets that the command knows, "
        f"C = {values}, gaps {gaps}. Nothing is claimed of others."
    )


def _measured(name: str, options: argparse.Namespace) -> Iterator[_Line]:
    X, y = _READERS[name]()
    for loss, intercept in itertools.product(options.losses, options.intercepts):
        problem = hinge.Problem(X, y, loss=loss, intercept=intercept)
        for C, gap in itertools.product(options.costs, options.gaps):
            words = [name, loss, intercept, f"{C:g}", f"{gap:g}"]
            yield _compared(problem.with_C(C), gap, words, options.limit)


def _compared(problem: hinge.Problem, gap: float, words: list[str], limit: float) -> _Line:
    """Return what ``auto`` took and the best of the others."""
    auto, solution = _timed(problem, "auto", gap, limit)
    line = _Line(words, auto, solution.solver, solution.status is hinge.Status.SOLVED)
    for name in solver_names():
        if not get_solver(name, problem, gap).supports(problem):
            continue
        seconds, solution = _timed(problem, name, gap, min(limit, 2.0 * auto + _EVEN))
        if solution.status is hinge.Status.SOLVED and seconds < line.seconds:
            line.best, line.seconds = name, seconds
    return line


def _timed(
    problem: hinge.Problem, solver: str, gap: float, limit: float
) -> tuple[float, hinge.Solution]:
    """Return the processor seconds of the fastest of some fits, and the last solution."""
    best = math.inf
    for _ in range(_ROUNDS):
        began = time.process_time()

        def is_late(_: Any, began: float = began) -> bool:
            return time.process_time() - began > limit

        stop = hinge.Stop(gap=gap)
        solution = hinge.solve(problem, solver, stop, observers=[is_late])
        best = min(best, time.process_time() - began)
        if best > _SHORT or solution.status is not hinge.Status.SOLVED:
            break
    return best, solution


def _summary(lines: list[_Line]) -> str:
    kept = sum(line.is_kept for line in lines)
    certified = [line for line in lines if line.certified and line.best]
    ratios = [line.ratio for line in certified if line.auto - line.seconds > _EVEN] or [1.0]
    others = sum(not line.certified and bool(line.best) for line in lines)
    even = [line.ratio for line in certified if line.is_kept and line.ratio > _PROMISED]
    up_to = f", with ratios up to {max(even):.2f}" if even else ""
    return (
        f"Kept in {kept} of {len(lines)} combinations, in {len(even)} of them only because "
        f"{1000 * _EVEN:g} ms do not count{up_to}; the largest ratio that is not a matter of "
        f"{1000 * _EVEN:g} ms is {max(ratios):.2f}. Combinations that a named solver certifies and "
        f"`auto` does not: {others}."
    )


def _table(lines: list[_Line]) -> str:
    header = ["data", "loss", "intercept", "C", "gap", "auto", "by", "best", "takes", "ratio"]
    return table([*header, "kept"], [line.cells for line in lines])
