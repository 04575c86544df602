"""The binary problems that a fit of several classes is made of, solved in any number of threads.

The problems do not depend on each other: any number of threads gives the same bits. A time limit
is for all of them together: each gets an equal share of what is left when it begins, and what the
quick ones leave over goes to the slow ones in further rounds, which resume where they stopped.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from hinge.multiclass.workers import HandOver, call_here, map_in_threads
from hinge.problem import Problem
from hinge.result import Certificate, Point, Solution, Status, Stop, Trace
from hinge.solvers import Event, Settings, Solver, State, StopFlag, get_solver, run
from hinge.threads import single_threaded_blas

if TYPE_CHECKING:
    from hinge.solvers.kernel.class_pairs import SolvedPair

_WORTH_A_ROUND = 0.05  # share of the time limit below which no further round is begun
_FEW_PROBLEMS = 4  # whose regions may be found when somebody asks for them
_NEVER_BEGUN = "training was stopped before this {} began: nothing is proven"
_NOT_GONE_ON = "training was stopped before this {} went on: nothing is proven"
_SET = StopFlag()
_SET.set()


class Listener(Protocol):
    """Who wants to know how a fit goes; always called on the thread that called the fit."""

    def on_step(self, number: int, event: Event) -> bool:
        """Take note of a step of problem ``number``; return True to end the whole fit."""

    def on_end(self, number: int, solution: Solution) -> None:
        """Take note that problem ``number`` is over; the solution still has its state."""


class HandOn(Protocol):
    """Hands something on from each problem to the next one; for one problem at a time."""

    def start(self, warm: Point | None) -> Point | None:
        """Return where to start a problem that does not go on from a state of an earlier fit."""

    def note(self, state: Any) -> None:
        """Take note of the state in which a problem was left."""


@dataclass(frozen=True)
class Plan:
    """How to solve the problems.

    Parameters
    ----------
    solver : str or Solver
        Name of the solver, or a configured one.
    stop : Stop
        Criteria and limits; ``seconds`` is for all problems together.
    seed : int
        Seed of every problem's random choices.
    threads : int
        How many threads; never changes a result.
    listeners : tuple of Listener
        Who is told how it goes.
    resume : callable or None
        Takes the number of a problem, the problem, the criteria and the seed, and returns where
        an earlier fit has left it: a state, a solution, a point, or None.
    finish : callable or None
        Takes the number of a problem, the problem and its solution with its state, and is called
        on the thread that has solved it, before the state is dropped.
    finish_pairs : callable or None
        Does the same for pairs of classes that were solved together, all in one call: takes them
        by number, and how many threads there are for it. Without it ``finish`` has them solved
        one by one.
    at_once : int or None
        The most problems that are solved at a time; None for as many as there are threads.
    """

    solver: str | Solver = "auto"
    stop: Stop = field(default_factory=Stop)
    seed: int = 0
    threads: int = 1
    listeners: tuple[Listener, ...] = ()
    resume: Callable[[int, Problem, Stop, int], State | Solution | Point | None] | None = None
    finish: Callable[[int, Problem, Solution], None] | None = None
    finish_pairs: Callable[[Mapping[int, SolvedPair], int], None] | None = None
    at_once: int | None = None


@dataclass(frozen=True)
class Family:
    """The problems of a fit.

    Parameters
    ----------
    make : callable
        Takes the number of a problem and returns it; called when its turn comes, to save memory.
    untrained : callable
        Takes the number of a problem and returns the point that stands for one whose turn never
        comes.
    unit : str, default="class"
        What a problem is about, for messages.
    relay : HandOn or None, default=None
        What problems that are solved one after the other hand on to each other.
    """

    make: Callable[[int], Problem]
    untrained: Callable[[int], Point]
    unit: str = "class"
    relay: HandOn | None = None


def solve_family(
    family: Family, warm: Sequence[Point | None], plan: Plan, flag: StopFlag
) -> list[Solution]:
    """Solve every problem of a family and certify it.

    Parameters
    ----------
    family : Family
        The problems.
    warm : sequence of Point or None
        Where to start each of them.
    plan : Plan
        Solver, limits, seed, threads and listeners.
    flag : StopFlag
        Ends everything when set.

    Returns
    -------
    list of Solution
        One for each problem, without their states, whatever ended them.
    """
    return _Fit(family, [*warm], plan, flag).go()


class _Fit:
    """All problems of one fit, and what is known of each."""

    def __init__(
        self, family: Family, warm: list[Point | None], plan: Plan, flag: StopFlag
    ) -> None:
        self.family = family
        self.warm = warm
        self.plan = plan
        self.flag = flag
        self.began = time.perf_counter()
        self.ended_by_listener = False
        self.solutions: list[Solution | None] = [None] * len(warm)
        self._waiting = 0
        self._lock = threading.Lock()

    def go(self) -> list[Solution]:
        """Solve in rounds until no problem is left that more time would help."""
        pending = list(range(len(self.warm)))
        with single_threaded_blas():  # once for all: what it takes is a good part of a small run
            while pending:
                self._round(pending)
                for number in pending:
                    solution = self.solutions[number]
                    if solution is not None and solution.state is not None:
                        self._end_unless_time_is_left(number, solution)
                pending = [number for number in pending if self._is_resumable(number)]
        return [solution for solution in self.solutions if solution is not None]

    @property
    def _at_once(self) -> int:
        """How many problems are solved at a time; threads that are left share the work on one."""
        threads = self.plan.threads
        return threads if self.plan.at_once is None else min(threads, self.plan.at_once)

    def _round(self, pending: list[int]) -> None:
        self._waiting = len(pending)
        workers = min(self._at_once, len(pending))
        if workers <= 1:
            for number in pending:
                self._solve(number, call_here)
        else:
            map_in_threads(self._solve, pending, workers, self.flag.set)

    def _solve(self, number: int, hand_over: HandOver) -> None:
        """Solve one problem, or go on with it, unless everything has been told to end."""
        seconds = self._share()
        before = self.solutions[number]
        is_over = (bool(self.flag) or self.ended_by_listener) and len(self.warm) > 1
        if is_over and (before is not None or self.plan.resume is None):
            if before is None:
                self.solutions[number] = self._stopped_early(number, None)
            return
        began = time.perf_counter()
        problem = self.family.make(number) if before is None else before.state.problem
        if seconds is not None:
            seconds = max(0.0, seconds - (time.perf_counter() - began))
        state, warm = (None, self.warm[number]) if before is None else (before.state, None)
        if before is None and self.plan.resume is not None:
            earlier = self.plan.resume(number, problem, self.plan.stop, self.plan.seed)
            if isinstance(earlier, Solution):
                self._finish(number, problem, earlier)
                self._end(number, earlier, hand_over)
                return
            if is_over and not isinstance(earlier, State):
                self.solutions[number] = self._stopped_early(number, earlier)
                return
            state = earlier if isinstance(earlier, State) else None
            warm = earlier if isinstance(earlier, Point) else warm
        settings = Settings(
            stop=replace(self.plan.stop, seconds=seconds),
            seed=self.plan.seed,
            observers=self._observers(number, hand_over),
            threads=max(1, self.plan.threads // min(self._at_once, len(self.warm))),
        )
        solver = get_solver(self.plan.solver, problem, self.plan.stop.gap, self.plan.stop.steps)
        relay = self.family.relay
        warm = warm if relay is None else relay.start(warm)
        solution = run(problem, solver, settings, warm, state, _SET if is_over else self.flag)
        if relay is not None:
            relay.note(solution.state)
        if before is not None:
            solution = _joined(before, solution)
        if solution.status is Status.TIME_LIMIT and len(self.warm) > 1:
            self.solutions[number] = solution
            return
        self._finish(number, problem, solution)
        self._end(number, solution, hand_over)

    def _finish(self, number: int, problem: Problem, solution: Solution) -> None:
        if self.plan.finish is not None:
            self.plan.finish(number, problem, solution)

    def _stopped_early(self, number: int, earlier: Point | None) -> Solution:
        """Return what stands for a problem that this fit never came to."""
        note = _NEVER_BEGUN if earlier is None else _NOT_GONE_ON
        point = self.family.untrained(number) if earlier is None else earlier
        return _untrained(point, self.plan, note.format(self.family.unit))

    def _end(self, number: int, solution: Solution, hand_over: HandOver) -> None:
        """Store what came of a problem, without its state, and tell the listeners."""
        region = solution.certificate.region
        if len(self.warm) > _FEW_PROBLEMS and region is not None:
            region.complete()  # or the scores of all problems would be kept
        self.solutions[number] = replace(solution, state=None)
        if self.plan.listeners:
            hand_over(lambda: self._tell_end(number, solution))

    def _observers(self, number: int, hand_over: HandOver) -> tuple[Callable[[Event], bool], ...]:
        """Return the observer that passes a run's steps on to the listeners, if there are any."""
        if not self.plan.listeners:
            return ()

        def observer(event: Event) -> bool:
            return hand_over(lambda: self._tell_step(number, event)) is True

        return (observer,)

    def _tell_step(self, number: int, event: Event) -> bool:
        answers = [listener.on_step(number, event) for listener in self.plan.listeners]
        if any(answer is True for answer in answers):
            self.ended_by_listener = True
        return self.ended_by_listener

    def _tell_end(self, number: int, solution: Solution) -> None:
        for listener in self.plan.listeners:
            listener.on_end(number, solution)

    def _share(self) -> float | None:
        """Return the time that the next problem may take: what is left, in equal parts."""
        if self.plan.stop.seconds is None:
            return None
        with self._lock:
            turns = math.ceil(self._waiting / self._at_once)
            self._waiting -= 1
        return max(0.0, self._remaining()) / turns

    def _remaining(self) -> float:
        limit = self.plan.stop.seconds
        return math.inf if limit is None else limit - (time.perf_counter() - self.began)

    def _is_resumable(self, number: int) -> bool:
        solution = self.solutions[number]
        return solution is not None and solution.state is not None

    def _end_unless_time_is_left(self, number: int, solution: Solution) -> None:
        """Give up a problem that ran out of its share, unless there is time for another round."""
        limit = self.plan.stop.seconds
        ended = self.flag or self.ended_by_listener or limit is None
        if ended or self._remaining() <= _WORTH_A_ROUND * (limit or 0.0):
            self._finish(number, solution.state.problem, solution)
            self.solutions[number] = replace(solution, state=None)
            self._tell_end(number, solution)


def _joined(first: Solution, second: Solution) -> Solution:
    """Return the resumed run and the run before it as one, with the better of their points."""
    later = tuple(
        replace(record, seconds=record.seconds + first.seconds) for record in second.trace.records
    )
    is_better = first.certificate.gap < second.certificate.gap
    best = first if is_better and second.status is not Status.SOLVED else second
    return replace(
        second,
        point=best.point,
        certificate=best.certificate,
        trace=Trace(first.trace.records + later),
        seconds=first.seconds + second.seconds,
        certificate_seconds=first.certificate_seconds + second.certificate_seconds,
    )


def has_begun(solution: Solution) -> bool:
    """Return whether a solution is one, not what stands for a problem whose turn never came.

    Parameters
    ----------
    solution : Solution
        One of what ``solve_family`` returns.
    """
    before, after = _NEVER_BEGUN.split("{}")
    notes = solution.certificate.notes
    return not any(note.startswith(before) and note.endswith(after) for note in notes)


def _untrained(point: Point, plan: Plan, note: str) -> Solution:
    """Return the solution of a problem whose turn never came."""
    nan, inf = math.nan, math.inf
    return Solution(
        point=point,
        certificate=Certificate(nan, -inf, inf, inf, inf, inf, (note,)),
        trace=Trace(),
        status=Status.INTERRUPTED,
        state=None,
        solver=plan.solver if isinstance(plan.solver, str) else plan.solver.name,
        seed=plan.seed,
        steps=0,
        work=0,
        seconds=0.0,
        certificate_seconds=0.0,
    )
