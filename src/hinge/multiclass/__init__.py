"""Several classes out of binary problems over shared rows."""

from __future__ import annotations

from hinge.multiclass.binary_fits import Listener, Plan, has_begun
from hinge.multiclass.class_pairs import ClassPairs
from hinge.multiclass.fingerprint import data_fingerprint
from hinge.multiclass.labels import Labels, Objective, class_problem
from hinge.multiclass.low_rank import ApproximateFits, Approximation
from hinge.multiclass.one_vs_one import solve_one_vs_one
from hinge.multiclass.one_vs_rest import solve_one_vs_rest
from hinge.multiclass.pair_factor import Target

__all__ = [
    "ApproximateFits",
    "Approximation",
    "ClassPairs",
    "Labels",
    "Listener",
    "Objective",
    "Plan",
    "Target",
    "class_problem",
    "data_fingerprint",
    "has_begun",
    "solve_one_vs_one",
    "solve_one_vs_rest",
]
