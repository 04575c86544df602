"""Draw the figures of the site: ``.venv/bin/python docs/figures.py`` (needs matplotlib)."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import hinge

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#999999"
_READS = 20


def _certified_reads() -> list[tuple[float, float, float, int]]:
    """Return reads of the data, primal value, dual value and unsettled labels along a run."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    problem = hinge.Problem(X, y, loss="hinge", C=1.0, intercept="augmented")
    solver = hinge.solvers.DualCoordinate()
    state = solver.start(problem)
    stored = problem.rows.n_stored
    reads = []
    while solver.progress(state).work < _READS * stored:
        solver.step(state, stored // 4)
        certificate = hinge.certificates.gap(problem, solver.point(state))
        values = certificate.primal, certificate.dual, certificate.unsettled(X)
        reads.append((solver.progress(state).work / stored, *values))
    return reads


def draw_closing(path: Path) -> None:
    """Draw primal and dual value closing on each other, and the labels that this settles."""
    work, primal, dual, unsettled = zip(*_certified_reads(), strict=True)
    figure, (values, labels) = plt.subplots(
        2, 1, figsize=(7.0, 4.6), sharex=True, height_ratios=[3, 2], layout="constrained"
    )
    values.fill_between(work, dual, primal, color=_GREY, alpha=0.3, linewidth=0)
    values.plot(work, primal, color=_BLUE, label="objective of the model (primal)")
    values.plot(work, dual, color=_ORANGE, linestyle="--", label="proven lower bound (dual)")
    values.set_ylim(0.0, 2.5 * primal[-1])
    values.set_ylabel("value")
    values.set_xlim(0.0, _READS)
    values.legend(frameon=False, loc="lower right")
    labels.step(work, unsettled, where="post", color="black")
    labels.set_ylim(bottom=0)
    labels.set_ylabel("labels that\ncould still change")
    labels.set_xlabel("work, in reads of the data")
    for axes in (values, labels):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    # The same bytes on every run, so that version control sees real changes only.
    mpl.rcParams.update({"svg.hashsalt": "hinge", "svg.fonttype": "none"})
    draw_closing(Path(__file__).parent / "_static" / "closing.svg")
