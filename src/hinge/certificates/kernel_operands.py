r"""Rows and support vectors as the products of a kernel panel take them.

Dense rows are measured from a centre, if distances are all that matters and they lie far from the
origin; a feature that no support vector has is left out. Sparse rows stay sparse and multiply a
dense panel of the support vectors' columns: faster than a product of two sparse matrices at any
density, and than BLAS below a quarter.

Where all values of sparse rows are the same, as for one-hot columns, a row is a sum of unit
vectors, and two neighbours among them are one of few *pairs*. With the sums of columns that make
a pair computed once for a panel, half of the additions are left:

.. math:: A B = A_2 (G B), \qquad A = A_2 G,

where G has a row of two ones for each pair. Additions are what a sparse product is made of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.inequality import rounding_factor
from hinge.ingest import assemble
from hinge.kernels.products import pick_columns
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Wanted = tuple[Rows, Ids]  # rows: of which data, and which

PANEL_ROWS = 256
MANY_FEATURES = 2048  # of sparse rows: more than that, and a panel holds only columns in use
MOST_PAIRS = 1024  # more of them do not stay in the cache
DENSE_FROM = 0.25  # density from which BLAS is faster than a sparse times a dense matrix
_FAR_OFF = 2.0  # a centre is worth its while if it makes the norms this many times smaller
_IDLE = 0.9  # share of features that support vectors have, below which others are left out
_WORTH_PAIRING = 1 << 23  # kernel values from which it pays to look for pairs
STORED_BYTES = 12  # of a stored value that is prepared, at the most
_LEAST_SQUARE = 1e-300  # stands for squares that underflow


class Operands(ABC):
    """How some rows and support vectors are prepared.

    Attributes
    ----------
    terms : int
        The most roundings, one after another, of an inner product in float64.
    """

    terms: int

    @abstractmethod
    def rows(self, rows: Rows, ids: Ids) -> tuple[Any, Floats]:
        """Return some rows as a left factor, and their squared norms."""

    @abstractmethod
    def columns(self, rows: Rows, ids: Ids, scale: float) -> tuple[Any, Ids | None, Floats]:
        """Return some support vectors, times a number, as columns of a right factor.

        Also which features these have, None for those of ``rows``, and their squared norms.
        """

    def row_bytes(self, rows: Rows) -> float:
        """Return about how many bytes a row takes that is prepared."""
        return STORED_BYTES * rows.n_stored / max(1, rows.n_rows)

    def reach(self, rows: Rows, ids: Ids) -> float:
        """Return a bound on the norm of every one of some rows, as they are measured."""
        return largest_norm(rows, ids)

    def cheap_reach(self, rows: Rows, ids: Ids) -> float:
        """Return a bound that needs no look at the rows; it may be much larger."""
        return largest_norm(rows, ids)

    def squares(self, rows: Rows, ids: Ids) -> Floats:
        """Return the squared norms of some rows, as they are measured."""
        return np.asarray(rows.squared_norms[ids])

    def norms(self, squares: Floats) -> Floats:
        """Return upper bounds on norms from computed squares."""
        above = squares * (1.0 + 2.0 * rounding_factor(self.terms + 4))
        return np.sqrt(above + _LEAST_SQUARE)


class DenseOperands(Operands):
    """Rows for BLAS.

    Parameters
    ----------
    support : tuple of Rows and ndarray of int
        The support vectors.
    dtype : dtype or None
        The type that rows are converted to before anything is done with them; None for none.
    may_move : bool
        Whether the kernel depends on differences of rows alone.
    """

    def __init__(self, support: Wanted, dtype: Any, may_move: bool) -> None:
        self.terms = support[0].n_features
        self._dtype = dtype
        self._features = _features_in_use(*support)
        self._centre: Floats | None = None
        if may_move:
            self._centre = self._worthwhile_centre(support)

    def _worthwhile_centre(self, support: Wanted) -> Floats | None:
        """Return the mean of the support vectors, if they lie far off beside their distances."""
        centre, largest = _mean(*support), largest_norm(*support)
        # One of them is as far from the mean as this is nearer to zero, at the least.
        if _FAR_OFF * (largest - float(np.linalg.norm(centre))) > largest:
            return None
        self._centre = centre
        return None if _FAR_OFF * self.reach(*support) > largest else centre

    def rows(self, rows: Rows, ids: Ids) -> tuple[Any, Floats]:
        """Return some rows, centred if that is worth its while."""
        matrix = rows.take(ids).matrix
        if self._dtype is not None:
            matrix = matrix.astype(self._dtype, copy=False)
        if sp.issparse(matrix):
            matrix = matrix.toarray()
        if self._centre is not None:
            centred = matrix - self._centre
            return centred, np.einsum("ij,ij->i", centred, centred)
        if self._features is not None:
            matrix = np.take(matrix, self._features, axis=1)
        return matrix, rows.squared_norms[ids]

    def columns(self, rows: Rows, ids: Ids, scale: float) -> tuple[Any, Ids | None, Floats]:
        """Return some support vectors as columns."""
        matrix, squares = self.rows(rows, ids)
        return _times(matrix.T, scale), None, squares

    def reach(self, rows: Rows, ids: Ids) -> float:
        """Return a bound on the norm of every one of some rows, from the centre."""
        if self._centre is None:
            return largest_norm(rows, ids)
        return float(np.max(self.norms(self.squares(rows, ids)), initial=0.0))

    def squares(self, rows: Rows, ids: Ids) -> Floats:
        """Return the squared norms of some rows, from the centre."""
        if self._centre is None:
            return super().squares(rows, ids)
        return np.concatenate([np.zeros(0), *(self.rows(rows, part)[1] for part in parts(ids))])

    def cheap_reach(self, rows: Rows, ids: Ids) -> float:
        """Return a bound that needs no look at the rows; it may be much larger."""
        shift = 0.0 if self._centre is None else float(np.linalg.norm(self._centre))
        return (largest_norm(rows, ids) + shift) * (1.0 + 4.0 * rounding_factor(self.terms))


class SparseOperands(Operands):
    """Rows in CSR, against dense panels of support vectors.

    Parameters
    ----------
    support, wanted : tuple of Rows and ndarray of int
        The support vectors, and the rows that will be asked for.
    dtype : dtype or None
        The type that rows are converted to; None for none.
    """

    def __init__(self, support: Wanted, wanted: Wanted, dtype: Any) -> None:
        self.terms = max(support[0].longest_row, wanted[0].longest_row)
        self._dtype = dtype
        self._pairs: Pairs | None = None
        if len(support[1]) * len(wanted[1]) >= _WORTH_PAIRING:
            self._pairs = Pairs.of(wanted[0])

    def rows(self, rows: Rows, ids: Ids) -> tuple[Any, Floats]:
        """Return some rows as they are, or as sums of pairs."""
        matrix = rows.take(ids).matrix
        if self._dtype is not None:
            matrix = matrix.astype(self._dtype, copy=False)
        if self._pairs is not None and sp.issparse(matrix):
            matrix = self._pairs.rows(matrix)
        return matrix, rows.squared_norms[ids]

    def columns(self, rows: Rows, ids: Ids, scale: float) -> tuple[Any, Ids | None, Floats]:
        """Return some support vectors as columns; of many features, those that they have."""
        matrix = rows.take(ids).matrix
        if self._dtype is not None:
            matrix = matrix.astype(self._dtype, copy=False)
        matrix = assemble((_times(matrix.data, scale), matrix.indices, matrix.indptr), matrix.shape)
        used = None
        if rows.n_features > MANY_FEATURES:
            used = np.unique(matrix.indices)
            matrix = pick_columns(matrix, used)
        columns = matrix.T.toarray(order="C")
        if self._pairs is not None:
            columns = self._pairs.columns(columns)
        return columns, used, rows.squared_norms[ids]


class Pairs:
    """Pairs of features that are neighbours in some row, of rows whose values are all the same.

    Parameters
    ----------
    n_features : int
        How many features there are; one more stands for none.
    seen : ndarray of bool
        Which pairs there are, by first times ``n_features + 1`` plus second.
    """

    def __init__(self, n_features: int, seen: NDArray[np.bool_]) -> None:
        self._n_features = n_features
        self._number = np.cumsum(seen, dtype=np.int32) - 1
        keys = np.flatnonzero(seen)
        self._n_pairs = len(keys)
        members = np.stack((keys // (n_features + 1), keys % (n_features + 1)), axis=1)
        is_feature = members < n_features
        pointers = np.concatenate((np.zeros(1), np.cumsum(is_feature.sum(axis=1))))
        self._members = members[is_feature].astype(np.int32)
        self._pointers = pointers.astype(np.int32)

    @staticmethod
    def of(rows: Rows) -> Pairs | None:
        """Return the pairs of some rows; None if the values differ or there are too many pairs."""
        if not rows.is_sparse or rows.n_features > MANY_FEATURES or not rows.n_stored:
            return None
        if rows.n_stored < 2 * rows.n_rows or not _are_all_the_same(rows):
            return None
        seen = np.zeros((rows.n_features + 1) ** 2, dtype=bool)
        for block in rows.blocks():
            keys, _ = _pair_keys(block.matrix)
            seen[keys] = True
            if np.count_nonzero(seen) > MOST_PAIRS:
                return None
        return Pairs(rows.n_features, seen)

    def rows(self, matrix: Any) -> Any:
        """Return rows as sums of pairs."""
        keys, pointers = _pair_keys(matrix)
        values = np.full(len(keys), matrix.data[0] if len(keys) else 1.0, dtype=matrix.dtype)
        pieces = (values, self._number[keys], pointers)
        return assemble(pieces, (matrix.shape[0], self._n_pairs))

    def columns(self, matrix: Any) -> Any:
        """Return the sums of two rows of a dense matrix that make a pair."""
        ones = np.ones(len(self._members), dtype=matrix.dtype)
        pieces = (ones, self._members, self._pointers)
        return assemble(pieces, (self._n_pairs, self._n_features)) @ matrix


def _are_all_the_same(rows: Rows) -> bool:
    """Return whether all stored values of some rows are the same number."""
    first = next(rows.stored(1))
    return all(bool((piece == first).all()) for piece in rows.stored(PANEL_ROWS * PANEL_ROWS))


def _pair_keys(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pairs of all rows, one after another, and where each row begins."""
    indptr = matrix.indptr.astype(np.int64)
    halves = (np.diff(indptr) + 1) // 2
    pointers = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(halves)))
    firsts = np.repeat(indptr[:-1] - 2 * pointers[:-1], halves) + 2 * np.arange(pointers[-1])
    width = matrix.shape[1] + 1
    # A row of odd length ends with a feature alone, and one that stands for none.
    columns = np.append(matrix.indices, width - 1).astype(np.int64)
    is_alone = firsts + 1 == np.repeat(indptr[1:], halves)
    seconds = np.where(is_alone, width - 1, columns[firsts + 1])
    return columns[firsts] * width + seconds, pointers.astype(np.int32)


def _times(values: NDArray[Any], scale: float) -> NDArray[Any]:
    """Return values times a number, without a copy if that is one."""
    return values if scale == 1.0 else np.multiply(values, scale)


def parts(ids: Ids) -> list[Ids]:
    """Return the numbers in groups of a panel's height."""
    return [ids[start : start + PANEL_ROWS] for start in range(0, len(ids), PANEL_ROWS)]


def largest_norm(rows: Rows, ids: Ids) -> float:
    """Return a bound on the norm of every one of some rows."""
    return float(np.max(rows.norm_bounds(rows.squared_norms[ids]), initial=0.0))


def _mean(rows: Rows, ids: Ids) -> Floats:
    """Return the mean of some rows."""
    total = np.zeros(rows.n_features)
    for part in parts(ids):
        total += np.asarray(rows.take(part).matrix.sum(axis=0, dtype=np.float64))
    return total / max(1, len(ids))


def _features_in_use(rows: Rows, ids: Ids) -> Ids | None:
    """Return the features that some rows have; None if these are nearly all."""
    if rows.is_sparse:
        return None
    used = np.zeros(rows.n_features, dtype=bool)
    used[0] = True  # a product of no features at all is more than BLAS can do
    for part in parts(ids):
        used |= rows.take(part).values.any(axis=0)
        if np.count_nonzero(used) > _IDLE * rows.n_features:
            return None
    return np.flatnonzero(used)
