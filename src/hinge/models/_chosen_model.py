"""The model inside an estimator that has chosen or wraps it."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hinge.errors import InvalidParameterError
from hinge.estimators.anytime_classifier import AnytimeClassifier
from hinge.estimators.linear_svc_cv import LinearSVCCV
from hinge.estimators.svc_cv import SVCCV


def chosen_model(model: Any) -> Any:
    """Return the model of all rows that an estimator has chosen or wraps; else what was given.

    Parameters
    ----------
    model : object
        Whatever a caller gave as a model.
    """
    if isinstance(model, AnytimeClassifier):
        check_is_fitted(model)
        model = model.estimator_
    if isinstance(model, LinearSVCCV | SVCCV):
        check_has_model(model)
        return model.best_estimator_
    return model


def check_has_model(model: LinearSVCCV | SVCCV) -> None:
    """Refuse an estimator without a model of all rows, and say why it has none.

    Parameters
    ----------
    model : LinearSVCCV or SVCCV
        Fitted or not.
    """
    name = type(model).__name__
    if hasattr(model, "scores_") and not hasattr(model, "best_estimator_"):
        # An end before any C was done everywhere leaves no C_, with refit=False as well.
        if hasattr(model, "C_") and not model.refit:
            message = (
                f"this {name} was fitted with refit=False: it has scores, but no model. "
                f"Fit {name.removesuffix('CV')}({_chosen_values(model)}) to all rows, or use "
                "refit=True."
            )
        else:
            message = (
                f"the fit of this {name} ended during cross-validation: it has the scores of "
                "the fits that were done (scores_), but no model. Fit it again."
            )
        raise InvalidParameterError(message)
    check_is_fitted(model)


def _chosen_values(model: LinearSVCCV | SVCCV) -> str:
    gamma = getattr(model, "gamma_", None)
    return f"C={model.C_:g}" if gamma is None else f"C={model.C_:g}, gamma={gamma:g}"
