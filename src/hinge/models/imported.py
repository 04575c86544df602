"""A fitted estimator made of somebody else's weights.

Such a model predicts like any other, but nothing is proven of it: no data was seen here. Its
status is ``imported`` and its certificate claims nothing (an infinite gap and a note that says
why), so that no label is settled and nothing downstream takes it for solved. ``verify`` with the
training data gives it numbers, and another ``fit`` replaces it.
"""

from __future__ import annotations

import math
from typing import Any

from hinge.estimators.linear_svc import LinearSVC
from hinge.models.linear_weights import LinearWeights
from hinge.result import Certificate, Point, Solution, Status, Trace


def unproven_certificate(note: str) -> Certificate:
    """Return the certificate of a point that was never judged.

    Parameters
    ----------
    note : str
        Where the point comes from and what would prove something of it.
    """
    nan, inf = math.nan, math.inf
    return Certificate(nan, -inf, inf, inf, inf, inf, (note,), status=Status.IMPORTED)


def unproven_solution(certificate: Certificate, coef: Any, intercept: float) -> Solution:
    """Return the solution of a problem that was never solved here.

    Parameters
    ----------
    certificate : Certificate
        One that claims nothing.
    coef : ndarray of shape (n_features,)
        Weights; none for a kernel machine.
    intercept : float
        The intercept.
    """
    return Solution(
        point=Point(coef, float(intercept)),
        certificate=certificate,
        trace=Trace(),
        status=Status.IMPORTED,
        state=None,
        solver="none",
        seed=0,
        steps=0,
        work=0,
        seconds=0.0,
        certificate_seconds=0.0,
    )


def imported_model(model: LinearSVC, weights: LinearWeights, origin: str) -> LinearSVC:
    """Give an estimator the weights of another program as its fitted attributes.

    Parameters
    ----------
    model : LinearSVC
        An estimator that has its parameters and nothing else.
    weights : LinearWeights
        Checked weights; the estimator keeps the arrays without copying them.
    origin : str
        Who made them, to be read after "imported from".

    Returns
    -------
    LinearSVC
        The same estimator, ready to predict.
    """
    note = (
        f"imported from {origin}: no data was seen, so nothing is proven; hinge.models.verify with "
        "the training data recomputes the objective"
    )
    certificate = unproven_certificate(note)
    solutions = [
        unproven_solution(certificate, coef, intercept)
        for coef, intercept in zip(weights.coef, weights.intercept, strict=True)
    ]
    has_intercept = model.fit_intercept and model.intercept != "none"
    model.classes_ = weights.classes
    model.coef_ = weights.coef
    model.intercept_ = weights.intercept if has_intercept else 0.0
    model.n_features_in_ = weights.n_features
    if weights.feature_names is not None:
        model.feature_names_in_ = weights.feature_names
    model.solutions_ = solutions
    model.certificates_ = [certificate] * len(solutions)
    model.solution_ = solutions[0]
    model.certificate_ = certificate
    model.n_iter_ = 0
    return model
