"""Whether a kernel matrix is positive semidefinite: a vector can prove that it is not.

That it is cannot be proven of a singular matrix in floating point, and kernel matrices are often
singular. So only the contrary is looked for: a vector v with v'Kv clearly below zero, beyond what
rounding the values of K itself can have done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_FEW_ROWS = 500  # so few, and all eigenvalues are computed
_MOST_STEPS = 300  # of Lanczos' method otherwise
_TOLERANCE = 1e-3  # any vector will do, so the eigenvalue need not be exact
_ROUNDINGS = 4.0


def negative_curvature(rows: Rows) -> float | None:
    """Return v'Kv of a unit vector v, if one is found for which that is negative; else None.

    Parameters
    ----------
    rows : Rows
        A square matrix, which stands for its symmetric part.
    """
    with single_threaded_blas():
        vectors = _lowest_vectors(rows)
        largest = float(np.max(np.abs(rows.values), initial=0.0))
        slack = _ROUNDINGS * rows.n_rows * float(np.finfo(rows.dtype).eps) * largest
        values = [float(v @ _product(rows, v)) for v in vectors.T]
    found = min(values, default=0.0)
    return found if found < -slack else None


def _lowest_vectors(rows: Rows) -> Floats:
    """Return unit vectors, one a column, near that of the lowest eigenvalue; perhaps none."""
    from scipy.sparse.linalg import (  # noqa: PLC0415 - slow to import, seldom used
        ArpackNoConvergence,
        LinearOperator,
        eigsh,
    )

    n = rows.n_rows
    if n <= _FEW_ROWS:
        matrix: Any = rows.matrix.toarray() if rows.is_sparse else rows.matrix
        dense = matrix.astype(np.float64)
        return np.asarray(np.linalg.eigh(0.5 * (dense + dense.T))[1][:, :1])
    operator = LinearOperator((n, n), matvec=lambda v: _product(rows, np.ravel(v)), dtype=float)
    start = np.cos(np.arange(n, dtype=np.float64))
    try:
        found = eigsh(operator, k=1, which="SA", maxiter=_MOST_STEPS, tol=_TOLERANCE, v0=start)
    except ArpackNoConvergence as error:
        return np.asarray(error.eigenvectors).reshape(n, -1)
    return np.asarray(found[1])


def _product(rows: Rows, v: Floats) -> Floats:
    """Return the symmetric part of the matrix times a vector."""
    total = np.zeros(rows.n_rows)
    for block in rows.blocks():
        total[block.rows] += 0.5 * block.dot(v)
        total += 0.5 * block.transpose_dot(v[block.rows])
    return total
