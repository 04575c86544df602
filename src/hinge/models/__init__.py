"""Fitted models: in files, verified, and which of two is closer to the optimum."""

from __future__ import annotations

from hinge.models.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from hinge.models.compare import compare
from hinge.models.comparison import Comparison, Standing
from hinge.models.description import ModelDescription, inspect
from hinge.models.files import load, save
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
    "inspect",
    "load",
    "load_checkpoint",
    "save",
    "save_checkpoint",
    "verify",
]
