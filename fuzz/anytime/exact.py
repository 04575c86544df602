"""Decision values of machines as fractions, or to as many digits as the decimal context has."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hinge.machines import Machine


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
