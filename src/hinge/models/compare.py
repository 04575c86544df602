"""Which of two fitted models is closer to the optimum, and by how much.

Both models are put to the same judge: the certificate recomputes their objectives from the data,
and a reference solution of the same problem gives the lower bound and the region of the optimum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hinge.certificates import gap
from hinge.errors import InvalidParameterError
from hinge.estimators._data import class_weights, encode_labels
from hinge.estimators._linear_model import proven_labels, scores, winners
from hinge.labels import row_weights
from hinge.models._chosen_model import chosen_model
from hinge.models._compared_machines import compare_machines
from hinge.models._judged import (
    JudgedModel,
    judged_model,
    objective_differences,
    refuse_other_models,
)
from hinge.models._judged_machine import (
    JudgedMachine,
    judged_machine,
    machine_differences,
    needs_kernel_judge,
)
from hinge.models.comparison import Comparison, Standing
from hinge.multiclass import Labels, class_problem
from hinge.problem import Problem
from hinge.result import Certificate, Point, Solution, Stop
from hinge.rows import Rows
from hinge.solvers import DualCoordinate, PrimalNewton, solve

_SECONDS = 60.0
_ENOUGH = 1e-6
_COORDINATE_STOP = Stop(gap=_ENOUGH, seconds=_SECONDS)
_NEWTON_STOP = Stop(gap=1e-10, seconds=_SECONDS)  # it ends where rounding does, a step or two on


def compare(
    model_a: Any,
    model_b: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    stop: Stop | None = None,
) -> Comparison:
    """Judge two fitted models of the same objective by their training data.

    Parameters
    ----------
    model_a, model_b : LinearSVC or SVC
        Fitted models, of hinge or of ``sklearn.svm``, whose parameters must name the same
        objective: two ``SVC`` with the same kernel, or two of ``LinearSVC`` and
        ``SVC(kernel="linear")`` with two classes or with ``multiclass="ovr"``. The latter are
        judged by their weights alone, without dual coefficients. Of a ``Pipeline`` give the last
        step, and the rows as it sees them.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that they were fitted on; for ``kernel="precomputed"`` the kernel matrix.
    y : array-like of shape (n_samples,)
        The labels that they were fitted on.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights that they were fitted with.
    stop : Stop or None, default=None
        How well to solve the reference problems, each; None is a relative gap of 1e-6 or, of
        linear models of few features, as small a one as rounding allows, within a minute.
        Whatever is reached, the bounds of the result hold.

    Returns
    -------
    Comparison
        Objectives, the bounds on the optimum, gaps and labels of both; printing it shows a table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import LinearSVC
    >>> import hinge
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> default = LinearSVC(C=100).fit(X, y)  # stops early, without a warning
    >>> patient = LinearSVC(C=100, tol=1e-8, max_iter=10_000).fit(X, y)
    >>> result = hinge.compare(default, patient, X, y)
    >>> result.closer, round(result.difference, 1)
    ('b', 0.6)
    """
    model_a, model_b = chosen_model(model_a), chosen_model(model_b)
    refuse_other_models(model_a, "model_a")
    refuse_other_models(model_b, "model_b")
    if needs_kernel_judge(model_a, model_b):
        return _of_machines(model_a, model_b, X, y, sample_weight, stop)
    a, b = judged_model(model_a, "model_a"), judged_model(model_b, "model_b")
    _refuse_differences(objective_differences(a, b))
    rows = Rows(X)
    labels = _labels(a, b, y, sample_weight, rows)
    weights = class_weights(a.class_weight, labels.classes, labels.codes, labels.sample_weight)
    labels = replace(labels, class_weight=weights)
    problems = [class_problem(rows, labels, a.objective, k) for k in range(labels.n_problems)]
    references = [
        _reference(problem, _start(a, b, k, rows.n_rows), stop)
        for k, problem in enumerate(problems)
    ]
    choices = [winners(scores(rows, model.coef, model.intercept)) for model in (a, b)]
    lower_bound = sum(_below(solution.certificate) for solution in references)
    standings = [
        _standing(model, problems, references, choice, lower_bound)
        for model, choice in zip((a, b), choices, strict=True)
    ]
    return Comparison(
        a=standings[0],
        b=standings[1],
        lower_bound=lower_bound,
        upper_bound=min(
            standings[0].objective,
            standings[1].objective,
            sum(solution.certificate.primal for solution in references),
        ),
        n_rows=rows.n_rows,
        n_problems=len(problems),
        labels_that_differ=int(np.count_nonzero(choices[0] != choices[1])),
        objective=a.objective,
    )


def _of_machines(
    model_a: Any, model_b: Any, X: Any, y: ArrayLike, sample_weight: Any, stop: Stop | None
) -> Comparison:
    """Judge two kernel machines."""
    a, b = judged_machine(model_a, "model_a"), judged_machine(model_b, "model_b")
    _refuse_differences(machine_differences(a, b))
    rows = Rows(X)
    labels = _labels(a, b, y, sample_weight, rows)
    labels = replace(labels, class_weight=a.class_weight)
    return compare_machines(a, b, X, rows, labels, stop)


def _refuse_differences(differences: list[str]) -> None:
    if differences:
        message = (
            "model_a and model_b minimise different objectives, so neither is closer to the "
            f"optimum: {'; '.join(differences)}. Fit both with the same parameters."
        )
        raise InvalidParameterError(message)


def _labels(
    a: JudgedModel | JudgedMachine,
    b: JudgedModel | JudgedMachine,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    rows: Rows,
) -> Labels:
    """Return labels and weights of the rows, after making sure that they are the models'."""
    classes, codes = encode_labels(y, "compare")
    if len(codes) != rows.n_rows:
        message = f"y has {len(codes)} labels; X has {rows.n_rows} rows."
        raise InvalidParameterError(message)
    for role, model in (("model_a", a), ("model_b", b)):
        if not np.array_equal(model.classes, classes):
            message = f"{role} has classes {model.classes!r}; y has {classes!r}."
            raise InvalidParameterError(message)
        if model.n_features != rows.n_features:
            message = f"{role} has {model.n_features} features; X has {rows.n_features}."
            raise InvalidParameterError(message)
    return Labels(classes, codes, row_weights(sample_weight, rows.n_rows))


def _start(a: JudgedModel, b: JudgedModel, number: int, n_rows: int) -> Point | None:
    """Return the point of a model that has a dual point for these rows."""
    for model in (a, b):
        point = model.points[number]
        if point.dual_coef is not None and point.dual_coef.shape == (n_rows,):
            return point
    return None


def _reference(problem: Problem, start: Point | None, stop: Stop | None) -> Solution:
    """Return a solution to measure by: Newton's where a step is short, else coordinate descent."""
    if problem.is_hard:
        return solve(problem, "hard-margin", stop=stop or _NEWTON_STOP)
    newton = PrimalNewton()
    first = None
    if newton.supports(problem):
        first = solve(problem, newton, stop=stop or _NEWTON_STOP)
        if first.certificate.relative_gap <= _ENOUGH:
            return first
    second = solve(problem, DualCoordinate(), stop=stop or _COORDINATE_STOP, warm=start)
    if first is not None and first.certificate.gap < second.certificate.gap:
        return first
    return second


def _standing(
    model: JudgedModel,
    problems: list[Problem],
    references: list[Solution],
    choice: Any,
    lower_bound: float,
) -> Standing:
    """Return how one model stands to the optimum."""
    certificates = [
        gap(problem, Point(point.coef, point.intercept, reference.dual_coef), region=False)
        for problem, point, reference in zip(problems, model.points, references, strict=True)
    ]
    primal = sum(certificate.primal for certificate in certificates)
    total = sum(certificate.gap for certificate in certificates)
    scale = lower_bound if lower_bound > 0.0 else primal
    regions = [reference.certificate for reference in references]
    right, wrong = proven_labels(problems[0].rows, regions, choice)
    return Standing(
        name=model.name,
        objective=primal,
        gap=total,
        relative_gap=total / scale if math.isfinite(total) else math.inf,
        rounding=sum(certificate.rounding for certificate in certificates),
        labels_proven_right=int(np.count_nonzero(right)),
        labels_proven_wrong=int(np.count_nonzero(wrong)),
    )


def _below(certificate: Certificate) -> float:
    """Return a proven lower bound on the optimum; the objective itself is never negative."""
    bound = certificate.primal - certificate.gap
    return max(0.0, bound) if math.isfinite(bound) else 0.0
