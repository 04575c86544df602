"""The solvers by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable

from hinge.errors import UnsupportedError, unknown_name
from hinge.problem import Problem
from hinge.solvers.linear.dual_coordinate import DualCoordinate
from hinge.solvers.protocol import Solver

_BY_NAME: dict[str, Callable[[], Solver]] = {DualCoordinate.name: DualCoordinate}


def solver_names() -> list[str]:
    """Return the names that ``solver=`` takes besides ``"auto"``."""
    return sorted(_BY_NAME)


def get_solver(solver: str | Solver, problem: Problem) -> Solver:
    """Return the solver of that name, the solver itself, or the one chosen for the problem.

    Parameters
    ----------
    solver : str or Solver
        A name, a configured solver, or ``"auto"``: the first solver that takes the problem.
    problem : Problem
        What it is to solve.

    Returns
    -------
    Solver
        The solver.
    """
    if isinstance(solver, Solver):
        return solver
    if solver == "auto":
        return _first_supporting(problem)
    if solver not in _BY_NAME:
        raise unknown_name(solver, "solver", [*_BY_NAME, "auto"])
    return _BY_NAME[solver]()


def _first_supporting(problem: Problem) -> Solver:
    reasons = []
    for make in _BY_NAME.values():
        candidate = make()
        support = candidate.supports(problem)
        if support:
            return candidate
        reasons.append(f"{candidate.name}: {support.reason}")
    message = "no solver takes this problem. " + " ".join(reasons)
    raise UnsupportedError(message)
