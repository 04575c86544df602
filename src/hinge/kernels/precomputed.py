"""A kernel given as a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.errors import InvalidDataError, UnsupportedError
from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels.base import Floats, Ids, Kernel, checked_psd

if TYPE_CHECKING:
    from hinge.rows import Rows

# Difference of two values that should be the same, relative to the largest of their rows. Sums of
# 10,000 products in float32 differ by an eighth of it at the most, whatever their order.
_ASYMMETRY = 1e-2


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows are rows of the kernel matrix: column j is the kernel with training row j.

    Parameters
    ----------
    psd : bool or None, default=None
        Whether the matrix is positive semidefinite; a gap is certified only if you say that it is.
    """

    psd: bool | None = None
    asymmetry: float = 0.0
    name: ClassVar[str] = "precomputed"
    knows_new_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked_psd(self.psd)

    def resolved(self, rows: Rows) -> Precomputed:
        """Return this kernel, or refuse a matrix that is not square, or far from symmetric."""
        if rows.n_rows != rows.n_features:
            message = (
                f"a precomputed kernel matrix must be square; X has shape "
                f"({rows.n_rows}, {rows.n_features})."
            )
            raise InvalidDataError(message)
        return replace(self, asymmetry=_asymmetry(rows))

    def block(self, A: Any, B: Any) -> Floats:
        """Return columns of kernel rows.

        Parameters
        ----------
        A : ndarray or csr_array of shape (n, n_train)
            Rows of the kernel matrix.
        B : ndarray of int
            Numbers of training rows.
        """
        ids = np.asarray(B)
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            message = "a precomputed kernel knows training rows by number; B must be such numbers."
            raise InvalidDataError(message)
        chosen = A[:, ids]
        chosen = chosen.toarray() if hasattr(chosen, "toarray") else chosen
        return np.asarray(chosen, dtype=np.float64)

    def diagonal(self, A: Any) -> Floats:  # noqa: ARG002
        """Refuse: rows of the matrix do not say what the kernel of a row with itself is."""
        message = "a precomputed kernel has no diagonal but that of the training matrix."
        raise UnsupportedError(message)

    def training_diagonal_above(self, rows: Rows) -> Floats:
        """Return the diagonal of the matrix, which is exact."""
        return self.training_diagonal(rows)

    def training_diagonal(self, rows: Rows) -> Floats:
        """Return the diagonal of the matrix."""
        if rows.is_sparse:
            return np.concatenate(
                [block.matrix.diagonal(block.start) for block in rows.blocks()]
            ).astype(np.float64)
        return np.diagonal(rows.values).astype(np.float64)

    def operand(self, rows: Rows, ids: Ids) -> Any:  # noqa: ARG002
        """Return the numbers themselves."""
        return ids

    def block_error(
        self,
        norms: Floats,
        largest: Floats | float,  # noqa: ARG002
        terms: int,  # noqa: ARG002
        unit: float = UNIT_ROUNDOFF,  # noqa: ARG002
    ) -> tuple[Floats, Floats]:
        """Return by how much the matrix misses symmetry: it stands for its symmetric part."""
        return np.zeros(np.shape(norms)), np.full(np.shape(norms), self.asymmetry)


def _asymmetry(rows: Rows) -> float:
    """Return the largest difference of two values that should be the same.

    A matrix in which one is more than rounding can have made it is refused.
    """
    reach = _row_reach(rows)
    largest, worst, where = 0.0, _ASYMMETRY, None
    for first, second, sizes in _differences(rows):
        scale = np.maximum(reach[first], reach[second])
        shares = np.divide(sizes, scale, out=np.zeros(sizes.shape), where=scale > 0.0)
        if np.max(shares, initial=0.0) > worst:
            place = int(np.argmax(shares))
            worst = float(shares.flat[place])
            where = tuple(int(np.broadcast_to(n, sizes.shape).flat[place]) for n in (first, second))
        largest = max(largest, float(np.max(sizes, initial=0.0)))
    if where is not None:
        i, j = where
        values: Any = rows.matrix
        message = (
            f"a precomputed kernel matrix must be symmetric; X[{i}, {j}] is {values[i, j]:.6g} but "
            f"X[{j}, {i}] is {values[j, i]:.6g}. If an approximation has made them differ, use "
            "(X + X.T) / 2."
        )
        raise InvalidDataError(message)
    return largest


def _row_reach(rows: Rows) -> Floats:
    """Return the largest absolute value of every row."""
    if rows.is_sparse:
        largest: Any = abs(rows.matrix).max(axis=1)
        return np.asarray(largest.todense(), dtype=np.float64).ravel()
    parts = [np.max(np.abs(block.values), axis=1, initial=0.0) for block in rows.blocks()]
    return np.concatenate(parts).astype(np.float64)


def _differences(rows: Rows) -> Iterator[tuple[Ids, Ids, Floats]]:
    """Yield rows, columns, and by how much values there differ from those across the diagonal."""
    if rows.is_sparse:
        difference = (rows.matrix - rows.matrix.T).tocoo()
        first, second = (ids.astype(np.int64) for ids in (difference.row, difference.col))
        yield first, second, np.abs(difference.data).astype(np.float64)
        return
    columns = np.arange(rows.n_rows)[None, :]
    for block in rows.blocks():
        mirrored = rows.values[:, block.start : block.stop].T
        with np.errstate(over="ignore"):
            sizes = np.abs(block.values - mirrored).astype(np.float64)
        yield np.arange(block.start, block.stop)[:, None], columns, sizes
