"""Vowpal Wabbit: stochastic gradient with the hinge loss, many passes over a binary cache."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
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


class VowpalWabbit(Method):
    """``vw --loss_function hinge --l2 1/(nC) --noconstant`` with a constant feature of our own."""

    name = "vowpalwabbit"
    arithmetic = "float32"
    note = (
        "a stochastic method in float32, the nearest it has: --l2 1/(nC), which it applies online "
        "and with which more passes need not come closer; a constant feature of value 1; text is "
        "parsed into its cache before the clock starts"
    )

    def refusal(self, task: Task) -> str | None:
        """Return why not."""
        if task.loss != "hinge":
            return "it has the hinge loss only"
        return None if task.intercept == "augmented" else "--l2 includes the constant feature"

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep the number of passes, for its own updates and for two simpler ones."""
        passes = [1, 10] if quick else [1, 5, 25]
        updates = [""] if quick else ["", "--adaptive -l 0.05", "--sgd -l 1"]
        return [[{"passes": count, "update": update} for count in passes] for update in updates]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Write its text, and from it its binary cache."""
        rows = sp.csr_matrix(with_constant_column(X))
        folder = tempfile.TemporaryDirectory(prefix="hinge-bench-")
        text = Path(folder.name) / "rows.vw"
        _write_text(text, rows, y)
        bits = max(10, int(np.ceil(np.log2(rows.shape[1]))))
        common = f"-b {bits} --noconstant --loss_function hinge --quiet -d {text}"
        options = f"{common} --cache_file {text}.cache --holdout_off"
        library = importlib.import_module("vowpalwabbit")
        library.Workspace(f"{options} -k").finish()
        return folder, options, rows.shape

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Read the cache as often as there are passes."""
        library = importlib.import_module("vowpalwabbit")
        _, options, (n_rows, _) = prepared
        schedule = f"--passes {setting['passes']} {setting['update']}"
        return library.Workspace(f"{options} --l2 {1.0 / (n_rows * task.C)!r} {schedule}")

    def result(self, prepared: Any, fitted: Any) -> Fitted:
        """Read the weights one by one; the last is the intercept."""
        n_columns = prepared[2][1]
        weights = np.asarray([fitted.get_weight(j, 0) for j in range(n_columns)])
        fitted.finish()
        return from_augmented(weights)


def _write_text(path: Path, rows: sp.csr_matrix, y: Floats) -> None:
    with path.open("w") as file:
        for i, label in enumerate(y):
            part = slice(rows.indptr[i], rows.indptr[i + 1])
            pairs = zip(rows.indices[part], rows.data[part], strict=True)
            file.write(f"{int(label)} |" + "".join(f" {j}:{v:.9g}" for j, v in pairs) + "\n")


PEER = Peer(
    name="vowpalwabbit",
    requirements=("vowpalwabbit==9.11.9", "numpy", "scipy"),
    methods=(VowpalWabbit(),),
)
