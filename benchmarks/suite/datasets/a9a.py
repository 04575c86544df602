"""a9a: census rows of 123 binary features, about 14 of them set."""

from __future__ import annotations

from typing import Any

from benchmarks.suite.datasets.base import Dataset, archive, signs, training_csr
from benchmarks.suite.method import Floats


def load() -> tuple[Any, Floats]:
    """Return the training rows and labels."""
    data = archive("a9a")
    return training_csr(data), signs(data["y_train"] > 0)


DATASET = Dataset("a9a", "CSR, as it is", (1.0,), load, in_quick_run=True)
