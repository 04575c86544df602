"""Small data: ``hinge.LinearSVC`` beside scikit-learn's, on the sets that come with the latter."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import sklearn.svm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import hinge
from benchmarks.suite.kept import Kept
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table

_SETS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}
_LOSSES = ("squared_hinge", "hinge")
_CS = (0.01, 1.0, 100.0)
_REPEATS = 30
_ENOUGH_SECONDS = 2.0


def main(output: Path, arguments: list[str], fresh: bool = False, quick: bool = False) -> int:
    """Measure, write a page after every line, and return 0: nothing is promised here."""
    kept = Kept(output / "small.json", fresh)
    found: dict[str, dict[str, float]] = {}
    for name, measure in _cases(quick).items():
        found[name] = kept.get(name, measure)
        print(f"{name}: {found[name]}", flush=True)
        _write(output, arguments, found)
    return 0


def _cases(quick: bool) -> dict[str, Callable[[], dict[str, float]]]:
    sets = ("iris",) if quick else tuple(_SETS)
    return {
        f"{'scaled' if scaled else 'raw'} {name}, {loss}, C = {C:g}": partial(
            _measured, name, scaled, loss, C
        )
        for name in sets
        for scaled in (True, False)
        for loss in _LOSSES
        for C in _CS
    }


def _measured(name: str, scaled: bool, loss: str, C: float) -> dict[str, float]:
    """Return the shortest times of both, alternating, and how far both are from the optimum."""
    X, y = _SETS[name](return_X_y=True)
    X = scale(X) if scaled else X
    models = {
        "theirs": sklearn.svm.LinearSVC(loss=loss, C=C, random_state=0),
        "ours": hinge.LinearSVC(loss=loss, C=C),
    }
    times: dict[str, list[float]] = {who: [] for who in models}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says it
        while len(times["ours"]) < _REPEATS and sum(map(sum, times.values())) < _ENOUGH_SECONDS:
            for who, model in models.items():
                start = time.perf_counter()
                model.fit(X, y)
                times[who].append(time.perf_counter() - start)
        judged: Any = hinge.compare(models["theirs"], models["ours"], X, y)
    return {
        **{who: min(taken) for who, taken in times.items()},
        "their_gap": judged.a.relative_gap,
        "our_gap": judged.b.relative_gap,
    }


def _write(output: Path, arguments: list[str], found: dict[str, dict[str, float]]) -> None:
    report = new_report("Small data", arguments)
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    text = (
        "`LinearSVC` of scikit-learn and of hinge with the same arguments and their default "
        f"tolerances: milliseconds of the clock on the wall, the shortest of up to {_REPEATS} "
        "fits, alternating, with hinge's certificates. *gap*: how far the objective, all classes "
        "together, is above the optimum, relatively, as `hinge.compare` proves it."
    )
    rows = [
        [
            name,
            f"{1e3 * result['theirs']:.3g}",
            f"{1e3 * result['ours']:.3g}",
            f"{result['ours'] / result['theirs']:.2f}",
            f"{result['their_gap']:.1e}",
            f"{result['our_gap']:.1e}",
        ]
        for name, result in found.items()
    ]
    header = ["task", "scikit-learn", "hinge", "ratio", "gap of scikit-learn", "gap of hinge"]
    output.mkdir(parents=True, exist_ok=True)
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{table(header, rows)}\n"
    (output / "small.md").write_text(page)
