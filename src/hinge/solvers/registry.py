"""The solvers by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hinge.errors import UnsupportedError, unknown_name
from hinge.problem import Intercept, Problem
from hinge.solvers.linear.dual_coordinate import DualCoordinate
from hinge.solvers.linear.hard_margin import HardMargin
from hinge.solvers.linear.interior_point import InteriorPoint
from hinge.solvers.linear.newton import Newton
from hinge.solvers.linear.primal_newton import PrimalNewton
from hinge.solvers.protocol import Solver

_BY_NAME: dict[str, Callable[[float | None], Solver]] = {
    DualCoordinate.name: DualCoordinate.aimed_at,
    HardMargin.name: lambda _: HardMargin(),
    InteriorPoint.name: lambda _: InteriorPoint(),
    Newton.name: Newton.aimed_at,
    PrimalNewton.name: lambda _: PrimalNewton(),
}
STIFF = 1e4  # mean of cost times squared norm from which coordinate descent crawls


def solver_names() -> list[str]:
    """Return the names that ``solver=`` takes besides ``"auto"``."""
    return sorted(_BY_NAME)


def get_solver(solver: str | Solver, problem: Problem, gap: float | None = None) -> Solver:
    """Return the solver of that name, the solver itself, or the one chosen for the problem.

    Parameters
    ----------
    solver : str or Solver
        A name, a configured solver, or ``"auto"``: coordinate descent, or Newton's method for a
        small problem on which coordinate descent would need too many passes.
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
        return _automatic(problem, gap)
    if solver not in _BY_NAME:
        raise unknown_name(solver, "solver", [*_BY_NAME, "auto"])
    return _BY_NAME[solver](gap)


def _automatic(problem: Problem, gap: float | None) -> Solver:
    """Return the solver for a problem.

    The passes that coordinate descent needs grow with cost times squared norm: raw, unscaled
    features or a large C. Newton's method does not notice either, but only small problems fit it.
    """
    if problem.is_hard:
        return HardMargin()
    newton = PrimalNewton()
    costs = problem.costs
    stiffness = float(np.sum(costs * problem.rows.squared_norms)) / np.count_nonzero(costs)
    is_regular = problem.intercept is not Intercept.FREE  # else the Hessian may be singular in b
    if stiffness > STIFF and is_regular and newton.supports(problem):
        return newton
    coordinate = DualCoordinate.aimed_at(gap)
    support = coordinate.supports(problem)
    if not support:
        message = f"no solver takes this problem. {coordinate.name}: {support.reason}"
        raise UnsupportedError(message)
    return coordinate
