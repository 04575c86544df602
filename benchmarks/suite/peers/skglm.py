"""skglm's ``LinearSVC``: Anderson-accelerated coordinate descent on working sets of the dual."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

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


class Skglm(Method):
    """``skglm.LinearSVC`` on rows with a constant feature."""

    name = "skglm"
    note = (
        "has no intercept of its own in the dual; given a constant feature of value 1, which is "
        "the augmented one. Compiled before the clock starts"
    )

    def refusal(self, task: Task) -> str | None:
        """Return why not."""
        if task.loss != "hinge":
            return "its LinearSVC has the hinge loss only"
        return None if task.intercept == "augmented" else "it has no free intercept"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``tol`` with enough working sets for it to matter."""
        tolerances = [0.1, 1e-2] if quick else [0.5, 0.1, 1e-2, 1e-3, 1e-4]
        return [[{"tol": tol, "max_iter": 500, "max_epochs": 1000} for tol in tolerances]]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Append the constant feature; columns are what it walks along."""
        rows = with_constant_column(X).astype(np.float64)
        return (sp.csc_matrix(rows) if sp.issparse(rows) else np.asfortranarray(rows)), y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator."""
        library = importlib.import_module("skglm")
        model = library.LinearSVC(C=task.C, fit_intercept=False, **setting)
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the weights; the last is the intercept."""
        return from_augmented(fitted.coef_, int(fitted.n_iter_))


PEER = Peer(name="skglm", requirements=("skglm==0.5",), methods=(Skglm(),))
