"""scikit-learn beside hinge on real data: same objective, but one of them proves what it says.

First a case where scikit-learn is far off and says nothing, then tame data, then a picture.

Run it with ``make demo``. It needs no files (the data come with scikit-learn), takes well under a
minute, prints two tables and saves a picture, ``hinge-demo.png``, in the working directory. After
it, ``make demo`` runs ``hinge demo``: the same library from the command line.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from closing_gap import draw_closing_gap
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tables import show_heading, show_table, show_text

import hinge

PICTURE = Path("hinge-demo.png")
FITS_TIMED = 3
COLUMNS = [
    "data",
    "model",
    "time",
    "objective",
    "proven gap",
    "open labels",
    "accuracy",
    "warned",
]


@dataclass(frozen=True)
class Task:
    """Data to train and test on, and the parameters that both libraries get."""

    name: str
    train: tuple[Any, Any]
    test: tuple[Any, Any]
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Fit:
    """A fitted model, how long it took, and whether it warned."""

    model: Any
    seconds: float
    warned: bool


def tasks() -> list[Task]:
    """Return three problems: two classes, scaled; the same with the hinge loss; ten classes."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    scaler = StandardScaler().fit(X_train)
    tumours = (scaler.transform(X_train), y_train), (scaler.transform(X_test), y_test)
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, random_state=0)
    digits = (X_train, y_train), (X_test, y_test)
    return [
        Task("tumours", *tumours, {"loss": "squared_hinge"}),
        Task("hinge loss", *tumours, {"loss": "hinge"}),
        Task("digits", *digits, {"loss": "hinge"}),
    ]


def fitted(make: Any, X: Any, y: Any) -> Fit:
    """Fit a few times and keep the shortest time."""
    seconds = np.inf
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(FITS_TIMED):
            began = time.perf_counter()
            model = make().fit(X, y)
            seconds = min(seconds, time.perf_counter() - began)
    warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    return Fit(model, seconds, warned)


def side_by_side(task: Task) -> list[list[str]]:
    """Fit both libraries and return a line of the table for each."""
    X, y = task.train
    theirs = fitted(lambda: ScikitLinearSVC(**task.parameters, random_state=0), X, y)
    ours = fitted(lambda: hinge.LinearSVC(**task.parameters), X, y)
    judged = hinge.compare(theirs.model, ours.model, X, y)
    certificate, still_open = ours.model.certificate_, np.count_nonzero(~ours.model.settled(X))
    lines = []
    for name, fit, standing, gap, labels in (
        ("scikit-learn", theirs, judged.a, judged.a.relative_gap, "unknown"),
        ("hinge", ours, judged.b, certificate.relative_gap, f"{still_open} of {len(y)}"),
    ):
        accuracy = fit.model.score(*task.test)
        line = [
            task.name,
            name,
            f"{1000 * fit.seconds:.1f} ms",
            f"{standing.objective:.5g}",
            f"{gap:.1e}",
            labels,
            f"{accuracy:.3f}",
            "yes" if fit.warned else "no",
        ]
        lines.append(line)
    return lines


def silent_failure() -> None:
    """Show a model that scikit-learn returns without a word, and what it is worth."""
    X, y = load_breast_cancer(return_X_y=True)
    theirs = fitted(lambda: ScikitLinearSVC(C=100), X, y)
    ours = fitted(lambda: hinge.LinearSVC(C=100), X, y)
    fits = (theirs, ours)
    show_text(
        f"{len(y)} tumours with {X.shape[1]} measurements, as they come. Only the import differs:"
    )
    show_text("model = LinearSVC(C=100).fit(X, y)", indent=4)
    wrong = [int(np.count_nonzero(fit.model.predict(X) != y)) for fit in fits]
    lines = [
        ["says that something is wrong", *("yes" if fit.warned else "no" for fit in fits)],
        ["iterations, of 1000 allowed", *(str(int(fit.model.n_iter_)) for fit in fits)],
        ["training rows with a wrong label", *(f"{count} of {len(y)}" for count in wrong)],
        ["training accuracy", *(f"{1 - count / len(y):.1%}" for count in wrong)],
        ["time", *(f"{1000 * fit.seconds:.0f} ms" for fit in fits)],
    ]
    show_table(["", "scikit-learn", "hinge"], lines, n_words=1)
    show_text(
        "Neither complains, and they do not agree. Which one is right is not a matter of opinion:\n"
        "hinge.compare(theirs, ours, X, y) computes a bound that no weights can be better than."
    )
    show_text(str(hinge.compare(theirs.model, ours.model, X, y)), indent=4)


def main() -> None:
    """Run the demo."""
    began = time.perf_counter()
    show_heading("1. Wrong, without a word")
    silent_failure()
    show_heading("2. On tame data: the same objective, and a proof")
    show_text(
        "Both minimise exactly the same function. The gap is a proven bound on how far the\n"
        "objective is above the optimum, recomputed from the data: hinge proves its own, while\n"
        "scikit-learn's is measured by hinge.compare. Open labels are training rows whose label\n"
        "further training could still change. Accuracy is on held-out rows."
    )
    show_table(COLUMNS, [line for task in tasks() for line in side_by_side(task)])
    show_heading("3. Primal and dual, closing on each other")
    draw_closing_gap(PICTURE)
    show_text(
        f"Drawn in {PICTURE}: the objective comes down, its lower bound goes up, and the truth is "
        f"between\nthem. All this took {time.perf_counter() - began:.0f} s."
    )


if __name__ == "__main__":
    main()
