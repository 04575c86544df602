"""Rows whose proven label is not the one that another evaluation of the same machine gave.

For machines of other libraries equality is with hinge's evaluation of their numbers. Another
program adds the same terms in another order, rounds them otherwise or breaks ties by other rules,
so that a few labels may differ; none of them should do so unseen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidDataError

Floats = NDArray[np.float64]

_SHOWN = 5


@dataclass(frozen=True)
class Differences:
    """Where two lists of labels differ.

    Parameters
    ----------
    n_rows : int
        How many rows were compared.
    rows : ndarray of int64
        The rows that differ, in rising order.
    labels : ndarray
        Their labels by the full evaluation of hinge.
    others : ndarray
        Their labels by the other evaluation.
    values : ndarray of shape (n_differences, n_functions)
        Their decision values by the full evaluation of hinge.
    """

    n_rows: int
    rows: NDArray[np.int64]
    labels: NDArray[Any]
    others: NDArray[Any]
    values: Floats

    @property
    def count(self) -> int:
        """How many rows differ."""
        return len(self.rows)

    def __str__(self) -> str:
        if not self.count:
            return f"All {self.n_rows} labels agree."
        lines = [f"{self.count} of {self.n_rows} labels differ:"]
        for k in range(min(self.count, _SHOWN)):
            nearest = float(np.min(np.abs(self.values[k])))
            lines.append(
                f"row {self.rows[k]}: {self.labels[k]} here, {self.others[k]} there; the value "
                f"nearest to zero is {nearest:.3g}."
            )
        if self.count > _SHOWN:
            lines.append(f"and {self.count - _SHOWN} more.")
        return "\n".join(lines)


def differing(labels: NDArray[Any], others: Any) -> NDArray[np.int64]:
    """Return which labels differ.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Labels of hinge.
    others : array-like of shape (n_samples,)
        Labels of another evaluation.
    """
    found = np.asarray(others)
    if found.shape != labels.shape:
        message = f"labels must be one for each of {len(labels)} rows; got shape {found.shape}."
        raise InvalidDataError(message)
    return np.flatnonzero(found != labels)
