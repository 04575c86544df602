"""Exact paths in C: time against independent fits, certificates of all corners, and a picture."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import numpy as np

import hinge
from benchmarks.duals.data import PATHS, Task
from benchmarks.kernel.record import Row
from benchmarks.suite.tables import table
from hinge.solvers import ExactPath, exact_path, kernel_solver_names
from hinge.threads import single_threaded_blas

__all__ = ["PATHS", "draw", "measure", "section"]

FROM, TO, FITS = 0.01, 100.0, 20
_PAIRS = "smo" if "smo" in kernel_solver_names() else "decomposition"
_SOLVED_ALONE = 40  # corners at which an independent solver is asked as well
_ALONE_GAP = 1e-9
_MOST_DRAWN = 60  # coefficients


@cache
def _path(task: Task) -> tuple[ExactPath, float]:
    began = time.process_time()
    path = exact_path(task.problem(), FROM, TO)
    return path, time.process_time() - began


def measure(task: Task) -> Row:
    """Return how long a path takes beside fits of their own, and what the judge says of it."""
    problem = task.problem()
    with single_threaded_blas():
        path, seconds = _path(task)
        fits, agree = [], 0.0
        for C in np.geomspace(FROM, TO, FITS):
            began = time.process_time()
            alone = hinge.solve(problem.with_C(C), _PAIRS, hinge.Stop(gap=task.gap)).certificate
            fits.append(time.process_time() - began)
            agree = max(agree, path.certificate(float(C)).primal / alone.primal - 1.0)
        began = time.process_time()
        gaps = [path.certificate(float(C)).relative_gap for C in path.Cs]
        judged = time.process_time() - began
        some = np.unique(np.linspace(0, len(path.Cs) - 1, _SOLVED_ALONE).astype(int))
        apart = max(_apart(problem, path, float(path.Cs[number])) for number in some)
    return {
        "outcome": "finished" if path.is_complete else "cut short",
        "corners": len(path.Cs) - 2,
        "seconds": seconds,
        "fits": _PAIRS,
        "fits_seconds": sum(fits),
        "over_fits": agree,
        "certified": len(gaps),
        "largest_gap": max(gaps),
        "certificates_seconds": judged,
        "alone": len(some),
        "apart": apart,
        "most_free": int(path.n_free().max()),
    }


def _apart(problem: hinge.Problem, path: ExactPath, C: float) -> float:
    """Return how far the objective of a path is from that of a solver that knows nothing of it."""
    stop = hinge.Stop(gap=_ALONE_GAP)
    alone = hinge.solve(problem.with_C(C), "decomposition", stop).certificate
    return abs(path.certificate(C).primal / alone.primal - 1.0)


def draw(task: Task, picture: Path) -> None:
    """Draw coefficients over C, and how many are inside their bounds."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra

    path, _ = _path(task)
    Cs = np.geomspace(path.Cs[0], path.Cs[-1], 300)
    coef = np.array([path.point(float(C)).dual_coef for C in Cs])
    moving = np.flatnonzero(np.ptp(coef / Cs[:, None], axis=0) > 0.0)
    rng = np.random.default_rng(0)
    shown = rng.choice(moving, min(_MOST_DRAWN, len(moving)), replace=False)
    figure, (upper, lower) = plt.subplots(
        2, 1, sharex=True, figsize=(7.0, 5.5), height_ratios=(3, 1), layout="constrained"
    )
    for row in shown:
        upper.plot(Cs, coef[:, row] / Cs, linewidth=0.8)
    upper.set_xscale("log")
    upper.set_ylabel("coefficient / C")
    upper.set_title(f"{task.name}: exact path, {len(path.Cs) - 2} corners")
    lower.plot(path.Cs[:-1], path.n_free(), drawstyle="steps-post", color="0.3")
    lower.set_ylabel("free rows")
    lower.set_xlabel("C")
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=110)
    plt.close(figure)


def section(rows: dict[str, Row], output: Path) -> str:
    """Return the part of the page about paths."""
    own = {name.split(" | ")[1]: row for name, row in rows.items() if name.startswith("path | ")}
    if not own:
        return ""
    text = (
        f"## Exact paths in C\n\nFrom C = {FROM:g} to {TO:g}. *fits*: {FITS} independent ones at "
        "values of C in equal ratios, to a gap of 1e-6, with their certificates. *over them*: the "
        "largest objective of the path over that of a fit, minus 1. The judge recomputed the "
        f"machines of all corners (*certified*). At {_SOLVED_ALONE} of them `decomposition` solved "
        f"the problem from nothing to a gap of {_ALONE_GAP:g}; *apart* is the largest relative "
        "difference of the objectives.\n\n"
    )
    header = ["set", "corners", "most free", "seconds", "fits", "seconds of fits", "over them"]
    header += ["certified", "largest gap", "seconds of certificates", "apart"]
    lines = [
        [
            name,
            str(row["corners"]),
            str(row["most_free"]),
            f"{row['seconds']:.3g}",
            row["fits"],
            f"{row['fits_seconds']:.3g}",
            f"{row['over_fits']:.1e}",
            str(row["certified"]),
            f"{row['largest_gap']:.1e}",
            f"{row['certificates_seconds']:.3g}",
            f"{row['apart']:.1e}",
        ]
        for name, row in own.items()
    ]
    text += table(header, lines) + "\n"
    for name in own:
        picture = f"duals-path-{name}.png"
        if (output / picture).exists():
            text += f"\n![coefficients of {name} over C]({picture})\n"
    return text
