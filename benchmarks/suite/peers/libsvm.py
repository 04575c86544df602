"""LIBSVM with a linear kernel, on small sets: its intercept is free, so those tasks only."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Peer, Setting
from benchmarks.suite.task import Task

SMALL_SETS = frozenset({"a9a", "reuters21578", "reuters_moneyfx", "usps"})


def kernel_refusal(task: Task) -> str | None:
    """Return why a kernel machine is no match for the task, or None."""
    if task.loss != "hinge":
        return "its loss is the hinge loss"
    if task.intercept != "free":
        return "its intercept is free; compared on the tasks with a free intercept"
    return None if task.dataset in SMALL_SETS else "a kernel solver; compared on small sets only"


class LibSvm(Method):
    """``svm-train -s 0 -t 0``; only the call of ``svm_train`` is timed."""

    name = "LIBSVM linear"
    note = "a kernel solver with a 1000 MB cache; conversion to its structs not timed"

    def refusal(self, task: Task) -> str | None:
        """Return why not."""
        return kernel_refusal(task)

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``-e``."""
        return [[{"e": e} for e in (0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)]]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Convert to LIBSVM's nodes; the rows are kept for the weights."""
        library = importlib.import_module("libsvm.svm")
        rows = sp.csr_matrix(X, dtype=np.float64)
        return library.svm_problem(y, rows), rows

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Call ``svm_train``."""
        library = importlib.import_module("libsvm.svm")
        options = f"-s 0 -t 0 -q -m 1000 -c {task.C!r} -e {setting['e']!r}"
        return library.libsvm.svm_train(prepared[0], library.svm_parameter(options))

    def result(self, prepared: Any, fitted: Any) -> Fitted:
        """Add up the support vectors; the positive class is the label that comes first."""
        library = importlib.import_module("libsvm.svm")
        model = library.toPyModel(fitted)
        support = np.asarray(model.get_sv_indices()) - 1
        dual = np.asarray([pair[0] for pair in model.get_sv_coef()])
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        return Fitted(sign * (prepared[1][support].T @ dual), -sign * float(model.rho[0]))


PEER = Peer(
    name="libsvm",
    requirements=("libsvm-official==3.37.0", "numpy", "scipy"),
    methods=(LibSvm(),),
)
