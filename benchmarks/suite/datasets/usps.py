"""usps: the digit 0 against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.suite.datasets.base import Dataset, archive, signs
from benchmarks.suite.method import Floats


def load() -> tuple[Any, Floats]:
    """Return the training images as dense rows, and labels."""
    data = archive("usps")
    return data["X_train"].astype(np.float64), signs(data["y_train"] == 0)


DATASET = Dataset("usps", "dense, 0 against the rest", (1.0,), load, in_quick_run=True)
