"""The weights of a fitted linear classifier, whoever made it, after every check.

What a foreign object carries is not believed: shapes, types, order of the classes and finiteness
are compared with each other before anything is computed with them or written to a file.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.ingest import canonical

Floats = NDArray[np.float64]

_CHECKED_AT_ONCE = 1 << 20
_LABEL_KINDS = "biufUmM"  # m and M are durations and dates


@dataclass(frozen=True)
class LinearWeights:
    """Decision functions with their labels: one for two classes, else one for each class.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, in strictly ascending order.
    coef : ndarray of shape (n_problems, n_features)
        Weights, all finite.
    intercept : ndarray of shape (n_problems,)
        Intercepts, all finite; zeros if there is no intercept.
    feature_names : ndarray of str of shape (n_features,) or None, default=None
        Names of the features.
    """

    classes: NDArray[Any]
    coef: Floats
    intercept: Floats
    feature_names: NDArray[Any] | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.coef.shape[1])


def fitted_weights(model: Any, role: str = "model") -> LinearWeights:
    """Return the weights of a fitted linear classifier, copied and checked.

    Parameters
    ----------
    model : LinearSVC
        hinge's or scikit-learn's.
    role : str, default="model"
        What to call it in messages.
    """
    check_is_fitted(model, ["coef_", "intercept_", "classes_"])
    classes = checked_classes(model.classes_, role)
    n_features = feature_count(getattr(model, "n_features_in_", None), role)
    n_problems = 1 if len(classes) == 2 else len(classes)
    coef = _coefficients(model.coef_, (n_problems, n_features), role)
    intercept = _intercepts(model.intercept_, n_problems, role)
    names = feature_names_of(getattr(model, "feature_names_in_", None), n_features, role)
    return LinearWeights(classes, coef, intercept, names)


def require_finite(values: NDArray[Any], name: str) -> None:
    """Refuse NaN and infinity, examining a part at a time.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Numbers.
    name : str
        What they are, for the message.
    """
    step = max(1, _CHECKED_AT_ONCE // max(1, values.shape[0]))
    for start in range(0, values.shape[1], step):
        finite = np.isfinite(values[:, start : start + step])
        if not finite.all():
            row, column = (int(place) for place in np.argwhere(~finite)[0])
            found = values[row, start + column]
            message = f"{name}[{row}, {start + column}] is {found}; every weight must be finite."
            raise InvalidParameterError(message)


def checked_classes(classes: Any, role: str) -> NDArray[Any]:
    """Return the labels of a model, copied, or refuse them.

    Parameters
    ----------
    classes : object
        Its attribute ``classes_``.
    role : str
        What to call the model in messages.
    """
    name = f"{role}.classes_"
    array = plain_array(classes, name)
    if array.ndim != 1 or len(array) < 2:
        message = f"{name} has shape {array.shape}; it must list at least two labels."
        raise InvalidParameterError(message)
    if array.dtype == object:
        strange = next((label for label in array if type(label) is not str), None)
        if strange is not None:
            message = (
                f"{name} holds {_shown(strange)} of type {type(strange).__name__}; labels must be "
                "numbers, text or dates, all of one kind."
            )
            raise InvalidParameterError(message)
    elif array.dtype.kind not in _LABEL_KINDS:
        message = f"{name} has dtype {array.dtype}; labels must be numbers, text or dates."
        raise InvalidParameterError(message)
    if array.dtype.kind in "fmM" and not np.isfinite(array).all():
        message = f"{name} holds a label that is missing or infinite."
        raise InvalidParameterError(message)
    falling = np.flatnonzero(~(array[1:] > array[:-1]))
    if len(falling):
        before, after = array[falling[0]], array[falling[0] + 1]
        message = (
            f"{name} must be in ascending order without repetition; {_shown(after)} follows "
            f"{_shown(before)}."
        )
        raise InvalidParameterError(message)
    return array.copy()


def feature_count(value: Any, role: str) -> int:
    """Return the number of features of a model, or refuse it.

    Parameters
    ----------
    value : object
        Its attribute ``n_features_in_``.
    role : str
        What to call the model in messages.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        message = f"{role}.n_features_in_ must be a whole number of at least 1; got {value!r}."
        raise InvalidParameterError(message)
    return int(value)


def _coefficients(coef: Any, shape: tuple[int, int], role: str) -> Floats:
    name = f"{role}.coef_"
    array = coef if sp.issparse(coef) else plain_array(coef, name)
    if tuple(array.shape) != shape:
        message = (
            f"{name} has shape {tuple(array.shape)}; {shape[0]} decision function(s) over "
            f"{shape[1]} feature(s) have {shape}."
        )
        raise InvalidParameterError(message)
    _require_real(array.dtype, name)
    if sp.issparse(array):
        try:
            array = canonical(array).toarray()
        except InvalidDataError as error:
            message = f"{name} cannot be read: {error}"
            raise InvalidParameterError(message) from error
    array = np.array(array, dtype=np.float64, order="C")
    require_finite(array, name)
    return array


def _intercepts(intercept: Any, n_problems: int, role: str) -> Floats:
    name = f"{role}.intercept_"
    array = plain_array(intercept, name)
    _require_real(array.dtype, name)
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (n_problems,)):
        message = f"{name} has shape {array.shape}; it must be a number or have ({n_problems},)."
        raise InvalidParameterError(message)
    values = np.array(np.broadcast_to(array, (n_problems,)), dtype=np.float64)
    if not np.isfinite(values).all():
        message = f"{name} is {_shown(intercept)}; every intercept must be finite."
        raise InvalidParameterError(message)
    return values


def feature_names_of(names: Any, n_features: int, role: str) -> NDArray[Any] | None:
    """Return the names of the features of a model, or refuse them.

    Parameters
    ----------
    names : object
        Its attribute ``feature_names_in_``, or None.
    n_features : int
        How many there must be.
    role : str
        What to call the model in messages.
    """
    if names is None:
        return None
    array = plain_array(names, f"{role}.feature_names_in_")
    is_text = array.dtype.kind == "U" or (
        array.dtype == object and all(type(name) is str for name in array.ravel())
    )
    if array.shape != (n_features,) or not is_text:
        message = (
            f"{role}.feature_names_in_ has shape {array.shape} and dtype {array.dtype}; it must "
            f"hold {n_features} text(s), one for each feature."
        )
        raise InvalidParameterError(message)
    return array.astype(object)


def plain_array(value: Any, name: str) -> NDArray[Any]:
    """Return the value as an array; what NumPy cannot read, or a mask it would drop, is refused.

    Parameters
    ----------
    value : object
        Anything.
    name : str
        What it is, for the message.
    """
    if isinstance(value, np.ma.MaskedArray):
        message = f"{name} is a masked array; fill the masked values first."
        raise InvalidParameterError(message)
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        message = f"{name} cannot be read as an array: {error}"
        raise InvalidParameterError(message) from error


def _require_real(dtype: np.dtype[Any], name: str) -> None:
    """Refuse numbers that float64 does not hold exactly."""
    if dtype.kind != "f" or dtype.itemsize > 8:
        message = f"{name} has dtype {dtype}; it must be float64, or narrower floating point."
        raise InvalidParameterError(message)


def _shown(value: Any) -> str:
    """Return a short form of a value for a message."""
    plain = value.item() if isinstance(value, np.generic) else value
    text = repr(plain)
    return text if len(text) <= 40 else f"{text[:37]}..."
