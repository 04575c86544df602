"""What an estimator makes of the caller's X, y and weights before anything is solved."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from hinge.errors import (
    InvalidDataError,
    InvalidLabelsError,
    InvalidParameterError,
    InvalidWeightsError,
)
from hinge.ingest import canonical, refuse_unreadable, target_dtype
from hinge.labels import encoded, plain_labels, refuse_missing, row_weights, shown
from hinge.multiclass import Labels
from hinge.rows import Rows

Floats = NDArray[np.float64]

_MOST_WHOLE = 2.0**31  # beyond it scikit-learn is asked whether a float is a label
# Rows makes the one pass over the values; what follows only looks at type, shape and names, and
# never copies a C-contiguous array or a CSR matrix.
_X_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": "numeric",
    "order": "C",
    "accept_large_sparse": True,
    "ensure_all_finite": False,
}
_TILE = (4096, 64)  # rows and columns that are copied at once: small enough for a cache


def rows_to_score(estimator: Any, X: Any) -> Rows:
    """Return the rows of a fitted estimator's X.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator, whose feature names and number of features must be met.
    X : array-like, sparse matrix or data frame
        The caller's data.
    """
    return Rows(data_to_score(estimator, X), is_canonical=True)


def data_to_score(estimator: Any, X: Any) -> Any:
    """Return a fitted estimator's X as ``Rows`` views it, of whose values nothing is known yet.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator, whose feature names and number of features must be met.
    X : array-like, sparse matrix or data frame
        The caller's data.
    """
    X = _readable(X)
    is_held = _is_held(X)
    if is_held and _is_as_fitted(estimator, X):
        return X
    data = _validated(estimator, X, reset=False, skip_check_array=is_held)
    return data if is_held else canonical(data)


def training_data(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Labels]:
    """Return rows and labels of what ``fit`` was given, with names and counts recorded.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted; its ``class_weight`` is used.
    X : array-like, sparse matrix or data frame
        The caller's data.
    y : array-like
        Labels of any kind.
    sample_weight : array-like, number or None
        Weights of the rows.
    """
    readable, y = _readable(X), plain_labels(y)
    is_held = _is_held(readable)
    if is_held and _are_whole_numbers(y) and len(y) == readable.shape[0]:
        X = readable
        _record_features(estimator, X)
    else:
        X, y = _validated(estimator, readable, y)
    name = type(estimator).__name__
    classes, codes = encode_labels(y, name)
    weights = row_weights(sample_weight, len(codes))
    _refuse_class_without_weight(classes, codes, weights)
    per_class = class_weights(estimator.class_weight, classes, codes, weights)
    is_canonical = X is readable and is_held
    return Rows(X, is_canonical=is_canonical), Labels(classes, codes, weights, per_class)


def encode_labels(y: Any, name: str = "The model") -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct labels, sorted, and every row's position among them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The labels.
    name : str, default="The model"
        Who needs them, for messages.
    """
    labels = np.asarray(plain_labels(y))
    if labels.ndim == 1:
        refuse_missing(labels)
    classes, codes = encoded(labels)
    if not _are_whole_numbers(labels) or 2 * len(classes) > len(labels):
        _refuse_other_than_classes(labels)
    if len(classes) < 2:
        message = (
            f"{name} needs samples of at least 2 classes; y contains only one class: "
            f"{classes[0]!s}."
        )
        raise InvalidLabelsError(message)
    return classes, codes.astype(np.min_scalar_type(len(classes)))


def _refuse_other_than_classes(labels: NDArray[Any]) -> None:
    """Refuse labels that scikit-learn does not take for classes, such as 1.5, and show one."""
    try:
        check_classification_targets(labels)
    except ValueError as error:
        message = str(error)
        if labels.ndim == 1 and labels.dtype.kind == "f":
            is_class = (np.abs(labels) < _MOST_WHOLE) & (np.trunc(labels) == labels)
            row = int(np.argmin(is_class))
            # The first words are scikit-learn's, whose checks of estimators look for them.
            message = (
                f"Unknown label type: continuous. y holds {shown(labels[row])} in row {row}, which "
                "is no class; use whole numbers or names for classes."
            )
        raise InvalidLabelsError(message) from error


def class_weights(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[Any], sample_weight: Floats | None
) -> Floats | None:
    """Return the weight of every class, or None if all are 1.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        As in scikit-learn; "balanced" counts every row as often as its sample weight says.
    classes : ndarray of shape (n_classes,)
        The distinct labels.
    codes : ndarray of shape (n_samples,)
        Every row's position among them.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        return np.asarray(counts.sum() / (len(classes) * counts))
    if not isinstance(class_weight, dict):
        message = (
            "class_weight must be None, 'balanced' or a dictionary from labels to weights; "
            f"got {class_weight!r}."
        )
        raise InvalidParameterError(message)
    weights = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), float)
    bad = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
    if len(bad):
        message = (
            f"class_weight gives class {shown(classes[bad[0]])} the weight "
            f"{float(weights[bad[0]])!r}; it must be finite and greater than 0."
        )
        raise InvalidParameterError(message)
    return weights


def _validated(estimator: Any, X: Any, *labels: Any, **options: Any) -> Any:
    """Return what scikit-learn makes of X, or say what of it is no number."""
    try:
        return validate_data(estimator, X, *labels, **options, **_X_CHECKS)
    except ValueError:
        refuse_unreadable(X)
        raise


def _is_as_fitted(estimator: Any, X: Any) -> bool:
    """Return whether scikit-learn has nothing to say of held rows: they never have names."""
    count = getattr(estimator, "n_features_in_", None)
    is_named = getattr(estimator, "feature_names_in_", None) is not None
    return type(count) is int and count == X.shape[1] and not is_named


def _record_features(estimator: Any, X: Any) -> None:
    """Take note of the features of held rows, as scikit-learn would: they never have names."""
    estimator.n_features_in_ = int(X.shape[1])
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _readable(X: Any) -> Any:
    """Return what scikit-learn takes as it is: canonical CSR, C-contiguous arrays of numbers."""
    if sp.issparse(X):  # scikit-learn would convert it, and scipy does not look where it writes
        return canonical(X)
    # np.asarray drops the mask, so that masked values would be learned from.
    if isinstance(X, np.ma.MaskedArray):
        message = "X is a masked array; fill or drop the masked values first (X.filled(...))."
        raise InvalidDataError(message)
    return _held_in_order(X) if type(X) in (np.ndarray, np.memmap) else X


def _is_held(X: Any) -> bool:
    """Return whether X is as ``Rows`` will hold it, so that nobody else need look at its form."""
    if sp.issparse(X):
        return True  # and canonical, which is how it comes out of _readable
    is_array = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
    return is_array and X.dtype in (np.float32, np.float64) and _held_in_order(X) is X


def _are_whole_numbers(y: Any) -> bool:
    """Return whether labels are integers or booleans, one for each row, be they stored as floats.

    Of these scikit-learn has nothing to say, and looking at them takes it longer than a short fit.
    """
    if type(y) is not np.ndarray or y.ndim != 1:
        return False
    if y.dtype in (np.float32, np.float64):
        return bool(np.all((np.abs(y) < _MOST_WHOLE) & (np.trunc(y) == y)))
    return y.dtype.kind in "biu"


def _held_in_order(X: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, or the one copy that its order or type makes necessary.

    Made here and not in one call of scikit-learn's or NumPy's, so that Ctrl-C need not wait for
    the end of it.
    """
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.size:
        return X  # it will be refused, by those who say why
    dtype = target_dtype(X.dtype)
    if X.flags.c_contiguous and X.flags.aligned and X.dtype == dtype:
        return X
    held = np.empty(X.shape, dtype=dtype)
    corners = itertools.product(
        *(range(0, n, step) for n, step in zip(X.shape, _TILE, strict=True))
    )
    with np.errstate(over="ignore"):  # what overflows becomes infinite, and is refused as such
        for row, column in corners:
            tile = slice(row, row + _TILE[0]), slice(column, column + _TILE[1])
            np.copyto(held[tile], X[tile], casting="unsafe")
    return held


def _refuse_class_without_weight(
    classes: NDArray[Any], codes: NDArray[Any], weights: Floats | None
) -> None:
    if weights is None:
        return
    totals = np.bincount(codes, weights=weights, minlength=len(classes))
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        message = (
            f"class {shown(classes[empty[0]])} has no row of positive weight, so it cannot be "
            "learned as a class. Give one of its rows a sample_weight above 0, or drop its rows."
        )
        raise InvalidWeightsError(message)
