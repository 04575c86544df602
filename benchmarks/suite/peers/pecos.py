"""PECOS: the linear solver under its extreme multi-label trees, called for one label."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Peer, Setting, from_augmented
from benchmarks.suite.task import Task

_SOLVERS = {"hinge": "L2R_L1LOSS_SVC_DUAL", "squared_hinge": "L2R_L2LOSS_SVC_DUAL"}


class Pecos(Method):
    """``clib.xlinear_single_layer_train`` with one label, threshold 0 and one thread."""

    name = "PECOS"
    arithmetic = "float32"
    note = (
        "computes in float32; bias=1 is the augmented intercept; threshold=0 keeps small weights; "
        "conversion to its matrices not timed"
    )

    def refusal(self, task: Task) -> str | None:
        """Return why not: its intercept is a regularised feature."""
        return None if task.intercept == "augmented" else "its intercept is a regularised feature"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``eps`` at its limit of 1000 passes, and ``max_iter`` without a tolerance."""
        if quick:
            return [[{"eps": 1e-8, "max_iter": count} for count in (10, 30, 100)]]
        passes = [3, 10, 20, 30, 60, 100, 200, 300, 1000, 3000]
        return [
            [{"eps": eps, "max_iter": 1000} for eps in (1.0, 0.3, 0.1, 3e-2, 1e-2, 1e-3)],
            [{"eps": 1e-8, "max_iter": count} for count in passes],
        ]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Convert to float32 and to its matrix structs."""
        core = importlib.import_module("pecos.core")
        label = sp.csc_matrix((y > 0).astype(np.float32)[:, None])
        if sp.issparse(X):
            rows = core.ScipyCsrF32.init_from(sp.csr_matrix(X, dtype=np.float32))
        else:
            rows = core.ScipyDrmF32.init_from(np.ascontiguousarray(X, dtype=np.float32))
        return rows, core.ScipyCscF32.init_from(label)

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Train one layer with one label."""
        core = importlib.import_module("pecos.core")
        return core.clib.xlinear_single_layer_train(
            *prepared,
            None,
            None,
            None,
            threshold=0.0,
            solver_type=_SOLVERS[task.loss],
            Cp=task.C,
            Cn=task.C,
            bias=1.0,
            threads=1,
            **setting,
        )

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the column of the label; the bias is its last entry."""
        return from_augmented(fitted.toarray())


PEER = Peer(
    name="pecos",
    requirements=("numpy<2", "scipy<1.14"),
    # Its declared dependencies include a deep-learning framework that the solver never loads.
    bare_requirements=("libpecos==1.2.8",),
    methods=(Pecos(),),
)
