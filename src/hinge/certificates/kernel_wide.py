r"""Sparse rows of many features as the products of a kernel panel take them.

Of many features, as of words, a few are in a good part of all rows and most are in hardly any. Rows
are cut in two: the *frequent* features make a dense matrix for BLAS, the *rare* ones stay sparse,

.. math:: a'b = a_F'b_F + a_R'b_R ,

and a product of two sparse matrices touches only what two rows have in common. If a feature is in
a share p of all rows, it costs a value :math:`c_F` as a frequent one and :math:`c_R p^2` as a rare
one, so those are frequent with :math:`p > \sqrt{c_F / c_R}`. Terms that are zero round nothing: the
bound on the rounding of a product counts stored values, in whatever order they are added.

Rows whose features are all about as frequent do better as sparse rows times a dense panel of
support vectors; what is counted tells which.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.certificates.kernel_operands import (
    DENSE_FROM,
    MANY_FEATURES,
    DenseOperands,
    Operands,
    SparseOperands,
    Wanted,
)
from hinge.ingest import assemble
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

# What a value costs, in nanoseconds: of a frequent feature, of a rare one that both rows have, of a
# stored value that multiplies a dense panel, and what making a sparse result dense adds.
_FREQUENT_COST = 0.04
_RARE_COST = 12.0
_PANEL_COST = 0.4
_DENSE_COST = 2.0
_TABLE = 1 << 22  # features up to so many are looked up in a table


class Halves:
    """Rows, or support vectors as columns, by their frequent and their rare features.

    Parameters
    ----------
    frequent : ndarray
        A dense matrix.
    rare : csr_array
        A sparse one.
    """

    ndim = 2

    def __init__(self, frequent: NDArray[Any], rare: Any) -> None:
        self.frequent = frequent
        self.rare = rare

    def __getitem__(self, key: Any) -> Halves:
        return Halves(self.frequent[key], self.rare[key])

    def astype(self, dtype: Any, copy: bool = True) -> Halves:
        """Return both halves in a type.

        Parameters
        ----------
        dtype : dtype
            The type.
        copy : bool, default=True
            Whether to copy what has that type already.
        """
        return Halves(self.frequent.astype(dtype, copy=copy), self.rare.astype(dtype, copy=copy))

    def times(self, columns: Halves, out: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
        """Return the product of rows with columns.

        Parameters
        ----------
        columns : Halves
            The columns.
        out, more : ndarray
            Where to put it, and as much room again.
        """
        (self.rare @ columns.rare).toarray(out=out)
        out += np.matmul(self.frequent, columns.frequent, out=more)
        return out


class WideOperands(Operands):
    """Rows and support vectors in halves.

    Parameters
    ----------
    support, wanted : tuple of Rows and ndarray of int
        The support vectors, and the rows that will be asked for.
    dtype : dtype or None
        The type that rows are converted to; None for none.
    counts : FeatureCounts
        How many support vectors have each feature.
    """

    def __init__(self, support: Wanted, wanted: Wanted, dtype: Any, counts: FeatureCounts) -> None:
        self.terms = max(support[0].longest_row, wanted[0].longest_row)
        self._dtype = dtype
        self._n_frequent = int(np.count_nonzero(counts.is_frequent))
        # Frequent features come first, in a numbering of those that support vectors have.
        order = np.argsort(~counts.is_frequent, kind="stable")
        self._features = counts.features
        self._numbers = np.empty(len(order) + 1, dtype=np.int32)
        self._numbers[order] = np.arange(len(order), dtype=np.int32)
        self._numbers[-1] = -1  # of a feature that no support vector has
        self._table: NDArray[np.int32] | None = None
        if support[0].n_features <= _TABLE:
            self._table = np.full(support[0].n_features, -1, dtype=np.int32)
            self._table[self._features] = self._numbers[:-1]

    def rows(self, rows: Rows, ids: Ids) -> tuple[Any, Floats]:
        """Return some rows in halves."""
        matrix = rows.take(ids).matrix
        if not sp.issparse(matrix):
            matrix = sp.csr_array(matrix)
        return self._halves(matrix, 1.0), rows.squared_norms[ids]

    def columns(self, rows: Rows, ids: Ids, scale: float) -> tuple[Any, Ids | None, Floats]:
        """Return some support vectors as columns in halves."""
        found = self._halves(rows.take(ids).matrix, scale)
        halves = Halves(np.asarray(found.frequent.T), found.rare.T.tocsr())
        return halves, None, rows.squared_norms[ids]

    def row_bytes(self, rows: Rows) -> float:
        """Return about how many bytes a row takes that is prepared."""
        return super().row_bytes(rows) + 8.0 * self._n_frequent

    def _halves(self, matrix: Any, scale: float) -> Halves:
        """Return a sparse matrix in halves, times a number."""
        values = matrix.data if self._dtype is None else matrix.data.astype(self._dtype)
        values = values if scale == 1.0 else np.multiply(values, scale)
        numbers = self._numbers_of(matrix.indices)
        height = matrix.shape[0]
        frequent = np.zeros((height, self._n_frequent), dtype=values.dtype)
        where = np.flatnonzero((numbers >= 0) & (numbers < self._n_frequent))
        of_row = np.repeat(np.arange(height), np.diff(matrix.indptr))
        frequent[of_row[where], numbers[where]] = values[where]
        is_rare = numbers >= self._n_frequent
        counted = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(is_rare, dtype=np.int32)))
        pieces = values[is_rare], numbers[is_rare] - np.int32(self._n_frequent)
        width = len(self._features) - self._n_frequent
        rare = assemble((*pieces, counted[matrix.indptr]), (height, width))
        return Halves(frequent, rare)

    def _numbers_of(self, features: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of features; -1 for what no support vector has."""
        if self._table is not None:
            return np.take(self._table, features)
        places = np.searchsorted(self._features, features)
        is_there = np.append(self._features, -1)[places] == features
        return self._numbers[np.where(is_there, places, len(self._features))]


class FeatureCounts:
    """How many of some sparse rows have each feature, and which features are frequent.

    Parameters
    ----------
    rows : Rows
        The data.
    ids : ndarray of int
        Which rows.
    """

    def __init__(self, rows: Rows, ids: Ids) -> None:
        indices = rows.take(ids).indices
        if rows.n_features <= _TABLE:
            counts = np.bincount(indices, minlength=rows.n_features)
            self.features = np.flatnonzero(counts)
            counts = counts[self.features]
        else:
            self.features, counts = np.unique(indices, return_counts=True)
        self._shares = counts / max(1, len(ids))
        self.is_frequent = self._shares > math.sqrt(_FREQUENT_COST / _RARE_COST)

    @property
    def favours_halves(self) -> bool:
        """Whether a value costs less in halves than by a dense panel of support vectors."""
        rare = self._shares[~self.is_frequent]
        halves = _FREQUENT_COST * (len(self._shares) - len(rare)) + _RARE_COST * float(rare @ rare)
        return halves + _DENSE_COST < _PANEL_COST * float(np.sum(self._shares))


def operands(support: Wanted, wanted: Wanted, dtype: Any, may_move: bool) -> Operands:
    """Return how rows and support vectors of this kind are prepared.

    Parameters
    ----------
    support, wanted : tuple of Rows and ndarray of int
        The support vectors, and the rows that will be asked for.
    dtype : dtype or None
        The type that rows are converted to before anything is done with them; None for none.
    may_move : bool
        Whether the kernel depends on differences of rows alone.
    """
    rows = support[0]
    if rows.n_stored >= DENSE_FROM * rows.n_rows * rows.n_features:
        return DenseOperands(support, dtype, may_move)
    if rows.n_features > MANY_FEATURES:
        counts = FeatureCounts(*support)
        if counts.favours_halves:
            return WideOperands(support, wanted, dtype, counts)
    return SparseOperands(support, wanted, dtype)
