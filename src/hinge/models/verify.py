"""Does a model tell the truth? Its certificates, recomputed from data by the judge."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hinge.certificates import gap
from hinge.errors import InvalidDataError, InvalidLabelsError, InvalidParameterError
from hinge.estimators._data import class_weights, encode_labels, rows_to_score
from hinge.estimators.linear_svc import LinearSVC
from hinge.labels import row_weights
from hinge.models._chosen_model import chosen_model
from hinge.models._judged import judged_model
from hinge.models.verification import ProblemVerification, Verification
from hinge.multiclass import Labels, class_problem, data_fingerprint
from hinge.parameters import not_negative
from hinge.problem import Problem
from hinge.result import Certificate, Point, Status
from hinge.rows import Rows
from hinge.threads import thread_count

# Another machine, or the same rows stored another way, sums in another order: two certificates of
# one point may differ by the rounding bounds of both, and those by a small factor.
_ROUNDINGS = 4.0
_RELATIVE = 1e-9  # stands for the bound of an objective that comes without a dual point


def verify(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Verification:
    """Recompute a model's certificates from its training data and compare them.

    Whether the numbers came out of a file or out of a fit makes no difference: the objective, the
    dual value and the gap are computed anew, by code that no solver shares.

    Parameters
    ----------
    model : LinearSVC or LinearSVCCV
        A fitted estimator, for example one that ``load`` returned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that it was fitted on.
    y : array-like of shape (n_samples,)
        The labels that it was fitted on.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights that it was fitted with.

    Returns
    -------
    Verification
        What was stated and what was recomputed, for each class; printing it says whether the
        model tells the truth and whether optimality is proven.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> result = verify(model, X, y)
    >>> result.truthful, str(result.optimality)
    (True, 'proven')
    >>> verify(model, X, 1 - y).truthful
    False
    """
    model = chosen_model(model)
    if not isinstance(model, LinearSVC):
        message = f"model must be a fitted hinge.LinearSVC; got {type(model).__name__}."
        raise InvalidParameterError(message)
    check_is_fitted(model)
    rows = rows_to_score(model, X)
    labels = _labels(model, y, sample_weight, rows)
    judged = judged_model(model, "model")
    known = getattr(model, "data_fingerprint_", None)
    same = None if known is None else known == data_fingerprint(rows, labels)
    threads = thread_count(model.n_jobs)
    tol = not_negative(model.tol, "tol")
    problems = []
    for number, point in enumerate(judged.points):
        problem = class_problem(rows, labels, judged.objective, number)
        recomputed = gap(problem, _fitting(point, rows.n_rows), threads=threads)
        stated = model.certificates_[number]
        asked = tol if model.solutions_[number].status is Status.SOLVED else math.inf
        label = labels.classes[labels.positive_class(number)]
        shown = label.item() if isinstance(label, np.generic) else label
        differences = _differences(stated, recomputed, point, problem)
        differences += _unsolved(asked, recomputed, _fitting(point, rows.n_rows))
        problems.append(ProblemVerification(shown, stated, recomputed, differences))
    return Verification(tuple(problems), same, rows.n_rows)


def _labels(model: LinearSVC, y: ArrayLike, sample_weight: ArrayLike | None, rows: Rows) -> Labels:
    """Return labels and weights; they must be of the model's classes, each of which has rows."""
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


def _fitting(point: Point, n_rows: int) -> Point:
    """Return the point, without dual coefficients that are of another number of rows."""
    if point.dual_coef is not None and point.dual_coef.shape != (n_rows,):
        return replace(point, dual_coef=None)
    return point


def _differences(
    stated: Certificate, recomputed: Certificate, point: Point, problem: Problem
) -> tuple[str, ...]:
    """Return a sentence for every stated number that the recomputed ones contradict.

    A stated number that claims nothing (NaN, an infinite gap) cannot be wrong, nor can a gap that
    is larger than it need be.
    """
    found = []
    rounding = recomputed.rounding
    is_bounded = math.isfinite(rounding)
    allowed = _ROUNDINGS * rounding if is_bounded else _RELATIVE * abs(recomputed.primal)
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


def _unsolved(asked: float, recomputed: Certificate, point: Point) -> tuple[str, ...]:
    """Return a sentence if a model that is called solved has not the gap that it asks for.

    Without dual coefficients that is not known: then optimality is unproven.
    """
    scale = max(abs(recomputed.primal), abs(recomputed.dual))
    allowed = _ROUNDINGS * recomputed.rounding if math.isfinite(recomputed.rounding) else 0.0
    if point.dual_coef is None or not recomputed.gap > asked * scale + allowed:
        return ()
    return (
        "the stated status is solved; the recomputed gap is above tol "
        f"({recomputed.relative_gap:.3g} relative, {asked:g} asked for).",
    )


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
