"""Labels and sample weights of a problem: read from whatever the caller has, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.errors import InvalidLabelsError, InvalidWeightsError

Floats = NDArray[np.float64]

_SHOWN = 5


def two_classes(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Return the two labels, sorted, and -1 or +1 for every row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of one kind: numbers, strings, booleans or anything that sorts.
    n_rows : int
        How many there must be.

    Returns
    -------
    classes : ndarray of shape (2,)
        The labels, sorted.
    signs : ndarray of int8 of shape (n_rows,)
        -1 where the first occurs, +1 where the second does.
    """
    labels = _as_array(plain_labels(y))
    if labels.shape != (n_rows,):
        message = f"y has shape {labels.shape}; X has {n_rows} rows, so it must be ({n_rows},)."
        raise InvalidLabelsError(message)
    refuse_missing(labels)
    classes, codes = encoded(labels)
    if len(classes) != 2:
        shown = ", ".join(repr(label) for label in classes[:_SHOWN].tolist())
        more = ", ..." if len(classes) > _SHOWN else ""
        message = f"A Problem has exactly two classes; y has {len(classes)}: {shown}{more}."
        raise InvalidLabelsError(message)
    signs = np.where(codes == 1, np.int8(1), np.int8(-1))
    signs.flags.writeable = False
    return classes, signs


@dataclass(frozen=True)
class WeightsAsRead:
    """Weights that :func:`row_weights` has returned, passed on so that nobody copies them again.

    Parameters
    ----------
    values : ndarray
        What it returned, or the product of that with other weights.
    """

    values: Floats


def row_weights(sample_weight: ArrayLike | WeightsAsRead | None, n_rows: int) -> Floats | None:
    """Return the weights as an own, read-only array; None where there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), float or None
        Finite and not negative; copied, unless they are :class:`WeightsAsRead`.
    n_rows : int
        How many there must be.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        The weights.
    """
    if sample_weight is None:
        return None
    is_read = isinstance(sample_weight, WeightsAsRead)
    if isinstance(sample_weight, WeightsAsRead):
        sample_weight = sample_weight.values
    if isinstance(sample_weight, np.ma.MaskedArray):
        message = "sample_weight is a masked array; fill the masked values first."
        raise InvalidWeightsError(message)
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind not in "biufO":
            message = f"sample_weight cannot be read as numbers: its dtype is {given.dtype}."
            raise InvalidWeightsError(message)
        weights = given.astype(np.float64, copy=not is_read)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidWeightsError):
            raise
        message = f"sample_weight cannot be read as numbers: {error}"
        raise InvalidWeightsError(message) from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        message = f"sample_weight must be 1D array or scalar, got {weights.ndim}D array."
        raise InvalidWeightsError(message)
    if len(weights) != n_rows:
        message = f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!"
        raise InvalidWeightsError(message)
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(bad):
        message = (
            f"sample_weight holds {float(weights[bad[0]])!r} in row {bad[0]}; "
            "weights must be finite and not negative."
        )
        raise InvalidWeightsError(message)
    if not weights.any():
        message = "Sample weights must contain at least one non-zero number; all of them are zero."
        raise InvalidWeightsError(message)
    weights.flags.writeable = False
    return weights


def plain_labels(y: Any) -> Any:
    """Return labels as NumPy reads them: Arrow and polars columns as arrays, others as they are.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of one kind. Masked arrays are refused, and so are lists of strings and other
        labels together, of which NumPy would make one type behind our back.

    Returns
    -------
    array-like of shape (n_rows,)
        The labels.
    """
    if isinstance(y, np.ma.MaskedArray):
        message = "y is a masked array; fill or drop the masked labels first (y.filled(...))."
        raise InvalidLabelsError(message)
    if isinstance(y, list | tuple) and len({isinstance(label, str) for label in y}) > 1:
        message = "y holds text and other labels together. Use labels of one type."
        raise InvalidLabelsError(message)
    module = type(y).__module__.split(".")[0]
    return np.asarray(y) if module in {"pyarrow", "polars"} else y


def shown(label: Any) -> str:
    """Return a label as messages show it: a number as one writes it, text in quotes.

    Parameters
    ----------
    label : object
        A label, as it stands in an array of them.
    """
    if isinstance(label, np.datetime64 | np.timedelta64):
        return str(label)  # item() makes some of them whole numbers that mean nothing
    return repr(label.item() if isinstance(label, np.generic) else label)


def encoded(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """Return the distinct labels, sorted, and every row's position among them.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The labels.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The distinct labels.
    codes : ndarray of shape (n_rows,)
        Positions in ``classes``.
    """
    pair = _pair_of_numbers(labels)
    if pair is not None:
        return pair
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        message = f"The labels in y cannot be put in order: {error}. Use labels of one type."
        raise InvalidLabelsError(message) from error
    return classes, codes


def refuse_missing(labels: NDArray[Any]) -> None:
    """Refuse labels that are missing: NaN, infinity, not-a-time, None.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The labels.
    """
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    elif labels.dtype == object:
        # Only NaN and its kin differ from themselves.
        missing = np.fromiter(
            (label is None or bool(label != label) for label in labels),
            dtype=bool,
            count=len(labels),
        )
    else:
        return
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        label = shown(labels[row])
        message = f"y holds {label} in row {row}; labels must not be missing (NaN, inf, None)."
        raise InvalidLabelsError(message)


def _pair_of_numbers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint8]] | None:
    """Return what ``encoded`` does, if labels are two numbers, without sorting; else None."""
    if labels.dtype.kind not in "biuf" or labels.size == 0:
        return None
    low, high = labels.min(), labels.max()
    is_high = labels == high
    if low == high or not np.all(is_high | (labels == low)):
        return None
    return np.array([low, high], dtype=labels.dtype), is_high.view(np.uint8)


def _as_array(y: ArrayLike) -> NDArray[Any]:
    """Return the labels as an array of something that has an order."""
    try:
        labels = np.asarray(y)
    except ValueError as error:
        message = f"y cannot be read as one label per row: {error}"
        raise InvalidLabelsError(message) from error
    if labels.dtype.kind == "c":
        message = f"y has dtype {labels.dtype}; complex labels have no order."
        raise InvalidLabelsError(message)
    return labels
