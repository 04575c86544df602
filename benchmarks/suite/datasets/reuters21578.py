"""reuters21578: the topic earn against the rest, rows of unit length."""

from __future__ import annotations

from typing import Any

from benchmarks.suite.datasets.base import Dataset, archive, signs, training_csr
from benchmarks.suite.method import Floats


def load() -> tuple[Any, Floats]:
    """Return the training rows and labels."""
    data = archive("reuters21578")
    return training_csr(data), signs(data["y_train"] > 0)


DATASET = Dataset("reuters21578", "CSR, topic earn against the rest", (1.0,), load)
