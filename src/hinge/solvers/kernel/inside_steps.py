r"""Newton steps on the variables that are strictly inside their bounds.

Pairs crawl along a narrow valley: with a large C and a kernel of low rank it takes millions of
them. With the variables F inside their bounds and the others fixed, the program is

.. math:: \min_d \tfrac12 d'(K_{FF} + D_F) d + e_F'd \quad\text{subject to}\quad \sum d = 0,

a linear system. A step goes to its solution, or to the first bound on the way, where a variable
leaves F; the objective never rises. Singular systems are solved in the sense of least squares.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_INSIDE = 400  # variables of a system that is solved in some 50 ms
_MOST_STEPS = 30


def step_inside(
    kernel: Floats,
    diagonal: Floats,
    bounds: tuple[Floats, Floats],
    beta: Floats,
    slope: Floats,
    is_balanced: bool,
) -> int:
    """Move the variables inside their bounds, and the slope of all with them.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        The kernel matrix of a working set.
    diagonal : ndarray of shape (n,)
        What is added to its diagonal.
    bounds : tuple of two ndarray
        Lower and upper bounds.
    beta, slope : ndarray of shape (n,)
        Variables and gradient, changed in place.
    is_balanced : bool
        Whether the sum of the variables stays as it is.

    Returns
    -------
    int
        Steps done.
    """
    lower, upper = bounds
    for step in range(_MOST_STEPS):
        inside = np.flatnonzero((beta > lower) & (beta < upper))
        if not 1 < len(inside) <= MOST_INSIDE:
            return step
        direction = _solution(kernel, diagonal, slope, inside, is_balanced)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction > 0.0, upper[inside], lower[inside]) - beta[inside]
            reach = np.where(direction != 0.0, room / direction, np.inf)
        length = min(1.0, float(np.min(reach)))
        decrease = -float(direction @ slope[inside])
        if not (np.isfinite(direction).all() and decrease > 0.0 and length > 0.0):
            return step
        moved = np.where(reach <= length, beta[inside] + room, beta[inside] + length * direction)
        moved = np.clip(moved, lower[inside], upper[inside])
        change = moved - beta[inside]
        beta[inside] = moved
        slope += kernel[:, inside] @ change
        slope[inside] += diagonal[inside] * change
        if length >= 1.0:
            return step + 1
    return _MOST_STEPS


def _solution(
    kernel: Floats, diagonal: Floats, slope: Floats, inside: NDArray[np.int64], is_balanced: bool
) -> Floats:
    """Return the step to the minimum over the variables inside their bounds."""
    n = len(inside)
    system = np.zeros((n + 1, n + 1)) if is_balanced else np.zeros((n, n))
    system[:n, :n] = kernel[np.ix_(inside, inside)]
    system[np.arange(n), np.arange(n)] += diagonal[inside]
    right = np.zeros(len(system))
    right[:n] = -slope[inside]
    if is_balanced:
        scale = float(np.max(np.abs(np.diagonal(system)), initial=1e-300))
        system[n, :n] = system[:n, n] = scale  # of the matrix's own size, or it would be noise
    try:
        step = np.linalg.lstsq(system, right, rcond=None)[0][:n]
    except np.linalg.LinAlgError:
        return np.zeros(n)
    # What is left of the sum is rounding.
    return np.asarray(step - np.mean(step) if is_balanced else step)
