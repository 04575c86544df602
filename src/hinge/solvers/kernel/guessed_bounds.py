r"""The program over a working set solved by guessing which of its rows end at a bound.

.. math:: \min_d \tfrac12 d'(K + D)d + e'd \quad\text{subject to}\quad
          l \le \beta + d \le u, \quad \sum_i d_i = 0 \text{ (free intercept)}

Once it is known which rows end at which bound, the others solve a linear system. Begin with a
guess; of the solution, rows that have left their bounds are guessed to end at the one that they
crossed, and rows at a bound that the gradient draws inside to be free. This is the primal-dual
active set method, which is Newton's on the optimality conditions [1]_. It moves hundreds of rows in
and out at once and is mostly right after three or four guesses, which is where thousands of steps
on pairs would be needed for each factor of ten.

Nothing keeps it from going round in circles, though, and where the matrix is nearly singular it
does. *Damping* adds :math:`\tfrac12 \sum_i \delta_i d_i^2` to the objective, with which the method
finds its end, nearer to where it began, and then begins there. Guesses are given up whose
errors do not become fewer, and what has been found, put inside the bounds, is only a direction: the
step goes to the minimum of the objective itself along it, which never rises.

References
----------
.. [1] M. Hintermüller, K. Ito and K. Kunisch, "The primal-dual active set strategy as a semismooth
   Newton method", SIAM Journal on Optimization 13, 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.kernel.nearby_systems import NearbySystems
from hinge.solvers.kernel.projection import project
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Sides = NDArray[np.int8]

_MOST_GUESSES = 15
_SLOW, _MANY = 0.75, 0.05  # shares of the fewest errors so far, and of the free rows: more is slow
_PATIENCE = 1  # slow guesses that may be
_REFINED = 0.5  # what solving once more must leave at the most of an error to be worth it
_MOST_CENTRES = 5  # points from which the way is damped, one after the other


class GuessedBounds:
    """A working set, and where its rows are guessed to end.

    Parameters
    ----------
    systems : NearbySystems
        What solves systems over its free rows.
    matrix : ndarray of float32 of shape (n, n)
        Its kernel matrix.
    diagonal : ndarray of shape (n,)
        What is added to the diagonal.
    bounds : tuple of two ndarray
        Lower and upper bounds; where they are the same a row stays as it is.
    damping : ndarray of shape (n,)
        What is added to it besides, to find out who ends at a bound.
    is_balanced : bool
        Whether the sum of the variables stays as it is.

    Attributes
    ----------
    changed : int
        How many rows have ended elsewhere than they were first guessed to.
    """

    def __init__(
        self,
        systems: NearbySystems,
        matrix: Singles,
        diagonal: Floats,
        bounds: tuple[Floats, Floats],
        damping: Floats,
        is_balanced: bool,
    ) -> None:
        self._systems, self._matrix, self._diagonal = systems, matrix, diagonal
        self._damping, self.changed = damping, 0
        self._lower, self._upper = bounds
        self._is_fixed = self._lower == self._upper
        self._is_balanced = is_balanced

    def step(
        self,
        beta: Floats,
        slope: Floats,
        wanted: float,
        check: Callable[[], None] | None = None,
    ) -> bool:
        """Move the variables, and the slope with them.

        Parameters
        ----------
        beta, slope : ndarray of shape (n,)
            Variables and gradient, changed in place.
        wanted : float
            The violation to reach.
        check : callable or None, default=None
            Called between guesses; raises to give up.

        Returns
        -------
        bool
            Whether anything has moved: not if the guesses went round in circles.
        """
        has_moved, left = False, math.inf
        for _ in range(_MOST_CENTRES):
            with single_threaded_blas():
                if not self._advance(beta, slope, wanted, check):
                    return has_moved
            has_moved = True
            before, left = left, self._violation(beta, slope)
            if left <= wanted or left > _REFINED * before:
                break
        return has_moved

    def _advance(
        self, beta: Floats, slope: Floats, wanted: float, check: Callable[[], None] | None
    ) -> bool:
        """Go to what is guessed, or to the minimum on the way; return whether that is anywhere."""
        change = self._guess(beta, slope, wanted, check) - beta
        image = self._times(change) + self._diagonal * change
        fall, curvature = -float(slope @ change), float(change @ image)
        if not (fall > 0.0 and np.isfinite(curvature)):
            return False
        share = 1.0 if fall >= curvature else fall / curvature
        beta[:] = np.clip(beta + share * change, self._lower, self._upper)
        slope += share * image
        return True

    def _violation(self, beta: Floats, slope: Floats) -> float:
        """Return by how much the conditions are violated."""
        up = float(np.min(slope, where=beta < self._upper, initial=np.inf))
        down = float(np.max(slope, where=beta > self._lower, initial=-np.inf))
        return down - up if self._is_balanced else max(down, -up)

    def first_guess(self, beta: Floats, slope: Floats) -> Sides:
        """Return for each row -1 if it stays at its lower bound, 1 at its upper, 0 if it is free.

        Parameters
        ----------
        beta, slope : ndarray of shape (n,)
            Variables and gradient.
        """
        at_lower, at_upper = beta <= self._lower, beta >= self._upper
        level = self._level(slope, ~(at_lower | at_upper))
        sides = np.zeros(len(beta), dtype=np.int8)
        sides[at_lower & (self._is_fixed | (slope >= level))] = -1
        sides[at_upper & ~self._is_fixed & (slope <= level)] = 1
        return sides

    def _guess(
        self, beta: Floats, slope: Floats, wanted: float, check: Callable[[], None] | None
    ) -> Floats:
        """Return where the variables end by the last guess, put inside their bounds."""
        sides = self.first_guess(beta, slope)
        first = sides.copy()
        at, slope = beta, slope.copy()
        total = float(np.sum(beta))
        fewest, slow, left = len(beta), 0, math.inf
        for _ in range(_MOST_GUESSES):
            if check is not None:
                check()
            is_free = sides == 0
            if not is_free.any():
                return beta
            at, slope = self._solution(at, slope, sides, total)
            if not np.isfinite(slope).all():
                return beta
            level = self._level(slope, is_free)
            below, above = is_free & (at < self._lower), is_free & (at > self._upper)
            slack = 0.5 * wanted
            drawn = (sides < 0) & (slope < level - slack) | (sides > 0) & (slope > level + slack)
            drawn &= ~self._is_fixed
            changed = int(np.count_nonzero(below | above | drawn))
            slow += changed > max(_SLOW * fewest, _MANY * np.count_nonzero(is_free))
            fewest = min(fewest, changed)
            if slow > _PATIENCE:
                return beta  # going round in circles
            if changed == 0:
                before, left = left, float(np.max(np.abs(slope[is_free] - level)))
                if left <= slack or left > _REFINED * before:
                    break
            sides[below], sides[above], sides[drawn] = -1, 1, 0
        self.changed = int(np.count_nonzero(sides != first))
        return self._feasible(at, total)

    def _solution(
        self, at: Floats, slope: Floats, sides: Sides, total: float
    ) -> tuple[Floats, Floats]:
        """Return where the free rows belong if the others are at their bounds, and the slope."""
        is_free = sides == 0
        placed = np.where(sides < 0, self._lower, np.where(sides > 0, self._upper, at))
        if (placed != at).any():
            slope = slope + self._damped_times(placed - at)
        at, ones = placed, np.ones((len(at), 1))
        even = self._systems.solve(is_free, ones)[:, 0] if self._is_balanced else ones[:, 0]
        # At first rows at a bound are asked for what their like are asked for, or the system would
        # be a rough one; what rounding leaves of that is small, and they are asked for nothing.
        for asked in (ones[:, 0], is_free):
            # Without what all have in common: the sum takes care of it, and rounding would not.
            right = asked * (self._level(slope, is_free) - slope)
            change = self._systems.solve(is_free, right[:, None])[:, 0]
            if self._is_balanced:
                missing = total - float(np.sum(at)) - float(np.sum(change))
                change = change + missing / float(np.sum(even)) * even
            at, slope = at + change, slope + self._damped_times(change)
        return at, slope

    def _feasible(self, at: Floats, total: float) -> Floats:
        """Return the variables inside their bounds; those that are free make up for the sum."""
        end = np.clip(at, self._lower, self._upper)
        if not self._is_balanced:
            return end
        is_free = (end > self._lower) & (end < self._upper)
        rest = total - float(np.sum(end[~is_free]))
        lower, upper = self._lower[is_free], self._upper[is_free]
        if float(np.sum(lower)) <= rest <= float(np.sum(upper)) and is_free.any():
            end[is_free] = project(end[is_free], lower, upper, rest)
            return end
        return project(end, self._lower, self._upper, total)

    def _level(self, slope: Floats, is_free: NDArray[np.bool_]) -> float:
        """Return what the slope of free rows is to be."""
        return float(np.mean(slope[is_free])) if self._is_balanced and is_free.any() else 0.0

    def _damped_times(self, change: Floats) -> Floats:
        """Return how the slope of the damped objective answers a change."""
        return self._times(change) + (self._diagonal + self._damping) * change

    def _times(self, change: Floats) -> Floats:
        """Return the product with the kernel matrix."""
        return np.asarray(np.dot(self._matrix, change.astype(np.float32)), dtype=np.float64)
