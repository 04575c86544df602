r"""The choice of ``solver="auto"``: which methods, in which order, and when to change.

Where data are so few that Newton's method with a dense matrix (``primal-newton``) is expected to
end before coordinate descent could, whatever the problem, it is taken at once.

Otherwise coordinate descent is tried first: where it works, nothing is faster. As soon as enough
rows have been visited there is a look after every sweep at the share of them that had half a margin
at the most (``Look``). Where classes are apart it falls from sweep to sweep; where they overlap it
stays, and is more than the weights could set right. Then the steps of other methods are few, those
of coordinate descent can be foretold, and whatever is expected to end sooner goes on. Newton's
method that takes many more steps than it was expected to gives way to coordinate descent again.

Where classes are apart coordinate descent is given a fifth (``TRIAL``) of what the cheapest method
that does not mind scaling and C would cost in all; where they overlap, and there are very many rows
for a feature, a tenth (``SHORT_TRIAL``). From then on it is asked after every claim how far it will
have to go,

.. math:: \text{work left} = (w - w') \frac{\log(g / g^*)}{\log(g' / g)},

with the gaps g' after half of its work w and g now, and the gap g* that is asked for. Its gap
stays near 1 for long and then falls faster and faster, so that early forecasts are too high: the
other method, of cost K, goes on from its point when the cost so far times that of the work left is
more than 4 K^2. So a wrong first try is meant to cost a fifth or a tenth of the other method's
*expected* cost. What it does cost is more where that expectation is too high, and on small
problems, where a first look is a large part of everything.

:mod:`hinge.solvers.costs` has what methods are expected to cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.solvers.costs import (
    COSTS,
    COSTS_APART,
    DEFAULT_GAP,
    LEAST_GAP,
    coordinate_cost,
    coordinate_forecast,
    coordinate_least,
    newton_rounds,
    primal_newton_steps,
)

Floats = NDArray[np.float64]

TRIAL = 0.2  # share of the rival's cost that coordinate descent may spend before it is questioned
SHORT_TRIAL = 0.1  # the same where few rows can be left out, if classes overlap or may

_CROWDED = 100.0  # rows for a feature from which few of them can be left out
_DOUBT = 4.0  # times the square of the rival's cost: what cost so far times forecast must be

FIRST, NEWTON, SHORT = "dual-coordinate", "newton", "primal-newton"
METHODS = (FIRST, *COSTS)  # all that a choice can name

_SEEN = 8.0  # rows for a feature that must have been visited before their share tells anything
# Rows for a weight without half a margin, or share of all rows: more, and classes overlap, unless
# that share is still falling: is less than this of what it was.
_SHORT_ROWS, _SHORT_SHARE, _SETTLED = 2.0, 1.0 / 3.0, 0.9
# Where the loss has a corner and rows are sparse: how many times the rival's cost coordinate
# descent must be expected to take. Features of few rows may take Newton's method several times its
# steps.
_SPARSE_DOUBT = 2.0
# What the cost of primal-newton counts for beside those of methods over any number of rows, which
# are too low where it takes part: on few rows their calls take most of the time. With a corner it
# searches all rows in every stage, where they have samples: that much only up to so many rows.
_SHORT_ODDS, _FEW_WITH_CORNER = 0.5, 20_000
# Steps of Newton's method for each of its rounds after which it is no longer expected to end: where
# it was the fastest it took up to 20, and where classes were apart hundreds.
_MOST_STEPS = 50.0
# Steps of primal-newton for each that it is expected to take, where it is the first method.
_MOST_SHORT_STEPS = 8.0


@dataclass(frozen=True)
class Choice:
    """The methods of a run.

    Parameters
    ----------
    names : tuple of str
        Their names, the first one first; each after the first is for when the one before it is
        overtaken or stalls.
    rival_cost : float
        What the second one is expected to cost, in nanoseconds; infinite if there is none.
    unit_cost : float
        What a stored value costs the first one, in nanoseconds.
    reason : str
        Why these, for people.
    trial : float
        Share of the second one's cost that the first may spend before it is questioned.
    """

    names: tuple[str, ...]
    rival_cost: float
    unit_cost: float
    reason: str
    trial: float = TRIAL


def choose(
    problem: Problem,
    gap: float | None,
    able: Sequence[str],
    *,
    apart: bool = False,
    tried: str = "",
) -> Choice:
    """Return the methods for a problem.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    able : sequence of str
        Names of the methods that take the problem.
    apart : bool, default=False
        Whether the classes are apart, or may be for all that is known.
    tried : str, default=""
        A method that has been given up: the last of the others.

    Returns
    -------
    Choice
        Coordinate descent, the others by cost, and coordinate descent again: what it can do,
        it shall have been given the chance to.
    """
    models = COSTS_APART if apart else COSTS
    costs = {name: cost(problem, gap) for name, cost in models.items() if name in able}
    is_smooth = problem.loss.dual_curvature > 0.0
    odds = _SHORT_ODDS if is_smooth or problem.n_counted <= _FEW_WITH_CORNER else 1.0
    weighed = {name: cost * (odds if name == SHORT else 1.0) for name, cost in costs.items()}
    rivals = sorted(costs, key=lambda name: (name == tried, weighed[name]))
    unit = coordinate_cost(problem)
    if FIRST not in able:
        return Choice(tuple(rivals), math.inf, unit, f"{FIRST} does not take the problem")
    if not rivals:
        return Choice((FIRST,), math.inf, unit, "no other method takes the problem")
    if rivals[0] == SHORT and costs[SHORT] <= coordinate_least(problem, gap):
        reason = f"{SHORT} takes less time than {FIRST} at its best"
        return Choice((*rivals, FIRST), math.inf, unit, reason)
    is_crowded = problem.n_counted > _CROWDED * problem.n_features
    return Choice(
        names=(FIRST, *rivals, FIRST),
        rival_cost=costs[rivals[0]],
        unit_cost=unit,
        reason=f"{FIRST} first, {rivals[0]} if that takes longer",
        trial=SHORT_TRIAL if is_crowded and not apart else TRIAL,
    )


def most_steps(problem: Problem, gap: float | None, name: str) -> float:
    """Return the steps of a method after which it is no longer expected to end soon.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    name : str
        Which of the two, ``"newton"`` or ``"primal-newton"``.
    """
    if name == SHORT:
        return _MOST_SHORT_STEPS * primal_newton_steps(problem, gap)
    return _MOST_STEPS * newton_rounds(problem, gap)


@dataclass(frozen=True)
class Look:
    """What the rows that coordinate descent has visited tell of a problem.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    visited, carrying, short : int
        How many rows have been visited, how many of them have a coefficient, and how many had
        half a margin at the most when they were visited last.
    """

    problem: Problem
    gap: float | None
    visited: int
    carrying: int
    short: int

    @property
    def enough(self) -> float:
        """How many rows must have been visited for their share to tell anything."""
        return min(_SEEN * (self.problem.n_features + 1), float(self.problem.n_counted))

    @property
    def is_enough(self) -> bool:
        """Whether so many rows have been visited that their share tells anything."""
        return self.visited >= self.enough

    @property
    def sweeps_left(self) -> int:
        """How many sweeps come before the next look: each at most doubles the rows visited."""
        return max(1, math.ceil(math.log2(self.enough / max(1, self.visited))))

    @property
    def share(self) -> float:
        """Share of the visited rows that have a coefficient."""
        return self.carrying / max(1, self.visited)

    @property
    def short_share(self) -> float:
        """Share of the visited rows that had half a margin at the most."""
        return self.short / max(1, self.visited)

    @property
    def overlaps(self) -> bool:
        """Whether more rows are short of a margin than the weights could set right."""
        many = _SHORT_ROWS * (self.problem.n_features + 1) / self.problem.n_counted
        return self.short_share > min(many, _SHORT_SHARE)

    def has_settled(self, before: float) -> bool:
        """Return whether the share of short rows has become what it will be.

        Where classes are apart it falls from sweep to sweep, and where they overlap it does not.

        Parameters
        ----------
        before : float
            That share at the look before; NaN if there was none.
        """
        return self.short_share >= _SETTLED * before

    @property
    def cost(self) -> float:
        """What coordinate descent is expected to cost in all where classes overlap."""
        return coordinate_forecast(self.problem, self.gap, self.share)

    def calls_for(self, rival_cost: float) -> bool:
        """Return whether a method of that cost is to go on, where classes overlap.

        Parameters
        ----------
        rival_cost : float
            What it is expected to cost, in nanoseconds.
        """
        has_corner = self.problem.loss.dual_curvature == 0.0
        is_doubtful = has_corner and self.problem.rows.is_sparse
        return self.cost > (_SPARSE_DOUBT if is_doubtful else 1.0) * rival_cost


class Watch:
    """What coordinate descent has claimed, and whether another method would now be done sooner.

    Parameters
    ----------
    past : ndarray of shape (Watch.LENGTH, 2)
        Work and relative gap of its claims, NaN where there are none yet; changed in place.
    costs : tuple of three floats
        What is spent before it is questioned, what the other method costs in all, and what a
        unit of its own work costs.
    gap : float
        The relative gap that is asked for; NaN if none is.
    """

    LENGTH: ClassVar[int] = 64

    def __init__(self, past: Floats, costs: tuple[float, float, float], gap: float) -> None:
        self.past = past
        self.trial_cost, self.rival_cost, self.unit_cost = costs
        self._count = int(np.count_nonzero(~np.isnan(past[:, 0])))
        self.target = max(DEFAULT_GAP if math.isnan(gap) else gap, LEAST_GAP)

    def note(self, work: int, gap: float) -> None:
        """Remember a claim, if it is one and new; forget every other one when there are many.

        Parameters
        ----------
        work : int
            What has been done.
        gap : float
            The relative gap that is claimed.
        """
        count = self._count
        if not math.isfinite(gap) or (count and gap == self.past[count - 1, 1]):
            return
        if count == self.LENGTH:
            kept = self.past[1::2].copy()
            count = len(kept)
            self.past[:count] = kept
            self.past[count:] = math.nan
        self.past[count] = work, gap
        self._count = count + 1

    def is_overtaken(self) -> bool:
        """Return whether the other method, begun now, is forecast to end sooner."""
        if not self._count:
            return False
        spent = float(self.past[self._count - 1, 0]) * self.unit_cost
        if spent < self.trial_cost:
            return False
        # Gaps fall faster and faster: early on, a forecast must say many times the rival's cost.
        left = self.work_left() * self.unit_cost
        return spent * left > _DOUBT * self.rival_cost**2

    def work_left(self) -> float:
        """Return the forecast of the work that is left; infinite if the gap does not narrow."""
        claims = self.past[: self._count]
        work, gap = claims[-1]
        if gap <= self.target:
            return 0.0
        earlier = self._earlier()
        work_then, gap_then = earlier[-1] if len(earlier) else (0.0, 1.0)  # of zero weights
        if not gap < gap_then:
            return math.inf
        return float((work - work_then) * math.log(gap / self.target) / math.log(gap_then / gap))

    def _earlier(self) -> Floats:
        """Return the claims of the first half of the work."""
        claims = self.past[: self._count]
        return np.asarray(claims[claims[:, 0] <= 0.5 * claims[-1, 0]])
