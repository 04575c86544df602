"""``hinge.LinearSVC``, as somebody who changed one import line would run it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Setting
from benchmarks.suite.task import Task


class LinearSVC(Method):
    """The estimator with its default solver."""

    name = "hinge LinearSVC"
    note = "the scikit-learn estimator; what it costs beyond hinge.solve is its own validation"

    def refusal(self, task: Task) -> str | None:  # noqa: ARG002 - it takes every task there is
        """Return None: every task is taken."""
        return None

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``tol``, which is the relative gap."""
        return [[{"tol": tol} for tol in ([1e-3] if quick else [1e-1, 1e-2, 1e-3, 1e-4])]]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Nothing is converted outside the clock."""
        return X, y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator."""
        hinge = importlib.import_module("hinge")
        intercept = "free" if task.intercept == "free" else None
        model = hinge.LinearSVC(
            loss=task.loss, C=task.C, tol=setting["tol"], intercept=intercept, max_iter=1_000_000
        )
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the coefficients with what the certificate says."""
        certificate = fitted.certificate_
        claims = {
            "status": str(fitted.solution_.status),
            "relative_gap": certificate.relative_gap,
            "optimum_at_least": certificate.primal - certificate.gap,
        }
        coef = np.asarray(fitted.coef_, dtype=np.float64).ravel()
        return Fitted(coef, float(np.ravel(fitted.intercept_)[0]), None, claims)


METHOD = LinearSVC()
