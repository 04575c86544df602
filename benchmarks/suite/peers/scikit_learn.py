"""scikit-learn's ``LinearSVC``: LIBLINEAR without the limit of 300 passes, and a copy of X."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Peer, Setting
from benchmarks.suite.task import Task


class ScikitLearn(Method):
    """``sklearn.svm.LinearSVC(dual=True)``."""

    name = "scikit-learn LinearSVC"
    note = "fit as users call it, its copy of the matrix into LIBLINEAR's nodes included"

    def refusal(self, task: Task) -> str | None:
        """Return why not: its intercept is a regularised feature."""
        return None if task.intercept == "augmented" else "its intercept is a regularised feature"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``tol`` without a limit to speak of, and ``max_iter`` without a tolerance."""
        if quick:
            return [[{"tol": 1e-10, "max_iter": count} for count in (30, 100, 1000)]]
        passes = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000]
        tolerances = [1.0, 0.3, 0.1, 1e-2, 1e-3, 1e-4]
        return [
            [{"tol": tol, "max_iter": 30_000} for tol in tolerances],
            [{"tol": 1e-10, "max_iter": count} for count in passes],
        ]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Nothing is converted outside the clock."""
        return X, y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator."""
        svm = importlib.import_module("sklearn.svm")
        model = svm.LinearSVC(loss=task.loss, C=task.C, dual=True, random_state=0, **setting)
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the coefficients."""
        coef = np.asarray(fitted.coef_, dtype=np.float64).ravel()
        return Fitted(coef, float(np.ravel(fitted.intercept_)[0]), int(fitted.n_iter_))


PEER = Peer(
    name="scikit_learn", requirements=("scikit-learn>=1.6,<1.10",), methods=(ScikitLearn(),)
)
