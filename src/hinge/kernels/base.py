r"""What every kernel provides.

A kernel is a symmetric function k(a, b) of two rows. Where it is *positive semidefinite* (``psd``)
it is an inner product of images of the rows in some space, and a machine with that kernel is a
linear machine there: its dual is concave, and a gap certifies it. Elsewhere the optimality
conditions can still be checked, but they prove nothing about other points.

The functions here are the reference in NumPy: float64, with a proven bound on what rounding does
to every value (``block_error``). What is fast is elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError
from hinge.inequality import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


def checked_psd(psd: bool | None) -> None:
    """Refuse what a caller says of definiteness unless it is yes, no or unknown."""
    if psd is not None and not isinstance(psd, bool):
        message = f"psd must be True, False or None; got {psd!r}."
        raise InvalidParameterError(message)


class Kernel(ABC):
    """A symmetric function of two rows."""

    name: ClassVar[str]
    is_never_negative: ClassVar[bool] = False  # as exponentials are: their sums do not cancel
    knows_new_rows: ClassVar[bool] = True  # whether there is a k(x, x) for any row x
    is_dear: ClassVar[bool] = False  # whether a value costs many times what an inner product does
    levels_off: ClassVar[bool] = False  # whether large values say that errors count for little

    @property
    @abstractmethod
    def psd(self) -> bool | None:
        """Whether it is positive semidefinite: True or False if that is known, else None."""

    def resolved(self, rows: Rows) -> Kernel:  # noqa: ARG002
        """Return the kernel with every parameter a number, or refuse data that it cannot take.

        Parameters
        ----------
        rows : Rows
            The training data.

        Returns
        -------
        Kernel
            This kernel, or one whose parameters are computed from the data.
        """
        return self

    def on(self, rows: Rows) -> Kernel:  # noqa: ARG002
        """Return the same kernel in a form that keeps its digits on some rows.

        Parameters
        ----------
        rows : Rows
            The training rows, or the support vectors of a machine.

        Returns
        -------
        Kernel
            This kernel, or one with the same values and another way to compute them.
        """
        return self

    @abstractmethod
    def block(self, A: Any, B: Any) -> Floats:
        """Return the kernel of every row of A with every row of B.

        Parameters
        ----------
        A, B : ndarray or csr_array
            Rows.

        Returns
        -------
        ndarray of shape (len(A), len(B))
            The values, in float64.
        """

    @abstractmethod
    def diagonal(self, A: Any) -> Floats:
        """Return the kernel of every row with itself.

        Parameters
        ----------
        A : ndarray or csr_array
            Rows.

        Returns
        -------
        ndarray of shape (len(A),)
            The values, in float64.
        """

    @abstractmethod
    def block_error(
        self, norms: Floats, largest: Floats | float, terms: int, unit: float = UNIT_ROUNDOFF
    ) -> tuple[Floats, Floats]:
        """Return what rounding may have done to the values of ``block``, row by row.

        Every value is within ``relative * |computed| + absolute`` of the true one.

        Parameters
        ----------
        norms : ndarray of shape (len(A),)
            Bounds on the norms of the rows of A, measured from wherever they are centred.
        largest : float or ndarray of shape (len(A),)
            Bound on the norm of every row of B, measured from there as well; ``norms`` themselves
            for ``diagonal``.
        terms : int
            The most non-zero values that a row of A or B has.
        unit : float, default=2**-53
            Unit roundoff of the arithmetic: 2**-53 for float64, 2**-24 for float32.

        Returns
        -------
        relative, absolute : ndarray of shape (len(A),)
            The bounds; infinite where nothing is proven.
        """

    def slope_above(self, size: Floats) -> Floats:
        """Return by how much errors of arguments are multiplied in the mean, at the most.

        Bounds on the absolute errors of values may be multiplied with it where ``levels_off``. The
        slope changes by no more than the argument does.

        Parameters
        ----------
        size : ndarray
            Lower bounds on the means of the absolute values.
        """
        return np.ones(np.shape(size))

    @property
    def core(self) -> Kernel:
        """The kernel k0 of ``k(a, b) = factor(a) factor(b) k0(a, b)``; itself without factors."""
        return self

    def factors(self, A: Any) -> Floats:
        """Return the factor of every row; ones unless the kernel is made from another.

        Parameters
        ----------
        A : ndarray or csr_array
            Rows.

        Returns
        -------
        ndarray of shape (len(A),)
            The factors.
        """
        return np.ones(A.shape[0])

    def factor_error(self, A: Any, norms: Floats, terms: int) -> Floats:  # noqa: ARG002
        """Return bounds on the relative errors of ``factors``; arguments as in ``block_error``."""
        return np.zeros(A.shape[0])

    def operand(self, rows: Rows, ids: Ids) -> Any:
        """Return what ``block`` takes as B for some of the training rows.

        Parameters
        ----------
        rows : Rows
            The training data.
        ids : ndarray of int
            Which of the rows.

        Returns
        -------
        object
            The rows themselves, unless the kernel knows them by number.
        """
        return rows.take(ids).matrix

    def diagonal_above(self, A: Any, norms: Floats, terms: int) -> Floats:
        """Return upper bounds on the kernel of every row with itself: squared norms of images.

        Parameters
        ----------
        A : ndarray or csr_array
            Rows.
        norms, terms
            As in ``block_error``.

        Returns
        -------
        ndarray of shape (len(A),)
            The bounds.
        """
        values = self.diagonal(A)
        relative, absolute = self.block_error(norms, norms, terms)
        return np.asarray(values + relative * np.abs(values) + absolute)

    def training_diagonal_above(self, rows: Rows) -> Floats:
        """Return upper bounds on the kernel of every training row with itself.

        Parameters
        ----------
        rows : Rows
            The training data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The bounds.
        """
        norms = rows.norm_bounds(rows.squared_norms)
        blocks = [
            self.diagonal_above(block.matrix, norms[block.rows], rows.longest_row)
            for block in rows.blocks()
        ]
        return np.concatenate(blocks)

    def training_diagonal(self, rows: Rows) -> Floats:
        """Return the kernel of every training row with itself.

        Parameters
        ----------
        rows : Rows
            The training data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values.
        """
        return np.concatenate([self.diagonal(block.matrix) for block in rows.blocks()])
