"""``hinge.path``: what a caller gives, checked, and what Ctrl-C leaves of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import overload

from hinge.errors import Interrupted
from hinge.problem import Problem
from hinge.result import Solution, Stop
from hinge.solvers.arguments import (
    given_observers,
    given_problem,
    given_seed,
    given_stop,
    values_of_C,
    values_of_gamma,
)
from hinge.solvers.driver import Observer, Settings
from hinge.solvers.interrupt import listening
from hinge.solvers.path_walk import has_begun, solve_grid
from hinge.solvers.protocol import Solver
from hinge.threads import thread_count


@overload
def path(
    problem: Problem,
    Cs: Iterable[float],
    solver: str | Solver = ...,
    stop: Stop | None = ...,
    seed: int = ...,
    observers: Iterable[Observer] = ...,
    gammas: None = ...,
    *,
    n_jobs: int | None = ...,
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
    n_jobs: int | None = ...,
) -> list[list[Solution]]: ...


def path(
    problem: Problem,
    Cs: Iterable[float],
    solver: str | Solver = "auto",
    stop: Stop | None = None,
    seed: int = 0,
    observers: Iterable[Observer] = (),
    gammas: Iterable[float] | None = None,
    *,
    n_jobs: int | None = None,
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
    n_jobs : int or None, default=None
        Threads for every value of C, one after the other, as in ``solve``; None is one, -1 all
        that the process may use. The result has the same bits for any number.

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
    problem = given_problem(problem, "hinge.path")
    values = values_of_C(Cs)
    widths = None if gammas is None else values_of_gamma(gammas)
    settings = Settings(
        given_stop(stop), given_seed(seed), given_observers(observers), thread_count(n_jobs)
    )
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
