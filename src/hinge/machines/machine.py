"""A fitted kernel machine: what its decision values are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.kernels import CallableKernel, Kernel
from hinge.machines.decision import decision_values
from hinge.rows import Rows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """What decision values are computed from.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with every parameter a number.
    support : Rows or ndarray of int
        The support vectors; of a kernel matrix, the numbers of their columns.
    coefficients : ndarray of shape (n_SV, n_pairs)
        Their coefficients in every pair.
    intercept : ndarray of shape (n_pairs,)
        Intercepts.
    """

    kernel: Kernel
    support: Any
    coefficients: Floats
    intercept: Floats

    def values(self, rows: Rows, threads: int = 1) -> Floats:
        """Return the decision values of rows, with the same bits in any company.

        Parameters
        ----------
        rows : Rows
            The rows.
        threads : int, default=1
            How many threads share out the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_pairs)
            Decision values.
        """
        if len(self.coefficients) == 0:
            return np.tile(self.intercept, (rows.n_rows, 1))
        support = self.support
        if isinstance(self.kernel, CallableKernel):
            support = alike(support, rows)  # the caller's function need not take both kinds
        sums = decision_values(self.kernel, support, self.coefficients, rows, threads=threads)
        return np.asarray(sums) + self.intercept


def alike(rows: Rows, other: Rows) -> Rows:
    """Return rows that are dense or sparse as others are.

    Parameters
    ----------
    rows, other : Rows
        The rows, and those that they meet in a kernel.
    """
    if rows.is_sparse == other.is_sparse:
        return rows
    return Rows(sp.csr_array(rows.matrix) if other.is_sparse else rows.matrix.toarray())
