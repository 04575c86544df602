"""The solvers by name, and the relay of those that a problem calls for.

A solver is loaded when it is first asked for: most runs need one or two of them, and importing all
would double the time that importing hinge takes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from hinge.errors import unknown_name
from hinge.problem import Problem
from hinge.solvers.protocol import Solver
from hinge.solvers.relay import Relay


@cache
def _class(module: str, name: str) -> Any:
    """Return the class of a solver, which is loaded the first time."""
    return getattr(importlib.import_module(f"hinge.solvers.{module}"), name)


def _make(module: str, name: str, gap: float | None) -> Solver:
    """Return a solver of that class, set up for a relative gap if it can be."""
    solver_class = _class(module, name)
    aimed_at: Callable[[float | None], Solver] | None = getattr(solver_class, "aimed_at", None)
    solver: Solver = solver_class() if aimed_at is None else aimed_at(gap)
    return solver


_BY_NAME: dict[str, Callable[[float | None], Solver]] = {
    "dual-coordinate": partial(_make, "linear.dual_coordinate", "DualCoordinate"),
    "gradient": partial(_make, "linear.gradient", "Gradient"),
    "hard-margin": partial(_make, "linear.hard_margin", "HardMargin"),
    "interior-point": partial(_make, "linear.interior_point", "InteriorPoint"),
    "newton": partial(_make, "linear.newton", "Newton"),
    "pegasos": partial(_make, "linear.pegasos", "Pegasos"),
    "primal-newton": partial(_make, "linear.primal_newton", "PrimalNewton"),
}


# Solvers of problems with a kernel; a name may stand for another method there.
_FOR_KERNELS: dict[str, Callable[[float | None], Solver]] = {
    "active-set": partial(_make, "kernel.active_set", "ActiveSet"),
    "decomposition": partial(_make, "kernel.decomposition", "Decomposition"),
    "gradient-projection": partial(_make, "kernel.gradient_projection", "GradientProjection"),
    "interior-point": partial(_make, "kernel.interior_point", "KernelInteriorPoint"),
    "kernel-newton": partial(_make, "kernel.newton", "KernelNewton"),
    "dual-coordinate": partial(_make, "kernel.dual_coordinate", "KernelDualCoordinate"),
    "lowrank-active-set": partial(_make, "kernel.lowrank_active_set", "LowRankActiveSet"),
    "smo": partial(_make, "kernel.smo", "SMO"),
}


def solver_names() -> list[str]:
    """Return the names that ``solver=`` takes besides ``"auto"``."""
    return sorted(_BY_NAME)


def kernel_solver_names() -> list[str]:
    """Return the names that ``solver=`` takes besides ``"auto"`` for problems with a kernel."""
    return sorted(_FOR_KERNELS)


def get_solver(
    solver: str | Solver, problem: Problem, gap: float | None = None, steps: int | None = None
) -> Solver:
    """Return the solver of that name, the solver itself, or the one chosen for the problem.

    Parameters
    ----------
    solver : str or Solver
        A name, a configured solver, or ``"auto"``: coordinate descent first, and another method
        from its point as soon as that is forecast to end sooner. A hard margin has its own, and
        so have problems with a kernel: decomposition.
    problem : Problem
        What it is to solve.
    gap : float or None, default=None
        The relative gap that is asked for; a solver chosen by name is set up for it.
    steps : int or None, default=None
        How many steps the run may take in all; ``"auto"`` leaves some of many to its last methods.
        A run that is cut into pieces is not to say: its bits are not to depend on where.

    Returns
    -------
    Solver
        The solver.
    """
    if isinstance(solver, Solver):
        return solver
    known = _BY_NAME if problem.kernel is None else {**_BY_NAME, **_FOR_KERNELS}
    if not isinstance(solver, str) or solver not in (*known, "auto"):
        raise unknown_name(solver, "solver", [*known, "auto"])
    if solver != "auto":
        return known[solver](gap)
    if problem.kernel is not None:
        return known["decomposition"](gap)
    return known["hard-margin"](gap) if problem.is_hard else Relay(gap, _BY_NAME, steps)
