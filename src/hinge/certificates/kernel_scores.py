"""Decision values of a kernel machine, recomputed with a bound on every rounding error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import rounding_factor
from hinge.kernels import Kernel
from hinge.problem import Problem
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_PANEL_VALUES = 1 << 17


@dataclass(frozen=True)
class Scores:
    """What a machine's support vectors sum up to at some rows.

    Parameters
    ----------
    values : ndarray of shape (n,)
        ``sum_j b_j k(x_j, x)``, without intercept.
    error : ndarray of shape (n,)
        Bound on its rounding error.
    magnitude : ndarray of shape (n,)
        ``sum_j |b_j| |k(x_j, x)|``.
    """

    values: Floats
    error: Floats
    magnitude: Floats


def training_scores(
    problem: Problem,
    pulls: Floats,
    threads: int = 1,
    check: Callable[[], None] = lambda: None,
) -> Scores:
    """Return the decision values of every training row that has a cost or a coefficient."""
    assert problem.kernel is not None
    support = np.flatnonzero(pulls)
    needed = np.flatnonzero((problem.costs > 0) | (pulls != 0))
    found = kernel_scores(
        problem.kernel, problem.rows, (support, pulls[support]), (problem.rows, needed), check
    )
    arrays = []
    for part in (found.values, found.error, found.magnitude):
        whole = np.zeros(problem.n_rows)
        whole[needed] = part
        arrays.append(whole)
    return Scores(*arrays)


def kernel_scores(
    kernel: Kernel,
    rows: Rows,
    machine: tuple[Ids, Floats],
    wanted: tuple[Rows, Ids],
    check: Callable[[], None],
) -> Scores:
    """Return the decision values of some rows."""
    support, coef = machine
    X, ids = wanted
    values, magnitude = np.zeros(len(ids)), np.zeros(len(ids))
    width = min(1024, max(1, len(support)))
    height = max(1, _PANEL_VALUES // width)
    for start in range(0, len(support), width):
        part = slice(start, start + width)
        B = kernel.operand(rows, support[part])
        for first in range(0, len(ids), height):
            check()
            these = slice(first, first + height)
            block = kernel.block(X.take(ids[these]).matrix, B)
            values[these] += block @ coef[part]
            magnitude[these] += np.abs(block) @ np.abs(coef[part])
    norms = X.norm_bounds(X.squared_norms[ids])
    largest = float(np.max(rows.norm_bounds(rows.squared_norms[support]), initial=0.0))
    terms = max(X.longest_row, rows.longest_row)
    relative, absolute = kernel.block_error(2.0 * norms, 2.0 * largest, terms)
    total = float(np.sum(np.abs(coef)))
    summing = rounding_factor(2 * len(support) + 8)
    error = (relative + summing * (1.0 + relative)) * magnitude + absolute * total
    return Scores(values, error * (1.0 + 2.0 * summing), magnitude)
