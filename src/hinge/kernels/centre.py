"""Where rows are measured from, for kernels that depend on differences alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hinge.kernels.base import Floats, Kernel

if TYPE_CHECKING:
    from hinge.rows import Rows

FULL_SHARE = 0.75  # of entries that are not zero, from which zeros are not worth skipping
_SAMPLE_ROWS = 512  # rows looked at to tell whether most entries are zero


def some_rows(rows: Rows) -> NDArray[Any]:
    """Return as many of some dense rows as show whether most entries are zero.

    Parameters
    ----------
    rows : Rows
        The rows.
    """
    return rows.values[:: max(1, rows.n_rows // _SAMPLE_ROWS)]


def centre_for(kernel: Kernel, rows: Rows) -> Floats | None:
    """Return the point to measure rows from: their mean, or None for the origin.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : Rows
        The training rows.

    Returns
    -------
    ndarray of shape (n_features,) or None
        The centre.
    """
    if rows.is_sparse or not getattr(kernel, "is_translation_invariant", False):
        return None
    sample = some_rows(rows)
    if np.count_nonzero(sample) <= FULL_SHARE * sample.size:
        return None
    centre = np.zeros(rows.n_features)
    for block in rows.blocks():
        centre += np.sum(block.values, axis=0)
    return centre / rows.n_rows
