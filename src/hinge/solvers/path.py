r"""One problem for many values of C, each solved from its neighbour and each certified.

.. math:: P_C(w, b) = \tfrac12 \|w\|^2 + C \sum_i s_i\, \ell(y_i (w'x_i + b))

Values are solved from small to large: a small C is quick from nothing, and the larger ones, which
are not, then begin near their optimum. From C to C' the box of the dual coefficients grows by
C'/C, and the coefficients with it: they stay feasible (y'alpha = 0 included), rows at a bound stay
at it, and where the losses outweigh the norm both objectives grow by about that factor too, so that
the relative gap is hardly wider than before. If only coefficients at a bound grow, five times as
much is left to do (a9a, MNIST); if all stay as they are, thirteen times (a9a).

Rows need no screening of their own here: the solver begins with a check pass at C', which screens
by the gap of the carried point, and that is the neighbour's certificate seen from C'. At a gap of
1e-3 even this changes the number of passes by no more than 2 % (a9a, usps).

Where the choice of the method is ours, and so many values of C are asked for that walking the exact
path of a kernel machine from the first to the last is the faster way, they are read off that
(:mod:`hinge.solvers.kernel.path_points`).

A kernel machine's coefficients are carried in the same way. From one gamma to the next they stay as
they are: what is feasible does not depend on the kernel.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from hinge.errors import Interrupted, InvalidParameterError, UnsupportedError
from hinge.kernels import with_gamma
from hinge.parameters import not_negative, positive
from hinge.problem import Problem
from hinge.result import Certificate, Point, Solution, Status, Stop, Trace
from hinge.solvers.driver import Event, Observer, Settings, run
from hinge.solvers.interrupt import StopFlag, listening
from hinge.solvers.protocol import Solver
from hinge.solvers.registry import get_solver

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


@overload
def path(
    problem: Problem,
    Cs: Iterable[float],
    solver: str | Solver = ...,
    stop: Stop | None = ...,
    seed: int = ...,
    observers: Iterable[Observer] = ...,
    gammas: None = ...,
) -> list[Solution]: ...


@overload
def path(
    problem: Problem,
    Cs: Iterable[float],
    solver: str | Solver = ...,
    stop: Stop | None = ...,
    seed: int = ...,
    observers: Iterable[Observer] = ...,
    *,
    gammas: Iterable[float],
) -> list[list[Solution]]: ...


def path(
    problem: Problem,
    Cs: Iterable[float],
    solver: str | Solver = "auto",
    stop: Stop | None = None,
    seed: int = 0,
    observers: Iterable[Observer] = (),
    gammas: Iterable[float] | None = None,
) -> list[Solution] | list[list[Solution]]:
    """Solve a problem for many values of C, each from its neighbour, and certify every one.

    Parameters
    ----------
    problem : Problem
        What to minimise; its own C is not used.
    Cs : iterable of float
        Values of C, each greater than 0, in any order.
    solver : str or Solver, default="auto"
        Name of a solver, a configured one from :mod:`hinge.solvers`, or ``"auto"``, which
        chooses for every value of C; many values for a kernel machine of few rows are points of
        its exact path.
    stop : Stop or None, default=None
        Criteria and limits for every value; None is ``Stop(gap=1e-3)``. ``seconds`` is for all
        of them together: each may take an equal part of what is left when it begins.
    seed : int, default=0
        Seed of every random choice.
    observers : iterable of callable, default=()
        Called with a ``PathEvent`` after each step; one that returns True ends the path.
    gammas : iterable of float or None, default=None
        Values of the kernel's gamma, each with all values of C; None is the problem's own.

    Returns
    -------
    list of Solution, or list of list of Solution
        One for each of ``Cs``, in their order, without the solver's state; with ``gammas`` one
        such list for each of them. Where an observer ended the path, those that had not begun
        have the status ``interrupted`` and a certificate that proves nothing.

    Raises
    ------
    Interrupted
        On Ctrl-C; its ``solutions`` are those of the smallest values of C, in the order of
        ``Cs``, the last one begun being the best point found for it; with ``gammas`` one list
        after the other.

    Examples
    --------
    >>> import hinge
    >>> problem = hinge.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> for solution in hinge.path(problem, [0.1, 1.0, 10.0]):
    ...     print(solution.status, round(float(solution.coef[0]), 1))
    solved 0.4
    solved 1.0
    solved 2.0
    """
    values = values_of_C(Cs)
    widths = None if gammas is None else values_of_gamma(gammas)
    settings = Settings(stop or Stop(), seed, tuple(observers))
    began = time.perf_counter()
    with listening() as flag:
        solutions = solve_grid(problem, values, widths, solver, settings, flag)
    if flag:
        done = tuple(s for along in solutions for s in along if has_begun(s))
        message = (
            f"path interrupted after {time.perf_counter() - began:.1f} s, with the smallest "
            f"{len(done)} of {len(values) * len(solutions)} values of C begun or done"
        )
        raise Interrupted(message, done)
    return solutions[0] if gammas is None else solutions


def values_of_gamma(gammas: Any) -> list[float]:
    """Return the values of gamma that a caller gave, checked.

    Parameters
    ----------
    gammas : iterable of float
        At least one value, none negative.

    Returns
    -------
    list of float
        The values, in their order.
    """
    if isinstance(gammas, str) or not isinstance(gammas, Iterable):
        message = f"gammas must be a list of values of gamma, such as [0.01, 0.1]; got {gammas!r}."
        raise InvalidParameterError(message)
    values = [not_negative(gamma, f"gammas[{number}]") for number, gamma in enumerate(gammas)]
    if not values:
        message = "gammas must have at least one value of gamma; got none."
        raise InvalidParameterError(message)
    return values


def values_of_C(Cs: Any) -> list[float]:
    """Return the values of C that a caller gave, checked.

    Parameters
    ----------
    Cs : iterable of float
        At least one value, each greater than 0.

    Returns
    -------
    list of float
        The values, in their order.
    """
    if isinstance(Cs, str) or not isinstance(Cs, Iterable):
        message = f"Cs must be a list of values of C, such as [0.1, 1.0, 10.0]; got {Cs!r}."
        raise InvalidParameterError(message)
    values = [_finite(C, f"Cs[{number}]") for number, C in enumerate(Cs)]
    if not values:
        message = "Cs must have at least one value of C; got none."
        raise InvalidParameterError(message)
    return values


def _finite(C: Any, name: str) -> float:
    """Return a value of C; points are scaled from one to the next, which infinity ends."""
    if isinstance(C, float) and math.isinf(C) and C > 0.0:
        message = (
            f"{name} is infinity: a path has finite values of C only. Solve the hard margin apart, "
            "with hinge.solve(problem.with_C(math.inf)) or LinearSVC(C=math.inf)."
        )
        raise InvalidParameterError(message)
    return positive(C, name)


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

    Returns
    -------
    list of Solution
        One for each value, in their order.
    """
    ended = [] if ended is None else ended
    deadline = _Deadline(settings.stop.seconds, len(set(Cs)))
    solved: dict[float, Solution] = {}
    before: tuple[Problem, Solution] | None = None
    warm = start
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
            warm = _carried_with_state(before[1], before[0], here)
        name = "active-set" if C in known else solver
        method = get_solver(name, here, settings.stop.gap, settings.stop.steps)
        solution = run(here, method, local, warm, None, flag)
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
    # Rounding may lift a coefficient above its bound by its last bit.
    reach = target.loss.upper_bound(target.costs)
    return replace(point, dual_coef=np.minimum(scaled, reach))


def _carried_with_state(solution: Solution, origin: Problem, target: Problem) -> Point:
    """Return the point of a solution as a start for another C, with kernel values if it has any."""
    point = carried(solution.point, origin, target)
    if target.kernel is None:
        return point
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
