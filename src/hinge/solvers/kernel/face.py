r"""The minimum over the free variables: steps to it, and what happens at bounds on the way.

On the face of the variables F that are free, all others fixed, Newton's step d leads to the
minimum. If it leaves the bounds there are two ways to go: along d to the first bound, which is the
classical rule and ends after finitely many faces, or towards the feasible point nearest to its
end, as far as the minimum on that line, which takes many variables to their bounds at once. The
one that gains more is taken. Variables that arrive at a bound leave F; the objective never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.kernel.free_set import FreeSet
from hinge.solvers.kernel.projection import project

Floats = NDArray[np.float64]

_MANY = 8  # rows that leave at once for which factoring anew is cheaper than dropping them
_REFINEMENTS = 2
_ROUNDING = 1e-15  # of the variables, relative


@dataclass
class Face:
    """The free variables, their matrix and their gradient.

    Parameters
    ----------
    free : FreeSet
        The free rows and the factor of their matrix, shift included.
    matrix : ndarray of shape (m, m)
        Their part of K + D, without the shift.
    shift : float
        The constant that the factor has more; 0 where sums are free.
    beta, gradient, lower, upper : ndarray of shape (m,)
        Variables, gradient and bounds.
    """

    free: FreeSet
    matrix: Floats
    shift: float
    beta: Floats
    gradient: Floats
    lower: Floats
    upper: Floats

    @property
    def is_balanced(self) -> bool:
        """Whether the variables keep their sum."""
        return self.shift > 0.0

    def descend(self, tolerance: float, check: Callable[[], None] | None = None) -> Floats:
        """Go to the minimum over the variables that stay free.

        Parameters
        ----------
        tolerance : float
            How much the gradient may differ from its mean (from zero) at the end.
        check : callable or None, default=None
            Called before every step; raises to abandon them.

        Returns
        -------
        ndarray
            How every variable that was free at the beginning has moved.
        """
        ids, start = self.free.ids, self.beta
        self._ended: dict[int, float] = {}
        refined = 0
        while len(self.free) and self.violation > tolerance and refined <= _REFINEMENTS:
            if check is not None:
                check()
            direction, _ = self.free.step(self.gradient, self.is_balanced)
            if not np.isfinite(direction).all():
                break
            if not self._drop_outward(direction) and not self._advance(direction):
                refined += 1  # the minimum, but for rounding
        self._ended.update(zip(self.free.ids.tolist(), self.beta.tolist(), strict=True))
        return np.array([self._ended[row] for row in ids.tolist()]) - start

    @property
    def violation(self) -> float:
        """How far the gradient is from that of a minimum over the free variables."""
        if len(self.gradient) == 0:
            return 0.0
        if self.is_balanced:
            return float(np.max(self.gradient) - np.min(self.gradient))
        return float(np.max(np.abs(self.gradient)))

    def _drop_outward(self, direction: Floats) -> bool:
        """Let variables go that are at a bound and would leave it at once; return whether any."""
        outward = (self.beta <= self.lower) & (direction < 0.0)
        outward |= (self.beta >= self.upper) & (direction > 0.0)
        places = np.flatnonzero(outward)
        if len(places) == 0:
            return False
        # The worse half of them: the others may turn round without it.
        sizes = np.abs(direction[places])
        self._drop(places[sizes >= np.median(sizes)])
        return True

    def _advance(self, direction: Floats) -> bool:
        """Go along a direction or beside it; return whether a variable has left the face.

        None has where the end of the direction was reached, or where rounding alone tells which
        way gains more: that one can be chosen again and again.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction > 0.0, self.upper, self.lower) - self.beta
            reach = np.where(direction != 0.0, room / direction, np.inf)
        length = float(np.min(reach))
        if length >= 1.0:
            self._move(np.clip(self.beta + direction, self.lower, self.upper))
            return False
        first = np.where(reach <= length, self.beta + room, self.beta + length * direction)
        first = np.clip(first, self.lower, self.upper)
        near = self._nearest(direction)
        gain = self._gain(first)
        # A way that takes nobody to a bound is for where the other one would rise, by more than
        # the rounding of the variables: one may be at its bound but for that.
        arrives = bool(np.any((near <= self.lower) | (near >= self.upper)))
        rounding = _ROUNDING * float(np.abs(self.beta) @ np.abs(self.gradient))
        is_better = (arrives or gain < -rounding) and self._gain(near) > gain
        self._move(near if is_better else first)
        at_bound = (self.beta <= self.lower) | (self.beta >= self.upper)
        self._drop(np.flatnonzero(at_bound))
        return bool(at_bound.any())

    def _nearest(self, direction: Floats) -> Floats:
        """Return the best point towards the feasible point nearest to the end of a direction."""
        total = float(np.sum(self.beta)) if self.is_balanced else None
        end = project(self.beta + direction, self.lower, self.upper, total)
        change = end - self.beta
        slope, curvature = float(self.gradient @ change), float(change @ (self.matrix @ change))
        if slope + curvature <= 0.0:
            return end
        share = max(0.0, -slope / curvature)
        return np.clip(self.beta + share * change, self.lower, self.upper)

    def _gain(self, beta: Floats) -> float:
        """Return by how much the objective is lower at another point of the face."""
        change = beta - self.beta
        return -float(change @ (self.gradient + 0.5 * (self.matrix @ change)))

    def _move(self, beta: Floats) -> None:
        self.gradient = self.gradient + self.matrix @ (beta - self.beta)
        self.beta = beta

    def _drop(self, places: NDArray[np.int64]) -> None:
        """Take rows out of the face and of the factor."""
        if len(places) == 0:
            return
        self._ended.update(
            zip(self.free.ids[places].tolist(), self.beta[places].tolist(), strict=True)
        )
        stays = np.ones(len(self.beta), dtype=bool)
        stays[places] = False
        self.matrix = self.matrix[np.ix_(stays, stays)]
        self.beta, self.gradient = self.beta[stays], self.gradient[stays]
        self.lower, self.upper = self.lower[stays], self.upper[stays]
        if len(places) > _MANY:
            anew = FreeSet()
            anew.factor(self.free.ids[stays], self.matrix + self.shift)
            if len(anew) == len(self.beta):
                self.free = anew
                return
        for place in places[::-1]:
            self.free.remove(int(place))
