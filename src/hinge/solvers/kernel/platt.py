r"""Platt's choice of pairs, with which the method began: two nested loops and a threshold.

With the gradient :math:`e` and a threshold :math:`t`, which is minus the intercept, row j violates
the conditions by more than :math:`\tau` if :math:`e_j < t - \tau` and its coefficient may grow, or
:math:`e_j > t + \tau` and it may shrink.

*Outer loop*: a sweep over all rows, then sweeps over the rows strictly inside their bounds until
one moves nothing, then all rows again. It ends with a sweep over all rows that moves nothing: every
row is then within :math:`\tau` of the threshold, half of the violation that is aimed at.

*Inner choice*, for a row j that violates: the row inside its bounds with the largest
:math:`|e_i - e_j|`; if the two do not move, the others inside, from a random place on; then all
rows, from a random place on. Both move as in :mod:`hinge.solvers.kernel.smo`; the threshold becomes
the gradient of one of the two that is inside, else the mean of both.

Different from Platt's paper: the gradient of all rows is kept, not errors of rows inside alone; a
step counts if it moves at all, instead of by a thousandth of the coefficients, so that any
tolerance can be reached; and if a whole sweep moves nothing while conditions are violated, the pair
that violates them most moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hinge.machines import KernelCache
from hinge.solvers.kernel.dual_state import Floats, Ids, KernelState
from hinge.solvers.kernel.kept_steps import Part

_FLAT = 1e-12  # curvature of a direction that has none
_ROUNDING = 1e-14  # share of a bound below which a change is none


@dataclass
class PairState(KernelState):
    """What sequential minimal optimisation knows between steps, besides what every solver does.

    Parameters
    ----------
    position : int
        Where the sweep of Platt's outer loop is.
    is_whole : bool
        Whether it is over all rows.
    has_moved : bool
        Whether it has moved any.
    threshold : float
        What gradients are compared with; NaN before the first sweep.
    """

    position: int = 0
    is_whole: bool = True
    has_moved: bool = False
    threshold: float = math.nan


@dataclass
class SweepEnd:
    """How some steps ended.

    Parameters
    ----------
    steps : int
        How many there were.
    missing : int
        The variable whose kernel row is not kept; -1 if that did not end them.
    is_stuck : bool
        Whether a sweep over all rows has moved nothing.
    """

    steps: int = 0
    missing: int = -1
    is_stuck: bool = False


class PlattSweep:
    """Sweeps of Platt's outer loop over variables with kept kernel rows.

    Parameters
    ----------
    state : PairState
        The run; its place in the sweep is changed.
    part : Part
        The variables, all rows of the run, which are changed.
    own : ndarray of shape (n,)
        Every row's kernel with itself.
    """

    def __init__(self, state: PairState, part: Part, own: Floats) -> None:
        self._state, self._part, self._cache = state, part, state.cache
        self._curvature = own + part.diagonal
        self._tolerance = 0.5 * state.aim
        self._end = SweepEnd()
        if math.isnan(state.threshold):
            state.threshold = 0.0

    def go(self, most: int) -> SweepEnd:
        """Go on for so many steps, to a missing row, or to the end of the last sweep.

        Parameters
        ----------
        most : int
            The most steps.
        """
        end, state = self._end, self._state
        while end.steps < most:
            found = self._next_violator()
            if found < 0:
                if self._ends_sweep():
                    end.is_stuck = True
                    return end
                continue
            moved = self._examine(found)
            if end.missing >= 0:
                return end  # and the row is looked at again
            end.steps += moved
            state.has_moved |= moved
            state.position = found + 1
        return end

    def _inside(self) -> Ids:
        part = self._part
        return np.flatnonzero((part.beta > part.lower) & (part.beta < part.upper))

    def _next_violator(self) -> int:
        """Return the next row of the sweep that violates the conditions; -1 at its end."""
        part, state = self._part, self._state
        some = slice(state.position, None)
        error = part.gradient[some] - state.threshold
        beta, lower, upper = part.beta[some], part.lower[some], part.upper[some]
        grows, shrinks = beta < upper, beta > lower
        bad = (grows & (error < -self._tolerance)) | (shrinks & (error > self._tolerance))
        if not state.is_whole:
            bad &= grows & shrinks
        place = int(np.argmax(bad)) if len(bad) else 0
        return state.position + place if len(bad) and bad[place] else -1

    def _ends_sweep(self) -> bool:
        """Begin the next sweep; return whether there is none, for the last was whole and vain."""
        state = self._state
        is_over = state.is_whole and not state.has_moved
        state.is_whole = not state.is_whole and not state.has_moved
        state.position, state.has_moved = 0, False
        if is_over:
            state.is_whole = True
        return is_over

    def _examine(self, second: int) -> bool:
        """Move a row that violates the conditions with another; return whether that was done."""
        row = self._row(second)
        if row is None:
            return False
        steps = self._possible_steps(second, row)
        inside = self._inside()
        inside = inside[inside != second]
        gradient = self._part.gradient
        if len(inside):
            best = inside[np.argmax(np.abs(gradient[inside] - gradient[second]))]
            if steps[best] != 0.0:
                return self._move(int(best), second, row, float(steps[best]))
        for rows in (inside, np.arange(len(steps))):
            movable = rows[steps[rows] != 0.0]
            if len(movable):
                # What is drawn follows from the seed and the number of the step.
                number = self._state.steps + self._end.steps
                start = int(np.random.default_rng((self._state.seed, number)).integers(len(steps)))
                first = movable[np.searchsorted(movable, start) % len(movable)]
                return self._move(int(first), second, row, float(steps[first]))
        return False

    def _possible_steps(self, second: int, row: Floats) -> Floats:
        """Return by how much every row would grow, and the second one shrink, in a step on both."""
        part = self._part
        curved = self._curvature + self._curvature[second] - 2.0 * row
        steps = (part.gradient[second] - part.gradient) / np.maximum(curved, _FLAT)
        beta = part.beta[second]
        most = np.minimum(part.upper - part.beta, beta - part.lower[second])
        least = np.maximum(part.lower - part.beta, beta - part.upper[second])
        steps = np.clip(steps, least, most)
        steps[second] = 0.0
        small = _ROUNDING * np.maximum(part.upper, -part.lower)
        with np.errstate(invalid="ignore"):
            steps[np.abs(steps) <= np.where(np.isfinite(small), small, 0.0)] = 0.0
        return np.asarray(steps)

    def _move(self, first: int, second: int, row: Floats, step: float) -> bool:
        """Move two rows; return False if the kernel row of the first is missing."""
        other = self._row(first)
        if other is None:
            return False
        part = self._part
        both = np.array([first, second])
        before = part.beta[both]
        for place, change in ((first, step), (second, -step)):
            bound = part.upper[place] if change > 0.0 else part.lower[place]
            reaches = abs(change) >= abs(bound - part.beta[place])
            part.beta[place] = bound if reaches else part.beta[place] + change
        changes = part.beta[both] - before
        gradient = part.gradient
        gradient += changes[0] * other + changes[1] * row
        gradient[both] += changes * part.diagonal[both]
        self._set_threshold(both)
        return True

    def _set_threshold(self, both: Ids) -> None:
        """Take the gradient of those of the last two that are inside, or of both."""
        part = self._part
        gradient = part.gradient[both]
        is_inside = (part.beta[both] > part.lower[both]) & (part.beta[both] < part.upper[both])
        self._state.threshold = float(np.mean(gradient[is_inside] if is_inside.any() else gradient))

    def _row(self, number: int) -> Floats | None:
        """Return a kernel row, None with a note of it if it is not kept."""
        cache: KernelCache = self._cache
        slot = int(cache.slots(np.array([number]))[0])
        if slot < 0:
            self._end.missing = number
            return None
        return np.asarray(cache.rows[slot], dtype=np.float64)
