"""What a predictor has besides its machine, in a file: basis points and a plan.

No bound is in a file. The embedding is computed again from the machine and the points, so that
whoever forges a file can make a predictor slow, but not one whose labels are not those of the
machine in the same file. That takes the kernel values of all pairs of support vectors, and memory
for the square of the number of points: both are limited.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from hinge.anytime import AnytimePredictor, Parts, kept_points, rebuilt
from hinge.errors import ModelFileError
from hinge.machines import Machine
from hinge.models.anytime_plan import put_plan, take_plan
from hinge.models.budget import Budget
from hinge.models.fields import Fields
from hinge.models.kernel_machine import overflowing_vector
from hinge.models.support_tensors import put_vectors, take_vectors, tensors_of_vectors
from hinge.models.text_lists import Tensors
from hinge.rows import Rows

FIELD = "anytime"
_POINTS = "basis_points"
_MOST_EXITS = 64
_SQUARES = 5  # arrays of the square of the number of points that the embedding takes at most
_MOST_PAIRS = 1 << 33  # kernel values of pairs of support vectors; a minute or so


def put_stages(predictor: AnytimePredictor, tensors: Tensors) -> dict[str, Any]:
    """Return what the description says of a predictor's stages, and add their tensors.

    Parameters
    ----------
    predictor : AnytimePredictor
        The predictor.
    tensors : dict of str to ndarray
        Where tensors are added.
    """
    basis, counts = kept_points(predictor.parts)
    points = None
    if basis is not None:
        points = put_vectors(basis.matrix, basis.n_rows, tensors, _POINTS)
    return {"points": points, "counts": list(counts), "plan": put_plan(predictor.parts.plan)}


def tensors_of_stages(content: Any) -> set[str]:
    """Return the names of the tensors that stages need.

    Parameters
    ----------
    content : object
        What the description says of them.
    """
    points = content.get("points") if isinstance(content, dict) else None
    return tensors_of_vectors(points, _POINTS)


def take_stages(
    fields: Fields, machine: Machine, n_features: int, tensors: Tensors, budget: Budget
) -> Parts:
    """Return the parts of a predictor, every bound of them computed from the machine.

    Parameters
    ----------
    fields : Fields
        What the description says of the stages; all of it is taken.
    machine : Machine
        The machine of the same file, validated.
    n_features : int
        Number of features.
    tensors : dict of str to ndarray
        The tensors of the file.
    budget : Budget
        Memory that the embedding may take.
    """
    content, given = fields.take("points"), fields.take("counts")
    plan = take_plan(fields.take("plan"))
    fields.finish()
    n_points, vectors = 0, None
    if content is not None:
        n_points, vectors = take_vectors(content, n_features, tensors, _POINTS)
    counts = _counts(given, n_points)
    if any(k >= len(counts) for k in plan.exits) or list(plan.exits) != sorted(set(plan.exits)):
        message = "anytime.plan.exits must be different positions in anytime.counts, in order."
        raise ModelFileError(message)
    if vectors is None:
        if n_points:
            message = "basis points must be vectors, not numbers of rows."
            raise ModelFileError(message)
        return rebuilt(machine, None, (), plan)
    _check_points(machine, vectors)
    _afford(machine, counts, n_points, budget)
    return rebuilt(machine, Rows(vectors), counts, plan)


def _counts(given: Any, n_points: int) -> tuple[int, ...]:
    """Return after how many points to look: rising, and all points at last."""
    is_list = isinstance(given, list) and len(given) <= _MOST_EXITS
    if not is_list or any(type(count) is not int for count in given):
        message = f"anytime.counts must be a list of at most {_MOST_EXITS} numbers of points."
        raise ModelFileError(message)
    reached = [0, *given]
    is_rising = all(before < after for before, after in itertools.pairwise(reached))
    if not is_rising or reached[-1] != n_points:
        message = f"anytime.counts must rise to the {n_points} basis points of the file."
        raise ModelFileError(message)
    return tuple(given)


def _check_points(machine: Machine, vectors: Any) -> None:
    """Refuse points that no predictor of the machine has."""
    if not isinstance(machine.support, Rows):
        message = "a machine without support vectors has no basis points."
        raise ModelFileError(message)
    rows = machine.support.matrix
    if type(vectors) is not type(rows) or vectors.dtype != rows.dtype:
        message = "the basis points are not stored as the support vectors are."
        raise ModelFileError(message)
    if overflowing_vector(vectors) is not None:
        message = "a basis point has a squared norm beyond floating point; no predictor has such."
        raise ModelFileError(message)


def _afford(machine: Machine, counts: tuple[int, ...], n_points: int, budget: Budget) -> None:
    """Refuse points whose embedding would take more memory or time than a file may."""
    n_support, n_functions = machine.coefficients.shape
    values = _SQUARES * n_points**2 + n_functions * (sum(counts) + 8 * (n_points + n_support))
    budget.spend(np.dtype(np.float64).itemsize * values, f"{n_points} basis points")
    if n_support**2 > _MOST_PAIRS:
        message = (
            f"{n_support} support vectors are too many for bounds that are proven when a file is "
            "loaded."
        )
        raise ModelFileError(message)
