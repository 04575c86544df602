r"""The hard margin, C infinite: the nearest points of two hulls, found in few rows at a time.

.. math:: \min \tfrac12\|w\|^2 \quad\text{subject to}\quad y_i(w'x_i + b) \ge p .

With :math:`z_i = y_i x_i` (and the constant feature of an augmented intercept), the dual is to find
the shortest vector :math:`v = \sum_i a_i z_i` whose weights :math:`a \ge 0` sum up to 1 in every
group: the two classes if the intercept is free, all rows together otherwise. Then w is v, scaled
until the smallest margin is p; if v is zero the classes cannot be separated and a is the witness.

A round is one pass over the rows for the scores :math:`v'z_i`, which give a feasible w, and then
the nearest points (:mod:`hinge.solvers.linear.nearest_points`) of the support and of those rows
that violate v most. The vector gets shorter in every round; the run rests when no row is violated.

Given: any loss (all are the same program; p is the margin from which the loss is zero) and any
weights, which only say whether a row is there. Returns w, b and alpha.
Cost per round: a pass over the rows, and for k support rows about ``k (k + d)`` for each that
enters, ``k^2 d`` for each that leaves; 25 bytes for a row in its state.
Reference: P. Wolfe, Finding the nearest point in a polytope, 1976; S. S. Keerthi and others, A fast
iterative nearest point algorithm for support vector machine classifier design, 2000. Ours: rows are
taken in by the pass and settled among themselves before the next one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF, score_rounding
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.linear.block_pass import KeepsThreads
from hinge.solvers.linear.nearest_points import NearestPoints
from hinge.solvers.protocol import Solver, State, Support

Floats = NDArray[np.float64]

_LEAST_NEW = 64  # rows of a group that a pass brings, or as many as support v if these are more
_CALL_WORK = 100_000_000  # products that a call does among the rows of the pool
_LEAST_CALLS = 8
_SAFETY = 4.0  # roundings of a score that a margin is taken to be off by: ours and the judge's
_SHORTER = 1.0 - 1e-13  # a vector that is not shorter by this factor has come to rest
_ENOUGH = 1e-12  # a violation this small, in squares of v, is none
_LARGEST_DENOMINATOR = 1024
_SUM_ERROR = 1e-6  # more than rounding makes of weights that sum up to 1
_OUT, _IN, _REJECTED = 0, 1, 2


@dataclass
class HardMarginState(KeepsThreads, State):
    """A run between two steps.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    weights : ndarray of shape (n_samples,)
        The weights a.
    scores : ndarray of shape (n_samples,)
        Scores of the direction, as far as the pass has come.
    candidates : ndarray of int8 of shape (n_samples,)
        1 for the rows that are being settled among themselves, 2 for those of them that cannot
        enter the support.
    direction : ndarray of shape (n_features + 1,)
        The vector v in any unit, its weight of a constant feature last.
    best : ndarray of shape (n_features + 1,)
        The best feasible weights found, the intercept last.
    stage : str
        ``"scan"`` during a pass, ``"settle"`` between passes.
    position : int
        The next block of the pass.
    rounds, work : int
        Passes done, and stored values touched.
    primal, dual : float
        Objective values of the best weights and of the present coefficients.
    length : float
        Norm of v.
    is_met : bool
        Whether v is zero: the hulls meet.
    at_rest : bool
        Whether there is nothing left to do.
    """

    _transient: ClassVar[tuple[str, ...]] = ("problem", "_pool")

    problem: Problem
    weights: Floats
    scores: Floats
    candidates: NDArray[np.int8]
    direction: Floats
    best: Floats
    stage: str = "scan"
    position: int = 0
    rounds: int = 0
    work: int = 0
    primal: float = math.inf
    dual: float = -math.inf
    length: float = math.inf
    is_met: bool = False
    at_rest: bool = False

    def check(self) -> None:
        """Refuse a state that no run can have been in, as a damaged file may describe one."""
        groups = _groups(self.problem)
        sums = np.bincount(groups, self.weights)
        supports = self.weights > 0.0
        is_possible = (
            self.stage in ("scan", "settle")
            and 0 <= self.position <= self.problem.rows.n_blocks
            and bool(np.isin(self.candidates, (_OUT, _IN, _REJECTED)).all())
            and (self.stage == "scan" or bool((self.candidates[supports] != _OUT).all()))
            and bool((self.weights >= 0.0).all())
            and bool((self.problem.costs[supports] > 0).all())
            and bool((np.abs(sums - 1.0) < _SUM_ERROR).all())
        )
        if not is_possible:
            message = f"a run cannot have such weights in stage {self.stage!r}"
            raise ValueError(message)


class HardMargin(Solver):
    """The hard margin, or a proof that there is none, by nearest points of hulls."""

    name: ClassVar[str] = "hard-margin"
    takes_hard_margins: ClassVar[bool] = True

    def supports(self, problem: Problem) -> Support:
        """Return whether this solver takes the problem: any with C infinite, and no other."""
        if not problem.is_hard:
            reason = f"C={problem.C:g} allows for losses; only C=inf makes a hard margin."
            return Support(False, reason)
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> HardMarginState:
        """Return the state before the first pass, along known weights if given."""
        del seed  # nothing is left to chance
        groups, present = _groups(problem), problem.costs > 0
        weights = np.zeros(problem.n_rows)
        for group in range(int(groups.max()) + 1):
            weights[np.flatnonzero(present & (groups == group))[0]] = 1.0
        state = HardMarginState(
            problem=problem,
            weights=weights,
            scores=np.zeros(problem.n_rows),
            candidates=np.zeros(problem.n_rows, dtype=np.int8),
            direction=np.zeros(problem.n_features + 1),
            best=np.zeros(problem.n_features + 1),
        )
        known = None if warm is None else warm.coef
        if known is not None and known.shape == (problem.n_features,) and np.isfinite(known).all():
            state.direction[:-1] = known
        if not state.direction.any():
            first = np.flatnonzero(weights)
            state.direction[:] = _vectors(problem, first, centred=False).T @ np.ones(len(first))
        state.direction /= _unit(state.direction)
        return state

    def step(self, state: HardMarginState, work: int) -> int:
        """Go on with the pass, or with the rows of the pool; return the work done."""
        if state.at_rest:
            return 0
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                done = _scan(state, work) if state.stage == "scan" else _settle(state)
            except np.linalg.LinAlgError:  # numbers have left the range of floating point
                state.at_rest = True
                return 0
        state.work += done
        return done

    def point(self, state: HardMarginState) -> Point:
        """Return the best feasible weights, and the coefficients of the present vector."""
        state.check()
        alpha = state.weights.copy()
        if state.is_met:
            alpha = _in_whole_numbers(alpha)
        elif 0.0 < state.length < math.inf:
            groups = 2.0 if state.problem.intercept is Intercept.FREE else 1.0
            factor = groups * state.problem.loss.zero_from / state.length / state.length
            alpha *= factor if 0.0 < factor < math.inf else 1.0
        return Point(state.best[:-1].copy(), float(state.best[-1]), alpha)

    def progress(self, state: HardMarginState) -> Progress:
        """Return the passes done and the objective values of the best point."""
        return Progress(state.rounds, state.work, state.primal, state.dual, state.at_rest)


def _groups(problem: Problem) -> NDArray[np.int64]:
    """Return the group of every row: its class if the intercept is free, else the same for all."""
    if problem.intercept is Intercept.FREE:
        return (problem.signs > 0).astype(np.int64)
    return np.zeros(problem.n_rows, dtype=np.int64)


def _vectors(problem: Problem, rows: NDArray[np.int64], centred: bool) -> Any:
    """Return rows times their labels, with the constant feature, dense or as CSR.

    Parameters
    ----------
    problem : Problem
        The problem.
    rows : ndarray of int
        Which rows.
    centred : bool
        Whether dense rows may be measured from their mean, which a free intercept does not notice.
    """
    signs = problem.signs[rows].astype(np.float64)[:, None]
    if not problem.rows.is_sparse:
        values = problem.rows.values[rows].astype(np.float64)
        if centred and problem.intercept is Intercept.FREE:
            values -= values.mean(axis=0)
        return signs * np.hstack((values, np.full((len(rows), 1), problem.constant_feature)))
    places, columns, entries = problem.rows.entries(rows)
    places = np.concatenate((places, np.arange(len(rows))))
    columns = np.concatenate((columns, np.full(len(rows), problem.n_features)))
    entries = np.concatenate((entries, np.full(len(rows), problem.constant_feature)))
    shape = (len(rows), problem.n_features + 1)
    return sp.csr_array((signs[places, 0] * entries, (places, columns)), shape=shape)


def _scan(state: HardMarginState, work: int) -> int:
    """Compute the scores of some blocks; after the last one, look at them all."""
    problem, rows = state.problem, state.problem.rows
    per_block = max(1, rows.n_stored // rows.n_blocks)
    last = min(rows.n_blocks, state.position + max(1, work // per_block))
    shift = problem.constant_feature * state.direction[-1]

    def one(number: int) -> None:
        # A thread of a pool does not inherit how its caller handles floating-point errors.
        with np.errstate(over="ignore", invalid="ignore"):
            block = rows.block(number)
            state.scores[block.rows] = block.dot(state.direction[:-1]) + shift

    numbers = range(state.position, last)
    threads = state.pool
    list(map(one, numbers) if threads is None else threads.map(one, numbers))
    state.position = last
    if last == rows.n_blocks:
        _end_scan(state)
    return per_block * len(numbers)


def _end_scan(state: HardMarginState) -> None:
    """Keep the direction if it is the widest yet, and choose the rows to settle next."""
    problem = state.problem
    signed = problem.signs * state.scores
    groups, present = _groups(problem), problem.costs > 0
    size = float(np.linalg.norm(state.direction))
    norms = problem.rows.norm_bounds(problem.rows.squared_norms)
    if problem.constant_feature:
        norms = np.hypot(norms, problem.constant_feature)
    error = score_rounding(size, norms, problem.rows.longest_row + 2)
    _keep_if_widest(state, signed - _SAFETY * error, groups, present)
    state.rounds += 1
    supports = state.weights > 0.0
    count = max(_LEAST_NEW, int(np.count_nonzero(supports)))
    enough = _ENOUGH * size * size + float(np.max(error))
    state.candidates[:] = np.where(supports, _IN, _OUT)
    for group in range(int(groups.max()) + 1):
        level = math.inf
        if state.length < math.inf:  # the direction is the weights' own
            mine = supports & (groups == group)
            level = float(state.weights[mine] @ signed[mine]) - enough
        others = np.flatnonzero(present & ~supports & (groups == group) & (signed < level))
        if len(others) > count:
            others = others[np.argpartition(signed[others], count)[:count]]
        state.candidates[others] = _IN
    state.stage = "settle"
    state.at_rest = (
        bool(np.array_equal(state.candidates != _OUT, supports)) and state.length < math.inf
    )


def _keep_if_widest(
    state: HardMarginState, margins: Floats, groups: NDArray[np.int64], present: Any
) -> None:
    """Scale the direction until its smallest margin, rounding included, is as wide as asked."""
    problem = state.problem
    nearest = [
        float(np.min(margins, where=present & (groups == group), initial=math.inf))
        for group in range(int(groups.max()) + 1)
    ]
    offset, width = 0.0, nearest[0]
    if problem.intercept is Intercept.FREE:
        offset, width = 0.5 * (nearest[0] - nearest[1]), 0.5 * (nearest[0] + nearest[1])
        width -= 16.0 * UNIT_ROUNDOFF * abs(offset)
    if not width > 0.0:
        return
    scaled = state.direction * (problem.loss.zero_from / width * (1.0 + 8.0 * UNIT_ROUNDOFF))
    value = 0.5 * float(scaled @ scaled)
    if value < state.primal:
        state.primal = value
        state.best[:] = scaled
        state.best[-1] *= problem.constant_feature
        if problem.intercept is Intercept.FREE:
            state.best[-1] = offset * (problem.loss.zero_from / width)


def _settle(state: HardMarginState) -> int:
    """Do some steps among the rows of the pool; when there are none left, go on to the next pass.

    Every call begins from the weights alone, so that a run that was put aside goes on as it would
    have done.
    """
    problem = state.problem
    pool = np.flatnonzero(state.candidates != _OUT)
    matrix = _vectors(problem, pool, centred=True)
    groups, weights = _groups(problem)[pool], state.weights[pool]
    unit = _unit(matrix.data if sp.issparse(matrix) else matrix)
    points = NearestPoints(matrix / unit, groups, weights)
    points.rejected[:] = state.candidates[pool] == _REJECTED
    k, stored = len(points.support), int(matrix.nnz if sp.issparse(matrix) else matrix.size)
    per_step = stored + 8 * k * k + 8 * k * stored // len(pool)
    steps = max(_LEAST_CALLS, _CALL_WORK // per_step)
    goes_on = True
    done = stored + k * k * (stored // len(pool)) + k**3 // 3  # the matrix and its factor
    while steps and goes_on:
        goes_on = points.improve()
        done += per_step
        steps -= 1
    state.weights[pool] = weights
    state.candidates[pool] = np.where(points.rejected, _REJECTED, _IN)
    if not goes_on:
        _end_settle(state, points, unit)
    return done


def _end_settle(state: HardMarginState, points: NearestPoints, unit: float) -> None:
    """Take over the new vector; rest if it is zero, or no shorter than the last."""
    vector, problem = points.vector, state.problem
    smaller = _unit(vector)
    vector = vector / smaller
    length = float(np.linalg.norm(vector)) * smaller * unit
    state.is_met = points.is_zero
    state.at_rest = state.is_met or not length < _SHORTER * state.length
    state.direction[:] = vector
    state.length = length
    if not state.is_met:
        groups = 2.0 if problem.intercept is Intercept.FREE else 1.0
        root = groups * problem.loss.zero_from / length if length else math.inf
        state.dual = 0.5 * root * root
    state.position = 0
    state.stage = "scan"


def _unit(values: Floats) -> float:
    """Return the power of two, within range, that makes the largest value one or nearly so.

    Dividing by it rounds nothing, and squares of the quotients do not overflow.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if not 0.0 < largest < math.inf:
        return 1.0
    return 2.0 ** max(math.frexp(largest)[1] - 1, -1021)


def _in_whole_numbers(weights: Floats) -> Floats:
    """Return weights in proportion, as whole numbers where small ones serve: these sum exactly."""
    support = weights[weights > 0.0]
    factors = np.arange(1.0, _LARGEST_DENOMINATOR + 1.0)
    products = factors[:, None] * support[None, :64]
    fits = np.abs(products - np.rint(products)).max(axis=1) < 1e-9
    if len(support) > 64 or not fits.any():
        return weights
    return np.asarray(np.rint(weights * factors[int(np.argmax(fits))]))
