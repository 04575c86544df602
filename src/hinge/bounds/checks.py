"""What callers give an index of margins, and margins that overflow: read, or refused."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.errors import InvalidDataError
from hinge.labels import two_classes

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]


def shaped_weights(w: ArrayLike, n_features: int) -> Floats:
    """Return weights as an array of float64, one for every feature; the caller's own if it is."""
    weights = np.ascontiguousarray(w, dtype=np.float64)
    if weights.shape != (n_features,):
        message = (
            f"w has shape {weights.shape}; the rows have {n_features} features, so it must be "
            f"({n_features},)."
        )
        raise InvalidDataError(message)
    return weights


def require_finite_weights(w: Floats, square: float) -> None:
    """Refuse weights that are not finite, given the square of their length."""
    # One number that is not finite makes the sum of squares so; it may also just overflow.
    if not math.isfinite(square) and not np.isfinite(w).all():
        wrong = int(np.flatnonzero(~np.isfinite(w))[0])
        message = f"w[{wrong}] is {float(w[wrong])!r}; weights must be finite."
        raise InvalidDataError(message)


def room_for_gradient(out: Floats, w: Floats) -> Floats:
    """Return the caller's array, or refuse one that cannot hold the gradient at w."""
    is_array = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == w.shape
    if not is_array or not (out.flags.c_contiguous and out.flags.writeable):
        message = (
            f"out must be a writable, contiguous array of float64 of shape {w.shape}; got "
            f"{type(out).__name__} of shape {np.shape(out)}."
        )
        raise InvalidDataError(message)
    if np.may_share_memory(out, w):
        message = "out shares memory with w; give the gradient an array of its own."
        raise InvalidDataError(message)
    return out


def drawn_rows(rows: ArrayLike, n_rows: int) -> RowList:
    """Return row numbers as the core takes them, or raise."""
    drawn = np.asarray(rows)
    if drawn.ndim != 1 or drawn.dtype.kind not in "iu":
        message = (
            f"rows must be a list of row numbers; got dtype {drawn.dtype}, shape {drawn.shape}."
        )
        raise InvalidDataError(message)
    if len(drawn) and not (drawn.min() >= 0 and drawn.max() < n_rows):
        message = f"rows go from {drawn.min()} to {drawn.max()}; there are rows 0 to {n_rows - 1}."
        raise InvalidDataError(message)
    return drawn.astype(np.uint32)


def require_finite(margins: Floats, numbers: RowList | None) -> None:
    """Refuse margins that overflow: infinite ones would be compared, and NaN be given a side."""
    if np.isfinite(margins).all():
        return
    place = int(np.flatnonzero(~np.isfinite(margins))[0])
    row = place if numbers is None else int(numbers[place])
    message = (
        f"the decision value of row {row} overflows: X and w are too large to be multiplied. "
        "Scale X, and fit the machine on scaled rows."
    )
    raise InvalidDataError(message)


def signs_of(y: ArrayLike, n_rows: int) -> NDArray[np.int8]:
    """Return -1 or +1 for every row; labels that are already so may be of one kind only."""
    given = np.asarray(y)
    if given.shape == (n_rows,) and given.dtype.kind in "if" and np.all(np.abs(given) == 1):
        return given.astype(np.int8)
    return two_classes(y, n_rows)[1]
