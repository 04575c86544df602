"""The intercept of a kernel machine, given the scores of its rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.losses import Loss

Floats = NDArray[np.float64]


def intercept_between(
    loss: Loss,
    scores: Floats,
    signs: NDArray[np.int8],
    costs: Floats,
    ends: tuple[float, float],
) -> float:
    """Return the middle of the intercepts between two that make the sum of losses least.

    Only kinks between the two are sorted: where these are close to each other it costs little more
    than one sum over the rows. Rounding of the sums is not bounded.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    scores : ndarray of shape (n,)
        Decision values without intercept.
    signs : ndarray of int8 of shape (n,)
        Labels, -1 or +1.
    costs : ndarray of shape (n,)
        Weight of every row's loss.
    ends : tuple of two floats
        The smallest and the largest intercept that will do; finite.

    Returns
    -------
    float
        The intercept.
    """
    kinks, pieces = _tables(loss)
    found: float = core.best_intercept(
        kinks,
        pieces,
        scores,
        signs,
        np.ascontiguousarray(costs),
        *ends,
    )
    return found


@lru_cache(maxsize=8)  # pairs of classes have one loss, and ask again and again
def _tables(loss: Loss) -> tuple[Floats, Floats]:
    """Return the kinks of a loss and the pieces of its derivative, as native code takes them."""
    kinks = np.asarray([(kink.margin, kink.jump, kink.bend) for kink in loss.kinks])
    tables = np.ascontiguousarray(kinks.T), np.stack(loss.derivative_pieces())
    for table in tables:
        table.flags.writeable = False
    return tables
