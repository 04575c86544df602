"""What an estimator says when C is infinite and its classes cannot be separated."""

from __future__ import annotations

import math

from hinge.errors import NotSeparableError
from hinge.labels import shown
from hinge.multiclass import Labels
from hinge.result import Solution, Status


def refuse_not_separable(solutions: list[Solution], labels: Labels) -> None:
    """Raise an error if one of the problems has no hard margin, or none beyond rounding.

    Parameters
    ----------
    solutions : list of Solution
        The solution of every binary problem.
    labels : Labels
        The classes.
    """
    for number, solution in enumerate(solutions):
        if solution.status is not Status.NOT_SEPARABLE:
            continue
        positive = labels.positive_class(number)
        label = shown(labels.classes[positive])
        others = "the rest" if len(labels.classes) > 2 else f"class {shown(labels.classes[0])}"
        notes = "; ".join(solution.certificate.notes)
        is_exact = solution.certificate.dual == math.inf
        found = f", and there is none. Proof: {notes}" if is_exact else f". None was found: {notes}"
        message = (
            f"C=inf asks for a hyperplane with class {label} on one side and {others} on the "
            f"other{found}. Use a finite C, for example C=1000."
        )
        raise NotSeparableError(message, solution)
