"""Fitted models: which of two is closer to the optimum, and models of other programs."""

from __future__ import annotations

from hinge.models.compare import compare
from hinge.models.comparison import Comparison, Standing
from hinge.models.liblinear_reader import read_liblinear
from hinge.models.liblinear_writer import write_liblinear
from hinge.models.onnx_export import write_onnx
from hinge.models.sklearn_models import from_sklearn

__all__ = [
    "Comparison",
    "Standing",
    "compare",
    "from_sklearn",
    "read_liblinear",
    "write_liblinear",
    "write_onnx",
]
