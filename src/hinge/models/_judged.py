"""What a fitted linear model claims: its weights, and the objective that its parameters name.

``sklearn.svm.LinearSVC`` and ``hinge.LinearSVC`` share their parameters. In both,
``fit_intercept`` with ``intercept_scaling`` is an augmented intercept of that scale, and
``class_weight`` multiplies C for the rows of a class (with more than two classes only where it is
the positive one). ``sklearn.svm.SVC(kernel="linear")`` is the hinge loss with a free intercept, and
so is ``hinge.SVC(kernel="linear")`` with the loss of its parameter; with more than two classes they
solve other problems, one for each pair, unless the latter has ``multiclass="ovr"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import LinearSVC as ScikitLinearSVC
from sklearn.utils.validation import check_is_fitted

from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.estimators._kernel_machine import is_against_rest
from hinge.estimators._options import linear_objective
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.losses import get_loss
from hinge.models._chosen_model import chosen_model
from hinge.multiclass import Objective
from hinge.problem import Intercept
from hinge.result import Point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JudgedModel:
    """A fitted linear model, whoever made it.

    Parameters
    ----------
    name : str
        What to call it in a report.
    objective : Objective
        What its parameters say it minimises.
    class_weight : dict, "balanced" or None
        Its parameter of that name.
    classes : ndarray of shape (n_classes,)
        Its labels.
    points : list of Point
        Its weights and intercept for each binary problem; with dual coefficients if it has any.
    """

    name: str
    objective: Objective
    class_weight: Any
    classes: NDArray[Any]
    points: list[Point]

    @property
    def coef(self) -> Floats:
        """Weights, of shape (n_problems, n_features)."""
        return np.stack([point.coef for point in self.points])

    @property
    def n_features(self) -> int:
        """How many features its rows have."""
        return len(self.points[0].coef)

    @property
    def intercept(self) -> Floats:
        """Intercepts, of shape (n_problems,)."""
        return np.asarray([point.intercept for point in self.points])


def judged_model(model: Any, role: str) -> JudgedModel:
    """Return what a fitted model claims.

    Parameters
    ----------
    model : LinearSVC, LinearSVCCV or SVC
        hinge's or scikit-learn's; an SVC must have a linear kernel and two classes, or
        ``multiclass="ovr"``.
    role : str
        Which argument it is, for messages and the report.
    """
    model = chosen_model(model)
    refuse_other_models(model, role)
    check_is_fitted(model)
    objective = _objective(model, role)
    weights: Any = model.coef_
    coef = weights.toarray() if sp.issparse(weights) else np.asarray(weights)
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(coef))
    duals = _dual_coefficients(model, len(coef))
    points = [
        Point(np.array(row, dtype=np.float64), float(intercept), dual)
        for row, intercept, dual in zip(coef, intercepts, duals, strict=True)
    ]
    return JudgedModel(shown_name(model), objective, model.class_weight, model.classes_, points)


def refuse_other_models(model: Any, role: str) -> None:
    """Refuse what is no estimator whose objective is known.

    Parameters
    ----------
    model : object
        Whatever a caller gave as a model.
    role : str
        Which argument it is, for messages.
    """
    if isinstance(model, Pipeline):
        message = (
            f"{role} is a Pipeline, whose last step is what was trained. Pass that step, "
            f"{role}[-1], and the rows as it sees them, {role}[:-1].transform(X)."
        )
        raise InvalidParameterError(message)
    if not isinstance(model, LinearSVC | ScikitLinearSVC | SVC | ScikitSVC):
        message = (
            f"{role} must be a fitted LinearSVC or SVC, of hinge or of sklearn.svm; got "
            f"{shown_name(model)}."
        )
        raise InvalidParameterError(message)


def shown_name(model: Any) -> str:
    """Return what to call a model in reports and messages.

    Parameters
    ----------
    model : object
        Anything.
    """
    return f"{type(model).__module__.split('.')[0]}.{type(model).__name__}"


def _objective(model: Any, role: str) -> Objective:
    if not isinstance(model, SVC | ScikitSVC):
        return linear_objective(model)
    kernel = model.kernel_.name if isinstance(model, SVC) else model.kernel
    n_classes = len(model.classes_)
    is_of_pairs = n_classes > 2 and not is_against_rest(model.dual_coef_, n_classes)
    if kernel != "linear" or is_of_pairs:
        message = (
            f"{role} is an SVC with kernel={model.kernel!r} and {n_classes} classes; only "
            "kernel='linear' with two classes, or with multiclass='ovr', minimises an objective of "
            "LinearSVC's kind. Compare it with another SVC."
        )
        raise UnsupportedError(message)
    loss = get_loss(model.loss if isinstance(model, SVC) else "hinge")
    return Objective(loss, float(model.C), Intercept.FREE)


def _dual_coefficients(model: Any, count: int) -> list[Floats | None]:
    if isinstance(model, LinearSVC):
        return [solution.dual_coef for solution in model.solutions_]
    return [None] * count


def objective_differences(a: JudgedModel, b: JudgedModel) -> list[str]:
    """Return a phrase for every respect in which two models' objectives differ.

    Parameters
    ----------
    a, b : JudgedModel
        The models.
    """
    first, second = a.objective, b.objective
    pairs = [
        ("loss", first.loss.name, second.loss.name),
        ("C", first.C, second.C),
        ("intercept", first.intercept.value, second.intercept.value),
        ("class_weight", a.class_weight, b.class_weight),
    ]
    if first.intercept is Intercept.AUGMENTED:
        pairs.append(("intercept_scaling", first.intercept_scale, second.intercept_scale))
    return [f"{name} is {x!r} and {y!r}" for name, x, y in pairs if x != y]
