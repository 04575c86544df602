"""The parts of a fitted kernel classifier, hinge's or scikit-learn's, after every check.

What an object carries is not believed: shapes, types, order of the classes, signs and finiteness
are compared with each other before anything is computed with them or written to a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hinge.errors import HingeError, InvalidDataError, InvalidParameterError, UnsupportedError
from hinge.estimators._kernel_machine import is_against_rest, machine_count
from hinge.ingest import canonical
from hinge.kernels import (
    RBF,
    CallableKernel,
    Kernel,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
    Sigmoid,
    get_kernel,
)
from hinge.models.kernel_machine import KernelMachine, wrong_sign
from hinge.models.linear_weights import (
    checked_classes,
    feature_count,
    feature_names_of,
    plain_array,
    require_finite,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FITTED = ("dual_coef_", "intercept_", "n_support_", "classes_")


def fitted_machine(model: Any, role: str = "model") -> KernelMachine:
    """Return the parts of a fitted kernel classifier, copied and checked.

    Parameters
    ----------
    model : SVC or NuSVC
        hinge's or scikit-learn's.
    role : str, default="model"
        What to call it in messages.
    """
    check_is_fitted(model, list(_FITTED))
    if getattr(model, "approximations_", None) is not None:
        message = (
            f"{role} is a low-rank approximation: its coefficients are those of the rows that "
            "span it, not dual ones, and other programs and files expect those. Fit with "
            "exact_finish=True, or keep it as a pickle."
        )
        raise UnsupportedError(message)
    classes = checked_classes(model.classes_, role)
    kernel = resolved_kernel(model, role)
    n_features = feature_count(getattr(model, "n_features_in_", None), role)
    n_support = _counts(model.n_support_, len(classes), role)
    total = int(n_support.sum())
    height = len(classes) - (not is_against_rest(model.dual_coef_, len(classes)))
    dual = _coefficients(model.dual_coef_, (height, total), f"{role}.dual_coef_")
    intercept = _intercepts(model.intercept_, dual, len(classes), f"{role}.intercept_")
    wrong = wrong_sign(n_support, dual)
    if wrong is not None:
        number, own, other = wrong
        message = (
            f"{role}.dual_coef_ has a coefficient of support vector {number}, of class "
            f"{classes[own]}, with the sign of class {classes[other]}; no dual coefficient is "
            "negative, so it was changed, or this is no optimum of a machine with C."
        )
        raise InvalidParameterError(message)
    is_precomputed = isinstance(kernel, Precomputed)
    return KernelMachine(
        classes=classes,
        kernel=kernel,
        vectors=None
        if is_precomputed
        else _vectors(model.support_vectors_, (total, n_features), f"{role}.support_vectors_"),
        n_support=n_support,
        dual_coef=dual,
        intercept=intercept,
        n_features=n_features,
        rows=_rows(model, total, is_precomputed, role),
        feature_names=feature_names_of(getattr(model, "feature_names_in_", None), n_features, role),
    )


def resolved_kernel(model: Any, role: str) -> Kernel:
    """Return the kernel of a fitted model with numbers as parameters.

    Parameters
    ----------
    model : SVC or NuSVC
        hinge's or scikit-learn's.
    role : str
        What to call it in messages.
    """
    own = getattr(model, "kernel_", None)
    kernel = own if isinstance(own, Kernel) else _named_kernel(model, role)
    refuse_code(kernel, role)
    return kernel


def refuse_code(kernel: Kernel, role: str) -> None:
    """Refuse a kernel that is a Python function, or made of one.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    role : str
        Whose it is, for the message.
    """
    while isinstance(kernel, Normalised):
        kernel = kernel.kernel
    if isinstance(kernel, CallableKernel):
        message = (
            f"{role} has a function as its kernel, and code goes neither into a file nor from one "
            "model to another; fit with kernel='precomputed' on the matrix of its values instead."
        )
        raise UnsupportedError(message)


def _named_kernel(model: Any, role: str) -> Kernel:
    """Return the kernel that parameters name, with the gamma that the fit found."""
    if not isinstance(model.kernel, str):
        return get_kernel(model.kernel)
    gamma: Any = getattr(model, "_gamma", None)
    makers: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "poly": lambda: Polynomial(model.degree, gamma, model.coef0),
        "rbf": lambda: RBF(gamma),
        "sigmoid": lambda: Sigmoid(gamma, model.coef0),
        "precomputed": Precomputed,
    }
    if model.kernel not in makers:
        message = f"{role}.kernel is {model.kernel!r}, which hinge does not know."
        raise InvalidParameterError(message)
    try:
        return makers[model.kernel]()
    except HingeError as error:
        message = f"{role} has kernel={model.kernel!r} with parameters that it cannot have: {error}"
        raise InvalidParameterError(message) from error


def _counts(value: Any, n_classes: int, role: str) -> Ints:
    array = plain_array(value, f"{role}.n_support_")
    if array.shape != (n_classes,) or array.dtype.kind not in "iu" or np.any(array < 0):
        message = (
            f"{role}.n_support_ must hold {n_classes} whole numbers, one for each class; got "
            f"{array.dtype} of shape {array.shape}."
        )
        raise InvalidParameterError(message)
    return array.astype(np.int64)


def _coefficients(value: Any, shape: tuple[int, int], name: str) -> Floats:
    array = _numbers(value, shape, name)
    dense: Floats = np.array(
        array.toarray() if sp.issparse(array) else array, dtype=np.float64, order="C"
    )
    require_finite(dense, name)
    return dense


def _intercepts(value: Any, dual_coef: Floats, n_classes: int, name: str) -> Floats:
    array = plain_array(value, name)
    count = machine_count(dual_coef, n_classes)
    if array.ndim == 0:
        array = np.broadcast_to(array, (count,))
    if array.shape != (count,) or array.dtype.kind != "f" or not np.isfinite(array).all():
        unit = "class" if is_against_rest(dual_coef, n_classes) else "pair of classes"
        message = (
            f"{name} must hold {count} finite numbers, one for each {unit}; got "
            f"{array.dtype} of shape {array.shape}."
        )
        raise InvalidParameterError(message)
    return array.astype(np.float64)


def _vectors(value: Any, shape: tuple[int, int], name: str) -> Any:
    array = _numbers(value, shape, name)
    if sp.issparse(array):
        return sp.csr_array(array, copy=True).astype(_kept_type(array.dtype), copy=False)
    dense = np.array(array, dtype=_kept_type(array.dtype), order="C")
    require_finite(dense, name)
    return dense


def _kept_type(dtype: np.dtype[Any]) -> Any:
    """Return float32 or float64: what kernels are evaluated from."""
    return dtype if dtype == np.float32 else np.float64


def _numbers(value: Any, shape: tuple[int, int], name: str) -> Any:
    """Return an array or a canonical CSR matrix of floats of that shape."""
    array = value if sp.issparse(value) else plain_array(value, name)
    if tuple(array.shape) != shape or array.dtype.kind != "f" or array.dtype.itemsize > 8:
        message = (
            f"{name} is {array.dtype} of shape {tuple(array.shape)}; the rest of the model makes "
            f"it floating point of shape {shape}."
        )
        raise InvalidParameterError(message)
    if not sp.issparse(array):
        return array
    if 0 in shape:  # of which there is nothing to check
        return sp.csr_array(shape, dtype=np.float64)
    try:
        array = canonical(array)
    except InvalidDataError as error:
        message = f"{name} cannot be read: {error}"
        raise InvalidParameterError(message) from error
    if not np.isfinite(array.data).all():
        message = f"{name} holds a number that is not finite."
        raise InvalidParameterError(message)
    return array


def _rows(model: Any, total: int, is_needed: bool, role: str) -> Ints | None:
    """Return which training rows the support vectors are; None where nothing sensible is there."""
    value = getattr(model, "support_", None)
    n_rows = getattr(model, "shape_fit_", (np.iinfo(np.int64).max,))[0]
    array = plain_array([] if value is None else value, f"{role}.support_")
    fits = array.shape == (total,) and (array.dtype.kind in "iu" or not total)
    fits = fits and (not total or (int(array.min()) >= 0 and int(array.max()) < n_rows))
    fits = fits and len(np.unique(array)) == total
    if fits:
        return array.astype(np.int64)
    if is_needed or value is not None:
        message = (
            f"{role}.support_ must be the {total} different numbers of training rows that are "
            "support vectors."
        )
        raise InvalidParameterError(message)
    return None
