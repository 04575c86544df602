"""hinge: support vector machines with a proof of how far from optimal they are."""

from __future__ import annotations

import typing

from hinge import certificates, kernels, later, losses, solvers
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
    NotSeparableError,
    TooManyFeaturesError,
    UnsupportedError,
)
from hinge.estimators.linear_svc import LinearSVC
from hinge.problem import Problem
from hinge.result import Certificate, CertifiedPrediction, Point, Solution, Status, Stop
from hinge.solvers.driver import solve

if typing.TYPE_CHECKING:
    from hinge import bounds, data, lowrank, models
    from hinge.estimators.accelerate import accelerate
    from hinge.estimators.anytime_classifier import AnytimeClassifier
    from hinge.estimators.linear_svc_cv import LinearSVCCV
    from hinge.estimators.svc import SVC
    from hinge.estimators.svc_cv import SVCCV
    from hinge.models.compare import compare
    from hinge.models.files import load, save
    from hinge.models.sklearn_models import from_sklearn
    from hinge.solvers.estimate import Estimate, estimate
    from hinge.solvers.path import path

__version__ = "0.1.0.dev0"

__all__ = [
    "AnytimeClassifier",
    "Certificate",
    "CertifiedPrediction",
    "DataFileError",
    "Estimate",
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
    "NotSeparableError",
    "Point",
    "Problem",
    "SVC",
    "SVCCV",
    "Solution",
    "Status",
    "Stop",
    "TooManyFeaturesError",
    "UnsupportedError",
    "accelerate",
    "bounds",
    "certificates",
    "compare",
    "data",
    "estimate",
    "from_sklearn",
    "kernels",
    "load",
    "losses",
    "lowrank",
    "models",
    "path",
    "save",
    "solve",
    "solvers",
]

# Loaded when first asked for: together they would double the time that importing hinge takes.
_LOADED_LATER = {
    "AnytimeClassifier": "hinge.estimators.anytime_classifier",
    "Estimate": "hinge.solvers.estimate",
    "LinearSVCCV": "hinge.estimators.linear_svc_cv",
    "SVC": "hinge.estimators.svc",
    "SVCCV": "hinge.estimators.svc_cv",
    "accelerate": "hinge.estimators.accelerate",
    "bounds": "hinge.bounds",
    "compare": "hinge.models.compare",
    "data": "hinge.data",
    "estimate": "hinge.solvers.estimate",
    "from_sklearn": "hinge.models.sklearn_models",
    "load": "hinge.models.files",
    "lowrank": "hinge.lowrank",
    "models": "hinge.models",
    "path": "hinge.solvers.path",
    "save": "hinge.models.files",
}

__getattr__ = later.loaded_later(__name__, _LOADED_LATER)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
