r"""How far to go along a projected gradient: Barzilai-Borwein steps that may rise now and then.

With the change s of the variables in the last steps and the change y of the gradient, the step
length is :math:`\sum s's / \sum s'y` over the last two of them: its inverse is a mean curvature of
the objective where it has just been. A step that makes the objective larger than a *reference* is
cut to the minimum on its line. The reference is the largest value since the last best one, renewed
whenever there was no better one for ten steps [1]_: the objective may rise, but not for long.

References
----------
.. [1] Y.-H. Dai and R. Fletcher, "New algorithms for singly linearly constrained quadratic programs
   subject to lower and upper bounds", Mathematical Programming 106, 2006, section 3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PATIENCE = 10  # steps without a better value after which a higher reference is taken
_LONGEST = 1e100  # first step where nothing has a curvature
_RANGE = 1e10  # how far a step may be from the first one, on either side
_BEST, _CANDIDATE, _REFERENCE, _SINCE, _LENGTH, _FIRST, _SQUARES, _CURVES = range(8)


def new_pace(length: float) -> Floats:
    """Return the memory of a run that begins with this step length: numbers, so that it pickles."""
    first = min(max(length, 1.0 / _LONGEST), _LONGEST)
    return np.array([math.inf, math.inf, math.inf, 0.0, first, first, 0.0, 0.0])


def step_length(pace: Floats) -> float:
    """Return how far to go along the negative gradient before projecting."""
    return float(pace[_LENGTH])


def note_objective(pace: Floats, objective: float) -> None:
    """Take the objective at the current point into account; changes ``pace``."""
    if objective < pace[_BEST]:
        if math.isinf(pace[_BEST]):
            pace[_REFERENCE] = objective
        pace[_BEST] = pace[_CANDIDATE] = objective
        pace[_SINCE] = 0.0
        return
    pace[_CANDIDATE] = max(pace[_CANDIDATE], objective)
    pace[_SINCE] += 1.0
    if pace[_SINCE] >= _PATIENCE:
        pace[_REFERENCE], pace[_CANDIDATE] = pace[_CANDIDATE], objective
        pace[_SINCE] = 0.0


def share_of_step(pace: Floats, objective: float, slope: float, curvature: float) -> float:
    """Return how much of a feasible direction to go, between 0 and 1.

    Parameters
    ----------
    pace : ndarray
        The memory of the run.
    objective : float
        The objective before the step.
    slope, curvature : float
        ``g'd`` and ``d'Qd`` of the direction d.

    Returns
    -------
    float
        1, or where the minimum on the line lies.
    """
    if objective + slope + 0.5 * curvature <= pace[_REFERENCE] or curvature <= 0.0:
        return 1.0
    return min(1.0, -slope / curvature)


def note_step(pace: Floats, square: float, curvature: float) -> None:
    """Choose the next step length; changes ``pace``.

    Parameters
    ----------
    pace : ndarray
        The memory of the run.
    square, curvature : float
        ``s's`` and ``s'y`` of the step that has been done.
    """
    squares, curves = square + pace[_SQUARES], curvature + pace[_CURVES]
    pace[_SQUARES], pace[_CURVES] = square, curvature
    most, least = _RANGE * pace[_FIRST], pace[_FIRST] / _RANGE
    # A direction without curvature is followed as far as the bounds let it.
    length = squares / curves if curves * most > squares else most
    pace[_LENGTH] = min(max(length, least), most)
