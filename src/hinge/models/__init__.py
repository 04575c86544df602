"""Fitted models: which of two is closer to the optimum, and models of other programs."""

from __future__ import annotations

from hinge.models.compare import compare
from hinge.models.comparison import Comparison, Standing
from hinge.models.onnx_export import write_onnx
from hinge.models.sklearn_models import from_sklearn

__all__ = [
    "Comparison",
    "Standing",
    "compare",
    "from_sklearn",
    "write_onnx",
]
