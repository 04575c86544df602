"""A kernel given as a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.errors import InvalidDataError, UnsupportedError
from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels.base import Floats, Ids, Kernel, checked_psd

if TYPE_CHECKING:
    from hinge.rows import Rows


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
        """Return this kernel, or refuse a matrix that is not square."""
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
    """Return the largest difference of two values that should be the same."""
    if rows.is_sparse:
        matrix = rows.matrix
        difference = matrix - matrix.T
        return float(np.max(np.abs(difference.data), initial=0.0))
    largest = 0.0
    for block in rows.blocks():
        mirrored = rows.values[:, block.start : block.stop].T
        largest = max(largest, float(np.max(np.abs(block.values - mirrored), initial=0.0)))
    return largest
