"""Kernel matrices in extended precision, by formulas that are written twice on purpose.

Nothing here calls the values of :mod:`hinge.kernels`: distances are sums of squared differences,
and every operation is in ``numpy.longdouble``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.kernels import Kernel


def extended_kernel(kernel: Kernel, A: Any, B: Any) -> Any:
    """Return the kernel of every row of A with every row of B in extended precision.

    Meant for small arrays: it makes one of shape (len(A), len(B), n_features).

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    A, B : ndarray or csr_array
        Rows; for a precomputed kernel, rows of the matrix and numbers of training rows.

    Returns
    -------
    ndarray of longdouble of shape (len(A), len(B))
        The values.
    """
    if kernel.name in ("precomputed", "callable"):
        return kernel.block(A, B).astype(np.longdouble)
    first, second = _extended(A), _extended(B)
    if kernel.name == "normalised":
        inner: Kernel = kernel.kernel  # type: ignore[attr-defined]
        squares = [
            np.asarray([extended_kernel(inner, row[None], row[None])[0, 0] for row in rows])
            for rows in (first, second)
        ]
        scales = [np.where(s > 0, 1 / np.sqrt(np.where(s > 0, s, 1)), 0) for s in squares]
        values = extended_kernel(inner, first, second)
        return scales[0][:, None] * values * scales[1][None, :]
    if kernel.name in ("linear", "poly", "sigmoid"):
        return _of_products(kernel, (first[:, None, :] * second[None, :, :]).sum(axis=-1))
    return _of_differences(kernel, first[:, None, :], second[None, :, :])


def _of_products(kernel: Any, products: Any) -> Any:
    """Return the value for inner products."""
    if kernel.name == "linear":
        return products
    t = np.longdouble(kernel.gamma) * products + np.longdouble(kernel.coef0)
    return np.tanh(t) if kernel.name == "sigmoid" else t**kernel.degree


def _of_differences(kernel: Any, a: Any, b: Any) -> Any:
    """Return the value for pairs of rows, as an exponential of a distance."""
    if kernel.name == "rbf":
        distances = ((a - b) ** 2).sum(axis=-1)
    elif kernel.name == "laplacian":
        distances = np.abs(a - b).sum(axis=-1)
    elif kernel.name == "chi2":
        sums = a + b
        distances = ((a - b) ** 2 / np.where(sums == 0, 1, sums)).sum(axis=-1)
    else:
        message = f"no formula in extended precision for {kernel!r}"
        raise NotImplementedError(message)
    return np.exp(-np.longdouble(kernel.gamma) * distances)


def _extended(rows: Any) -> Any:
    dense = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return dense.astype(np.longdouble)
