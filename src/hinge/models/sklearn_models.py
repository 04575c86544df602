"""Fitted models of scikit-learn, taken over without training again."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import LinearSVC as ScikitLinearSVC
from sklearn.utils.validation import check_is_fitted

from hinge.errors import InvalidParameterError
from hinge.estimators._options import linear_objective
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.models.imported import imported_model
from hinge.models.linear_weights import LinearWeights, fitted_weights
from hinge.models.sklearn_machines import is_kernel_machine, machine_from_sklearn
from hinge.problem import Intercept

_SHARED_PARAMETERS = (
    "penalty",
    "loss",
    "dual",
    "tol",
    "C",
    "multi_class",
    "fit_intercept",
    "intercept_scaling",
    "class_weight",
    "verbose",
    "random_state",
    "max_iter",
)


def from_sklearn(model: Any) -> LinearSVC | SVC:
    """Return a fitted model of scikit-learn as one of hinge, with the same numbers bit by bit.

    Nothing is trained. All parameters that scikit-learn has are taken over; those that only hinge
    has are at their defaults.

    Parameters
    ----------
    model : sklearn.svm.LinearSVC, SVC or NuSVC
        A fitted model, which is not changed; a ``LinearSVC`` with ``penalty="l2"`` and
        ``multi_class="ovr"``, the others with a kernel that is not a function.

    Returns
    -------
    LinearSVC or SVC
        A fitted estimator. Its status is ``imported`` and its certificate claims nothing:
        ``certificate_.relative_gap`` is infinite; ``hinge.models.verify`` judges it by data.

    Raises
    ------
    InvalidParameterError
        If it is another kind of model, or its attributes contradict each other.
    UnsupportedError
        If it minimises an objective that hinge does not have.

    See Also
    --------
    compare : Which of two fitted models is closer to the optimum.

    Notes
    -----
    An ``SVC`` predicts the class with the most votes of the pairs of classes, as in scikit-learn;
    of classes with as many votes the one whose decision values add up to the most, which is
    scikit-learn's choice with ``break_ties=True`` only. A ``NuSVC`` becomes an ``SVC`` whose C is
    its largest coefficient: with two classes, a machine of that C has the same optimum.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> from hinge.models import from_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = LinearSVC(random_state=0).fit(X, y)
    >>> ours = from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    >>> print(ours.solution_.status)
    imported
    """
    if is_kernel_machine(model):
        check_is_fitted(model)
        return machine_from_sklearn(model)
    if not _scores_as_linear_svc(model):
        message = (
            "from_sklearn takes a fitted sklearn.svm.LinearSVC, SVC or NuSVC whose predict and "
            f"decision_function are scikit-learn's own; got {type(model).__name__}."
        )
        raise InvalidParameterError(message)
    weights = fitted_weights(model)
    parameters = {name: getattr(model, name) for name in _SHARED_PARAMETERS}
    made = LinearSVC(**parameters)
    objective = linear_objective(made)
    _require_no_intercept(weights, objective.intercept)
    return imported_model(made, weights, "scikit-learn")


def _scores_as_linear_svc(model: Any) -> bool:
    kind = type(model)
    return isinstance(model, ScikitLinearSVC) and all(
        getattr(kind, name) is getattr(ScikitLinearSVC, name)
        for name in ("predict", "decision_function")
    )


def _require_no_intercept(weights: LinearWeights, intercept: Intercept) -> None:
    if intercept is Intercept.NONE and np.any(weights.intercept):
        message = (
            "model has fit_intercept=False and an intercept_ other than 0; its parameters were "
            "changed after it was fitted. Set them back to what it was fitted with."
        )
        raise InvalidParameterError(message)
