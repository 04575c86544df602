"""One thread against two: solvers, evaluation, classes, folds and values of C, to the same bits."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hinge
from benchmarks.micro.bandwidth import Bandwidth
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.datasets.base import archive
from benchmarks.suite.kept import Kept
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table
from hinge.certificates import gap

_PROMISED = 1.6
_REPEATS = 3
_ENOUGH_SECONDS = 30.0
_MEMORY = "for comparison: reading 400 MB five times, with nothing done about it"

# What is measured: given a number of threads, does the work and returns what must be equal.
Work = Callable[[int], Any]


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure, write a page after every line, and return 1 if the promise is broken."""
    kept = Kept(output / "threads.json", fresh)
    found: dict[str, dict[str, Any]] = {}
    for name, make in _cases(quick).items():
        found[name] = kept.get(name, partial(_measured, make))
        print(f"{name}: {found[name]}", flush=True)
        _write(output, arguments, found)
    promised = [name for name in found if name != _MEMORY]
    broken = [name for name in promised if not _is_kept(found[name])]
    print(f"{len(broken)} of {len(promised)} below {_PROMISED}; wrote {output / 'threads.md'}")
    return int(bool(broken))


def _cases(quick: bool) -> dict[str, Callable[[], Work]]:
    """Return what is measured by name, each with what prepares it."""
    large, wide = ("usps", "usps") if quick else ("covtype", "mnist")
    setting = f"{large}, C = 100, free intercept, gap 1e-4"
    return {
        f"interior-point, hinge, {setting}": partial(_solver, large, "interior-point", "hinge"),
        f"newton, hinge, {setting}": partial(_solver, large, "newton", "hinge"),
        f"newton, squared hinge, {setting}": partial(_solver, large, "newton", "squared_hinge"),
        f"certificate, {wide}": partial(_certificate, wide),
        f"decision_function, {wide}": partial(_decision_values, wide),
        "LinearSVC, ten classes of usps": _classes,
        "LinearSVCCV, a9a, 4 folds of 5 values of C": _folds,
        _MEMORY: _memory,
    }


def _data(name: str) -> tuple[Any, Any]:
    return arrays.read(cached_arrays(name, "float64"))


def _solver(name: str, solver: str, loss: str) -> Work:
    problem = hinge.Problem(*_data(name), loss=loss, C=100.0, intercept="free")

    def work(threads: int) -> Any:
        stop = hinge.Stop(gap=1e-4)
        solution = hinge.solve(problem, solver=solver, stop=stop, n_jobs=threads)
        return solution.coef

    return work


def _certificate(name: str) -> Work:
    problem = hinge.Problem(*_data(name), intercept="augmented")
    point = hinge.solve(problem, stop=hinge.Stop(gap=1e-1)).point

    def work(threads: int) -> Any:
        found = [gap(problem, point, threads=threads) for _ in range(5)]
        return [found[-1].primal, found[-1].dual]

    return work


def _decision_values(name: str) -> Work:
    X, y = _data(name)
    model = hinge.LinearSVC(tol=1e-1).fit(X, y)

    def work(threads: int) -> Any:
        model.set_params(n_jobs=threads)
        return [model.decision_function(X) for _ in range(5)][-1]

    return work


def _classes() -> Work:
    data = archive("usps")
    X, y = data["X_train"].astype(np.float64), data["y_train"]
    return lambda threads: (
        hinge.LinearSVC(loss="hinge", max_iter=100_000, n_jobs=threads).fit(X, y).coef_
    )


def _folds() -> Work:
    X, y = _data("a9a")
    Cs = [0.01, 0.1, 1.0, 10.0, 100.0]

    def work(threads: int) -> Any:
        model = hinge.LinearSVCCV(Cs, cv=4, loss="hinge", tol=1e-3, refit=False, n_jobs=threads)
        return model.fit(X, y).scores_

    return work


def _memory() -> Work:
    memory = Bandwidth(400 * 10**6)
    return lambda threads: [memory.read(threads) for _ in range(5)][-1]


def _measured(prepare: Callable[[], Work]) -> dict[str, Any]:
    """Return the shortest times with one and with two threads, and whether the bits are equal."""
    work = prepare()
    work(1)
    times: dict[int, list[float]] = {1: [], 2: []}
    results: dict[int, Any] = {}
    while len(times[2]) < _REPEATS and (not times[2] or sum(times[1]) < _ENOUGH_SECONDS):
        for threads, taken in times.items():
            start = time.perf_counter()
            results[threads] = work(threads)
            taken.append(time.perf_counter() - start)
    return {
        "one": min(times[1]),
        "two": min(times[2]),
        "same_bits": bool(np.array_equal(results[1], results[2])),
    }


def _is_kept(result: dict[str, Any]) -> bool:
    return bool(result["one"] >= _PROMISED * result["two"] and result["same_bits"])


def _write(output: Path, arguments: list[str], found: dict[str, dict[str, Any]]) -> None:
    report = new_report("One thread against two", arguments)
    machine = report.machine.replace("(one used)", "(both used)")
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {machine}\n"
    text = (
        f"Seconds of the clock on the wall, the shortest of up to {_REPEATS}, alternating. *kept*: "
        f"at least {_PROMISED} times as fast with two threads, and the same bits. What reads rows "
        "once and does little with them cannot gain more than reading memory does."
    )
    rows = [
        [
            name,
            f"{result['one']:.3g}",
            f"{result['two']:.3g}",
            f"{result['one'] / result['two']:.2f}",
            "yes" if result["same_bits"] else "NO",
            "-" if name == _MEMORY else "yes" if _is_kept(result) else "NO",
        ]
        for name, result in found.items()
    ]
    header = ["what", "n_jobs=1", "n_jobs=2", "ratio", "same bits", "kept"]
    output.mkdir(parents=True, exist_ok=True)
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{table(header, rows)}\n"
    (output / "threads.md").write_text(page)
