"""Solvers: one loop (the driver), one file per algorithm, one registry of names."""

from __future__ import annotations

from hinge.solvers.driver import Event, Observer, Settings, run, solve
from hinge.solvers.interrupt import StopFlag, listening
from hinge.solvers.linear.dual_coordinate import DualCoordinate
from hinge.solvers.linear.gradient import Gradient
from hinge.solvers.linear.hard_margin import HardMargin
from hinge.solvers.linear.interior_point import InteriorPoint
from hinge.solvers.linear.newton import Newton
from hinge.solvers.linear.pegasos import Pegasos
from hinge.solvers.linear.primal_newton import PrimalNewton
from hinge.solvers.protocol import Solver, State, Support
from hinge.solvers.registry import get_solver, solver_names
from hinge.solvers.relay import Relay
from hinge.solvers.validation import Look, ValidationMonitor

__all__ = [
    "DualCoordinate",
    "Event",
    "Gradient",
    "HardMargin",
    "InteriorPoint",
    "Look",
    "Newton",
    "Observer",
    "Pegasos",
    "PrimalNewton",
    "Relay",
    "Settings",
    "Solver",
    "State",
    "StopFlag",
    "Support",
    "ValidationMonitor",
    "get_solver",
    "listening",
    "run",
    "solve",
    "solver_names",
]
