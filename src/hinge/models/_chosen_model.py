"""The model inside an estimator that has chosen it."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hinge.estimators.linear_svc_cv import LinearSVCCV


def chosen_model(model: Any) -> Any:
    """Return the model of all rows that a ``LinearSVCCV`` has; anything else as it is.

    Parameters
    ----------
    model : object
        Whatever a caller gave as a model.
    """
    if isinstance(model, LinearSVCCV):
        check_is_fitted(model)
        return model.best_estimator_
    return model
