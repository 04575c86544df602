"""covtype: class 2 against the rest, every feature scaled to [0, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.suite.datasets.base import Dataset, archive, signs
from benchmarks.suite.method import Floats


def load() -> tuple[Any, Floats]:
    """Return all rows, dense, and labels."""
    data = archive("covtype")
    rows = data["X"].astype(np.float64)
    low, high = rows.min(axis=0), rows.max(axis=0)
    rows -= low
    rows /= np.where(high > low, high - low, 1.0)
    return rows, signs(data["y"] == 2)


DATASET = Dataset("covtype", "dense, class 2 against the rest, features to [0, 1]", (1.0,), load)
