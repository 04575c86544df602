"""The equality ``y'alpha = 0`` of a free intercept, restored where a run has left it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def balance(alpha: NDArray[np.float64], signs: NDArray[np.int8]) -> None:
    """Make ``signs @ alpha`` vanish, up to rounding, by scaling the heavier class down.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Dual coefficients, changed in place.
    signs : ndarray of shape (n,)
        Labels, -1 or +1.
    """
    positive = signs > 0
    counted = alpha > 0.0  # so that rows without cost, wherever they lie, change no bit of a sum
    sums = float(alpha[counted & ~positive].sum()), float(alpha[counted & positive].sum())
    if max(sums) > 0.0:
        share = min(sums) / max(sums)
        alpha *= np.take((1.0, share) if sums[1] > sums[0] else (share, 1.0), positive)
