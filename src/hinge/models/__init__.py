"""Fitted models: in files, verified, compared, and exchanged with other programs."""

from __future__ import annotations

from hinge.models.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from hinge.models.compare import compare
from hinge.models.comparison import Comparison, Standing
from hinge.models.description import ModelDescription, inspect
from hinge.models.files import load, save
from hinge.models.liblinear_reader import read_liblinear
from hinge.models.liblinear_writer import write_liblinear
from hinge.models.libsvm_model_reader import read_libsvm
from hinge.models.libsvm_model_writer import write_libsvm
from hinge.models.onnx_export import write_onnx
from hinge.models.sklearn_models import from_sklearn
from hinge.models.verification import Optimality, ProblemVerification, Verification
from hinge.models.verify import verify

__all__ = [
    "Checkpoint",
    "Comparison",
    "ModelDescription",
    "Optimality",
    "ProblemVerification",
    "Standing",
    "Verification",
    "compare",
    "from_sklearn",
    "inspect",
    "load",
    "load_checkpoint",
    "read_liblinear",
    "read_libsvm",
    "save",
    "save_checkpoint",
    "verify",
    "write_liblinear",
    "write_libsvm",
    "write_onnx",
]


def __dir__() -> list[str]:
    return list(__all__)
