r"""Gradient projection on a working set, whose kernel matrix is at hand.

The inner solver of PGPDT [1]_: the program over the working set, all else fixed, by the steps of
:mod:`hinge.solvers.kernel.gradient_projection`. A step is one product with the part of the matrix
whose rows move.

References
----------
.. [1] L. Zanni, T. Serafini and G. Zanghirati, "Parallel software for training large scale support
   vector machines on multiprocessor systems", JMLR 7, 2006.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.solvers.kernel.pace import (
    new_pace,
    note_objective,
    note_step,
    share_of_step,
    step_length,
)
from hinge.solvers.kernel.projection import project

Floats = NDArray[np.float64]


def solve_by_projection(
    kernel: NDArray[Any],
    diagonal: Floats,
    bounds: tuple[Floats, Floats],
    beta: Floats,
    slope: Floats,
    is_balanced: bool,
    tolerance: float,
    most_steps: int,
    check: Callable[[], None] | None = None,
) -> tuple[int, float]:
    """Solve the dual program over a working set; the arguments of the native pair solver.

    Parameters
    ----------
    kernel : ndarray of float32 or float64 of shape (n, n)
        The kernel matrix of the working set.
    diagonal : ndarray of shape (n,)
        What is added to its diagonal.
    bounds : tuple of two ndarray
        Lower and upper bounds.
    beta, slope : ndarray of shape (n,)
        Variables and gradient, changed in place at the end.
    is_balanced : bool
        Whether the sum of the variables stays as it is.
    tolerance : float
        The violation to stop at.
    most_steps : int
        The most steps to do.
    check : callable or None, default=None
        Called before every step; raises to abandon them, with nothing changed.

    Returns
    -------
    tuple of int and float
        Steps done, and the violation that is left.
    """
    lower, upper = bounds
    total = math.fsum(beta) if is_balanced else None
    point, gradient, objective = beta.copy(), slope.copy(), 0.0
    curvatures = np.diagonal(kernel).astype(np.float64) + diagonal
    pace = new_pace(1.0 / (abs(float(np.mean(curvatures))) or 1.0))
    steps = 0
    while steps < most_steps:
        if check is not None:
            check()
        if _violation(point, gradient, lower, upper, is_balanced) <= tolerance:
            break
        note_objective(pace, objective)
        goal = project(point - step_length(pace) * gradient, lower, upper, total)
        direction = goal - point
        moved = np.flatnonzero(direction)
        along = float(gradient @ direction)
        if len(moved) == 0 or along >= 0.0:
            break  # within rounding of the minimum
        image = diagonal * direction
        core.add_cached(kernel, moved, direction[moved], 0, len(image), image)
        curvature = float(direction @ image)
        share = share_of_step(pace, objective, along, curvature)
        objective += share * along + 0.5 * share**2 * curvature
        point = np.clip(point + share * direction, lower, upper)
        gradient += share * image
        note_step(pace, share**2 * float(direction @ direction), share**2 * curvature)
        steps += 1
    beta[:], slope[:] = point, gradient
    return steps, _violation(point, gradient, lower, upper, is_balanced)


def _violation(
    beta: Floats, gradient: Floats, lower: Floats, upper: Floats, is_balanced: bool
) -> float:
    """Return by how much the optimality conditions are missed."""
    up = float(np.min(gradient, where=beta < upper, initial=math.inf))
    down = float(np.max(gradient, where=beta > lower, initial=-math.inf))
    return down - up if is_balanced else max(down, -up)
