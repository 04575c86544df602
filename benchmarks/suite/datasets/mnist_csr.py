"""mnist_csr: the rows of mnist without their zeros, which is how LIBLINEAR holds them."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from benchmarks.suite.datasets import mnist
from benchmarks.suite.datasets.base import Dataset
from benchmarks.suite.method import Floats


def load() -> tuple[Any, Floats]:
    """Return the training images as CSR, and labels."""
    pixels, labels = mnist.load()
    return sp.csr_matrix(pixels), labels


DATASET = Dataset("mnist_csr", "CSR, 8 against the rest, pixels / 255", (0.01, 1.0), load)
