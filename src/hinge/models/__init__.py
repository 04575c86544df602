"""Fitted models: which of two is closer to the optimum."""

from __future__ import annotations

from hinge.models.compare import compare
from hinge.models.comparison import Comparison, Standing

__all__ = ["Comparison", "Standing", "compare"]
