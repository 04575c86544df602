"""mnist: the digit 8 against the rest, pixels divided by 255."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.suite.datasets.base import Dataset, archive, signs
from benchmarks.suite.method import Floats


def load() -> tuple[Any, Floats]:
    """Return the training images as dense rows, and labels."""
    data = archive("mnist")
    pixels = data["X_train"]
    return pixels.reshape(len(pixels), -1).astype(np.float64) / 255.0, signs(data["y_train"] == 8)


DATASET = Dataset("mnist", "dense, 8 against the rest, pixels / 255", (0.01, 1.0), load)
