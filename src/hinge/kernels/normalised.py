"""A kernel whose images have length 1, ``k(a, b) / sqrt(k(a, a) k(b, b))``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

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

    @property
    def psd(self) -> bool | None:
        """What the kernel is."""
        return self.kernel.psd

    def resolved(self, rows: Rows) -> Normalised:
        """Return the kernel with the parameters of its own kernel resolved."""
        resolved = replace(self, kernel=self.kernel.resolved(rows))
        resolved.training_diagonal(rows)  # refuses rows whose kernel with themselves is negative
        return resolved

    def inverse_lengths(self, A: Any) -> Floats:
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
        values *= self.inverse_lengths(A)[:, None]
        values *= self.inverse_lengths(B)[None, :]
        return values

    def diagonal(self, A: Any) -> Floats:
        """Return ones, and 0 for the zero vector."""
        return np.asarray(self.inverse_lengths(A) > 0.0, dtype=np.float64)

    def operand(self, rows: Rows, ids: Ids) -> Any:
        """Return what ``block`` takes as B for some of the training rows."""
        return self.kernel.operand(rows, ids)

    def block_error(
        self, norms: Floats, largest: float, terms: int, unit: float = UNIT_ROUNDOFF
    ) -> tuple[Floats, Floats]:
        """Return infinity: lengths are needed, see ``hinge.certificates.kernel_sums``."""
        raise NotImplementedError
