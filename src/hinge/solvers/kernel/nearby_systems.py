r"""Linear systems over the free rows of a working set, for one set of them after another.

For sets F of free rows that differ little from each other, the systems

.. math:: (K + D)_{FF}\, x_F = r_F, \qquad x_i = 0 \text{ elsewhere,}

are solved from the Cholesky factor of one of them, the *base* B. What differs is put in a *border*
[1]_: for a row of B that is not free a unit vector e, which holds its x at 0, and for a free row
that is not in B its kernel values with B. With these columns V and their corner C

.. math:: \begin{pmatrix} (K + D)_{BB} & V \\ V' & C \end{pmatrix}
          \begin{pmatrix} x_B \\ z \end{pmatrix} = \begin{pmatrix} r_B \\ s \end{pmatrix}
          \quad\Longrightarrow\quad (C - V'(K + D)_{BB}^{-1} V)\, z = s - V'(K + D)_{BB}^{-1} r_B .

A column costs as much as a product with the matrix and serves all later systems. Everything is
float32: who wants more solves again for what is left.

References
----------
.. [1] P. E. Gill, W. Murray, M. A. Saunders and M. H. Wright, "A Schur-complement method for sparse
   quadratic programming", in Reliable Numerical Computation, 1990.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.blas import strsv

from hinge.machines.pages import empty_pages
from hinge.solvers.kernel.blocked_cholesky import factorise

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ids = NDArray[np.int64]
Check = Callable[[], None]

FEW_BORDERS = 0.125  # of the rows of a base: with more, factorising anew is cheaper
_BLOCK = 128  # columns at a time: some 20 to 40 ms of a matrix of four thousand


class NearbySystems:
    """The factor of a base, and the borders for what differs from it.

    Parameters
    ----------
    base : ndarray of int64
        The rows of the base, in order.
    borders : tuple of ndarray of int64, default=()
        The rows that have a border, in the groups in which these were made: with them comes the
        same as before, to the bit.
    """

    def __init__(self, base: Ids, borders: tuple[Ids, ...] = ()) -> None:
        self.base, self.borders = base, borders
        self._upper: Singles | None = None
        self._used: Ids | None = None  # the borders whose corner was factorised last

    def enter(
        self, chosen: Ids, matrix: Singles, diagonal: Floats, check: Check | None = None
    ) -> None:
        """Take the working set of the systems to come; the base must be part of it.

        Parameters
        ----------
        chosen : ndarray of int64
            Its rows, in order; those of the base and of the borders are among them.
        matrix : ndarray of float32 of shape (n, n)
            Their kernel matrix.
        diagonal : ndarray of shape (n,)
            D.
        check : callable or None, default=None
            Called every few milliseconds; raises to give up.

        Raises
        ------
        numpy.linalg.LinAlgError
            If rounding has left the matrix of the base no longer positive definite.
        """
        self._matrix, self._diagonal, self._ids = matrix, diagonal, chosen
        self._check = check
        if self._upper is None:
            groups = self.borders
            self._begin(np.searchsorted(chosen, self.base))
            for group in groups:
                self._add_borders(np.searchsorted(chosen, group))
            return
        self._note_base(np.searchsorted(chosen, self.base))
        bordered = np.concatenate((self.base[:0], *self.borders))
        self._bordered = np.searchsorted(chosen, bordered)

    def leave(self) -> None:
        """Let go of the matrix of the working set: others need its memory."""
        self._matrix = np.zeros((0, 0), dtype=np.float32)

    @property
    def nbytes(self) -> int:
        """The bytes of the factor and the borders."""
        if self._upper is None:
            return 0
        return self._upper.nbytes + self._columns.nbytes + self._corner.nbytes

    def solve(self, is_free: NDArray[np.bool_], right: Floats) -> Floats:
        """Return the solutions over the free rows, zero elsewhere.

        Parameters
        ----------
        is_free : ndarray of bool of shape (n,)
            Which rows of the set are free.
        right : ndarray of shape (n, k)
            Right-hand sides. Those of rows that are not free matter for rounding alone: the less
            these want to move, the better.
        """
        differs = self._is_base != is_free
        if np.count_nonzero(differs) > FEW_BORDERS * len(self._at):
            self._begin(np.flatnonzero(is_free))
            differs[:] = False
        is_new = differs.copy()
        is_new[self._bordered] = False
        if is_new.any():
            self._add_borders(np.flatnonzero(is_new))
        used = np.flatnonzero(differs[self._bordered])
        rows = self._bordered[used]
        half = self._single(right[self._at], trans=1)
        found = np.zeros(right.shape)
        if len(used):
            columns = self._columns[used]
            sides = np.where(is_free[rows, None], right[rows], 0.0) - columns @ half
            border = scipy.linalg.lu_solve(self._border_factor(used), sides, check_finite=False)
            half -= columns.T @ border.astype(np.float32)
            found[rows] = border
        found[self._at] = self._single(half, trans=0)
        found[~is_free] = 0.0
        return found

    def _border_factor(self, used: Ids) -> Any:
        """Return the factors of the corner for some of the borders; the last ones are kept."""
        if self._used is None or not np.array_equal(used, self._used):
            corner = self._corner[np.ix_(used, used)]
            *self._border_factors, info = scipy.linalg.lapack.dgetrf(corner, overwrite_a=True)
            if info:
                raise np.linalg.LinAlgError
            self._used = used
        return self._border_factors

    def _begin(self, at: Ids) -> None:
        """Factorise the matrix of some rows of the set, which become the base."""
        self._note_base(at)
        self.base, self.borders = self._ids[at], ()
        self._columns = np.zeros((0, len(at)), dtype=np.float32)  # V' times the factor's inverse
        self._corner = np.zeros((0, 0))
        self._bordered = np.zeros(0, dtype=np.int64)
        self._used = None
        self._upper = None  # before the next one is made
        self._upper = self._factor()

    def _note_base(self, at: Ids) -> None:
        self._at = at
        self._is_base = np.zeros(len(self._ids), dtype=bool)
        self._is_base[at] = True

    def _factor(self) -> Singles:
        """Return the upper triangular factor of the base's matrix."""
        at = self._at
        system = empty_pages((len(at), len(at)), np.float32)
        for first in range(0, len(at), _BLOCK):
            some = slice(first, first + _BLOCK)
            system[some] = self._matrix[np.ix_(at[some], at)]
        own = np.arange(len(self._at))
        system[own, own] += self._diagonal[self._at].astype(np.float32)
        factorise(system, self._check)
        return system.T

    def _single(self, right: NDArray[np.floating], trans: int) -> Singles:
        """Return solutions with the factor, one column after the other: for a few of them."""
        columns = right.T.astype(np.float32)
        return np.stack([strsv(self._upper, column, trans=trans) for column in columns], axis=1)

    def _forward(self, right: Singles) -> Singles:
        """Return solutions with the transposed factor, some columns at a time."""
        found = np.empty_like(right)
        for first in range(0, right.shape[1], _BLOCK):
            if self._check is not None:
                self._check()
            some = right[:, first : first + _BLOCK]
            found[:, first : first + _BLOCK] = scipy.linalg.solve_triangular(
                self._upper, some, trans=1, check_finite=False
            )
        return found

    def _add_borders(self, rows: Ids) -> None:
        """Make a border for each of some rows of the set."""
        is_extra = ~self._is_base[rows]
        extra = rows[is_extra]
        columns = np.zeros((len(self._at), len(rows)), dtype=np.float32, order="F")
        columns[:, is_extra] = self._matrix[np.ix_(self._at, extra)]
        columns[np.searchsorted(self._at, rows[~is_extra]), np.flatnonzero(~is_extra)] = 1.0
        made = self._forward(columns).T
        before = len(self._bordered)
        self._bordered = np.concatenate((self._bordered, rows))
        self._columns = np.concatenate((self._columns, made))
        across = -(self._columns @ made.T).astype(np.float64)
        were_extra = ~self._is_base[self._bordered]
        between = self._matrix[np.ix_(self._bordered[were_extra], extra)]
        across[np.ix_(were_extra, is_extra)] += between
        own = np.arange(len(rows))
        across[before + own, own] += np.where(is_extra, self._diagonal[rows], 0.0)
        corner = np.empty((len(self._bordered),) * 2)
        corner[:before, :before] = self._corner
        corner[:, before:], corner[before:] = across, across.T
        self._corner = corner
        self.borders = (*self.borders, self._ids[rows])
