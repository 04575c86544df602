"""Random machines, and bounds recomputed in high precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.kernels import RBF, Kernel, Linear, Normalised, Polynomial, Sigmoid
from hinge.machines import Machine
from hinge.rows import Rows

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.3),
    "wide rbf": RBF(0.01),
    "local rbf": RBF(20.0),
    "linear": Linear(),
    "poly": Polynomial(3, 0.2, 1.0),
    "normalised": Normalised(Polynomial(2, 1.0, 1.0)),
    "sigmoid": Sigmoid(0.1, -0.2),
}


def random_machine(
    kernel: Kernel, seed: int, n: int = 120, d: int = 4, outputs: int = 1, matrix: Any = None
) -> tuple[Machine, np.ndarray]:
    """Return a machine that separates something, and queries like its support vectors."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, d)) if matrix is None else matrix
    coef = np.stack([np.sign(S[:, f % d]) * rng.random(len(S)) for f in range(outputs)], axis=1)
    queries = rng.normal(size=(300, d))
    return Machine(kernel, Rows(S), coef, rng.normal(scale=0.1, size=outputs)), queries
