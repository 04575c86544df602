"""What a machine is worth: its objective recomputed by hinge's certificates, pair by pair.

A machine for more than two classes is one problem for each pair of classes, or for each class;
objectives, lower bounds and gaps are sums over these, violations their largest.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import hinge
from benchmarks.kernel.method import Machine


@dataclass(frozen=True)
class Worth:
    """What the certificates say.

    Parameters
    ----------
    primal : float
        The objective that was reached.
    optimum_at_least : float
        What the machine's own dual point proves; minus infinity if it proves nothing.
    kkt : float
        Largest violation of the optimality conditions.
    support_vectors : int
        Rows with a coefficient, each counted once.
    kernel_values : int
        Values of the kernel between these and the rows of the problems that they are in: what
        must be computed to know the gradient at this point.
    """

    primal: float
    optimum_at_least: float
    kkt: float
    support_vectors: int
    kernel_values: int

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain values; an infinite bound is None."""
        fields = asdict(self)
        return {k: v if math.isfinite(v) else None for k, v in fields.items()}


def judge(X: Any, y: Any, C: float, gamma: float, machine: Machine) -> Worth:
    """Recompute what a machine is worth from the rows that it was fitted to."""
    classes, codes = np.unique(y, return_inverse=True)
    support, dual = np.asarray(machine.support), np.atleast_2d(machine.dual_coef)
    if len(classes) == 2:
        # Two classes share their one row of coefficients.
        dual = np.vstack([dual[0]])
    is_against_rest = len(dual) == len(classes) > 2
    parts = (_classes if is_against_rest else _pairs)(codes, support, dual, len(classes))
    certificates = []
    for number, (rows, is_positive, alpha) in enumerate(parts):
        cost = np.minimum(alpha[rows], C)  # float32 arithmetic may end a rounding error above it
        problem = hinge.Problem(
            X if len(rows) == len(y) else X[rows],
            is_positive[rows],
            C=C,
            kernel=hinge.kernels.RBF(gamma=gamma),
            intercept=machine.intercept_kind,
        )
        point = hinge.Point(np.zeros(0), float(machine.intercept[number]), cost)
        threads = os.cpu_count() or 1
        certificates.append(hinge.certificates.gap(problem, point, threads=threads, region=False))
    counts = np.bincount(codes, minlength=len(classes))
    return Worth(
        primal=math.fsum(c.primal for c in certificates),
        optimum_at_least=sum(c.primal - c.gap for c in certificates),
        kkt=max(c.kkt for c in certificates),
        support_vectors=int(np.count_nonzero(np.any(dual != 0.0, axis=0))),
        kernel_values=(
            len(support) * len(y)
            if is_against_rest
            else needed_values(codes[support], dual, counts)
        ),
    )


def _pairs(codes: Any, support: Any, dual: Any, n_classes: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the rows of every pair of classes, which are of its second, and all coefficients."""
    for i, j in itertools.combinations(range(n_classes), 2):
        alpha = np.zeros(len(codes))
        for mine, row in ((i, j - 1), (j, i)):
            own = codes[support] == mine
            alpha[support[own]] = np.abs(dual[row][own])
        yield np.flatnonzero((codes == i) | (codes == j)), codes == j, alpha


def _classes(codes: Any, support: Any, dual: Any, n_classes: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield all rows, which are of a class, and its coefficients, for every class."""
    for mine in range(n_classes):
        alpha = np.zeros(len(codes))
        alpha[support] = np.abs(dual[mine])
        yield np.arange(len(codes)), codes == mine, alpha


def needed_values(owners: Any, dual: Any, counts: Any) -> int:
    """Return how many kernel values the gradient of all pairs at this point consists of.

    A support vector of class i meets the rows of its own class, and those of every class j for
    which it has a coefficient.
    """
    total = 0
    n = len(counts)
    for mine in range(n):
        others = np.asarray([other for other in range(n) if other != mine])
        has = dual[:, owners == mine] != 0.0
        met = counts[others] @ has + np.any(has, axis=0) * counts[mine]
        total += int(np.sum(met))
    return total
