r"""What a fit will take, told before it begins: time and memory, from two short fits of samples.

Two samples of the rows, one four times the size of the other, are solved to the gap that is asked
for, with costs scaled so that their objective is about that of all rows. Time grows like a power of
the number of rows,

.. math:: t(n) = c \, t_2 \, (n / n_2)^p, \qquad p = \log(t_2 / t_1) / \log(n_2 / n_1),

where c is how much longer a value of all rows takes to be read than one of the sample, which the
cache may hold; it is measured on some blocks of both. The interval is what comes out if the power
is a linear one or a little more, and if everything takes half as long again or less.

Given: a problem. Returns an ``Estimate``. Cost: about half a second, whatever the problem.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from hinge.errors import UnsupportedError
from hinge.parameters import not_negative
from hinge.problem import Intercept, Problem
from hinge.result import Solution, Status, Stop, Trace
from hinge.solvers.arguments import given_problem, given_seed
from hinge.solvers.driver import solve
from hinge.solvers.linear.newton_state import MOST_FEATURES
from hinge.solvers.linear.pilot import draw, represents, sample_bytes
from hinge.solvers.protocol import Solver
from hinge.solvers.relay import RelayState

clock = time.perf_counter

_SECONDS = (0.1, 0.35)  # that the fit of the smaller and of the larger sample may take
_VALUES = 1 << 16  # stored values of the smaller sample
_LEAST_ROWS = 400
_GROWTH = 4  # how many times larger the larger sample is
_READ_BLOCKS = 16  # that the cost of reading is measured on
_MOST_COLD = 2.0  # how much dearer reading all rows may be taken to be
_POWERS = 0.8, 1.3  # between which the power of the number of rows is believed
_DOUBT = 1.6  # factor of the interval both ways
_LINEAR = 0.9, 1.1  # powers that the interval includes at the least


@dataclass(frozen=True)
class Estimate:
    """What a fit is expected to take.

    Parameters
    ----------
    seconds : float
        Time; infinite if the pilot made no progress.
    low, high : float
        Between which times it is expected to be; ``high`` is infinite where the pilot did not end.
    memory_bytes : int
        What the fit needs beyond the data.
    solver : str
        The method that is expected to finish it.
    reason : str
        What this is concluded from.
    """

    seconds: float
    low: float
    high: float
    memory_bytes: int
    solver: str
    reason: str

    def __str__(self) -> str:
        memory = f"{_size(self.memory_bytes)} beside the data"
        if math.isinf(self.seconds):
            return f"More than {_span(self.low)}, and {memory}: {self.reason}."
        if math.isinf(self.high):
            span = f"at least {_span(self.low)}"
        else:
            span = f"between {_span(self.low)} and {_span(self.high)}"
        start = f"About {_span(self.seconds)} ({span}) and {memory}"
        return f"{start}, with {self.solver}: {self.reason}."


@dataclass(frozen=True)
class Pilot:
    """A fit of a sample.

    Parameters
    ----------
    rows : int
        How many rows the sample has.
    seconds : float
        What the fit took or, if it did not end, would have taken; infinite if nothing is known.
    spent : float
        What it did take.
    solver : str
        The method that finished it, or was at work when its time was up.
    is_solved : bool
        Whether it reached the gap.
    ended : str, default=""
        How it ended, if neither by the gap nor by its time.
    """

    rows: int
    seconds: float
    spent: float
    solver: str
    is_solved: bool
    ended: str = ""


def estimate(
    problem: Problem, solver: str | Solver = "auto", gap: float = 1e-3, seed: int = 0
) -> Estimate:
    """Forecast time and memory of a fit from short fits of samples.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    solver : str or Solver, default="auto"
        Name of a solver, a configured one, or ``"auto"``.
    gap : float, default=1e-3
        The relative gap that will be asked for.
    seed : int, default=0
        Seed of the samples and of their fits.

    Returns
    -------
    Estimate
        Time with an interval, memory, the solver, and a sentence as ``str``.

    Examples
    --------
    >>> import hinge
    >>> problem = hinge.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> forecast = hinge.estimate(problem)
    >>> forecast.solver, forecast.low <= forecast.seconds <= forecast.high
    ('primal-newton', True)
    """
    problem, seed = given_problem(problem, "hinge.estimate"), given_seed(seed)
    if problem.kernel is not None:
        message = "hinge.estimate forecasts linear machines; the problem has a kernel."
        raise UnsupportedError(message)
    stop = Stop(gap=not_negative(gap, "gap"))
    pilots = [
        _fit(sample, solver, Stop(gap=stop.gap, seconds=seconds), seed)
        for sample, seconds in zip(_samples(problem, seed), _SECONDS[::-1], strict=False)
    ][::-1]
    cold = 1.0 if pilots[-1].rows == problem.n_rows else _coldness(problem)
    name = pilots[-1].solver
    return forecast(problem.n_rows, pilots, cold, memory_bytes(problem, name))


def forecast(n_rows: int, pilots: list[Pilot], cold: float, memory: int) -> Estimate:
    """Return what the fits of samples say of a fit of all rows.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    pilots : list of Pilot
        One or two fits, that of the larger sample last.
    cold : float
        How much longer a value of all rows takes to be read than one of the larger sample.
    memory : int
        Bytes that the fit needs.

    Returns
    -------
    Estimate
        Time, memory and why.
    """
    last = pilots[-1]
    ratio = n_rows / last.rows
    power = _power(pilots)
    seconds = cold * last.seconds * ratio**power
    reason = _reason(n_rows, pilots)
    if not math.isfinite(last.seconds):
        low = last.spent * ratio ** _LINEAR[0]
        return Estimate(math.inf, low, math.inf, memory, last.solver, reason)
    low = last.seconds * ratio ** min(power, _LINEAR[0]) / _DOUBT
    is_same_fit = bool(last.ended) and last.rows == n_rows  # which will end in the same way
    high = cold * last.seconds * ratio ** max(power, _LINEAR[1]) * _DOUBT
    return Estimate(
        seconds,
        min(low, seconds),
        max(high, seconds) if last.is_solved or is_same_fit else math.inf,
        memory,
        last.solver,
        reason,
    )


def memory_bytes(problem: Problem, solver: str) -> int:
    """Return what a fit needs beyond the data, at its peak.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    solver : str
        Name of the method.

    Returns
    -------
    int
        Bytes.
    """
    n, d = problem.n_rows, problem.n_features + 1
    common = _BLOCK_BYTES
    if problem.sample_weight is not None and not problem.is_hard:
        common += n * _WEIGHT_BYTES
    if problem.intercept is Intercept.FREE and not problem.is_hard:
        common += min(n, _FREE_ROWS) * _FREE_BYTES
    if solver in _SAMPLED:
        common += sample_bytes(problem)
    row, feature, square = _NEEDS.get(solver, _NEEDS["interior-point"])
    if solver == "newton" and d > MOST_FEATURES:
        square = 0
    return int(common + n * row + d * feature + d * d * square)


# Bytes of a run for a row besides those of its solver: costs, and the search for an intercept,
# which looks at so many rows at a time.
_WEIGHT_BYTES, _FREE_BYTES, _FREE_ROWS = 16, 48, 1 << 16
_BLOCK_BYTES = 4 << 20  # blocks in float64
_SAMPLED = ("interior-point", "newton")  # which begin with a sample of the rows, copied
_NEEDS = {  # bytes for a row, best points and certificates included, a feature, a pair of features
    "dual-coordinate": (72, 48, 0),
    "interior-point": (100, 128, 160),
    "hard-margin": (84, 128, 48),
    "newton": (144, 160, 72),
    "primal-newton": (64, 96, 8),
}


def _samples(problem: Problem, seed: int) -> list[Problem]:
    """Return the larger sample and the smaller one; all rows alone if they are few."""
    per_row = max(1, problem.rows.n_stored // problem.n_rows)
    small = max(_LEAST_ROWS, _VALUES // per_row)
    if problem.is_hard or problem.n_rows <= 2 * _GROWTH * small:
        return [problem]
    found = []
    for size in (_GROWTH * small, small):
        sample = draw(problem, size, seed)
        if represents(sample):
            weights = None if sample.costs is None else sample.costs / sample.cost
            part = Problem(
                sample.rows,
                sample.signs,
                loss=problem.loss,
                penalty=problem.penalty,
                C=sample.cost,
                intercept=problem.intercept,
                intercept_scale=problem.intercept_scale,
                sample_weight=weights,
            )
            found.append(part)
    return found or [problem]


def _fit(problem: Problem, solver: str | Solver, stop: Stop, seed: int) -> Pilot:
    """Return what a fit of a sample took."""
    began = clock()
    solution = solve(problem, solver, stop, seed=seed)
    spent = clock() - began
    status = solution.status
    if status is not Status.TIME_LIMIT:
        is_solved = status is Status.SOLVED
        ended = "" if is_solved else str(status).replace("_", " ")
        return Pilot(problem.n_rows, spent, spent, solution.solver, is_solved, ended)
    seconds = spent * _times_over(solution, stop)
    rival, name = _relayed(solution, spent)
    if rival < seconds:
        return Pilot(problem.n_rows, rival, spent, name, False)
    return Pilot(problem.n_rows, seconds, spent, solution.solver, False)


def _relayed(solution: Solution, spent: float) -> tuple[float, str]:
    """Return what a relay that is still at its first method would take with the second one."""
    state = solution.state
    is_first = isinstance(state, RelayState) and state.leg == 0 and not state.is_last
    if not is_first or solution.work == 0:
        return math.inf, solution.solver
    scale = spent / (solution.work * state.unit_cost)
    return (state.trial_cost + state.rival_cost) * scale, state.names.split()[1]


def _times_over(solution: Solution, stop: Stop) -> float:
    """Return how many times what it has taken a fit would take, by how its gap has narrowed."""
    target = max(stop.gap or 0.0, float(np.finfo(np.float64).eps))
    course = _course(solution.trace)
    if not course:
        return math.inf
    work, gap = course[-1]
    earlier = [entry for entry in course if entry[0] <= 0.5 * work] or course[:1]
    work_then, gap_then = earlier[-1]
    if gap <= target:
        return 1.0
    if not gap < gap_then:
        return math.inf
    left = (work - work_then) * math.log(gap / target) / math.log(gap_then / gap)
    return (work + left) / work


def _course(trace: Trace) -> list[tuple[int, float]]:
    """Return work and the smallest gap until then."""
    smallest = math.inf
    course: list[tuple[int, float]] = []
    for record in trace.records:
        smallest = min(smallest, record.relative_gap)
        if record.work > 0 and 0.0 < smallest < math.inf:
            course.append((record.work, smallest))
    return course


def _coldness(problem: Problem) -> float:
    """Return how much longer a value takes to be read that has not just been read."""
    rows = problem.rows
    coef = np.ones(problem.n_features)
    ratios = []
    for number in range(0, rows.n_blocks, max(1, rows.n_blocks // _READ_BLOCKS)):
        times = []
        for _ in range(2):
            began = clock()
            rows.block(number).dot(coef)
            times.append(clock() - began)
        ratios.append(times[0] / max(times[1], 1e-9))
    return float(np.clip(np.median(ratios), 1.0, _MOST_COLD))


def _power(pilots: list[Pilot]) -> float:
    """Return the power of the number of rows that time grows with."""
    last = pilots[-1]
    if len(pilots) == 1 or not (pilots[0].is_solved and last.is_solved):
        return 1.0
    first = pilots[0]
    if first.solver != last.solver or first.seconds <= 0.0 or last.seconds <= 0.0:
        return 1.0
    power = math.log(last.seconds / first.seconds) / math.log(last.rows / first.rows)
    return min(max(power, _POWERS[0]), _POWERS[1])


def _reason(n_rows: int, pilots: list[Pilot]) -> str:
    """Return what was tried and what came of it."""
    last = pilots[-1]
    which = "all rows" if last.rows == n_rows else f"{last.rows:,} of {n_rows:,} rows"
    if last.is_solved:
        return f"a fit of {which} took {_span(last.spent)}"
    if last.ended:
        return f"a fit of {which} ended after {_span(last.spent)} without the gap: {last.ended}"
    if math.isinf(last.seconds):
        return f"a fit of {which} made no progress in {_span(last.spent)}"
    return f"a fit of {which} would have taken {_span(last.seconds)}"


def _span(seconds: float) -> str:
    """Return a time span in its largest unit."""
    for unit, length, least in (("h", 3600.0, 2.0), ("min", 60.0, 2.0), ("s", 1.0, 1.0)):
        if seconds >= least * length:
            amount = seconds / length
            return f"{amount:.0f} {unit}" if amount >= 10.0 else f"{amount:.1f} {unit}"
    return f"{max(1.0, 1000.0 * seconds):.0f} ms"


def _size(n_bytes: int) -> str:
    """Return an amount of memory in its largest unit."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes / 1e3:.0f} kB"
