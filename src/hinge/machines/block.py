"""Blocks of the kernel between two sets of rows, in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import Kernel
from hinge.kernels.centre import centre_for
from hinge.machines.native_rows import native_kernel, native_rows, scales_of, view
from hinge.rows import Rows

Floats = NDArray[np.float64]


def kernel_block(kernel: Kernel, support: Rows | NDArray[np.int64], X: Rows) -> Floats:
    """Return the kernel of every support row with every row of X.

    A value depends on its two rows and the support alone, not on the other rows of X.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    support : Rows or ndarray of int64
        The support rows; for a precomputed kernel their numbers, which are columns of X.
    X : Rows
        The other rows; few enough for one call.

    Returns
    -------
    ndarray of shape (n_support, n_rows)
        The values.
    """
    kernel = kernel.on(support) if isinstance(support, Rows) else kernel
    native = native_kernel(kernel)
    if native is None or not isinstance(support, Rows):
        operand = support.matrix if isinstance(support, Rows) else np.asarray(support)
        return np.ascontiguousarray(kernel.block(X.matrix, operand).T)
    centre = None if X.is_sparse else centre_for(native.kernel, support)
    terms, points = (
        native_rows(native, view(rows), (centre, scales_of(native, rows, 1.0)), np.float64)
        for rows in (support, X)
    )
    block = np.empty((support.n_rows, X.n_rows))
    everything = np.arange(support.n_rows)
    points.block(terms, everything, 0, None, block, everything, 0, X.n_rows)
    return block
