r"""One problem for many values of C, each solved from its neighbour and each certified.

.. math:: P_C(w, b) = \tfrac12 \|w\|^2 + C \sum_i s_i\, \ell(y_i (w'x_i + b))

Values are solved from small to large: a small C is quick from nothing, and the larger ones, which
are not, then begin near their optimum. From C to C' the box of the dual coefficients grows by
C'/C, and the coefficients with it: they stay feasible (y'alpha = 0 included), rows at a bound stay
at it, and where the losses outweigh the norm both objectives grow by about that factor too, so that
the relative gap is hardly wider than before. How wide it is follows from the certificate of the
neighbour (:mod:`hinge.solvers.linear.claimed_point`): where it is narrow enough that point is
certified at once, and no solver runs. Where it is not, coordinate descent begins with the rows that
the carried weights do not hold at a bound, and with the best multiple of the coefficients between
their bounds: where no row is at one, C changes nothing, and they stay as they were.

Rows need no screening of their own here: the first check pass at C' screens by the gap it sees.

Where the choice of the method is ours, and so many values of C are asked for that walking the exact
path of a kernel machine from the first to the last is the faster way, they are read off that
(:mod:`hinge.solvers.kernel.path_points`).

A kernel machine's coefficients are carried in the same way. From one gamma to the next they stay as
they are: what is feasible does not depend on the kernel.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hinge.errors import UnsupportedError
from hinge.kernels import with_gamma
from hinge.problem import Problem
from hinge.result import Certificate, Point, Solution, Status, Trace
from hinge.solvers.driver import Event, Observer, Settings, run
from hinge.solvers.interrupt import StopFlag
from hinge.solvers.linear.claimed_point import claimed
from hinge.solvers.protocol import Solver
from hinge.solvers.registry import get_solver

if TYPE_CHECKING:
    from hinge.solvers.kernel.carry import KernelRelay

_BOUNDED = 1.0 - 4.0 * np.finfo(np.float64).eps  # share of its bound of a coefficient that is at it
_NEVER_BEGUN = "the path was ended before this value of C began: nothing is proven"


@dataclass(frozen=True)
class PathEvent(Event):
    """What an observer of a path is shown after a step.

    Parameters
    ----------
    number : int
        Which value of C this is: its position in what the caller gave.
    count : int
        How many values there are.
    """

    number: int
    count: int


def solve_grid(
    problem: Problem,
    Cs: list[float],
    gammas: list[float] | None,
    solver: str | Solver,
    settings: Settings,
    flag: StopFlag,
) -> list[list[Solution]]:
    """Solve a problem for values of C, and of gamma, until the flag or an observer ends the path.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    Cs : list of float
        Values of C, checked.
    gammas : list of float or None
        Values of gamma, checked; None is the problem's own kernel.
    solver : str or Solver
        The method, or its name.
    settings : Settings
        Criteria, limits, seed, observers and threads; see ``path``.
    flag : StopFlag
        Ends the path when set.

    Returns
    -------
    list of list of Solution
        For each gamma, in their order, one for each value of C, in theirs.
    """
    if gammas is None:
        return [solve_path(problem, Cs, solver, settings, flag)]
    if problem.kernel is None:
        message = "gammas are values of a kernel's gamma; the problem is linear. Give it a kernel."
        raise UnsupportedError(message)
    kernels = [with_gamma(problem.kernel, gamma) for gamma in gammas]
    deadline = _Deadline(settings.stop.seconds, len(gammas))
    ended: list[bool] = []
    found: list[list[Solution]] = []
    before: Point | None = None
    for number, kernel in enumerate(kernels):
        watch = _watching(settings.observers, number * len(Cs), len(Cs) * len(gammas), ended)
        stop = replace(settings.stop, seconds=deadline.share())
        local = replace(settings, stop=stop, observers=watch)
        here = problem.with_kernel(kernel)
        found.append(solve_path(here, Cs, solver, local, flag, before, ended))
        first = found[-1][Cs.index(min(Cs))]
        before = first.point if has_begun(first) else before
    return found


def solve_path(
    problem: Problem,
    Cs: list[float],
    solver: str | Solver,
    settings: Settings,
    flag: StopFlag,
    start: Point | None = None,
    ended: list[bool] | None = None,
    relay: KernelRelay | None = None,
) -> list[Solution]:
    """Solve a problem for values of C until the flag or an observer ends the path.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    Cs : list of float
        Values of C, checked.
    solver : str or Solver
        The method, or its name.
    settings : Settings
        Criteria, limits, seed, observers and threads; see ``path``.
    flag : StopFlag
        Ends the path when set.
    start : Point or None, default=None
        Where to start the smallest value of C.
    ended : list of bool or None, default=None
        Ends the path when it is not empty, and is added to when an observer says so.
    relay : KernelRelay or None, default=None
        Hands kernel rows on from paths over the same rows to this one, and from this to others.

    Returns
    -------
    list of Solution
        One for each value, in their order.
    """
    ended = [] if ended is None else ended
    deadline = _Deadline(settings.stop.seconds, len(set(Cs)))
    solved: dict[float, Solution] = {}
    before: tuple[Problem, Solution] | None = None
    warm = start if relay is None else relay.start(start)
    known = _exact_points(problem, sorted(set(Cs)), solver, settings, deadline, flag)
    for C in sorted(set(Cs)):
        if flag or ended:
            break
        here = problem.with_C(C)
        watch = _watching(settings.observers, Cs.index(C), len(Cs), ended)
        seconds = deadline.share()
        local = replace(settings, stop=replace(settings.stop, seconds=seconds), observers=watch)
        if C in known:
            warm = known[C]
        elif before is not None:
            warm = _carried_with_state(before[1], before[0], here, relay)
        name = "active-set" if C in known else solver
        method = get_solver(name, here, settings.stop.gap, settings.stop.steps)
        solution = run(here, method, local, warm, None, flag)
        if relay is not None:
            relay.note(solution.state)
        solved[C] = replace(solution, state=None)
        before = (here, solution)
    return [solved[C] if C in solved else _never_begun(problem, solver, settings) for C in Cs]


def _exact_points(
    problem: Problem,
    Cs: list[float],
    solver: str | Solver,
    settings: Settings,
    deadline: _Deadline,
    flag: StopFlag,
) -> dict[float, Point]:
    """Return points to start from where the choice is ours and the exact path is the fastest way.

    A value that is found so is still certified, and solved further if the judge is not content.
    """
    stop = settings.stop
    if solver != "auto" or problem.kernel is None or not stop.gap or stop.steps is not None:
        return {}
    from hinge.solvers.kernel.path_points import (  # noqa: PLC0415 - linear paths spare it
        exact_points,
        is_worth_a_walk,
    )

    if not is_worth_a_walk(problem, len(Cs), stop.gap):
        return {}
    return exact_points(problem, Cs, deadline.left(), flag)


def carried(point: Point, origin: Problem, target: Problem) -> Point:
    """Return a point of one problem as a start for the same problem with another C.

    Parameters
    ----------
    point : Point
        A point of ``origin``.
    origin, target : Problem
        Problems that differ in C alone.

    Returns
    -------
    Point
        The same weights; dual coefficients that are feasible for ``target``.
    """
    if point.dual_coef is None:
        return point
    scaled = (target.C / origin.C) * point.dual_coef
    # Rounding may move a coefficient off its bound by its last bit, either way.
    reach = target.loss.upper_bound(target.costs)
    is_bounded = scaled >= _BOUNDED * reach
    return replace(point, dual_coef=np.where(is_bounded, reach, scaled))


def _carried_with_state(
    solution: Solution, origin: Problem, target: Problem, relay: KernelRelay | None
) -> Point:
    """Return the point of a solution as a start for another C, with kernel values if it has any."""
    point = carried(solution.point, origin, target)
    if relay is not None:
        return relay.start(point)
    if target.kernel is None:
        return claimed(point, solution.certificate, origin, target)
    from hinge.solvers.kernel.carry import CarriedPoint  # noqa: PLC0415 - linear paths spare it
    from hinge.solvers.kernel.dual_state import KernelState  # noqa: PLC0415

    state = solution.state if isinstance(solution.state, KernelState) else None
    return CarriedPoint(point.coef, point.intercept, point.dual_coef, state)


def has_begun(solution: Solution) -> bool:
    """Return whether a solution of a path is one, not what stands for a value never begun.

    Parameters
    ----------
    solution : Solution
        One of what ``solve_path`` returns.
    """
    return _NEVER_BEGUN not in solution.certificate.notes


class _Deadline:
    """The time that a path may take, in equal parts for the values that are left."""

    def __init__(self, seconds: float | None, count: int) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self._left = count

    def left(self) -> float | None:
        """Return the seconds that are left for all values; None if there is no limit."""
        return None if math.isinf(self._end) else max(0.0, self._end - time.perf_counter())

    def share(self) -> float | None:
        """Return the seconds that the next value may take; None if there is no limit."""
        if math.isinf(self._end):
            return None
        share = max(0.0, self._end - time.perf_counter()) / self._left
        self._left -= 1
        return share


def _watching(
    observers: tuple[Observer, ...], number: int, count: int, ended: list[bool]
) -> tuple[Observer, ...]:
    """Return the observer that shows a step to all others, saying which value of C it is of."""
    if not observers:
        return ()

    def watch(event: Event) -> bool:
        inner = event.number if isinstance(event, PathEvent) else 0
        known = {name: value for name, value in vars(event).items() if name != "count"}
        shown = PathEvent(**{**known, "number": number + inner}, count=count)
        answers = [observer(shown) for observer in observers]
        if any(answer is True for answer in answers):
            ended.append(True)
        return bool(ended)

    return (watch,)


def _never_begun(problem: Problem, solver: str | Solver, settings: Settings) -> Solution:
    """Return what stands for a value of C whose turn never came."""
    nan, inf = math.nan, math.inf
    point = Point(np.zeros(problem.n_features))
    if problem.kernel is not None:
        point = Point(np.zeros(0), 0.0, np.zeros(problem.n_rows))
    return Solution(
        point=point,
        certificate=Certificate(nan, -inf, inf, inf, inf, inf, (_NEVER_BEGUN,)),
        trace=Trace(),
        status=Status.INTERRUPTED,
        state=None,
        solver=solver if isinstance(solver, str) else solver.name,
        seed=settings.seed,
        steps=0,
        work=0,
        seconds=0.0,
        certificate_seconds=0.0,
    )
