"""Bounds on the change of margins, and the index that evaluates losses through them."""

from __future__ import annotations

from hinge.bounds.cells import Bound, Cells, Change
from hinge.bounds.clusters import Clusters
from hinge.bounds.evaluation import Evaluation
from hinge.bounds.measure import measure
from hinge.bounds.moving import MovingPoints, Update
from hinge.bounds.names import get_bound
from hinge.bounds.pairs import ViolatingPair, ViolatingPairs
from hinge.bounds.policy import Action, Adaptive, Measured, Period, ResortPolicy
from hinge.bounds.sampling import SampledMargins
from hinge.bounds.search import SmallestMargins, smallest_margins
from hinge.bounds.sequence import Errors, LabelSequence, count_errors
from hinge.bounds.sorted_margins import SortedMargins
from hinge.bounds.spheres import Box, CentredSphere, Sphere, Trajectory
from hinge.bounds.tree import MetricTree
from hinge.bounds.upper import LogisticBound

__all__ = [
    "Action",
    "Adaptive",
    "Bound",
    "Box",
    "Cells",
    "CentredSphere",
    "Change",
    "Clusters",
    "Errors",
    "Evaluation",
    "LabelSequence",
    "LogisticBound",
    "Measured",
    "MetricTree",
    "MovingPoints",
    "Period",
    "ResortPolicy",
    "SampledMargins",
    "SmallestMargins",
    "SortedMargins",
    "Sphere",
    "Trajectory",
    "Update",
    "ViolatingPair",
    "ViolatingPairs",
    "count_errors",
    "get_bound",
    "measure",
    "smallest_margins",
]
