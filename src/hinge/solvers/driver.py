"""The one loop of hinge: step, ask the judge, tell the observers, stop.

A run ends when its criteria hold in a recomputed certificate (``solved``), when a limit on steps
or time is reached, when nothing moves any more (``stalled``), on Ctrl-C or an observer's wish
(``interrupted``), or when numbers stop being numbers (``numerical_error``). Whatever ends it, the
best point seen is returned with its certificate, and the state to go on from.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from hinge.certificates.hard_margin import proves_not_separable
from hinge.errors import Interrupted, InvalidParameterError, UnsupportedError
from hinge.problem import Problem
from hinge.result import (
    Certificate,
    Point,
    Progress,
    Solution,
    Status,
    Stop,
    Trace,
    TraceRecord,
)
from hinge.solvers.arguments import (
    given_observers,
    given_problem,
    given_seed,
    given_start,
    given_state,
    given_stop,
)
from hinge.solvers.interrupt import StopFlag, listening
from hinge.solvers.judge import Judge
from hinge.solvers.memory import refuse_many_features
from hinge.solvers.protocol import Solver, Support
from hinge.solvers.registry import get_solver
from hinge.threads import single_threaded_blas, thread_count

WORK_PER_STEP = 4_000_000  # stored values: some 10 ms, so that Ctrl-C is answered at once
_EARLY = 0.1  # of a limit on time: before it nobody asks how long the last certificate will take
_TRACE_LIMIT = 4096  # records kept; every other claim is dropped when there are more


@dataclass(frozen=True)
class Event:
    """What an observer is shown after a step.

    Parameters
    ----------
    problem : Problem
        The problem of the run.
    progress : Progress
        The solver's own opinion.
    certificate : Certificate or None
        The last certificate, if one has been made.
    seconds : float
        Time since the run began.
    point : callable
        Returns the current point, as a copy, when called.
    state : callable
        Returns the solver's state, as a copy to resume from, when called.
    """

    problem: Problem
    progress: Progress
    certificate: Certificate | None
    seconds: float
    point: Callable[[], Point] = field(repr=False)
    state: Callable[[], Any] = field(repr=False)


Observer = Callable[[Event], Any]


@dataclass(frozen=True)
class Settings:
    """How to run, apart from what to solve.

    Parameters
    ----------
    stop : Stop
        Criteria and limits.
    seed : int
        Seed of every random choice.
    observers : tuple of callable
        Called with an ``Event`` after each step; one that returns True ends the run.
    threads : int
        Threads for certificates and for solvers that need only passes; never changes a result.
    """

    stop: Stop = field(default_factory=Stop)
    seed: int = 0
    observers: tuple[Observer, ...] = ()
    threads: int = 1


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    stop: Stop | None = None,
    warm: Point | Solution | None = None,
    seed: int = 0,
    resume: Any = None,
    observers: Iterable[Observer] = (),
    n_jobs: int | None = None,
) -> Solution:
    """Solve a problem and certify the result.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    solver : str or Solver, default="auto"
        Name of a solver, a configured one from :mod:`hinge.solvers`, or ``"auto"``.
    stop : Stop or None, default=None
        Criteria and limits; None is ``Stop(gap=1e-3)``.
    warm : Point or Solution or None, default=None
        Where to start; its dual coefficients are used where they fit.
    seed : int, default=0
        Seed of every random choice; a run that goes on keeps the seed that it began with.
    resume : object or None, default=None
        The ``state`` of an earlier solution of the same problem, to go on from.
    observers : iterable of callable, default=()
        Called with an ``Event`` after each step; one that returns True ends the run.
    n_jobs : int or None, default=None
        Threads for certificates and for solvers that need only passes over the data; None is
        one, -1 all that the process may use. The result has the same bits for any number.

    Returns
    -------
    Solution
        Best point, certificate, trace, status and state.

    Raises
    ------
    Interrupted
        On Ctrl-C; its ``solution`` is the best one found until then.

    Examples
    --------
    >>> import hinge
    >>> problem = hinge.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> solution = hinge.solve(problem, stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status), round(float(solution.coef[0]), 3)
    ('solved', 2.0)
    """
    problem = given_problem(problem, "hinge.solve")
    settings = Settings(
        given_stop(stop), given_seed(seed), given_observers(observers), thread_count(n_jobs)
    )
    start, state = given_start(warm), given_state(resume)
    if state is not None and isinstance(solver, str) and solver == "auto":
        solver = state.solver_name
    chosen = get_solver(solver, problem, settings.stop.gap)
    with listening() as flag:
        solution = run(problem, chosen, settings, start, state, flag)
    if flag:
        message = f"{chosen.name} interrupted after {solution.seconds:.1f} s"
        raise Interrupted(message, (solution,))
    return solution


def run(
    problem: Problem,
    solver: Solver,
    settings: Settings,
    warm: Point | None,
    resume: Any,
    flag: StopFlag,
) -> Solution:
    """Run one solver on one problem until its settings or the flag end it.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    solver : Solver
        The method.
    settings : Settings
        Criteria, limits, seed, observers and threads.
    warm : Point or None
        Where to start.
    resume : object or None
        State of an earlier run of the same problem.
    flag : StopFlag
        Ends the run when set.

    Returns
    -------
    Solution
        Best point, certificate, trace, status and state.
    """
    support = _support(solver, problem)
    if not support:
        message = f"solver {solver.name!r} does not take this problem: {support.reason}"
        raise UnsupportedError(message)
    with single_threaded_blas():
        try:
            return _Run(problem, solver, settings, flag).go(warm, resume)
        except MemoryError as error:
            refuse_many_features(problem, error)
            raise


def _support(solver: Solver, problem: Problem) -> Support:
    """Return whether the solver takes the problem; hard margins and kernels are other programs."""
    if problem.is_hard and not solver.takes_hard_margins:
        reason = "C is infinite; use solver='hard-margin' or 'auto', or a finite C."
        return Support(False, reason)
    if problem.kernel is not None and not solver.takes_kernels:
        reason = (
            "it is for linear machines, and the problem has a kernel; use solver='decomposition' "
            "or 'auto', or kernel=None."
        )
        return Support(False, reason)
    if problem.kernel is None and solver.takes_kernels:
        reason = "it is for kernel machines; give the problem a kernel, such as kernel='linear'."
        return Support(False, reason)
    return solver.supports(problem)


class _Abandoned(Exception):  # noqa: N818 - an event, not an error
    """A certificate or a step was given up because the run has to end now."""


class _Run:
    """One run: the loop and what it remembers."""

    def __init__(
        self, problem: Problem, solver: Solver, settings: Settings, flag: StopFlag
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.settings = settings
        self.flag = flag
        self.began = time.perf_counter()
        self.is_stepping = False
        # Nobody whom the run knows refers to it: when it is over its data are let go at once.
        self.judge = Judge(problem, settings.stop, partial(_check, flag), settings.threads)
        self.records: list[TraceRecord] = []
        self.certificate: Certificate | None = None
        self.progress = Progress(0, 0)
        self.method = solver.name
        self.owed = 0.0  # seconds that the last certificate will take

    def go(self, warm: Point | None, resume: Any) -> Solution:
        """Start or resume, loop, and conclude."""
        if resume is None:
            state = self.solver.start(self.problem, warm, self.settings.seed)
            state.solver_name, state.seed = self.solver.name, self.settings.seed
        else:
            state = self._resumed(resume)
        state.step_limit = self.settings.stop.steps
        state.threads = self.settings.threads
        state.stop_check = self._step_check
        try:
            return self._conclude(state, self._loop(state, is_resumed=resume is not None))
        finally:
            state.stop_check = None
            state.release()  # whoever keeps the state keeps no threads

    def _loop(self, state: Any, *, is_resumed: bool) -> Status:
        """Go on until the run is over; return why."""
        self.progress = self.solver.progress(state)
        self.method = self.solver.method(state)
        status = None
        if is_resumed:
            self.judge.go_on(state.judged_work, state.was_refused)
            if self.judge.has_to_begin(self.progress):
                status = self._certify(state)
        while status is None:
            status = self._limit() or self._advance(state)
        return status

    def _resumed(self, state: Any) -> Any:
        """Return a copy of an earlier run's state, which must be this solver's."""
        if state.solver_name != self.solver.name:
            message = (
                f"the state to resume is one of solver {state.solver_name!r}; "
                f"{self.solver.name!r} cannot go on from it. Pass the solution as warm= instead."
            )
            raise InvalidParameterError(message)
        return state.resumed(self.problem)

    def _advance(self, state: Any) -> Status | None:
        """Do one step and what follows from it; return the status if the run is over."""
        self.is_stepping = True
        try:
            done = self.solver.step(state, WORK_PER_STEP * self.solver.stride(state))
        except _Abandoned:
            return self._limit() or Status.INTERRUPTED
        finally:
            self.is_stepping = False
        self.progress = self.solver.progress(state)
        if self._is_near_its_time():
            self.owed = self.judge.owed_seconds(state.n_support)
        if self.solver.method(state) != self.method:
            self.method = self.solver.method(state)
            self.judge.forget_course()
        if done <= 0:
            # Whatever it says of itself: a solver that does nothing is at rest.
            self.progress = replace(self.progress, at_rest=True)
        status = None
        if self.judge.is_due(self.progress):
            status = self._certify(state)
            state.judged_work, state.was_refused = self.judge.last_work, self.judge.refused
        else:
            self._record(self.progress)
        if self._observe(state) and status is None:
            status = Status.INTERRUPTED
        return status

    def _certify(self, state: Any, *, is_last: bool = False) -> Status | None:
        """Ask the judge; return the status if that settles the run, or if it is over anyway."""
        try:
            point = self.solver.point(state)
            state.make_way()
            certificate = self.judge.certify(point, self.progress)
            state.after_certificate()
        except _Abandoned:
            return Status.INTERRUPTED
        self.certificate = certificate
        self._record(certificate)
        if self.settings.stop.satisfied_by(certificate):
            return Status.SOLVED
        if not _is_finite(point):
            return Status.NUMERICAL_ERROR
        if self.problem.is_hard and proves_not_separable(self.problem, certificate):
            return Status.NOT_SEPARABLE
        if is_last:
            return Status.STALLED  # and nobody is to go on
        # How much is rounding depends on the point: another method may find one that is proven.
        at_rest = self.progress.at_rest or self._is_hopeless(certificate)
        if at_rest or self.judge.has_stalled():
            goes_on = self.solver.go_on(state, at_rest=at_rest)
            return None if goes_on else Status.STALLED
        return None

    def _is_hopeless(self, certificate: Certificate) -> bool:
        """Return whether only rounding keeps a criterion from being proven: more work is no use."""
        stop, rounding = self.settings.stop, certificate.kkt_rounding
        if certificate.is_rounding and stop.gap:
            return True
        aim = stop.kkt or math.nan
        return certificate.kkt - rounding <= aim <= rounding < math.inf

    def _limit(self) -> Status | None:
        """Return the status of a limit that has been reached."""
        stop = self.settings.stop
        if self.flag:
            return Status.INTERRUPTED
        if self._is_out_of_time():
            return Status.TIME_LIMIT
        if stop.steps is not None and self.progress.steps >= stop.steps:
            return Status.ITERATION_LIMIT
        return None

    def _conclude(self, state: Any, status: Status) -> Solution:
        """Return the best pair with a certificate; a point without one only if interrupted."""
        hurried = bool(self.flag)
        if not hurried and not self.judge.has_judged(self.progress):
            # The last point may be the best one, and nobody has judged it yet.
            verdict = self._certify(state, is_last=True)
            if verdict in (Status.SOLVED, Status.NUMERICAL_ERROR, Status.NOT_SEPARABLE):
                status = verdict
        best = None
        try:
            best = self.judge.conclude(allow_work=not hurried)
        except _Abandoned:
            best = self.judge.best
        if best is None:
            note = "interrupted before the first certificate: nothing is proven"
            nan, inf = math.nan, math.inf
            best = (
                self.solver.unproven_point(state),
                Certificate(nan, -inf, inf, inf, inf, inf, (note, *_claims(self.progress))),
            )
        point, certificate = best
        if self.settings.stop.satisfied_by(certificate):
            status = Status.SOLVED  # the best primal and the best dual point together may do it
        return Solution(
            point=point,
            certificate=certificate,
            trace=Trace(tuple(self.records)),
            status=status,
            state=state,
            solver=self.solver.method(state),
            seed=state.seed,
            steps=self.progress.steps,
            work=self.progress.work,
            seconds=self._seconds(),
            certificate_seconds=self.judge.seconds,
        )

    def _observe(self, state: Any) -> bool:
        """Show the step to every observer; return whether one of them asks to stop."""
        if not self.settings.observers:
            return False
        event = Event(
            self.problem,
            self.progress,
            self.certificate,
            self._seconds(),
            lambda: self._shown_point(state),
            lambda: state.resumed(self.problem),
        )
        answers = [observer(event) for observer in self.settings.observers]
        return any(answer is True for answer in answers)

    def _shown_point(self, state: Any) -> Point:
        """Return the point for an observer, who gets it even if the run is about to end."""
        state.stop_check = None
        try:
            return self.solver.point(state)
        finally:
            state.stop_check = self._step_check

    def _record(self, found: Progress | Certificate) -> None:
        """Add a line to the trace; thin it out when it grows long."""
        certified, gap = isinstance(found, Certificate), found.relative_gap
        if not certified and math.isnan(gap):
            return
        done = self.progress.steps, self.progress.work
        self.records.append(
            TraceRecord(self._seconds(), *done, found.primal, found.dual, gap, certified)
        )
        if len(self.records) > _TRACE_LIMIT:
            numbered = enumerate(self.records)
            self.records = [record for k, record in numbered if record.certified or k % 2 == 0]

    def _step_check(self) -> None:
        """Give up a step when its time is over as well; a point is returned and certified then."""
        if self.is_stepping and self._is_out_of_time():
            raise _Abandoned
        _check(self.flag)

    def _is_near_its_time(self) -> bool:
        """Return whether a part of the time has passed that makes it worth thinking of its end."""
        seconds = self.settings.stop.seconds
        return seconds is not None and self._seconds() >= _EARLY * seconds

    def _is_out_of_time(self) -> bool:
        """Return whether no more time is left than the last certificate will take."""
        seconds = self.settings.stop.seconds
        return seconds is not None and self._seconds() + self.owed >= seconds

    def _seconds(self) -> float:
        return time.perf_counter() - self.began


def _check(flag: StopFlag) -> None:
    """Give up a certificate or a step when Ctrl-C has been pressed."""
    if flag:
        raise _Abandoned


def _claims(progress: Progress) -> tuple[str, ...]:
    """Return a note on what the solver said of itself last, if it said anything."""
    numbers = {"violation": progress.kkt, "relative gap": progress.relative_gap}
    known = [f"{name} {number:.2g}" for name, number in numbers.items() if math.isfinite(number)]
    return (f"the solver last said: {', '.join(known)}, unproven",) if known else ()


def _is_finite(point: Point) -> bool:
    """Return whether every number of the point is one."""
    numbers = [point.coef, np.asarray(point.intercept)]
    if point.dual_coef is not None:
        numbers.append(point.dual_coef)
    return all(bool(np.isfinite(array).all()) for array in numbers)
