"""Fitted kernel machines of scikit-learn, taken over without training again."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import NuSVC as ScikitNuSVC

from hinge.errors import InvalidParameterError
from hinge.estimators._kernel_options import kernel_options
from hinge.estimators.svc import SVC
from hinge.models.fitted_machine import fitted_machine
from hinge.models.imported_machine import imported_machine
from hinge.models.kernel_machine import KernelMachine

_SHARED_PARAMETERS = (
    "kernel",
    "degree",
    "gamma",
    "coef0",
    "shrinking",
    "tol",
    "cache_size",
    "class_weight",
    "verbose",
    "max_iter",
    "decision_function_shape",
    "break_ties",
    "random_state",
)
_SIGMOIDS = ("_probA", "_probB")  # the public names warn of their end
_METHODS = ("predict", "decision_function", "_validate_for_predict", "_decision_function")


def is_kernel_machine(model: Any) -> bool:
    """Return whether a model is a kernel classifier of scikit-learn that predicts as such.

    Parameters
    ----------
    model : object
        Anything.
    """
    for kind in (ScikitSVC, ScikitNuSVC):
        if isinstance(model, kind):
            return all(getattr(type(model), name) is getattr(kind, name) for name in _METHODS)
    return False


def machine_from_sklearn(model: Any) -> SVC:
    """Return a fitted kernel machine of scikit-learn as one of hinge.

    Parameters
    ----------
    model : sklearn.svm.SVC or sklearn.svm.NuSVC
        A fitted model.
    """
    machine = fitted_machine(model)
    _require_unchanged(model, machine)
    parameters = {name: getattr(model, name) for name in _SHARED_PARAMETERS}
    parameters["C"] = model.C if isinstance(model, ScikitSVC) else _largest(machine)
    slopes, offsets = (getattr(model, name, ()) for name in _SIGMOIDS)
    has_sigmoids = np.size(slopes) > 0
    parameters["probability"] = has_sigmoids
    kernel_options(SVC(**parameters))
    made = imported_machine(machine, "scikit-learn", **parameters)
    made.class_weight_ = np.array(model.class_weight_, dtype=np.float64)
    if has_sigmoids:
        made.probA_ = _sigmoid_numbers(slopes, len(machine.intercept))
        made.probB_ = _sigmoid_numbers(offsets, len(machine.intercept))
    shape = tuple(int(extent) for extent in model.shape_fit_)
    if len(shape) != 2 or shape[1] != machine.n_features or shape[0] < 1:
        message = f"model.shape_fit_ is {model.shape_fit_}, which its features contradict."
        raise InvalidParameterError(message)
    made.shape_fit_ = shape
    return made


def _require_unchanged(model: Any, machine: KernelMachine) -> None:
    """Refuse public attributes that are not the private ones, with which scikit-learn predicts."""
    sign = -1.0 if len(machine.classes) == 2 else 1.0
    dual = model._dual_coef_
    dual = dual.toarray() if sp.issparse(dual) else np.asarray(dual)
    same = np.array_equal(sign * dual, machine.dual_coef)
    if not same or not np.array_equal(sign * np.asarray(model._intercept_), machine.intercept):
        message = (
            "model.dual_coef_ or intercept_ are not what scikit-learn predicts with; they were "
            "changed after it was fitted. Fit it again."
        )
        raise InvalidParameterError(message)


def _largest(machine: KernelMachine) -> float:
    """Return the C of which the machine with nu is a solution, where any coefficient is at it."""
    return float(np.max(np.abs(machine.dual_coef), initial=0.0)) or 1.0


def _sigmoid_numbers(values: Any, n_pairs: int) -> Any:
    array = np.array(values, dtype=np.float64)
    if array.shape != (n_pairs,) or not np.isfinite(array).all():
        message = f"model.probA_ and probB_ must hold {n_pairs} finite numbers each."
        raise InvalidParameterError(message)
    return array
