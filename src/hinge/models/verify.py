"""Does a model tell the truth? Its certificates, recomputed from data by the judge."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hinge.certificates import gap
from hinge.errors import InvalidParameterError
from hinge.estimators._data import rows_to_score
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.models._chosen_model import chosen_model
from hinge.models._judged import judged_model
from hinge.models.verification import ProblemVerification, Verification
from hinge.models.verified_numbers import ROUNDINGS, differences, verified_labels
from hinge.models.verify_machine import verify_machine
from hinge.multiclass import class_problem, data_fingerprint
from hinge.parameters import not_negative
from hinge.result import Certificate, Point, Status
from hinge.threads import thread_count


def verify(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Verification:
    """Recompute a model's certificates from its training data and compare them.

    Whether the numbers came out of a file or out of a fit makes no difference: the objective, the
    dual value and the gap are computed anew, by code that no solver shares.

    Parameters
    ----------
    model : LinearSVC, LinearSVCCV, SVC or SVCCV
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
        What was stated and what was recomputed, for each class or pair of classes; printing it
        says whether the model tells the truth and whether optimality is proven.

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
    if not isinstance(model, LinearSVC | SVC):
        message = (
            f"model must be a fitted hinge.LinearSVC or hinge.SVC; got {type(model).__name__}."
        )
        raise InvalidParameterError(message)
    check_is_fitted(model)
    if isinstance(model, SVC):
        return verify_machine(model, X, y, sample_weight)
    rows = rows_to_score(model, X)
    labels = verified_labels(model, y, sample_weight, rows)
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
        found = differences(stated, recomputed, point, problem)
        found += _unsolved(asked, recomputed, _fitting(point, rows.n_rows))
        problems.append(ProblemVerification(shown, stated, recomputed, found))
    return Verification(tuple(problems), same, rows.n_rows)


def _fitting(point: Point, n_rows: int) -> Point:
    """Return the point, without dual coefficients that are of another number of rows."""
    if point.dual_coef is not None and point.dual_coef.shape != (n_rows,):
        return replace(point, dual_coef=None)
    return point


def _unsolved(asked: float, recomputed: Certificate, point: Point) -> tuple[str, ...]:
    """Return a sentence if a model that is called solved has not the gap that it asks for.

    Without dual coefficients that is not known: then optimality is unproven.
    """
    scale = max(abs(recomputed.primal), abs(recomputed.dual))
    allowed = ROUNDINGS * recomputed.rounding if math.isfinite(recomputed.rounding) else 0.0
    if point.dual_coef is None or not recomputed.gap > asked * scale + allowed:
        return ()
    return (
        "the stated status is solved; the recomputed gap is above tol "
        f"({recomputed.relative_gap:.3g} relative, {asked:g} asked for).",
    )
