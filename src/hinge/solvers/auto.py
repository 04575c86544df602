r"""The choice of ``solver="auto"``: which methods, in which order, and when to change.

Coordinate descent is tried first, unless another method costs little more than a first look at what
it can do: where it works, nothing is faster. It is given a quarter (``TRIAL``) of what the cheapest
method that does not mind scaling and C would cost in all, a tenth (``SHORT_TRIAL``) where there are
very many rows for a feature, and from then on it is asked after every claim how far it will have to
go,

.. math:: \text{work left} = (w - w') \frac{\log(g / g^*)}{\log(g' / g)},

with the gaps g' after half of its work w and g now, and the gap g* that is asked for. When that
costs more than the other method in all, the other one goes on from its point. So a wrong first try
is meant to cost a quarter or a tenth of the other method's *expected* cost. What it does cost is
more where that expectation is too high, and on small problems, where a first look is a large part
of everything: ``docs/results/choice.md`` has up to half as much again on 569 rows of 30 features.

Costs are nanoseconds of one processor of the machine that ``docs/results/choice.md`` was measured
on. Only their ratios matter, and these differ little between machines. They are constants, not
measurements of the run: what is returned depends on inputs, seed and gap alone, and neither on
the machine's load nor on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.solvers.linear.newton_state import MOST_FEATURES

Floats = NDArray[np.float64]

TRIAL = 0.25  # share of the rival's cost that coordinate descent may spend before it is questioned
SHORT_TRIAL = 0.1  # the same where few rows can be left out: then its gap does not fall at once
LEAST_GAP = 1e-12  # what gap 0 is taken for: below, objective values are all rounding
_DEFAULT_GAP = 1e-3

_CROWDED = 100.0  # rows for a feature from which few of them can be left out: there a rival goes
# first if it costs less than so many times a first look at coordinate descent, by the mean of cost
# times squared norm, above which it is so.
_SOON = ((20.0, 8.0), (1.0, 4.0))
_UNSURE = 4.0  # times the rival's cost: what a forecast must say that has only one claim to go by
_FEW_ROWS = 1500.0  # for a feature: where the steps of a smoothed corner are about twice as many
_FIRST_LOOK = 10.0  # passes before coordinate descent says anything

FIRST = "dual-coordinate"
_NEAR, _FAR = 12.0, 60.0  # coordinate descent: a row in the cache, in memory,
_VALUE, _SPARSE = 0.6, 2.0  # and a value of dense and of sparse rows
_CACHED = 1 << 19  # stored values that stay in the cache


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


def choose(problem: Problem, gap: float | None, able: Sequence[str]) -> Choice:
    """Return the methods for a problem.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    able : sequence of str
        Names of the methods that take the problem.

    Returns
    -------
    Choice
        Coordinate descent, the others by cost, and coordinate descent again: what it can do,
        it shall have been given the chance to.
    """
    costs = {name: cost(problem, gap) for name, cost in COSTS.items() if name in able}
    rivals = sorted(costs, key=lambda name: costs[name])
    unit = coordinate_cost(problem)
    if FIRST not in able:
        return Choice(tuple(rivals), math.inf, unit, f"{FIRST} does not take the problem")
    if not rivals:
        return Choice((FIRST,), math.inf, unit, "no other method takes the problem")
    rival, cost = rivals[0], costs[rivals[0]]
    look = _FIRST_LOOK * unit * problem.rows.n_stored
    is_crowded = problem.n_rows > _CROWDED * problem.n_features
    if is_crowded and cost < _patience(problem) * look:
        reason = f"{rival} costs little more than a first look at what {FIRST} can do"
        return Choice((*rivals, FIRST), math.inf, unit, reason)
    reason = f"{FIRST} first, {rival} if that takes longer"
    trial = SHORT_TRIAL if is_crowded else TRIAL
    return Choice((FIRST, *rivals, FIRST), cost, unit, reason, trial)


def _patience(problem: Problem) -> float:
    """Return how many first looks at coordinate descent a rival may cost that goes first."""
    stiffness = _stiffness(problem)
    return next((looks for above, looks in _SOON if stiffness > above), 0.0)


def _stiffness(problem: Problem) -> float:
    """Return the mean of cost times squared norm: the passes of coordinate descent grow with it."""
    costs = problem.costs
    total = float(np.sum(costs * problem.rows.squared_norms))
    return total / max(1, int(np.count_nonzero(costs)))


def coordinate_cost(problem: Problem) -> float:
    """Return what a stored value costs coordinate descent, its share of its row included.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    rows = problem.rows
    row = _NEAR if rows.is_sparse or rows.n_stored <= _CACHED else _FAR
    return (_SPARSE if rows.is_sparse else _VALUE) + row * rows.n_rows / max(1, rows.n_stored)


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
        self.target = max(_DEFAULT_GAP if math.isnan(gap) else gap, LEAST_GAP)

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
        count = self._count
        if not count or self.past[count - 1, 0] * self.unit_cost < self.trial_cost:
            return False
        # Its gap falls faster later on than from zero weights to its first claim.
        doubt = 1.0 if len(self._earlier()) else _UNSURE
        return self.work_left() * self.unit_cost > doubt * self.rival_cost

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


def _digits(gap: float | None) -> float:
    """Return how many decimal digits a gap asks for."""
    return -math.log10(max(_DEFAULT_GAP if gap is None else gap, LEAST_GAP))


def _matrix_products(problem: Problem) -> float:
    """Return the multiplications of a matrix X'DX, those of sparse rows at their price."""
    rows = problem.rows
    width = problem.n_features + 1
    dense = float(rows.n_rows) * width**2
    if not rows.is_sparse:
        return dense
    lengths = np.diff(rows.indptr).astype(np.float64)
    return min(dense, 60.0 * float(lengths @ lengths))


def interior_cost(problem: Problem, gap: float | None) -> float:
    """Return what the interior point method is expected to cost.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    rows = problem.rows
    has_corner = problem.loss.dual_curvature == 0.0
    steps = 9.0 + 1.5 * _digits(gap) if has_corner else 5.0 + _digits(gap)
    per_step = (
        400_000.0
        + 60.0 * rows.n_rows
        + 2.5 * rows.n_stored
        + 0.035 * _matrix_products(problem)
        + 0.05 * float(problem.n_features) ** 3
    )
    return steps * per_step


def primal_newton_cost(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method with a dense matrix is expected to cost.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    rows = problem.rows
    has_corner = problem.loss.dual_curvature == 0.0
    steps = 20.0 * _digits(gap) if has_corner else 12.0
    per_step = (
        1_500_000.0
        + 1000.0 * rows.n_rows
        + 0.035 * float(rows.n_rows) * problem.n_features**2
        + 0.05 * float(problem.n_features) ** 3
    )
    return steps * per_step


def newton_cost(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method is expected to cost.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for. For a smooth loss any is near, since the last steps are
        quadratic; a corner is smoothed less and less, which takes few steps where every feature has
        very many rows and many where it has not.
    """
    stored = float(problem.rows.n_stored)
    cost = 15.0 * 400_000.0
    if problem.n_features >= MOST_FEATURES:
        cost += 300.0 * 2.0 * stored
    else:
        cost += 20.0 * 2.0 * stored + 1.5 * 0.035 * _matrix_products(problem)
    if problem.loss.dual_curvature == 0.0:
        cost *= (0.5 + _digits(gap) / 6.0) * (1.0 + _FEW_ROWS * problem.n_features / problem.n_rows)
    return cost


COSTS: dict[str, Callable[[Problem, float | None], float]] = {
    "interior-point": interior_cost,
    "newton": newton_cost,
    "primal-newton": primal_newton_cost,
}
