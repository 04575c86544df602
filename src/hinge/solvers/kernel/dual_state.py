r"""A run on the dual program of a kernel machine, between two steps.

The program is :math:`\min \tfrac12 \beta'(K + D)\beta - p'\beta`, ``lower <= beta <= upper``, with
``sum(beta) = 0`` where the intercept is free; :math:`\beta_i = y_i \alpha_i` (see
:mod:`hinge.problem`). Kept are ``beta`` and the scores :math:`s = K \beta` of all rows, from which
the gradient is :math:`e = s + D\beta - p`.

Coefficients that have changed wait in a *queue* until their kernel rows have been added to the
scores, a bounded number at a time. Rows that are *resting* (shrunk) are left out of these sums;
what they miss is *deferred*, for each group of rows that went to rest together, and made up for in
one pass a group when they rejoin. Everything is in units in which float32 holds the kernel:
``beta`` is multiplied by the source's ``unit``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.losses import Loss
from hinge.machines import KernelCache, KernelSource
from hinge.machines.source import source
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.intercept import intercept_between
from hinge.solvers.kernel.nearby_systems import NearbySystems
from hinge.solvers.kernel.reach import held_within_reach
from hinge.solvers.kernel.set_memory import (
    SLACK,
    SetMemory,
    beyond_slack,
    give_back_if_tight,
    judge_bytes,
    largest_set,
    left_for_rows,
    run_bytes,
)
from hinge.solvers.linear.balance import balance
from hinge.solvers.protocol import State

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

VALUES_A_STEP = 1 << 23  # kernel values that one step computes, some 10 to 50 ms
ROWS_A_STEP = 64  # but never fewer rows than fill a panel
_NEAR = 30.0  # times the aim: a violation at which the least objective is looked for
COPY_SHARE = 0.5  # of the cache's memory that a compact copy of the rows may take
REST_GROUPS = 4  # how many times rows may go to rest before they rejoin


@dataclass(frozen=True)
class Program:
    """The dual program of the rows that have a cost, in the source's units.

    Parameters
    ----------
    present : ndarray of int64 or None
        Which rows of the problem these are; None for all.
    linear, lower, upper, diagonal : ndarray
        The program's coefficients and bounds.
    is_balanced : bool
        Whether the variables sum to zero.
    """

    present: Ids | None
    linear: Floats
    lower: Floats
    upper: Floats
    diagonal: Floats
    is_balanced: bool


@dataclass(frozen=True)
class Ends:
    """Where the gradient is worst: least of what may grow, largest of what may shrink."""

    up: float
    down: float
    is_balanced: bool

    @property
    def violation(self) -> float:
        """By how much the optimality conditions are missed, in units of the margin."""
        if self.is_balanced:
            return self.down - self.up
        return max(self.down, -self.up)

    @property
    def intercept(self) -> float:
        """The intercept that shares the violation out evenly."""
        if not self.is_balanced:
            return 0.0
        ends = [end for end in (self.up, self.down) if math.isfinite(end)]
        return -sum(ends) / len(ends) if ends else 0.0


@dataclass
class KernelState(State):
    """What a solver of kernel machines knows between steps.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    beta, scores : ndarray of shape (n,)
        Coefficients, and the sums of kernel functions that they stand for, without the queue.
    cache_mb : float
        Memory for kept kernel rows and the matrix of a working set.
    queue, queue_changes : ndarray
        Rows whose change is not in the scores yet, and by how much they have changed.
    deferred : ndarray of shape (REST_GROUPS, n)
        Changes that the resting rows of each group have not been told of.
    group : ndarray of int8 of shape (n,)
        The group with which a row rests, -1 if it takes part.
    settled : ndarray of bool of shape (n,)
        Rows that are proven to stay where they are.
    previous : ndarray of int64
        The last working set.
    kept, used : ndarray of int64
        Which kernel rows are kept, and since when; of no length before the first one is.
    steps, rounds, work : int
        Steps on single pairs, working sets solved, stored values touched.
    aim : float
        Violation at which resting rows rejoin.
    primal, dual, violation : float
        Own values when all scores were last complete.
    at_rest : bool
        Whether nothing moves any more.
    is_rejoining : bool
        Whether resting rows are being told what they have missed.
    is_exact : bool
        Whether kernel values are taken in float64, because float32 was not enough.
    least_kept : int
        Kernel rows that must find room, however little memory there is.
    keeps_rows : bool
        Whether all computed rows are kept while there is room, because others need them as well.
    to_refresh, fresh : ndarray
        Rows whose scores are being summed up anew in float64, and their sums so far.
    refreshed : int
        How many of the coefficients are in these sums.
    lost : float
        What scores were off by when they were last summed up anew.
    covered : ndarray of int64 or None
        The rows that have a coefficient, those without a cost among them, whose coefficients stay
        at zero; None for those with a cost alone.
    factored, bordered, border_ends : ndarray of int64
        The rows whose matrix is factorised for Newton's steps, those that have a border in it, and
        where each group of these ends.
    pairs_pace : ndarray
        How steps on pairs have fared since the last Newton step; of no length before the first.
    """

    problem: Problem
    beta: Floats
    scores: Floats
    cache_mb: float
    deferred: Floats
    group: NDArray[np.int8]
    settled: NDArray[np.bool_]
    aim: float
    queue: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    queue_changes: Floats = field(default_factory=lambda: np.zeros(0))
    previous: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    kept: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    used: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    steps: int = 0
    rounds: int = 0
    work: int = 0
    primal: float = math.nan
    dual: float = math.nan
    violation: float = math.inf
    at_rest: bool = False
    is_rejoining: bool = False
    is_exact: bool = False
    least_kept: int = 0
    keeps_rows: bool = False
    to_refresh: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    fresh: Floats = field(default_factory=lambda: np.zeros(0))
    refreshed: int = 0
    lost: float = math.inf
    covered: Ids | None = None
    factored: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    bordered: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    border_ends: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pairs_pace: Floats = field(default_factory=lambda: np.zeros(0))
    _transient: ClassVar[tuple[str, ...]] = (
        "problem",
        "program",
        "source",
        "cache",
        "systems",
        "set_memory",
    )

    def parts(self) -> dict[str, Any]:
        """Return what makes this state; the rows that are covered only where they are listed."""
        own = super().parts()
        if own["covered"] is None:
            del own["covered"]
        return own

    @cached_property
    def program(self) -> Program:
        """The dual program."""
        return dual_program(self.problem, self.source.unit, self.present)

    @cached_property
    def source(self) -> KernelSource:
        """Where kernel values come from."""
        assert self.problem.kernel is not None
        spare = COPY_SHARE * self.cache_mb
        return source(self.problem.kernel, self.problem.rows, spare, self.present)

    @property
    def present(self) -> Ids | None:
        """Which rows of the problem have a coefficient; None for all."""
        if self.covered is None:
            return present_rows(self.problem)
        return None if len(self.covered) == self.problem.n_rows else self.covered

    @cached_property
    def cache(self) -> KernelCache:
        """The kept kernel rows."""
        n = len(self.beta)
        # A working set's matrix is made while rows are kept: both together are the cache. Methods
        # that step on the kept rows themselves make none.
        set_mb = 0.0 if self.least_kept else self._set_bytes / 2**20
        megabytes = self.cache_mb - self.source.copy_mb - set_mb
        megabytes = left_for_rows(megabytes, self.beyond_mb)
        stored = (self.kept, self.used) if len(self.kept) else (None, None)
        megabytes = max(megabytes, self.least_kept * n * 4 / 2**20)
        cache = KernelCache(n, n, megabytes, *stored)
        self.kept, self.used = cache.kept, cache.used
        return cache

    @cached_property
    def systems(self) -> NearbySystems:
        """Linear systems over rows inside their bounds, as they were solved last."""
        groups = np.split(self.bordered, self.border_ends[:-1]) if len(self.bordered) else []
        return NearbySystems(self.factored, tuple(groups))

    @cached_property
    def set_memory(self) -> SetMemory:
        """Memory for the matrices of working sets, one after the other."""
        return SetMemory(self._set_bytes)

    @property
    def largest_set(self) -> int:
        """The most rows of a working set: its matrix takes a part of the cache at the most."""
        return largest_set(self.cache_mb)

    @property
    def _set_bytes(self) -> int:
        return 4 * min(len(self.beta), self.largest_set) ** 2

    @property
    def beyond_mb(self) -> float:
        """What arrays of a number for each row take beyond a tenth of the cache."""
        n, rows = len(self.beta), self.problem.rows
        n_stored = int(rows.n_stored * n / max(1, rows.n_rows))
        # Methods that step on kept rows have the variables that take part as copies.
        numbers = 2.0 * run_bytes(n, 0, 0) if self.least_kept else 0.0
        # Values that native code does not compute are looked up, or a function's of the caller.
        n_terms = 0 if self.source.native_rows is None else min(n, self.largest_set)
        run = run_bytes(n, n_stored, n_terms) + numbers
        return beyond_slack(run, self.cache_mb)

    def keep_within(self, size: int, beside: int = 0, *, keeps_factor: bool = False) -> None:
        """Let go of what there is no room for in the cache; it is made anew, with the same bits.

        Parameters
        ----------
        size : int
            Bytes of the next matrix of a working set.
        beside : int, default=0
            Bytes of what is made or kept besides.
        keeps_factor : bool, default=False
            Whether the factor of Newton's steps is needed now.
        """
        memory = (self.cache_mb - self.source.copy_mb - self.beyond_mb) * 2**20
        systems = self.__dict__.get("systems")
        factor = 0 if systems is None else systems.nbytes
        taken = self.cache.nbytes + beside + max(size, self.set_memory.nbytes) + factor
        if taken > memory and systems is not None and not keeps_factor:
            del self.__dict__["systems"]
            taken -= factor
        if taken > memory and self.set_memory.nbytes > size:
            self.set_memory.release()

    def make_way(self) -> None:
        """Let go of kept values and matrices if they and a certificate are more than there may be.

        They are made anew, with the same bits, if the run goes on or another begins with them. That
        may take as long as they took, and comes only where the cache is small beside the
        certificate: this may take as much as the data do.
        """
        n, rows = len(self.beta), self.problem.rows
        judging = judge_bytes(rows.n_rows, rows.n_stored, self.n_support) + run_bytes(n, 0, 0)
        # Of a part of other rows there is no array of values, and to ask for one would copy them.
        data = rows.n_stored * rows.dtype.itemsize
        most = ((1.0 + SLACK) * self.cache_mb - self.source.copy_mb) * 2**20 + data
        systems = self.__dict__.get("systems")
        factor = 0 if systems is None else systems.nbytes
        left = most - judging - self.cache.nbytes
        if left < self.set_memory.nbytes + factor:
            self.__dict__.pop("systems", None)
            self.set_memory.release()
        if left < 0:
            self.cache.release()
        give_back_if_tight(self.cache_mb)

    def after_certificate(self) -> None:
        """Have the memory of a certificate to itself again, where there is little of it."""
        give_back_if_tight(self.cache_mb)

    def share_kernel(self, other: KernelState) -> None:
        """Take the kernel values and kept rows of another state of the same rows over."""
        other.__dict__.pop("systems", None)  # made anew if that one goes on
        self.__dict__.update(source=other.source, cache=other.cache, set_memory=other.set_memory)
        self.kept, self.used = other.cache.kept, other.cache.used

    @property
    def n_support(self) -> int:
        """How many rows have a coefficient."""
        return int(np.count_nonzero(self.beta))

    @property
    def resting(self) -> NDArray[np.bool_]:
        """The rows that are left out for now."""
        return self.group >= 0

    @property
    def is_complete(self) -> bool:
        """Whether the scores of all rows are those of the coefficients."""
        waiting = len(self.queue) + len(self.to_refresh)
        return waiting == 0 and not self.resting.any()

    def gradient(self) -> Floats:
        """Return the gradient as far as the scores are known."""
        return self.scores + self.program.diagonal * self.beta - self.program.linear

    def ends(self, gradient: Floats) -> Ends:
        """Return where the gradient is worst, among the rows that take part."""
        ends = core.gradient_ends(self.variables, gradient)
        return Ends(*ends, self.program.is_balanced)

    @property
    def variables(self) -> core.ProgramVariables:
        """The variables as native code looks for those that violate the conditions."""
        bounds = self.program.lower, self.program.upper
        return core.ProgramVariables(self.beta, *bounds, self.group, self.settled)


def present_rows(problem: Problem) -> Ids | None:
    """Return which rows have a cost; None for all."""
    if problem.sample_weight is None or bool(np.all(problem.sample_weight > 0.0)):
        return None
    return np.flatnonzero(problem.sample_weight > 0.0)


def dual_program(problem: Problem, unit: float, present: Ids | None) -> Program:
    """Return the dual program of some rows, in units of the kernel values.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    unit : float
        What kernel values are divided by.
    present : ndarray of int64 or None
        Which rows have a coefficient; None for all. It stays at zero where a row has no cost.

    Returns
    -------
    Program
        The program in ``unit * beta``.
    """
    dual = held_within_reach(problem)
    some = slice(None) if present is None else present
    has_cost = problem.costs[some] > 0.0
    return Program(
        present=present,
        linear=dual.linear[some],
        lower=np.where(has_cost, dual.lower[some] * unit, 0.0),
        upper=np.where(has_cost, dual.upper[some] * unit, 0.0),
        diagonal=dual.diagonal[some] / unit,
        is_balanced=problem.intercept is Intercept.FREE,
    )


def start_beta(problem: Problem, program: Program, warm: Point | None, unit: float) -> Floats:
    """Return feasible coefficients to start from: those of a known point, or zero."""
    n = len(program.linear)
    if warm is None or warm.dual_coef is None or len(warm.dual_coef) != problem.n_rows:
        return np.zeros(n)
    some = slice(None) if program.present is None else program.present
    signs = problem.signs[some]
    reach = np.maximum(program.upper, -program.lower)
    alpha = np.clip(np.nan_to_num(warm.dual_coef[some]) * unit, 0.0, reach)
    if program.is_balanced:
        balance(alpha, signs)
    return np.asarray(signs * alpha, dtype=np.float64)


def turn_exact(state: KernelState) -> None:
    """Go on with kernel values in float64: scores are summed up anew, and nothing is kept."""
    state.is_exact = True
    state.scores = np.zeros(len(state.beta))
    state.queue = np.flatnonzero(state.beta)
    state.queue_changes = state.beta[state.queue]
    state.group[:] = -1
    state.settled[:] = False
    state.deferred[:] = 0.0
    state.violation = math.inf
    state.primal = state.dual = math.nan
    state.is_rejoining = state.at_rest = False
    state.to_refresh, state.fresh = np.zeros(0, dtype=np.int64), np.zeros(0)


def best_intercept(state: KernelState, ends: Ends) -> float:
    """Return the intercept of the least objective that leaves no more than the violation."""
    problem, program = state.problem, state.program
    some = slice(None) if program.present is None else program.present
    return intercept_at(ends, problem.loss, state.scores, problem.signs[some], problem.costs[some])


def intercept_at(
    ends: Ends, loss: Loss, scores: Floats, signs: NDArray[np.int8], costs: Floats
) -> float:
    """Return the intercept of the least objective that leaves no more than a violation.

    Parameters
    ----------
    ends : Ends
        Where the gradient is worst.
    loss : Loss
        The loss of a margin.
    scores, signs, costs : ndarray of shape (n,)
        Scores, labels and costs of the rows.
    """
    if not ends.is_balanced:
        return 0.0
    if not (math.isfinite(ends.up) and math.isfinite(ends.down)):
        return ends.intercept
    least, most = sorted((-ends.down, -ends.up))
    return intercept_between(loss, scores, signs, costs, (least, most))


def point_of(state: KernelState, intercept: float) -> Point:
    """Return the point of a state as float64 copies."""
    program, problem = state.program, state.problem
    alpha = np.abs(state.beta) / state.source.unit
    if program.present is not None:
        everywhere = np.zeros(problem.n_rows)
        everywhere[program.present] = alpha
        alpha = everywhere
    # Division and multiplication by the unit may overshoot a bound by a rounding error.
    np.minimum(alpha, problem.loss.upper_bound(problem.costs), out=alpha)
    return Point(np.zeros(0), intercept, alpha)


def note_values(state: KernelState, ends: Ends) -> None:
    """Store the run's own objective values and violation; the scores must be complete."""
    problem, program = state.problem, state.program
    unit = state.source.unit
    some = slice(None) if program.present is None else program.present
    is_near = ends.violation <= _NEAR * state.aim  # else any intercept will do
    intercept = best_intercept(state, ends) if is_near else ends.intercept
    margins = problem.signs[some] * (state.scores + intercept)
    costs = problem.costs[some]
    norm = float(state.beta @ state.scores) / unit
    curved = float(np.sum(program.diagonal * state.beta**2)) / unit
    with np.errstate(over="ignore", invalid="ignore"):
        losses = float(np.sum(costs * problem.loss.value(margins)))
    state.primal = 0.5 * norm + losses
    state.dual = float(program.linear @ state.beta) / unit - 0.5 * norm - 0.5 * curved
    state.violation = ends.violation


def progress_of(state: KernelState) -> Progress:
    """Return what the run says of itself; nothing of gaps while scores are incomplete."""
    known = state.is_complete and not math.isnan(state.primal)
    return Progress(
        state.steps,
        state.work,
        primal=state.primal if known else math.nan,
        dual=state.dual if known else math.nan,
        at_rest=state.at_rest,
        kkt=state.violation if known else math.nan,
    )
