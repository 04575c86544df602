"""Which binary problems a kernel classifier of several classes is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.estimators import _checks as check
from hinge.multiclass import (
    ClassesAgainstRest,
    ClassPairs,
    Labels,
    Objective,
    Plan,
    solve_against_rest,
    solve_one_vs_one,
)
from hinge.result import Point, Solution
from hinge.rows import Rows
from hinge.solvers import StopFlag

Division = ClassPairs | ClassesAgainstRest

SHAPES = ("ovr", "ovo")
_DIVISIONS = ("ovo", "ovr")


def check_division(model: Any) -> bool:
    """Return whether every class is against the rest; refuse what does not go with it.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    """
    shape = check.choice("decision_function_shape", model.decision_function_shape, SHAPES)
    if check.choice("multiclass", model.multiclass, _DIVISIONS) == "ovo":
        return False
    if shape == "ovo":
        raise no_pair_values()
    if model.approximation is not None:
        message = (
            "approximation is for pairs of classes, and multiclass='ovr' has none. Use "
            "multiclass='ovo', or approximation=None."
        )
        raise UnsupportedError(message)
    return True


def no_pair_values() -> InvalidParameterError:
    """Return the refusal of decision values of pairs, of a model that has none."""
    message = (
        "decision_function_shape='ovo' asks for a decision value of every pair of classes, and "
        "multiclass='ovr' trains one machine for every class. Use decision_function_shape='ovr', "
        "or multiclass='ovo'."
    )
    return InvalidParameterError(message)


def division_of(model: Any, labels: Labels) -> Division:
    """Return the binary problems of a fit; two classes are one problem in any case.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    labels : Labels
        Labels and weights of the rows.
    """
    if check_division(model) and len(labels.classes) > 2:
        return ClassesAgainstRest(labels)
    return ClassPairs(labels)


def solve_division(
    rows: Rows,
    division: Division,
    objective: Objective,
    warm: Sequence[Point | None],
    plan: Plan,
    flag: StopFlag,
) -> list[Solution]:
    """Solve every binary problem of a fit and certify it.

    Parameters
    ----------
    rows : Rows
        The data.
    division : ClassPairs or ClassesAgainstRest
        The problems, with labels and weights of the rows.
    objective : Objective
        Loss, C, intercept and kernel.
    warm : sequence of Point or None
        Where to start each of the problems.
    plan : Plan
        Solver, limits, seed, threads and listeners.
    flag : StopFlag
        Ends everything when set.
    """
    if isinstance(division, ClassPairs):
        return solve_one_vs_one(rows, division, objective, warm, plan, flag)
    return solve_against_rest(rows, division, objective, warm, plan, flag)
