"""Random machines, and bounds recomputed in high precision."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
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


def exact_value(machine: Machine, x: np.ndarray, function: int = 0) -> Fraction:
    """Return the true decision value of a polynomial machine, as a fraction."""
    kernel: Any = machine.kernel
    degree = getattr(kernel, "degree", 1)
    gamma = Fraction(float(getattr(kernel, "gamma", 1.0)))
    coef0 = Fraction(float(getattr(kernel, "coef0", 0.0)))
    query = [Fraction(float(v)) for v in x]
    total = Fraction(float(machine.intercept[function]))
    for row, c in zip(machine.support.matrix, machine.coefficients[:, function], strict=True):
        inner = sum((Fraction(float(a)) * b for a, b in zip(row, query, strict=True)), Fraction(0))
        total += Fraction(float(c)) * (gamma * inner + coef0) ** degree
    return total


def gaussian_value(machine: Machine, x: np.ndarray, function: int = 0) -> Decimal:
    """Return the decision value of a Gaussian machine in the precision of the decimal context."""
    gamma = Decimal(float(machine.kernel.gamma))
    total = Decimal(float(machine.intercept[function]))
    for row, c in zip(machine.support.matrix, machine.coefficients[:, function], strict=True):
        pairs = zip(row.tolist(), x.tolist(), strict=True)
        square = sum(((Decimal(a) - Decimal(b)) ** 2 for a, b in pairs), Decimal(0))
        total += Decimal(float(c)) * (-gamma * square).exp()
    return total
