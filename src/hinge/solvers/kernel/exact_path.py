r"""The whole path of a kernel machine in C, from corner to corner.

For the hinge loss the optimal coefficients are piecewise linear in C. With the free rows F, those
whose coefficient has its largest value U, and :math:`r_i = y_i s_i` (so that
:math:`\beta_U = C r_U`), the equations of the optimum

.. math:: K_{FF} \beta_F + \nu = p_F - C K_{FU} r_U, \qquad \sum \beta_F = -C \sum r_U

hold until a free coefficient arrives at an end of its range or a row at a bound comes free
(:mod:`hinge.solvers.kernel.path_events`). There the sets change by a row, the factor of
:math:`K_{FF}` with them (:mod:`hinge.solvers.kernel.free_set`), and the next straight piece
begins. A row that comes free but depends on the free ones changes places with one of them: along
the direction in which nothing changes but coefficients, to the first bound.

A corner costs a product of the kernel rows of F with a vector and two triangular solves.
Coefficients are solved for anew at every corner and carry no rounding from one to the next; the
gradient is summed up anew every hundred corners, and the factor where that shows that it has
drifted.

References
----------
.. [1] T. Hastie, S. Rosset, R. Tibshirani and J. Zhu, "The entire regularization path for the
   support vector machine", JMLR 5, 2004.
.. [2] K. Scheinberg, "An efficient implementation of an active set method for SVMs", JMLR 7, 2006.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hinge.errors import Interrupted, InvalidParameterError, UnsupportedError
from hinge.parameters import positive
from hinge.problem import Problem
from hinge.result import Stop
from hinge.solvers.driver import Settings, run
from hinge.solvers.interrupt import StopFlag, listening
from hinge.solvers.kernel.active_set import ActiveSet
from hinge.solvers.kernel.active_state import ActiveState
from hinge.solvers.kernel.carry import CarriedPoint
from hinge.solvers.kernel.decomposition import Decomposition
from hinge.solvers.kernel.dual_state import Floats, Ids, point_of
from hinge.solvers.kernel.free_set import FreeSet
from hinge.solvers.kernel.path_events import (
    FREE,
    LARGEST,
    ZERO,
    Corner,
    closing,
    first_arrival,
    first_departure,
)
from hinge.solvers.kernel.path_record import ExactPath, PathRecorder
from hinge.threads import single_threaded_blas

_NEAR_GAP = 1e-4  # to which pairs of rows are the faster way
_START_GAP = 1e-9  # of the optimum that the path begins with; it is exact after the first corner
_CORNERS_TO_SUM = 100  # corners between two sums of the gradient from nothing
_DRIFT = 1e-9  # of the gradient, at which the factor is made anew
_STUCK = 20  # corners without a step between them after which a tie is left behind
_LEAP = 1e-8  # share of C by which it is
_STILL = 1e-9  # how little a free coefficient may answer before it does not answer at all
_TIE = 1e-12  # of C: corners nearer than that are one


def exact_path(
    problem: Problem,
    C_from: float,
    C_to: float,
    *,
    cache_mb: float = 200.0,
    seconds: float | None = None,
) -> ExactPath:
    """Return the optimal machines for all values of C between two, as a function of C.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel and the hinge loss; its own C is not used.
    C_from, C_to : float
        The ends of the path, greater than 0; the second is the larger one.
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes.
    seconds : float or None, default=None
        The most time to take; a path that is cut short says so (``is_complete``).

    Returns
    -------
    ExactPath
        Every corner, and the machine and its certificate for any C in between.

    Raises
    ------
    Interrupted
        On Ctrl-C.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, kernel="rbf")
    >>> path = hinge.solvers.exact_path(problem, 0.1, 100.0)
    >>> len(path.Cs) > 2, path.certificate(2.5).relative_gap < 1e-9
    (True, True)
    """
    start, end = positive(C_from, "C_from"), positive(C_to, "C_to")
    _check(problem, start, end)
    with listening() as flag:
        path = walk(problem, start, end, cache_mb, seconds, flag)
    if flag:
        message = f"exact path interrupted at C = {path.Cs[-1]:g} after {len(path.Cs) - 2} corners"
        raise Interrupted(message, ())
    return path


def walk(
    problem: Problem,
    start: float,
    end: float,
    cache_mb: float,
    seconds: float | None,
    flag: StopFlag,
) -> ExactPath:
    """Walk along a path that exists, to its end or until the flag or the clock ends it.

    Parameters
    ----------
    problem : Problem
        A problem with a positive semidefinite kernel and the hinge loss.
    start, end : float
        The ends of the path.
    cache_mb : float
        Memory for kept kernel rows, in megabytes.
    seconds : float or None
        The most time to take.
    flag : StopFlag
        Ends the walk when set.

    Returns
    -------
    ExactPath
        The path as far as it was walked.
    """
    with single_threaded_blas():
        began = time.perf_counter()
        first = problem.with_C(start)
        near, exact = (Settings(Stop(gap=gap, seconds=seconds)) for gap in (_NEAR_GAP, _START_GAP))
        pairs = run(first, Decomposition(cache_mb), near, None, None, flag)
        solution = run(first, ActiveSet(cache_mb), exact, pairs.point, None, flag)

        def is_over() -> bool:
            late = seconds is not None and time.perf_counter() - began > seconds
            return bool(flag) or late

        steps = _Walk(problem, solution.state, start)
        if not is_over():
            steps.go(end, is_over, flag)
    return steps.record.finished(steps.C, is_complete=end <= steps.C)


def _check(problem: Problem, start: float, end: float) -> None:
    """Refuse what has no path of straight pieces."""
    if problem.kernel is None or problem.loss.name != "hinge":
        has = "no kernel" if problem.kernel is None else f"the loss {problem.loss.name!r}"
        message = (
            "an exact path needs a kernel (kernel='linear' will do) and the hinge loss: only then "
            f"are coefficients piecewise linear in C. The problem has {has}. Use hinge.path."
        )
        raise UnsupportedError(message)
    if problem.kernel.psd is False:
        message = "an exact path needs a positive semidefinite kernel; use hinge.path."
        raise UnsupportedError(message)
    if not start < end < math.inf:
        message = f"C_to must be finite and larger than C_from; got {start} and {end}."
        raise InvalidParameterError(message)


class _Walk:
    """A walk along the path: where it is, and how everything changes from there."""

    def __init__(self, problem: Problem, state: ActiveState, C: float) -> None:
        self.problem = problem
        self._begin(state, C)
        present, unit = state.program.present, state.source.unit
        self.record = PathRecorder(problem, present, self.where, unit)
        self.stuck = 0

    def _begin(self, state: ActiveState, C: float) -> None:
        """Take the sets of an optimum over."""
        self.state = state
        self.C = C
        program = state.program
        self.signs = np.sign(program.linear)
        self.linear = program.linear
        self.rates_of_largest = self.signs * np.maximum(program.upper, -program.lower) / C
        self.where: NDArray[np.int8] = np.full(len(state.beta), ZERO, dtype=np.int8)
        at_largest = np.abs(state.beta) >= np.maximum(program.upper, -program.lower)
        self.where[at_largest] = LARGEST
        self.free = FreeSet()
        self.beta = self.rates = np.zeros(0)
        self.nu = self.nu_rate = 0.0
        self.fixed_slope = np.zeros(len(state.beta))  # K_U r_U of all rows
        largest = np.flatnonzero(at_largest)
        self._add_rows(largest, self.rates_of_largest[largest], self.fixed_slope)
        self._admit(np.flatnonzero((state.beta != 0.0) & ~at_largest))
        self.gradient = state.gradient()
        self._sum_up()

    def go(self, end: float, is_over: Callable[[], bool], flag: StopFlag) -> None:
        """Walk to the end, or until it is over."""
        while end > self.C:
            corner, rates = self._next()
            step = min(corner.step, end - self.C)
            if self.is_balanced and len(self.free) == 0:
                self._choose_nu(rates, step)
            self.record.piece(self.C, self.nu, self.nu_rate, self.free.ids, self.beta, self.rates)
            self.gradient += step * rates
            self.nu += step * self.nu_rate
            self.beta = self.beta + step * self.rates
            self.C = end if step < corner.step else self.C + step
            if step < corner.step or is_over():
                return
            self._turn(corner)
            self.stuck = 0 if step > _TIE * self.C else self.stuck + 1
            if self.stuck > _STUCK:
                self._leap(min(end, self.C * (1.0 + _LEAP)), flag)
            elif len(self.record) % _CORNERS_TO_SUM == 0:
                self._sum_up()

    def _leap(self, C: float, flag: StopFlag) -> None:
        """Begin anew a little further on, where a tie of many rows is decided."""
        state, where = self.state, self.where
        state.problem = self.problem.with_C(self.C)
        state.__dict__.pop("program", None)
        state.beta = np.where(where == LARGEST, self.C * self.rates_of_largest, 0.0)
        state.beta[self.free.ids] = self.beta
        state.scores = self.gradient + self.linear
        state.free, state.packed = self.free.ids, self.free.packed
        point = point_of(state, self.nu)
        warm = CarriedPoint(point.coef, point.intercept, point.dual_coef, state)
        settings = Settings(Stop(gap=_START_GAP))
        solver = ActiveSet(state.cache_mb)
        solution = run(self.problem.with_C(C), solver, settings, warm, None, flag)
        self._begin(solution.state, C)
        self.record.corner(self.where)
        self.stuck = 0

    @property
    def is_balanced(self) -> bool:
        """Whether coefficients sum to zero."""
        return self.state.program.is_balanced

    def _next(self) -> tuple[Corner, Floats]:
        """Return the next corner, and how the gradient of all rows changes on the way."""
        self._solve_rates()
        rates = self.fixed_slope.copy()
        self._add_rows(self.free.ids, self.rates, rates)
        if self.is_balanced and len(self.free) == 0:
            return closing(self.gradient, rates, self.signs, self.where)[0], rates
        ids = self.free.ids
        signs = self.signs[ids]
        arrival = first_arrival(
            signs * self.beta,
            signs * self.rates,
            np.abs(self.C * self.rates_of_largest[ids]),
            np.abs(self.rates_of_largest[ids]),
            ids,
        )
        size = float(np.max(np.abs(rates))) + abs(self.nu_rate)
        excess = self.signs * (self.gradient + self.nu)
        changes = self.signs * (rates + self.nu_rate)
        departure = first_departure(excess, changes, self.where, size)
        return (arrival if arrival.step <= departure.step else departure), rates

    def _choose_nu(self, rates: Floats, step: float) -> None:
        """Choose a multiplier where none is determined, for a piece that is a step long.

        The interval's ends are a convex and a concave function: what is straight between a point of
        it here and one at the end of the piece stays inside.
        """
        middles = []
        for gradient in (self.gradient, self.gradient + step * rates):
            _, *ends = closing(gradient, rates, self.signs, self.where)
            finite = [end for end in ends if math.isfinite(end)]
            middles.append(sum(finite) / len(finite) if finite else 0.0)
        self.nu = middles[0]
        self.nu_rate = (middles[1] - middles[0]) / step if step > 0.0 else 0.0

    def _solve_rates(self) -> None:
        """Find how free coefficients and the multiplier change with C."""
        ids = self.free.ids
        answer = self.free.solve(self.fixed_slope[ids])
        self.rates, self.nu_rate = -answer, 0.0
        if self.is_balanced and len(ids):
            total = float(np.sum(self.rates_of_largest[self.where == LARGEST]))
            ones = self.free.solve(np.ones(len(ids)))
            shared = (total - float(np.sum(answer))) / float(np.sum(ones))
            self.rates = -answer - shared * ones
            self.nu_rate = shared - self.state.shift * total

    def _solve_beta(self) -> None:
        """Find free coefficients and the multiplier from the equations of the optimum."""
        ids = self.free.ids
        self.beta = self.free.solve(self.linear[ids] - self.C * self.fixed_slope[ids])
        if self.is_balanced and len(ids):
            total = self.C * float(np.sum(self.rates_of_largest[self.where == LARGEST]))
            ones = self.free.solve(np.ones(len(ids)))
            shared = (float(np.sum(self.beta)) + total) / float(np.sum(ones))
            self.beta = self.beta - shared * ones
            self.nu = shared - self.state.shift * total

    def _sum_up(self) -> None:
        """Compute coefficients and gradient from nothing; factor anew if that shows a drift."""
        self._solve_beta()
        self.gradient = self.C * self.fixed_slope - self.linear
        self._add_rows(self.free.ids, self.beta, self.gradient)
        if len(self.free) == 0:
            return
        off = self.gradient[self.free.ids] + self.nu
        if float(np.max(np.abs(off))) > _DRIFT * max(1.0, float(np.max(np.abs(self.gradient)))):
            ids = self.free.ids
            self.free.factor(ids, self.state.block(ids, ids) + self.state.shift)
            self._solve_beta()

    def _turn(self, corner: Corner) -> None:
        """Change the sets at a corner."""
        if self.is_balanced and len(self.free) == 0:
            self.nu = -float(self.gradient[corner.rows[0]])  # it was not determined before
        for row in corner.rows:
            if corner.to == FREE:
                self._set_free(row)
            else:
                self._put_away(row, corner.to)
        self.record.corner(self.where)

    def _put_away(self, row: int, to: int) -> None:
        """Take a row that has arrived at an end of its range out of the free ones."""
        place = int(np.flatnonzero(self.free.ids == row)[0])
        self.free.remove(place)
        self.beta = np.delete(self.beta, place)
        self._place(row, to)

    def _place(self, row: int, to: int) -> None:
        """Note where a row is; rows at their largest value take part in the slope."""
        was, self.where[row] = int(self.where[row]), to
        change = float(to == LARGEST) - float(was == LARGEST)
        if change:
            only = np.array([row])
            self._add_rows(only, change * self.rates_of_largest[only], self.fixed_slope)

    def _set_free(self, row: int) -> None:
        """Make a row at a bound free."""
        largest = self.C * float(self.rates_of_largest[row])
        is_largest = self.where[row] == LARGEST
        inward = float(-self.signs[row] if is_largest else self.signs[row])
        value = largest if is_largest else 0.0
        self._enter(row, value, inward, abs(largest), ZERO if is_largest else LARGEST)

    def _enter(self, row: int, value: float, inward: float, room: float, beyond: int) -> None:
        """Make a row free; if it depends on the free ones, it changes places with one of them.

        It moves inward until another one is at a bound, or until it has used its own room up.
        """
        if self.state.cache.lookup(np.array([row]))[0] < 0:
            self.state.keep(np.append(self.free.ids, row))
        across = self.state.block(np.array([row]), np.append(self.free.ids, row))[0]
        own = float(across[-1]) + self.state.shift
        if not self.free.append(row, across[:-1] + self.state.shift, own):
            length, place = self._swap(across[:-1], inward, room)
            if place is None:
                self._place(row, beyond)
                return
            value += inward * length
            gone = int(self.free.ids[place])
            half = 0.5 * abs(self.C * float(self.rates_of_largest[gone]))
            self._put_away(gone, LARGEST if abs(self.beta[place]) > half else ZERO)
            across = np.delete(across, place)
            if not self.free.append(row, across[:-1] + self.state.shift, own):
                return  # within rounding of the others: it stays where it is
        self._place(row, FREE)
        self.beta = np.append(self.beta, value)

    def _swap(self, across: Floats, inward: float, room: float) -> tuple[float, int | None]:
        """Move along the direction in which only coefficients change, to the first bound.

        Returns how far, and which of the free rows is there; None if there was no more room.
        """
        answer = inward * self.free.dependence(across + self.state.shift)
        ends = self.C * self.rates_of_largest[self.free.ids]
        upper, lower = np.maximum(ends, 0.0), np.minimum(ends, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(answer > 0.0, upper, lower) - self.beta
            reach = np.where(np.abs(answer) > _STILL, np.maximum(ahead / answer, 0.0), np.inf)
        length = float(np.min(reach, initial=room))
        self.beta = np.clip(self.beta + length * answer, lower, upper)
        return length, None if length >= room else int(np.argmin(reach))

    def _admit(self, rows: Ids) -> None:
        """Make rows that are inside their bounds free, or take them to one if they depend."""
        self.state.keep(rows)
        self.free.factor(rows, self.state.block(rows, rows) + self.state.shift)
        self.where[self.free.ids] = FREE
        self.beta = self.state.beta[self.free.ids]
        for row in rows[~np.isin(rows, self.free.ids)]:
            value = float(self.state.beta[row])
            self._enter(int(row), value, -math.copysign(1.0, value), abs(value), ZERO)

    def _add_rows(self, ids: Ids, coef: Floats, sums: Floats) -> None:
        """Add kernel rows, times their coefficients, to sums over all rows."""
        slots = self.state.cache.lookup(ids)
        kept = slots >= 0
        self.state.cache.write(slots[kept], self.state.source)
        self.state.cache.add(slots[kept], np.ascontiguousarray(coef[kept]), sums, self.state.source)
        if not kept.all():
            self.state.source.add(ids[~kept], coef[~kept], sums, exact=True)
