"""Bounds on the change of margins, and the index that evaluates losses through them."""

from __future__ import annotations

from hinge.bounds.cells import Bound, Cells, Change
from hinge.bounds.evaluation import Evaluation
from hinge.bounds.names import get_bound
from hinge.bounds.policy import Action, Adaptive, Measured, Period, ResortPolicy
from hinge.bounds.sorted_margins import SortedMargins
from hinge.bounds.spheres import Box, CentredSphere, Sphere, Trajectory

__all__ = [
    "Action",
    "Adaptive",
    "Bound",
    "Box",
    "Cells",
    "CentredSphere",
    "Change",
    "Evaluation",
    "Measured",
    "Period",
    "ResortPolicy",
    "SortedMargins",
    "Sphere",
    "Trajectory",
    "get_bound",
]
