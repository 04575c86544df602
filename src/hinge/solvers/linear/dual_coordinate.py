r"""Dual coordinate descent: one dual coefficient at a time, in C++.

The dual program of :mod:`hinge.problem` is minimised over one coefficient after the other,

.. math:: \alpha_i \leftarrow \Pi_{[0, U_i]}\!\left(\alpha_i
          + \frac{p - y_i (w'x_i + b) - D_i \alpha_i}{\|x_i\|^2 + D_i}\right),

with ``w`` kept up to date; ``cpp/include/hinge/dual_coordinate.hpp`` has the mathematics and what
was changed from the published method. This module only owns the memory of a run.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate
   descent method for large-scale linear SVM", ICML 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.errors import unknown_name
from hinge.parameters import boolean, not_negative
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.linear.balance import balance
from hinge.solvers.linear.claimed_point import ClaimedPoint
from hinge.solvers.linear.intercept_interval import PASSES, first_interval, intersected, narrowed
from hinge.solvers.protocol import Solver, State, Support

Floats = NDArray[np.float64]

_ORDERS = {
    "cyclic": core.Order.cyclic,
    "permuted": core.Order.permuted,
    "random": core.Order.random,
}
_MOST_ROWS = 2**32 - 1
_NO_LIMIT = 2**63 - 1
_ROUNDING = 1e-11  # relative gap below which objective values no longer tell points apart
_CURRENT, _BEST, _VECTORS = 0, 3, 5  # rows of the array of weight vectors
# Strength of the pull towards the intercept's centre: the square of a constant feature is this
# fraction of a row's typical curvature, and large enough for the sum of all costs to move the
# intercept. Larger ones find the intercept sooner but couple all coefficients. A centre is worth
# having only where it makes the constant feature much smaller than the problem's.
_CENTRING = 0.0625
_MUCH_SMALLER = 0.5
_HALF_A_MARGIN = 0.5
_NARROWS = 0.1  # the interval of a free intercept is narrowed when the gap has by this factor,
_NARROW_FROM = 2e-3  # and from this relative gap on
_SURE = 0.99  # of the gap that is aimed at: a claim that a certificate's rounding does not refuse
_MOVES = 32.0  # units of the margin that all costs together can move the intercept in one sweep


@dataclass
class DualCoordinateState(State):
    """A run of dual coordinate descent between two steps.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    rows : ndarray of shape (n_samples, 4)
        Per row: alpha, alpha at the last snapshot (NaN where settled), last margin, and the squared
        norm with the sign of the label.
    best_margins : ndarray of shape (n_samples,)
        Margins of the best primal point.
    order : ndarray of uint32 of shape (n_samples,)
        The active rows first.
    vectors : ndarray of shape (5, n_features + 1)
        Weight vectors: current, at the last snapshot, trial, best, and that of the settled rows.
    random : ndarray of uint64 of shape (4,)
        State of the random generator.
    counters : ndarray of int64
        Positions and counts.
    numbers : ndarray
        Sums and thresholds.
    schedule : dict
        Options of the solver.
    constant : float
        Value of the constant feature.
    work : int
        Stored values touched so far.
    narrowed_at : float
        The gap at which the interval of a free intercept was last narrowed.
    is_narrowing : bool
        Whether the next step narrows that interval.
    has_weights : bool
        Whether the run starts from weights: until the first check they are the best point.
    claimed_primal, claimed_dual : float
        Values of the point that the run starts from, if these are known.
    is_claiming : bool
        Whether the next step only shows these values, for a certificate before any work.
    """

    problem: Problem
    rows: Floats
    best_margins: Floats
    order: NDArray[np.uint32]
    vectors: Floats
    random: NDArray[np.uint64]
    counters: NDArray[np.int64]
    numbers: Floats
    schedule: dict[str, Any]
    constant: float
    work: int = 0
    narrowed_at: float = math.inf
    is_narrowing: bool = False
    has_weights: bool = False
    claimed_primal: float = math.nan
    claimed_dual: float = math.nan
    is_claiming: bool = False
    _transient: ClassVar[tuple[str, ...]] = ("problem", "_run")

    @property
    def run(self) -> core.DualCoordinateRun:
        """The compiled run over these arrays; made anew for a state that goes on."""
        if "_run" not in self.__dict__:
            self.__dict__["_run"] = self._view()
        run: core.DualCoordinateRun = self.__dict__["_run"]
        return run

    @property
    def rows_seen(self) -> tuple[int, int, int]:
        """How many rows have been visited, carry a coefficient, and had half a margin at most."""
        has_coefficient, has_margin = self.rows[:, 0] != 0.0, self.rows[:, 2] != 0.0
        # The margin is the one before the step: that of the first row is zero.
        is_visited = has_coefficient | has_margin
        is_short = is_visited & (self.rows[:, 2] < _HALF_A_MARGIN)
        counts = map(np.count_nonzero, (is_visited, has_coefficient, is_short))
        visited, carrying, short = map(int, counts)
        return visited, carrying, short

    def _view(self) -> core.DualCoordinateRun:
        problem = self.problem
        data = problem.rows
        data.check_structure()
        columns, offsets = (data.indices, data.indptr) if data.is_sparse else (None, None)
        schedule = core.DualSchedule()
        for name, value in self.schedule.items():
            setattr(schedule, name, _ORDERS[value] if name == "order" else value)
        return core.DualCoordinateRun(
            matrix=core.RowsView(data.values, columns, offsets, data.n_rows, data.n_features),
            costs=np.array([problem.C]) if problem.sample_weight is None else problem.costs,
            program=core.DualProgram(
                linear=problem.loss.dual_linear,
                curvature=problem.loss.dual_curvature,
                reach=problem.loss.dual_upper,
                constant=self.constant,
                scale=_scale(problem),
            ),
            schedule=schedule,
            arrays=core.DualArrays(
                rows=self.rows,
                best_margins=self.best_margins,
                order=self.order,
                vectors=self.vectors,
                random=self.random,
                counters=self.counters,
                numbers=self.numbers,
            ),
        )


class DualCoordinate(Solver):
    """Dual coordinate descent with shrinking, exact screening and extrapolation.

    Parameters
    ----------
    order : {"permuted", "cyclic", "random"}, default="permuted"
        A new random permutation of the rows in every sweep, the order in which they are stored,
        or rows drawn with replacement (which rules out shrinking and extrapolation).
    shrinking : bool, default=True
        Leave rows out that seem to stay at a bound; check passes over all rows bring them back.
    screening : bool, default=True
        Leave rows out for good that the gap proves to stay at a bound; with a free intercept,
        the gap and an interval of optimal intercepts that it proves.
    extrapolation : bool, default=True
        Extrapolate the dual coefficients along their drift.
    aim : float, default=1e-3
        The relative gap that check passes are timed for; it matters for speed only.
    """

    name: ClassVar[str] = "dual-coordinate"

    def __init__(
        self,
        order: str = "permuted",
        *,
        shrinking: bool = True,
        screening: bool = True,
        extrapolation: bool = True,
        aim: float = 1e-3,
    ) -> None:
        if order not in _ORDERS:
            raise unknown_name(order, "order", list(_ORDERS))
        self.order = order
        self.shrinking = boolean(shrinking, "shrinking")
        self.screening = boolean(screening, "screening")
        self.extrapolation = boolean(extrapolation, "extrapolation")
        self.aim = not_negative(aim, "aim")

    @classmethod
    def aimed_at(cls, gap: float | None) -> DualCoordinate:
        """Return the solver set up for a relative gap; None is the default."""
        return cls() if gap is None else cls(aim=gap)

    def supports(self, problem: Problem) -> Support:
        """Return whether this solver takes the problem: any loss and intercept, many rows."""
        if problem.n_rows > _MOST_ROWS:
            reason = f"rows are numbered in 32 bits, so {problem.n_rows} of them are too many."
            return Support(False, reason)
        return Support(True)

    def start(
        self, problem: Problem, warm: Point | None = None, seed: int = 0
    ) -> DualCoordinateState:
        """Return the state before the first step, from known dual coefficients if given."""
        n_rows = problem.n_rows
        rows = np.zeros((n_rows, 4))
        rows[:, 3] = np.copysign(problem.rows.squared_norms, problem.signs)
        known = None if warm is None or warm.dual_coef is None else warm.dual_coef
        is_warm = known is not None and known.shape == (n_rows,)
        if is_warm:
            rows[:, 0] = known
        state = DualCoordinateState(
            problem=problem,
            rows=rows,
            best_margins=np.zeros(n_rows),
            order=np.zeros(n_rows, dtype=np.uint32),
            vectors=np.zeros((_VECTORS, problem.n_features + 1)),
            random=np.array(core.seeded_words(int(seed) % 2**64), dtype=np.uint64),
            counters=np.zeros(core.dual_counters, dtype=np.int64),
            numbers=np.zeros(core.dual_numbers),
            schedule={
                "order": self.order,
                "shrinking": self.shrinking,
                "screening": self.screening,
                "extrapolation": self.extrapolation,
                "aim": self.aim,
            },
            constant=_constant_feature(problem),
        )
        is_free = problem.intercept is Intercept.FREE
        has_weights = is_warm and warm is not None and _are_weights(problem, warm)
        if is_warm and warm is not None and is_free and math.isfinite(warm.intercept):
            # From beyond these the centre would be long coming.
            low, high = _first_intercepts(problem)
            state.run.offset = min(max(warm.intercept, low), high)
        if has_weights and warm is not None:
            state.has_weights = True
            state.vectors[_BEST, :-1] = warm.coef
            has_none = problem.intercept is Intercept.NONE
            given = 0.0 if has_none else warm.intercept
            state.vectors[_BEST, -1] = state.run.offset if is_free else given
            if isinstance(warm, ClaimedPoint):
                state.claimed_primal, state.claimed_dual = warm.primal, warm.dual
                claim = Progress(0, 0, warm.primal, warm.dual)
                state.is_claiming = claim.relative_gap <= _SURE * self.aim
        state.run.start(warm=is_warm, weights=has_weights)
        if is_free:
            state.run.intercepts = _first_intercepts(problem)
        return state

    def step(self, state: DualCoordinateState, work: int) -> int:
        """Do about this much work, less if a check pass ends before; return how much."""
        if state.is_claiming:
            state.is_claiming = False
            done = 1
        elif state.is_narrowing:
            # A step of its own: abandoned halfway, it is the first one when the run goes on.
            centre = state.vectors[_CURRENT, :-1]
            run = state.run
            run.intercepts = narrowed(state.problem, state.rows, centre, run, state.stop_check)
            state.is_narrowing = False
            done = PASSES * state.problem.n_rows
        else:
            limit = _NO_LIMIT if state.step_limit is None else state.step_limit
            checks = state.run.checks
            done = state.run.advance(work, limit)
            if state.run.checks > checks and state.problem.intercept is Intercept.FREE:
                _see_whether_to_narrow(state)
        state.work += done
        return done

    def point(self, state: DualCoordinateState) -> Point:
        """Return the best primal point found and the current dual coefficients."""
        problem = state.problem
        run = state.run
        # Where the values differ by rounding alone the best of them is a matter of chance, and
        # the point of the dual coefficients is the more accurate one.
        is_rounding = run.primal - run.dual <= _ROUNDING * abs(run.primal)
        checked = run.checks > 0 and not is_rounding
        checked = checked or (run.checks == 0 and state.has_weights)
        vector = state.vectors[_BEST if checked else _CURRENT]
        if problem.intercept is Intercept.NONE:
            intercept = 0.0  # also where the vector has left the range of floating point
        else:
            # The best vector ends in the intercept itself, the current one in a weight.
            intercept = vector[-1] if checked else state.constant * vector[-1] + run.offset
        alpha = _coefficients(state)
        if problem.intercept is Intercept.FREE:
            balance(alpha, problem.signs)
        return Point(vector[:-1].copy(), float(intercept), alpha)

    def progress(self, state: DualCoordinateState) -> Progress:
        """Return the steps done and the objective values of the last check pass."""
        run = state.run
        return Progress(
            steps=run.steps,
            work=state.work,
            primal=run.primal if run.checks else state.claimed_primal,
            dual=run.dual if run.checks else state.claimed_dual,
            at_rest=run.at_rest,
        )


def _are_weights(problem: Problem, point: Point) -> bool:
    """Return whether a point has weights of this problem to start from, beside its coefficients."""
    if point.coef.shape != (problem.n_features,):
        return False
    return bool(np.all(np.isfinite(point.coef))) and math.isfinite(point.intercept)


def _see_whether_to_narrow(state: DualCoordinateState) -> None:
    """Tell after a check pass whether the interval of a free intercept is narrowed next.

    Screening needs it, from one check pass to the next. It is worth its passes over the scores
    only where the gap has narrowed much since the last time.
    """
    problem, run = state.problem, state.run
    if not (state.schedule["screening"] and math.isfinite(run.primal)):
        return
    run.intercepts = intersected(run.intercepts, first_interval(problem, max(run.primal, 0.0)))
    gap = run.primal - run.dual
    aim = state.schedule["aim"] * abs(run.primal)
    has_arrived = _NARROWS * aim < gap <= aim
    if has_arrived or not gap <= min(_NARROWS * state.narrowed_at, _NARROW_FROM * abs(run.primal)):
        return
    state.narrowed_at = gap
    state.is_narrowing = True


def _coefficients(state: DualCoordinateState) -> Floats:
    """Return the dual coefficients; those before it while an extrapolation is on trial."""
    alpha = state.rows[:, 0].copy()
    tried = state.order[slice(*state.run.on_trial)]
    alpha[tried] = state.rows[tried, 1]
    return alpha


def _scale(problem: Problem) -> float:
    """Return the value of the problem's constant feature; infinite for a free intercept."""
    return math.inf if problem.intercept is Intercept.FREE else problem.constant_feature


def _constant_feature(problem: Problem) -> float:
    """Return the constant feature's value in the sweeps: the problem's, or less about a centre."""
    scale = _scale(problem)
    if scale == 0.0:
        return 0.0
    squares = problem.rows.squared_norms
    if problem.sample_weight is not None:
        squares = squares[problem.sample_weight > 0]  # a row without weight is absent
    typical = float(np.mean(squares))
    total = _total_cost(problem)
    typical += problem.loss.dual_curvature * problem.n_counted / total
    about_a_centre = math.sqrt(_CENTRING * typical + _MOVES / total)
    return about_a_centre if about_a_centre <= _MUCH_SMALLER * scale else scale


def _total_cost(problem: Problem) -> float:
    """Return the sum of all costs, with the same bits whatever rows without one lie between.

    Weights that are all 1 have the same bits as none.
    """
    weights = problem.sample_weight
    total = problem.n_rows if weights is None else float(np.sum(weights[weights > 0]))
    return problem.C * total


def _first_intercepts(problem: Problem) -> tuple[float, float]:
    """Return an interval of optimal free intercepts, by the objective at zero."""
    at_zero = float(problem.loss.value(np.zeros(1))[0]) * _total_cost(problem)
    return first_interval(problem, at_zero)
