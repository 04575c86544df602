"""What rounding does to an exponential."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXP_UNITS = 8.0  # units of roundoff, so 4 ulp: twice what any implementation here was seen to need


def exponential_error(error: Floats, unit: float) -> tuple[Floats, Floats]:
    """Return error bounds of ``exp(t)`` for t not above 0, given a bound on the error of t.

    Parameters
    ----------
    error : ndarray
        Bound on the error of t.
    unit : float
        Unit roundoff of the arithmetic.

    Returns
    -------
    relative, absolute : ndarray
        Bounds, relative to the computed value, and for values that underflow.
    """
    info = np.finfo(np.float32 if unit > 1e-10 else np.float64)
    with np.errstate(over="ignore"):
        relative = np.expm1(error) + 2.0 * EXP_UNITS * unit * np.exp(error)
        absolute = 2.0 * float(info.smallest_normal) * np.exp(error)
    return relative, absolute


def decay_error(factor: float, unit: float) -> tuple[float, float]:
    """Return error bounds of ``exp(-x)``, given a bound on the relative error of ``x >= 0``.

    The error of x is at most ``factor * x``, and ``x exp(-x)`` is at most 1/e: so much is absolute.

    Parameters
    ----------
    factor : float
        Bound on the relative error of x.
    unit : float
        Unit roundoff of the arithmetic.
    """
    info = np.finfo(np.float32 if unit > 1e-10 else np.float64)
    # exp(-x (1 - factor)) is the largest that a value can be: x times it is 1/(e (1 - factor)).
    absolute = factor / (np.e * (1.0 - factor)) * 1.01 if factor < 0.5 else np.inf
    return 2.0 * EXP_UNITS * unit, float(absolute + 2.0 * info.smallest_normal)
