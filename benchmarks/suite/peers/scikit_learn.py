"""scikit-learn: ``LinearSVC``, LIBLINEAR without its limit of 300 passes, and ``SGDClassifier``."""

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
from benchmarks.suite.peers.liblinear import constant_feature
from benchmarks.suite.task import Task


class ScikitLearn(Method):
    """``sklearn.svm.LinearSVC(dual=True)``."""

    name = "scikit-learn LinearSVC"
    note = (
        "fit as users call it, its copy of the matrix into LIBLINEAR's nodes included; "
        "intercept_scaling=10 stands for a free intercept"
    )

    def refusal(self, task: Task) -> str | None:  # noqa: ARG002 - it takes every task there is
        """Return None: a free intercept is approached by ``intercept_scaling=10``."""
        return None

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
        model = svm.LinearSVC(
            loss=task.loss,
            C=task.C,
            dual=True,
            intercept_scaling=constant_feature(task),
            random_state=0,
            **setting,
        )
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the coefficients."""
        coef = np.asarray(fitted.coef_, dtype=np.float64).ravel()
        return Fitted(coef, float(np.ravel(fitted.intercept_)[0]), int(fitted.n_iter_))


class StochasticGradient(Method):
    """``sklearn.linear_model.SGDClassifier`` on rows with a constant feature."""

    name = "scikit-learn SGDClassifier"
    note = "alpha = 1/(nC); a constant feature of value 1, because its own intercept is free"

    def refusal(self, task: Task) -> str | None:
        """Return why not: the constant feature is penalised."""
        return None if task.intercept == "augmented" else "compared with the augmented intercept"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep the number of passes, for its last weights and for their average."""
        passes = [5, 50] if quick else [1, 3, 10, 30, 100, 300, 1000]
        return [
            [{"max_iter": count, "average": average} for count in passes]
            for average in (False, True)
        ]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Append the constant feature."""
        return with_constant_column(X), y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator."""
        library = importlib.import_module("sklearn.linear_model")
        model = library.SGDClassifier(
            loss=task.loss,
            alpha=1.0 / (len(prepared[1]) * task.C),
            fit_intercept=False,
            tol=None,
            random_state=0,
            **setting,
        )
        return model.fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the weights; the last is the intercept."""
        return from_augmented(fitted.coef_, int(fitted.n_iter_))


PEER = Peer(
    name="scikit_learn",
    requirements=("scikit-learn>=1.6,<1.10",),
    methods=(ScikitLearn(), StochasticGradient()),
)
