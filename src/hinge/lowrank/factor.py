r"""A low-rank factor of a kernel matrix, and the map that takes new rows to it.

Every factor here is a projection. The images :math:`\phi(x_i)` are projected onto the span of r
functions :math:`g_j = \sum_b T_{bj} \phi(x_b)` of some *basis* rows b, which are orthonormal, and
row i of V has the coordinates:

.. math:: v_i = T' k(x_B, x_i), \qquad K - VV' = \big(\langle \phi(x_i) - P\phi(x_i),
          \phi(x_j) - P\phi(x_j) \rangle\big)_{ij} \succeq 0 .

Three things follow, on which bounds rest: the remainder is positive semidefinite, its trace is
known, and a weight vector w of the coordinates is the function :math:`f = \sum_b (Tw)_b k(x_b,
\cdot)`, whose norm is that of w and whose values at the rows are Vw: the objective of w over V is
the objective of f.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.errors import InvalidDataError
from hinge.kernels import Kernel
from hinge.machines import kernel_block
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_VALUES_A_PANEL = 1 << 18  # kernel values of new rows that are made at a time, some 10 ms


@dataclass(frozen=True)
class Factor:
    """A matrix V with ``K - V V'`` positive semidefinite and small.

    Parameters
    ----------
    values : ndarray of shape (n_rows, rank)
        The factor V, float64 or float32.
    basis : ndarray of int64 of shape (n_basis,)
        Numbers of the rows that span it.
    map : ndarray of shape (n_basis, rank)
        Takes kernel values with the basis rows to coordinates.
    remainder : ndarray of shape (n_rows,)
        Diagonal of ``K - V V'``, not negative.
    trace : float
        Trace of K.
    kernel : Kernel
        The kernel.
    support : Rows or ndarray of int64
        The basis rows themselves; of a kernel matrix, their numbers.
    method : str
        How it was found.
    computed : int
        Kernel values that it took.
    """

    values: NDArray[Any]
    basis: Ids
    map: Floats
    remainder: Floats
    trace: float
    kernel: Kernel
    support: Any = field(repr=False)
    method: str
    computed: int

    @property
    def rank(self) -> int:
        """Number of columns of V."""
        return int(self.values.shape[1])

    @property
    def trace_error(self) -> float:
        """Trace of ``K - V V'``; no eigenvalue of it is larger."""
        return float(np.sum(self.remainder))

    @property
    def relative_error(self) -> float:
        """The trace error as a share of the trace of K."""
        return self.trace_error / self.trace if self.trace > 0.0 else 0.0

    def coefficients(self, weights: Floats) -> Floats:
        """Return the kernel machine over the basis rows that is a weight vector.

        Parameters
        ----------
        weights : ndarray of shape (rank,)
            Weights of the coordinates.

        Returns
        -------
        ndarray of shape (n_basis,)
            Coefficients c of ``f(x) = sum_b c_b k(x_b, x)``, which is ``weights @ transform(x)``.
        """
        with single_threaded_blas():
            return np.asarray(self.map @ weights)

    def transform(self, X: Any, threads: int = 1, check: Check | None = None) -> Floats:
        """Return the coordinates of new rows.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            The rows; for a precomputed kernel their kernel values with the training rows.
        threads : int, default=1
            How many threads share out the rows; never changes a bit.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            Coordinates, whose inner products with those of the training rows are nearly the kernel.
        """
        rows = X if isinstance(X, Rows) else Rows(X)
        self._check_width(rows)
        coordinates = np.zeros((rows.n_rows, self.rank))
        size = max(1, _VALUES_A_PANEL // max(1, len(self.basis)))

        def panel(number: int) -> None:
            some = np.arange(number * size, min((number + 1) * size, rows.n_rows))
            block = kernel_block(self.kernel, self.support, rows.take(some))
            coordinates[some] = block.T @ self.map

        if rows.n_rows and self.rank:
            count = -(-rows.n_rows // size)
            map_numbers(panel, count, lambda one, _: one, threads=threads, check=check)
        return coordinates

    def _check_width(self, rows: Rows) -> None:
        """Refuse rows that the kernel cannot take together with the basis."""
        expected = rows.n_features
        if isinstance(self.support, Rows):
            expected = self.support.n_features
        elif len(self.basis):
            expected = len(self.remainder)
        if rows.n_features != expected:
            message = (
                f"X has {rows.n_features} features, but the factor is one of rows with {expected}; "
                "give the same features in the same order."
            )
            raise InvalidDataError(message)
