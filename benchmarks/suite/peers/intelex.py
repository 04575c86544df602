"""Extension for scikit-learn (oneDAL): its ``SVC`` with a linear kernel, on small sets.

It has no ``LinearSVC`` of its own; under its patch scikit-learn's runs unchanged.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Peer, Setting
from benchmarks.suite.peers.libsvm import kernel_refusal
from benchmarks.suite.task import Task


class Intelex(Method):
    """``sklearnex.svm.SVC(kernel="linear")``."""

    name = "scikit-learn-intelex SVC"
    note = "it has no LinearSVC of its own; a kernel solver with a 1000 MB cache"

    def refusal(self, task: Task) -> str | None:
        """Return why not."""
        return kernel_refusal(task)

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``tol``."""
        return [[{"tol": tol} for tol in (0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)]]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Nothing is converted outside the clock; its own thread pool is held to one thread."""
        importlib.import_module("daal4py").daalinit(1)
        return X, y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Fit the estimator."""
        svm = importlib.import_module("sklearnex.svm")
        return svm.SVC(kernel="linear", C=task.C, cache_size=1000, **setting).fit(*prepared)

    def result(self, prepared: Any, fitted: Any) -> Fitted:
        """Add up the support vectors: its ``coef_`` drops trailing columns of sparse rows."""
        dual = fitted.dual_coef_
        dense = np.asarray(dual.todense() if hasattr(dual, "todense") else dual).ravel()
        coef = np.asarray(prepared[0][fitted.support_].T @ dense, dtype=np.float64)
        return Fitted(coef, float(np.ravel(fitted.intercept_)[0]))


PEER = Peer(name="intelex", requirements=("scikit-learn-intelex",), methods=(Intelex(),))
