"""LIBLINEAR through its own Python package, the C function alone on the clock."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Peer, Setting, from_augmented
from benchmarks.suite.task import Task

_LOSS_OF_SOLVER = {3: "hinge", 1: "squared_hinge", 2: "squared_hinge"}


def constant_feature(task: Task) -> float:
    """Return the value of the constant feature: 10 where it stands for a free intercept."""
    return 10.0 if task.intercept == "free" else 1.0


class LibLinear(Method):
    """``train -s <solver> -B 1``; only the call of ``train`` is timed, not the conversion.

    A free intercept is approached by ``-B 10``, which penalises its square by 1/200.
    """

    def __init__(self, solver: int) -> None:
        self.solver = solver
        self.name = f"LIBLINEAR -s {solver}"
        cap = "" if solver == 2 else "; its own limit of 300 passes cannot be raised"
        self.note = (
            f"-B 1 is the augmented intercept, -B 10 stands for a free one; conversion to its "
            f"structs not timed{cap}"
        )

    def refusal(self, task: Task) -> str | None:
        """Return why not: each solver has one loss."""
        if task.loss != _LOSS_OF_SOLVER[self.solver]:
            return f"-s {self.solver} has the {_LOSS_OF_SOLVER[self.solver]} loss"
        return None

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep ``-e``."""
        if self.solver == 2:
            tolerances = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
        elif quick:
            tolerances = [1.0, 0.3, 0.1, 3e-2]
        else:
            tolerances = [10.0, 3.0, 1.0, 0.5, 0.3, 0.1, 3e-2, 1e-2, 1e-3, 1e-4]
        return [[{"e": e} for e in tolerances]]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:
        """Convert to LIBLINEAR's nodes."""
        library = importlib.import_module("liblinear.liblinear")
        rows = sp.csr_matrix(X, dtype=np.float64)
        bias = constant_feature(task)
        return library.problem(y, rows, bias=bias), rows.shape[1] + 1, bias

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Call ``train``."""
        library = importlib.import_module("liblinear.liblinear")
        options = f"-s {self.solver} -B {prepared[2]!r} -c {task.C!r} -e {setting['e']!r}"
        parameter = library.parameter(options)
        printed: list[bytes] = []
        printer = library.PRINT_STRING_FUN(printed.append)
        library.liblinear.set_print_string_function(printer)
        # It draws from the C library's generator: unseeded, every repeat would be another run.
        ctypes.CDLL(None).srand(1)
        model = library.liblinear.train(prepared[0], parameter)
        return model, b"".join(printed).decode()

    def result(self, prepared: Any, fitted: Any) -> Fitted:
        """Copy the weights; LIBLINEAR's positive class is the label that comes first."""
        model, printed = fitted
        weights = np.ctypeslib.as_array(model.contents.w, (prepared[1],)).copy()
        sign = 1.0 if model.contents.label[0] == 1 else -1.0
        counts = re.findall(r"#iter = (\d+)", printed) or re.findall(r"iter +(\d+)", printed)
        weights[-1] *= prepared[2]
        return from_augmented(sign * weights, int(counts[-1]) if counts else None)


PEER = Peer(
    name="liblinear",
    requirements=("liblinear-official==2.50.0", "numpy", "scipy"),
    methods=tuple(LibLinear(solver) for solver in _LOSS_OF_SOLVER),
)
