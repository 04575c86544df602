"""Solvers: one loop (the driver), one file per algorithm, one registry of names."""

from __future__ import annotations

import typing

from hinge.later import loaded_later
from hinge.solvers.driver import Event, Observer, Settings, run, solve
from hinge.solvers.interrupt import StopFlag, listening
from hinge.solvers.protocol import Solver, State, Support
from hinge.solvers.registry import get_solver, kernel_solver_names, solver_names
from hinge.solvers.relay import Relay

if typing.TYPE_CHECKING:
    from hinge.solvers.kernel.active_set import ActiveSet
    from hinge.solvers.kernel.decomposition import Decomposition
    from hinge.solvers.kernel.dual_coordinate import KernelDualCoordinate
    from hinge.solvers.kernel.exact_path import exact_path
    from hinge.solvers.kernel.gradient_projection import GradientProjection
    from hinge.solvers.kernel.interior_point import KernelInteriorPoint
    from hinge.solvers.kernel.lowrank_active_set import LowRankActiveSet
    from hinge.solvers.kernel.newton import KernelNewton
    from hinge.solvers.kernel.path_record import ExactPath
    from hinge.solvers.kernel.smo import SMO
    from hinge.solvers.linear.dual_coordinate import DualCoordinate
    from hinge.solvers.linear.gradient import Gradient
    from hinge.solvers.linear.hard_margin import HardMargin
    from hinge.solvers.linear.interior_point import InteriorPoint
    from hinge.solvers.linear.newton import Newton
    from hinge.solvers.linear.pegasos import Pegasos
    from hinge.solvers.linear.primal_newton import PrimalNewton
    from hinge.solvers.validation import Look, ValidationMonitor

__all__ = [
    "ActiveSet",
    "SMO",
    "Decomposition",
    "DualCoordinate",
    "Event",
    "ExactPath",
    "Gradient",
    "GradientProjection",
    "HardMargin",
    "InteriorPoint",
    "KernelDualCoordinate",
    "KernelInteriorPoint",
    "KernelNewton",
    "Look",
    "LowRankActiveSet",
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
    "exact_path",
    "get_solver",
    "kernel_solver_names",
    "listening",
    "run",
    "solve",
    "solver_names",
]

# Loaded when first asked for, as the registry does it.
_LOADED_LATER = {
    "ActiveSet": "hinge.solvers.kernel.active_set",
    "SMO": "hinge.solvers.kernel.smo",
    "Decomposition": "hinge.solvers.kernel.decomposition",
    "DualCoordinate": "hinge.solvers.linear.dual_coordinate",
    "ExactPath": "hinge.solvers.kernel.path_record",
    "Gradient": "hinge.solvers.linear.gradient",
    "GradientProjection": "hinge.solvers.kernel.gradient_projection",
    "HardMargin": "hinge.solvers.linear.hard_margin",
    "InteriorPoint": "hinge.solvers.linear.interior_point",
    "KernelDualCoordinate": "hinge.solvers.kernel.dual_coordinate",
    "KernelInteriorPoint": "hinge.solvers.kernel.interior_point",
    "KernelNewton": "hinge.solvers.kernel.newton",
    "Look": "hinge.solvers.validation",
    "LowRankActiveSet": "hinge.solvers.kernel.lowrank_active_set",
    "Newton": "hinge.solvers.linear.newton",
    "Pegasos": "hinge.solvers.linear.pegasos",
    "PrimalNewton": "hinge.solvers.linear.primal_newton",
    "ValidationMonitor": "hinge.solvers.validation",
    "exact_path": "hinge.solvers.kernel.exact_path",
}

__getattr__ = loaded_later(__name__, _LOADED_LATER)


def __dir__() -> list[str]:
    return list(__all__)
