"""Several classes out of binary problems over shared rows."""

from __future__ import annotations

import typing

from hinge.later import loaded_later
from hinge.multiclass.binary_fits import Listener, Plan, has_begun
from hinge.multiclass.class_pairs import ClassPairs
from hinge.multiclass.class_rest import ClassesAgainstRest
from hinge.multiclass.fingerprint import data_fingerprint
from hinge.multiclass.labels import Labels, Objective, class_problem
from hinge.multiclass.one_vs_rest import solve_one_vs_rest

if typing.TYPE_CHECKING:
    from hinge.multiclass.kernel_one_vs_rest import solve_against_rest
    from hinge.multiclass.low_rank import ApproximateFits, Approximation
    from hinge.multiclass.one_vs_one import solve_one_vs_one
    from hinge.multiclass.pair_factor import Target

__all__ = [
    "ApproximateFits",
    "Approximation",
    "ClassPairs",
    "ClassesAgainstRest",
    "Labels",
    "Listener",
    "Objective",
    "Plan",
    "Target",
    "class_problem",
    "data_fingerprint",
    "has_begun",
    "solve_against_rest",
    "solve_one_vs_one",
    "solve_one_vs_rest",
]

# Loaded when first asked for: they bring the solvers of kernel machines along.
_LOADED_LATER = {
    "ApproximateFits": "hinge.multiclass.low_rank",
    "Approximation": "hinge.multiclass.low_rank",
    "Target": "hinge.multiclass.pair_factor",
    "solve_against_rest": "hinge.multiclass.kernel_one_vs_rest",
    "solve_one_vs_one": "hinge.multiclass.one_vs_one",
}

__getattr__ = loaded_later(__name__, _LOADED_LATER)


def __dir__() -> list[str]:
    return list(__all__)
