"""A kernel whose images have length 1, ``k(a, b) / sqrt(k(a, a) k(b, b))``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels.base import Floats, Ids, Kernel

if TYPE_CHECKING:
    from hinge.rows import Rows


@dataclass(frozen=True)
class Normalised(Kernel):
    """The cosine of the images: ``k(a, b) / sqrt(k(a, a) k(b, b))``.

    Where a row's image is the zero vector, every value with it is 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel to normalise; not a precomputed one, whose matrix can be normalised itself.
    """

    kernel: Kernel
    name: ClassVar[str] = "normalised"

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            message = f"Normalised takes a kernel object; got {self.kernel!r}."
            raise InvalidParameterError(message)
        if self.kernel.name == "precomputed":
            message = "a precomputed kernel cannot be normalised here; normalise the matrix."
            raise InvalidParameterError(message)
        if isinstance(self.kernel, Normalised):
            object.__setattr__(self, "kernel", self.kernel.kernel)

    @property
    def psd(self) -> bool | None:
        """What the kernel is."""
        return self.kernel.psd

    def resolved(self, rows: Rows) -> Normalised:
        """Return the kernel with the parameters of its own kernel resolved."""
        resolved = replace(self, kernel=self.kernel.resolved(rows))
        resolved.training_diagonal(rows)  # refuses rows whose kernel with themselves is negative
        return resolved

    def on(self, rows: Rows) -> Normalised:
        """Return the kernel with its own in a form that keeps its digits."""
        inner = self.kernel.on(rows)
        return self if inner is self.kernel else replace(self, kernel=inner)

    @property
    def core(self) -> Kernel:
        """The kernel that is normalised."""
        return self.kernel

    def factors(self, A: Any) -> Floats:
        """Return one over the length of every image, 0 for the zero vector."""
        squares = self.kernel.diagonal(A)
        if np.any(squares < 0.0):
            row = int(np.flatnonzero(squares < 0.0)[0])
            message = (
                f"the kernel of row {row} with itself is {float(squares[row])!r}: a kernel can "
                "be normalised only where that is not negative."
            )
            raise InvalidDataError(message)
        lengths = np.sqrt(squares)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)

    def block(self, A: Any, B: Any) -> Floats:
        """Return the kernel of every row of A with every row of B, both dense or CSR."""
        values = self.kernel.block(A, B)
        values *= self.factors(A)[:, None]
        values *= self.factors(B)[None, :]
        return values

    def diagonal(self, A: Any) -> Floats:
        """Return ones, and 0 for the zero vector."""
        return np.asarray(self.factors(A) > 0.0, dtype=np.float64)

    def diagonal_above(self, A: Any, norms: Floats, terms: int) -> Floats:  # noqa: ARG002
        """Return the diagonal, which is exact, and 1 where underflow may have hidden a length."""
        return np.maximum(self.diagonal(A), self._may_be_lost(A, self.kernel.diagonal(A)))

    def factor_error(self, A: Any, norms: Floats, terms: int) -> Floats:
        """Return the relative errors of the lengths, at most those of their squares."""
        squares = self.kernel.diagonal(A)
        relative, absolute = self.kernel.block_error(norms, norms, terms)
        safe = np.where(squares > 0.0, squares, np.inf)
        error = relative + absolute / safe + 4.0 * UNIT_ROUNDOFF
        # The root halves a small error; an image that may be the zero vector has no length.
        is_known = (error < 0.25) & ~self._may_be_lost(A, squares)
        return np.where(is_known, error, np.inf)

    def _may_be_lost(self, A: Any, squares: Floats) -> NDArray[np.bool_]:
        """Return which rows may have an image whose squared length is too small for a number."""
        is_filled = np.asarray(A.astype(bool).sum(axis=1)).reshape(-1) > 0
        return np.asarray((squares == 0.0) & is_filled)

    def operand(self, rows: Rows, ids: Ids) -> Any:
        """Return what ``block`` takes as B for some of the training rows."""
        return self.kernel.operand(rows, ids)

    def block_error(
        self,
        norms: Floats,
        largest: Floats | float,  # noqa: ARG002
        terms: int,  # noqa: ARG002
        unit: float = UNIT_ROUNDOFF,  # noqa: ARG002
    ) -> tuple[Floats, Floats]:
        """Return infinity: without the lengths of the images nothing is proven of a quotient.

        Values are bounded through ``core``, ``factors`` and ``factor_error``.
        """
        return np.zeros(np.shape(norms)), np.full(np.shape(norms), np.inf)
