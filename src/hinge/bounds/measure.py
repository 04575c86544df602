"""The constants of the cost model, measured on this machine and these rows."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from hinge.bounds.pieces import get_pieces
from hinge.bounds.policy import Measured
from hinge.bounds.sorted_margins import SortedMargins
from hinge.errors import InvalidParameterError
from hinge.losses import Loss

_STRIDE = 16  # every so manieth row is listed
_LEAST = 1e-3  # of a row's cost: a clock that is too coarse must not give 0


def measure(index: SortedMargins, loss: str | Loss = "hinge", repeats: int = 3) -> Measured:
    """Return the policy whose constants are those of this machine and these rows.

    Nothing of the index changes. Give the policy to a new index, or set it as ``index.policy``;
    its constants stay what they are, also in a file, so that a run can be repeated.

    Parameters
    ----------
    index : SortedMargins
        The index; it must have been evaluated once.
    loss : str or Loss, default="hinge"
        The loss that will be evaluated.
    repeats : int, default=3
        Each cost is the least of so many measurements.

    Returns
    -------
    Measured
        The policy.
    """
    reference = index.stored.reference
    if reference is None or repeats < 1:
        message = (
            "measure needs an index that has been evaluated once, and at least one repeat; got "
            f"repeats={repeats!r} and {'no' if reference is None else 'an'} evaluation."
        )
        raise InvalidParameterError(message)
    pieces, n = get_pieces(loss), index.rows.n_rows
    w, b, width = reference.w, reference.b, index.rows.n_features
    listed = np.arange(0, n, _STRIDE, dtype=np.uint32)
    scratch = np.empty(n)
    full = _least(lambda: index.passes.all_rows(w, b, pieces, scratch), repeats)
    some = _least(
        lambda: index.passes.listed((w, b), pieces, listed, reference.margins, np.zeros(width)),
        repeats,
    )
    storing = _least(index.stored.laid_out, repeats)
    row = max(full / n, 1e-12)
    return Measured(
        open_row=max(some / len(listed) / row, _LEAST), store_row=max(storing / n / row, _LEAST)
    )


def _least(action: Callable[[], object], repeats: int) -> float:
    """Return the least of several durations, in seconds."""
    durations = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        durations.append(time.perf_counter() - started)
    return min(durations)
