r"""The rows that are free to move, with the Cholesky factor of their part of the matrix.

The factor L of :math:`Q_{FF} = L L'` grows by a row in a triangular solve and loses one by
rotations, both in a number of operations that is quadratic in the number of rows. A row is
*refused* if its pivot, the square of its distance from the span of the others, is no more than
rounding beside its own square: duplicates, and whatever a kernel of low rank makes dependent.

The step to the minimum over the free variables, all else fixed, solves

.. math:: \begin{pmatrix} 0 & 1' \\ 1 & Q_{FF} \end{pmatrix}
          \begin{pmatrix} \nu \\ d \end{pmatrix} = \begin{pmatrix} 0 \\ -g_F \end{pmatrix}

where the sum of the variables stays as it is: the multiplier nu is a variable of the min-max form
[1]_ and nothing else has to watch over the sum. Q has a constant added to it in this case, which
changes nothing for steps of sum zero and makes Q regular whenever the bordered matrix is.

References
----------
.. [1] A. Shilton, M. Palaniswami, D. Ralph and A. C. Tsoi, "Incremental training of support vector
   machines", IEEE Transactions on Neural Networks 16, 2005.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.linalg.blas import dtpsv

from hinge._native import core

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

DEPENDENT = 1e-10  # share of a row's own square at which its pivot is rounding


class FreeSet:
    """Rows in the order in which they came, and the factor of their matrix.

    Parameters
    ----------
    ids : ndarray of int64
        The rows.
    packed : ndarray
        The factor's rows, one after the other; there may be room behind them.
    """

    def __init__(self, ids: Ids | None = None, packed: Floats | None = None) -> None:
        self.ids: Ids = np.zeros(0, dtype=np.int64) if ids is None else ids
        self.packed: Floats = np.zeros(0) if packed is None else packed

    def __len__(self) -> int:
        return len(self.ids)

    def copy(self) -> FreeSet:
        """Return a copy whose changes leave this one alone."""
        return FreeSet(self.ids.copy(), self.packed.copy())

    def forward(self, right: Floats) -> Floats:
        """Return ``L^-1 right``."""
        if len(self.ids) == 0:
            return np.zeros(0)
        return np.asarray(dtpsv(len(self.ids), self.packed, right, trans=1))

    def solve(self, right: Floats) -> Floats:
        """Return ``Q^-1 right``."""
        if len(self.ids) == 0:
            return np.zeros(0)
        return np.asarray(dtpsv(len(self.ids), self.packed, self.forward(right), overwrite_x=1))

    def append(self, row: int, column: Floats, square: float) -> bool:
        """Add a row at the end unless it depends on the others.

        Parameters
        ----------
        row : int
            Its number.
        column : ndarray of shape (len(self),)
            Its entries in the matrix with the rows that are here.
        square : float
            Its own entry.

        Returns
        -------
        bool
            Whether it was added.
        """
        count = len(self.ids)
        across = self.forward(column)
        pivot = square - float(across @ across)
        if not pivot > DEPENDENT * square:
            return False
        first = count * (count + 1) // 2
        if len(self.packed) < first + count + 1:
            grown = np.zeros(max(64, 2 * (first + count + 1)))
            grown[:first] = self.packed[:first]
            self.packed = grown
        self.packed[first : first + count] = across
        self.packed[first + count] = np.sqrt(pivot)
        self.ids = np.append(self.ids, np.int64(row))
        return True

    def remove(self, place: int) -> None:
        """Remove the row at a place in the order; those behind it move up."""
        core.drop_packed_row(self.packed, len(self.ids), place)
        self.ids = np.delete(self.ids, place)

    def factor(self, ids: Ids, matrix: Floats) -> None:
        """Take other rows instead, those that do not depend on earlier ones.

        Parameters
        ----------
        ids : ndarray of int64
            The rows.
        matrix : ndarray of shape (len(ids), len(ids))
            Their matrix.
        """
        self.ids, self.packed = np.zeros(0, dtype=np.int64), np.zeros(0)
        if len(ids) == 0:
            return
        triangle, failed = lapack.dpotrf(matrix, lower=1, clean=1)
        squares = np.diagonal(matrix)
        if failed == 0 and bool(np.all(np.diagonal(triangle) ** 2 > DEPENDENT * squares)):
            self.ids = ids.copy()
            self.packed = triangle[np.tril_indices(len(ids))]
            return
        places: list[int] = []
        for place, row in enumerate(ids):
            if self.append(int(row), matrix[place, places], float(matrix[place, place])):
                places.append(place)

    def step(self, gradient: Floats, is_balanced: bool) -> tuple[Floats, float]:
        """Return the step to the minimum over the free variables, and the multiplier of the sum.

        Parameters
        ----------
        gradient : ndarray of shape (len(self),)
            The gradient of the free variables.
        is_balanced : bool
            Whether the step sums to zero.

        Returns
        -------
        tuple of ndarray and float
            The step, and nu; after the step the gradient is ``-nu`` everywhere.
        """
        newton = -self.solve(gradient)
        if not is_balanced or len(self.ids) == 0:
            return newton, 0.0
        ones = self.solve(np.ones(len(self.ids)))
        nu = float(np.sum(newton)) / float(np.sum(ones))
        return newton - nu * ones, nu

    def dependence(self, column: Floats) -> Floats:
        """Return how the free variables answer a dependent one that grows by 1."""
        return -self.solve(column)
