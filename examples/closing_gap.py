"""The picture of the demo: what is proven of a run, pass by pass.

The loop below is what ``hinge.solve`` does, by hand: let the solver work for a bounded while, take
its point, have a certificate recomputed from the data, and keep the best primal and dual points.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits

import hinge

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator, NullLocator

GAP = 1e-6
MOST_PASSES = 2000
# Two of the colours that all kinds of colour vision tell apart, of different lightness.
DARK, LIGHT = "#0b3c6f", "#d98200"


def certified_run() -> tuple[hinge.Problem, list[tuple[float, hinge.Certificate, int]]]:
    """Return a problem and, after how much work, what was proven and how many labels were open."""
    X, y = load_digits(return_X_y=True)
    problem = hinge.Problem(X / 16.0, y == 8, loss="hinge", C=1.0, intercept="augmented")
    solver = hinge.solvers.DualCoordinate()
    state = solver.start(problem)
    history: list[tuple[float, hinge.Certificate, int]] = []
    best = solver.point(state)
    next_look, passes = 1.0, 0.0
    while passes < MOST_PASSES:
        solver.step(state, problem.rows.n_stored)
        passes = solver.progress(state).work / problem.rows.n_stored
        if passes < next_look:
            continue
        best = better_of(problem, best, solver.point(state))
        certificate = hinge.certificates.gap(problem, best)
        history.append((passes, certificate, certificate.unsettled(X / 16.0)))
        if certificate.relative_gap <= GAP:
            break
        next_look = 1.25 * passes
    return problem, history


def better_of(problem: hinge.Problem, old: hinge.Point, new: hinge.Point) -> hinge.Point:
    """Return the weights with the lower objective and the dual point with the higher bound."""
    before, after = (hinge.certificates.gap(problem, point) for point in (old, new))
    primal = new if after.primal < before.primal else old
    dual = new if after.dual > before.dual else old
    return replace(primal, dual_coef=dual.dual_coef)


def draw_closing_gap(path: Path) -> None:
    """Draw primal and dual value, relative gap and open labels over the passes of a run."""
    problem, history = certified_run()
    passes = np.array([work for work, _, _ in history])
    primal = np.array([certificate.primal for _, certificate, _ in history])
    dual = np.array([certificate.dual for _, certificate, _ in history])
    gaps = np.array([certificate.relative_gap for _, certificate, _ in history])
    labels = np.array([count for _, _, count in history])
    with plt.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
        _draw_values(axes[0], passes, primal, dual)
        _draw_gap(axes[1], passes, gaps)
        _draw_labels(axes[2], passes, labels, problem.n_rows)
        figure.suptitle(
            f"Digit 8 against the rest, {problem.n_rows} rows, hinge loss, C = 1: "
            "every point is a certificate recomputed from the data"
        )
        figure.savefig(path, dpi=130)
        plt.close(figure)


def _draw_values(axis: Any, passes: Any, primal: Any, dual: Any) -> None:
    optimum = 0.5 * (primal[-1] + dual[-1])
    inside = f"the optimum, {optimum:.4g}, is in here"
    axis.fill_between(passes, dual, primal, color="0.88", label=inside)
    axis.plot(passes, primal, "o-", color=LIGHT, markersize=5, label="objective of the model")
    axis.plot(passes, dual, "s--", color=DARK, markersize=5, label="proven lower bound")
    # The first passes may be far off; show where the two curves meet, and the legend above them.
    axis.set_ylim(max(dual.min(), 0.0) * 0.95, min(primal.max() * 1.4, 2.0 * optimum))
    axis.set(xscale="log", title="Primal and dual", ylabel="objective")
    axis.legend(frameon=False, loc="upper right")
    _label_passes(axis)


def _draw_gap(axis: Any, passes: Any, gaps: Any) -> None:
    axis.plot(passes, gaps, "o-", color=DARK, markersize=5)
    for level, text in ((1e-4, "default tol of hinge.LinearSVC"), (GAP, "where this run stops")):
        axis.axhline(level, color="0.55", linewidth=1, linestyle=":")
        place = {"xy": (0.02, level), "xycoords": ("axes fraction", "data")}
        axis.annotate(text, **place, xytext=(0, 4), textcoords="offset points", color="0.3")
    axis.set(xscale="log", yscale="log", title="Proven relative gap", ylabel="relative gap")
    _label_passes(axis)


def _draw_labels(axis: Any, passes: Any, labels: Any, n_rows: int) -> None:
    axis.plot(passes, labels, "o-", color=LIGHT, markersize=5)
    axis.fill_between(passes, 0, labels, color=LIGHT, alpha=0.15)
    text = f"{labels[-1]} of {n_rows} at the end"
    axis.text(0.07, 0.07, text, transform=axis.transAxes)
    axis.set(xscale="log", title="Training labels that could still change", ylabel="rows")
    axis.set_ylim(0, n_rows * 1.05)
    _label_passes(axis)


def _label_passes(axis: Any) -> None:
    axis.set_xlabel("work, in passes over the data")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(True, which="major", color="0.92")
    axis.set_axisbelow(True)
