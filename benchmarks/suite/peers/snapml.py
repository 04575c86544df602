"""Snap ML's ``SupportVectorMachine``: dual coordinate descent in float32."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Peer, Setting
from benchmarks.suite.task import Task


class SnapMl(Method):
    """``snapml.SupportVectorMachine(regularizer=1/C, fit_intercept=True)``."""

    name = "snapml"
    arithmetic = "float32"
    note = (
        "computes in float32; regularizer = 1/C (its objective is ours divided by C); its "
        "intercept is a constant feature of value 1; conversion to float32 not timed"
    )

    def refusal(self, task: Task) -> str | None:
        """Return why not: its intercept is a regularised feature."""
        return None if task.intercept == "augmented" else "its intercept is a regularised feature"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``tol``, and ``max_iter`` without a tolerance."""
        tolerances = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
        passes = [3, 10, 30, 100, 300, 1000, 3000]
        if quick:
            return [[{"tol": tol, "max_iter": 10_000} for tol in tolerances[1:4]]]
        return [
            [{"tol": tol, "max_iter": 10_000} for tol in tolerances],
            [{"tol": 0.0, "max_iter": count} for count in passes],
        ]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Convert to float32, which it would do itself."""
        return X.astype(np.float32), y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator on one thread."""
        library = importlib.import_module("snapml")
        model = library.SupportVectorMachine(
            loss=task.loss,
            regularizer=1.0 / task.C,
            fit_intercept=True,
            n_jobs=1,
            random_state=0,
            **setting,
        )
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the coefficients."""
        coef = np.asarray(fitted.coef_, dtype=np.float64).ravel()
        return Fitted(coef, float(np.ravel(fitted.intercept_)[0]))


PEER = Peer(name="snapml", requirements=("snapml==1.17.2",), methods=(SnapMl(),))
