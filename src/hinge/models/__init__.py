"""Fitted models: in files, verified, and which of two is closer to the optimum."""

from __future__ import annotations

from hinge.models.compare import compare
from hinge.models.comparison import Comparison, Standing
from hinge.models.files import load, save

__all__ = ["Comparison", "Standing", "compare", "load", "save"]
