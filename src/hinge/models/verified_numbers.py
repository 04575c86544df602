"""Stated numbers against recomputed ones, whatever the model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hinge.errors import InvalidDataError, InvalidLabelsError
from hinge.estimators._data import class_weights, encode_labels
from hinge.labels import row_weights
from hinge.multiclass import Labels
from hinge.problem import Problem
from hinge.result import Certificate, Point
from hinge.rows import Rows

# Another machine, or the same rows stored another way, sums in another order: two certificates of
# one point may differ by the rounding bounds of both, and those by a small factor.
ROUNDINGS = 4.0
_RELATIVE = 1e-9  # stands for the bound of an objective that comes without a dual point


def verified_labels(
    model: Any, y: ArrayLike, sample_weight: ArrayLike | None, rows: Rows
) -> Labels:
    """Return labels and weights; they must be of the model's classes, each of which has rows.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted estimator.
    y, sample_weight : array-like
        Labels and weights of the rows.
    rows : Rows
        The data.
    """
    classes, codes = encode_labels(y, "verify")
    if len(codes) != rows.n_rows:
        message = f"y has {len(codes)} labels; X has {rows.n_rows} rows."
        raise InvalidDataError(message)
    if not np.array_equal(model.classes_, classes):
        message = (
            f"the model has {len(model.classes_)} classes and y has {len(classes)}, and they are "
            "not the same; verify needs the labels that the model was fitted on."
        )
        raise InvalidLabelsError(message)
    weights = row_weights(sample_weight, rows.n_rows)
    return Labels(
        classes, codes, weights, class_weights(model.class_weight, classes, codes, weights)
    )


def differences(
    stated: Certificate, recomputed: Certificate, point: Point, problem: Problem
) -> tuple[str, ...]:
    """Return a sentence for every stated number that the recomputed ones contradict.

    A stated number that claims nothing (NaN, an infinite gap) cannot be wrong, nor can a gap that
    is larger than it need be.

    Parameters
    ----------
    stated, recomputed : Certificate
        What a model says, and what the data say.
    point : Point
        What was judged.
    problem : Problem
        The problem that it should solve.
    """
    found = []
    rounding = recomputed.rounding
    is_bounded = math.isfinite(rounding)
    allowed = ROUNDINGS * rounding if is_bounded else _RELATIVE * abs(recomputed.primal)
    if math.isfinite(stated.primal) and not abs(stated.primal - recomputed.primal) <= allowed:
        found.append(
            f"the stated objective is {stated.primal:.10g}; recomputed it is "
            f"{recomputed.primal:.10g}."
        )
    if point.dual_coef is None:
        return tuple(found)
    if len(point.dual_coef) != problem.n_rows:
        rows = len(point.dual_coef)
        found.append(f"the proof is for {rows} rows of training data; these are {problem.n_rows}.")
        return tuple(found)
    if math.isfinite(stated.dual) and not abs(stated.dual - recomputed.dual) <= allowed:
        found.append(
            f"the stated dual value is {stated.dual:.10g}; recomputed it is {recomputed.dual:.10g}."
        )
    if math.isfinite(stated.gap) and not recomputed.gap <= stated.gap + allowed:
        found.append(
            f"the stated gap is {stated.gap:.3g} ({stated.relative_gap:.3g} relative); recomputed "
            f"it is {recomputed.gap:.3g} ({recomputed.relative_gap:.3g})."
        )
    if not _is_region_proven(stated.region, recomputed.region, math.sqrt(allowed), problem):
        found.append("the stated region of the optimum is smaller than what these data prove.")
    return tuple(found)


def _is_region_proven(claimed: Any, proven: Any, slack: float, problem: Problem) -> bool:
    """Return whether a claimed region leaves out nothing that the proven one holds."""
    if claimed is None or proven is None:
        return claimed is None
    slack += _RELATIVE * (1.0 + float(np.linalg.norm(proven.coef)))
    apart = float(np.linalg.norm(claimed.coef - proven.coef))
    reach = slack * (1.0 + problem.largest_norm)
    low, high = claimed.offsets[0] - proven.offsets[0], claimed.offsets[1] - proven.offsets[1]
    is_in_ball = apart + proven.radius <= claimed.radius + slack
    return bool(is_in_ball and low <= reach and -high <= reach)
