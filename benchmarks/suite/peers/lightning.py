"""lightning (scikit-learn-contrib): its ``LinearSVC``, dual coordinate descent with shrinking."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.suite.method import (
    Fitted,
    Floats,
    Ladder,
    Method,
    Peer,
    Setting,
    from_augmented,
    with_constant_column,
)
from benchmarks.suite.task import Task


class Lightning(Method):
    """``lightning.classification.LinearSVC`` on rows with a constant feature."""

    name = "lightning"
    note = "has no intercept; given a constant feature of value 1, which is the augmented one"

    def refusal(self, task: Task) -> str | None:
        """Return why not."""
        return None if task.intercept == "augmented" else "it has no intercept"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``tol``, and ``max_iter`` without a tolerance."""
        passes = [10, 100] if quick else [3, 10, 30, 100, 300, 1000, 3000]
        tolerances = [1e-2] if quick else [1.0, 0.3, 0.1, 1e-2, 1e-3, 1e-4]
        return [
            [{"tol": tol, "max_iter": 30_000} for tol in tolerances],
            [{"tol": 1e-12, "max_iter": count} for count in passes],
        ]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Append the constant feature."""
        return with_constant_column(X).astype(np.float64), y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator."""
        library = importlib.import_module("lightning.classification")
        # With criterion="violations" it does not converge: shrunk rows never come back.
        model = library.LinearSVC(
            C=task.C, loss=task.loss, criterion="accuracy", random_state=0, **setting
        )
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the weights; the last is the intercept."""
        return from_augmented(fitted.coef_)


PEER = Peer(
    name="lightning",
    # Its setup imports NumPy and knows neither newer Cython nor newer scikit-learn.
    requirements=(
        *("numpy<1.24", "scipy<1.11", "scikit-learn<1.3"),
        *("setuptools<70", "wheel", "cython<3"),
    ),
    bare_requirements=("sklearn-contrib-lightning==0.6.2.post0",),
    methods=(Lightning(),),
)
