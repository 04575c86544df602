"""Points on the way to a known optimum, for solvers that only pretend."""

from __future__ import annotations

import math

import numpy as np

from hinge import Point
from hinge.testing import known_optimum

KNOWN = known_optimum("hinge", "augmented")
PROBLEM, OPTIMUM, VALUE = KNOWN.problem, KNOWN.point, float(KNOWN.value)
NOWHERE = Point(np.zeros(PROBLEM.n_features), 0.0, np.zeros(PROBLEM.n_rows))


def between(share: float) -> Point:
    """Return a feasible point on the way from zero to the optimum."""
    assert OPTIMUM.dual_coef is not None
    return Point(OPTIMUM.coef * share, OPTIMUM.intercept * share, OPTIMUM.dual_coef * share)


def slowly(steps: int) -> Point:
    """Return a point that gets a little better with every doubling of the steps."""
    return between(0.3 + 0.02 * math.log2(1 + steps))


def lies(_: int) -> tuple[float, float]:
    """Return objective values that claim to have arrived."""
    return 1.0, 1.0
