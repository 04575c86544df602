"""Anytime classification: labels of a kernel machine, proven before its evaluation is complete."""

from __future__ import annotations

from hinge.anytime.build import Options, Parts, build
from hinge.anytime.differences import Differences
from hinge.anytime.ordering import ORDERINGS
from hinge.anytime.planning import Costs, Plan
from hinge.anytime.predictor import AnytimePredictor
from hinge.anytime.rebuild import kept_points, rebuilt
from hinge.anytime.rules import LargestRule, Rule, SignRule, VoteRule

__all__ = [
    "ORDERINGS",
    "AnytimePredictor",
    "Costs",
    "Differences",
    "LargestRule",
    "Options",
    "Parts",
    "Plan",
    "Rule",
    "SignRule",
    "VoteRule",
    "build",
    "kept_points",
    "rebuilt",
]
