"""LIBSVM itself, in the environment that ``make bench-peers`` makes; run as a script in it.

``python libsvm_peer.py train FOLDER`` trains a machine for each kind of problem on the rows in
``rows.npy`` and saves it there. ``... predict FOLDER MODEL`` prints, as JSON, the labels and
decision values that LIBSVM gives the rows, and the order of its labels.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {
    f"{kernel}-{n_classes}": (kernel, n_classes) for kernel in range(5) for n_classes in (2, 4)
}


def instances(rows: Any, kernel: int) -> Any:
    """Return rows as LIBSVM takes them: of a kernel matrix, with the number of the row."""
    if kernel != 4:
        return rows
    matrix = rows @ rows.T
    return [{0: i + 1, **{j + 1: v for j, v in enumerate(row)}} for i, row in enumerate(matrix)]


def train(folder: Path, rows: Any) -> None:
    """Train and save a machine of each kind."""
    from libsvm.svmutil import svm_problem, svm_save_model, svm_train  # noqa: PLC0415

    for name, (kernel, n_classes) in KINDS.items():
        labels = np.asarray([4.0, -1.0, 9.0, 2.0])[rows[:, :n_classes].argmax(axis=1)]
        problem = svm_problem(list(labels), instances(rows, kernel), isKernel=kernel == 4)
        model = svm_train(problem, f"-t {kernel} -c 2 -r 0.5 -q")
        svm_save_model(str(folder / f"{name}.txt"), model)


def predict(folder: Path, rows: Any, name: str) -> None:
    """Print the predictions of a machine."""
    from libsvm.svmutil import svm_load_model, svm_predict  # noqa: PLC0415

    path = folder / name
    model = svm_load_model(str(path))
    kernel = 4 if "kernel_type precomputed" in path.read_text() else 0
    labels, _, values = svm_predict([0.0] * len(rows), instances(rows, kernel), model, "-q")
    answer = {"order": model.get_labels(), "labels": labels, "values": values}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    place = Path(sys.argv[2])
    data = np.load(place / "rows.npy")
    if sys.argv[1] == "train":
        train(place, data)
    else:
        predict(place, data, sys.argv[3])
