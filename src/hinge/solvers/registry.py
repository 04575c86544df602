"""The solvers by name, and the relay of those that a problem calls for."""

from __future__ import annotations

from collections.abc import Callable

from hinge.errors import unknown_name
from hinge.problem import Problem
from hinge.solvers.linear.dual_coordinate import DualCoordinate
from hinge.solvers.linear.gradient import Gradient
from hinge.solvers.linear.hard_margin import HardMargin
from hinge.solvers.linear.interior_point import InteriorPoint
from hinge.solvers.linear.newton import Newton
from hinge.solvers.linear.pegasos import Pegasos
from hinge.solvers.linear.primal_newton import PrimalNewton
from hinge.solvers.protocol import Solver
from hinge.solvers.relay import Relay

_BY_NAME: dict[str, Callable[[float | None], Solver]] = {
    DualCoordinate.name: DualCoordinate.aimed_at,
    HardMargin.name: lambda _: HardMargin(),
    Gradient.name: lambda _: Gradient(),
    InteriorPoint.name: lambda _: InteriorPoint(),
    Newton.name: Newton.aimed_at,
    Pegasos.name: lambda _: Pegasos(),
    PrimalNewton.name: lambda _: PrimalNewton(),
}


def solver_names() -> list[str]:
    """Return the names that ``solver=`` takes besides ``"auto"``."""
    return sorted(_BY_NAME)


def get_solver(solver: str | Solver, problem: Problem, gap: float | None = None) -> Solver:
    """Return the solver of that name, the solver itself, or the one chosen for the problem.

    Parameters
    ----------
    solver : str or Solver
        A name, a configured solver, or ``"auto"``: coordinate descent first, and another method
        from its point as soon as that is forecast to end sooner. A hard margin has its own.
    problem : Problem
        What it is to solve.
    gap : float or None, default=None
        The relative gap that is asked for; a solver chosen by name is set up for it.

    Returns
    -------
    Solver
        The solver.
    """
    if isinstance(solver, Solver):
        return solver
    if solver == "auto":
        return HardMargin() if problem.is_hard else Relay(gap, _BY_NAME)
    if solver not in _BY_NAME:
        raise unknown_name(solver, "solver", [*_BY_NAME, "auto"])
    return _BY_NAME[solver](gap)
