r"""Systems with a positive definite matrix and, for a free intercept, one balance.

.. math:: \begin{pmatrix} M & 1 \\ 1' & 0 \end{pmatrix}
          \begin{pmatrix} x \\ b \end{pmatrix} = \begin{pmatrix} r \\ s \end{pmatrix}
          \quad\Longrightarrow\quad b = \frac{1'M^{-1}r - s}{1'M^{-1}1}, \qquad
          x = M^{-1}r - b\,M^{-1}1 .

M is factorised in blocks, between which the caller may give up. Where it is too large for that,
there are conjugate gradients (:mod:`hinge.solvers.kernel.conjugate`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.solvers.kernel.blocked_cholesky import factorise
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Check = Callable[[], None]
Apply = Callable[[Floats], Floats]

_JITTER = 1e-15  # of the diagonal, added to a matrix that rounding has made indefinite
_MOST_JITTER = 1e-8


def solve_bordered(inverse: Apply, right: Floats, balance: float | None) -> tuple[Floats, float]:
    """Solve the system, given what solves it without a balance.

    Parameters
    ----------
    inverse : callable
        Takes r to the solution x of ``M x = r``.
    right : ndarray of shape (m,)
        The right-hand side r.
    balance : float or None
        What x is to sum up to; None for no such condition.

    Returns
    -------
    x : ndarray of shape (m,)
        The solution.
    b : float
        Its multiplier, 0 without a balance.
    """
    free = inverse(right)
    if balance is None:
        return free, 0.0
    ones = inverse(np.ones(len(right)))
    total = float(np.sum(ones))
    multiplier = (float(np.sum(free)) - balance) / total if total > 0.0 else 0.0
    return free - multiplier * ones, multiplier


def factorised(matrix: Floats, check: Check | None = None) -> Apply:
    """Return what solves a system with a positive definite matrix, which is overwritten.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        The matrix; symmetric.
    check : callable or None, default=None
        Called between blocks; raises to give up.

    Returns
    -------
    callable
        Takes a right-hand side to the solution.
    """
    diagonal = np.diagonal(matrix).copy()
    jitter = 0.0
    while True:
        try:
            attempt = matrix if jitter >= _MOST_JITTER else matrix.copy()
            attempt[np.diag_indices_from(attempt)] = diagonal * (1.0 + jitter)
            factorise(attempt, check)
            break
        except np.linalg.LinAlgError:
            if jitter >= _MOST_JITTER:
                raise
            jitter = max(10.0 * jitter, _JITTER)

    def inverse(right: Floats) -> Floats:
        with single_threaded_blas():
            return np.asarray(scipy.linalg.cho_solve((attempt, True), right, check_finite=False))

    return inverse
