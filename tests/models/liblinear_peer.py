"""LIBLINEAR itself, in the environment that ``make bench-peers`` makes; run as a script in it.

``python liblinear_peer.py train FOLDER`` trains a model for each kind of problem on the rows in
``rows.npy`` and saves it there. ``... predict FOLDER MODEL`` prints, as JSON, the labels and
decision values that LIBLINEAR gives the rows, its first label being the positive one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {
    f"{solver}-{n_classes}-{bias}": (solver, n_classes, bias)
    for solver in (1, 2, 3)
    for n_classes in (2, 3)
    for bias in (-1, 1, 0.3)
}


def train(folder: Path, rows: Any) -> None:
    """Train and save a model of each kind."""
    from liblinear.liblinearutil import save_model, train  # noqa: PLC0415

    for name, (solver, n_classes, bias) in KINDS.items():
        labels = np.asarray([4.0, -1.0, 9.0])[rows[:, :n_classes].argmax(axis=1)]
        model = train(labels, rows, f"-s {solver} -B {bias} -q")
        save_model(str(folder / f"{name}.txt"), model)


def predict(folder: Path, rows: Any, name: str) -> None:
    """Print the predictions of a model."""
    from liblinear.liblinearutil import load_model, predict  # noqa: PLC0415

    model = load_model(str(folder / name))
    labels, _, values = predict([0.0] * len(rows), rows, model, "-q")
    answer = {"order": model.get_labels(), "labels": labels, "values": values}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    place = Path(sys.argv[2])
    data = np.load(place / "rows.npy")
    if sys.argv[1] == "train":
        train(place, data)
    else:
        predict(place, data, sys.argv[3])
