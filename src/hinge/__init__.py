"""hinge: support vector machines with a proof of how far from optimal they are."""

from __future__ import annotations

from hinge import certificates, data, losses, models, solvers
from hinge.errors import (
    DataFileError,
    HingeError,
    Interrupted,
    InvalidDataError,
    InvalidInputError,
    InvalidLabelsError,
    InvalidParameterError,
    InvalidWeightsError,
    MissingDependencyError,
    ModelFileError,
    UnsupportedError,
)
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.linear_svc_cv import LinearSVCCV
from hinge.models.compare import compare
from hinge.models.files import load, save
from hinge.models.sklearn_models import from_sklearn
from hinge.problem import Problem
from hinge.result import Certificate, Point, Solution, Status, Stop
from hinge.solvers.driver import solve
from hinge.solvers.path import path

__version__ = "0.1.0.dev0"

__all__ = [
    "Certificate",
    "DataFileError",
    "HingeError",
    "Interrupted",
    "InvalidDataError",
    "InvalidInputError",
    "InvalidLabelsError",
    "InvalidParameterError",
    "InvalidWeightsError",
    "LinearSVC",
    "LinearSVCCV",
    "MissingDependencyError",
    "ModelFileError",
    "Point",
    "Problem",
    "Solution",
    "Status",
    "Stop",
    "UnsupportedError",
    "certificates",
    "compare",
    "data",
    "from_sklearn",
    "load",
    "losses",
    "models",
    "path",
    "save",
    "solve",
    "solvers",
]
