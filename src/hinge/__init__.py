"""hinge: support vector machines with a proof of how far from optimal they are."""

from __future__ import annotations

from hinge import certificates, losses, solvers
from hinge.errors import (
    HingeError,
    Interrupted,
    InvalidDataError,
    InvalidInputError,
    InvalidLabelsError,
    InvalidParameterError,
    InvalidWeightsError,
    UnsupportedError,
)
from hinge.estimators.linear_svc import LinearSVC
from hinge.models.compare import compare
from hinge.problem import Problem
from hinge.result import Certificate, Point, Solution, Status, Stop
from hinge.solvers.driver import solve

__version__ = "0.1.0.dev0"

__all__ = [
    "Certificate",
    "HingeError",
    "Interrupted",
    "InvalidDataError",
    "InvalidInputError",
    "InvalidLabelsError",
    "InvalidParameterError",
    "InvalidWeightsError",
    "LinearSVC",
    "Point",
    "Problem",
    "Solution",
    "Status",
    "Stop",
    "UnsupportedError",
    "certificates",
    "compare",
    "losses",
    "solve",
    "solvers",
]
