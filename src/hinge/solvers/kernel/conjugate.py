r"""Conjugate gradients for systems with the kernel matrix of some rows, a piece at a time.

.. math:: (K_{II} + D)\,x + b 1 = r, \qquad 1'x = s \text{ (where there is a balance)}, \quad
          \text{else } b = 0 .

The preconditioner is the diagonal P of the matrix. With a balance it is that of the bordered
system: :math:`z = P^{-1}(q - \nu 1)` with :math:`\nu = 1'P^{-1}q / 1'P^{-1}1`, so that every
direction sums to zero and x keeps the sum that it begins with, :math:`s\,P^{-1}1 / 1'P^{-1}1`. The
multiplier b is the last :math:`\nu`. One run solves for both, where eliminating b takes two.

A product with the matrix of m rows is ``m^2`` operations. The matrix is kept as float32 where there
is room, and its rows are computed a few at a time; else products are sums of kernel functions, a
few terms at a time (:mod:`hinge.solvers.kernel.kernel_sum`).

Reference: N. Gould, M. Hribar and J. Nocedal, On the solution of equality constrained quadratic
programming problems arising in optimization, SIAM J. Sci. Comput. 23, 2001.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hinge.machines import KernelSource
from hinge.solvers.kernel import kernel_sum
from hinge.solvers.kernel.kernel_sum import KernelSum

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_ROWS_A_PRODUCT = 512  # of a kept matrix, between two looks at whether to give up


class ConjugateGradients:
    """A system that is being solved.

    Parameters
    ----------
    ids : ndarray of int64
        The rows I.
    diagonal : ndarray of shape (m,)
        D.
    scale : ndarray of shape (m,)
        The diagonal of the whole matrix, positive.
    right : ndarray of shape (m,)
        The right-hand side r.
    balance : float or None
        What x is to sum up to; None for no such condition.
    is_kept : bool
        Whether the matrix is kept.
    limits : tuple of float and int
        Share of the first residual that may be left, and products at the most.

    Attributes
    ----------
    x : ndarray of shape (m,)
        The solution, as far as it has come.
    multiplier : float
        b.
    is_over : bool
        Whether the residual is small enough, or there have been enough products.
    """

    def __init__(
        self,
        ids: Ids,
        diagonal: Floats,
        scale: Floats,
        right: Floats,
        balance: float | None,
        is_kept: bool,
        limits: tuple[float, int],
    ) -> None:
        self.ids, self.diagonal, self.right = ids, diagonal, right
        self.is_balanced, self.is_kept = balance is not None, is_kept
        self.tolerance, self.most = limits
        self.weights = 1.0 / scale
        self.total = float(np.sum(self.weights))
        self.x = np.zeros(len(ids)) if balance is None else balance / self.total * self.weights
        self.multiplier = 0.0
        self.products = 0
        self.size = self.goal = np.nan
        self.residual = self.direction = np.zeros(0)
        self.sum: KernelSum | None = None  # of the product that is being computed
        self.is_over = False
        self._matrix: NDArray[np.float32] | None = None
        self._filled = 0

    def __getstate__(self) -> dict[str, Any]:
        # Kept values are computed again, with the same bits.
        return {**self.__dict__, "_matrix": None, "_filled": 0}

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def advance(self, source: KernelSource, check: Check | None = None) -> int:
        """Do a bounded piece of work; nothing has happened if it is given up.

        Parameters
        ----------
        source : KernelSource
            Where kernel values come from.
        check : callable or None, default=None
            Called between parts of a product with a kept matrix; raises to give up.

        Returns
        -------
        int
            Values of a kept matrix that were read.
        """
        is_first = np.isnan(self.size)
        if is_first and not self.x.any():
            self._take(np.zeros(len(self.x)))
            return 0
        at = self.x if is_first else self.direction
        if not self.is_kept:
            if self.sum is None:
                self.sum = KernelSum(self.ids, at, self.ids, self.diagonal * at)
            self.sum.advance(source)
            if self.sum.is_complete:
                image, self.sum = self.sum.out, None
                self._take(image)
            return 0
        m = len(self.ids)
        if self._matrix is None:
            self._matrix = np.empty((m, m), dtype=np.float32)
        if self._filled < m:
            size = max(1, kernel_sum.VALUES_A_PIECE // m)
            slots = np.arange(self._filled, min(self._filled + size, m))
            source.write(self.ids[slots], self._matrix, slots, self.ids)
            self._filled += len(slots)
            return 0
        image, single = self.diagonal * at, at.astype(np.float32)
        for first in range(0, m, _ROWS_A_PRODUCT):
            some = slice(first, first + _ROWS_A_PRODUCT)
            image[some] += self._matrix[some] @ single
            if check is not None:
                check()
        self._take(image)
        return m * m

    def _take(self, image: Floats) -> None:
        """Go on with the product of the matrix with x, at first, and then with the direction."""
        self.products += 1
        if np.isnan(self.size):
            self.residual = self.right - image
            scaled = self._scaled()
            self.direction = scaled
            self.size = float(self.residual @ scaled)
            self.goal = self.tolerance**2 * self.size
        else:
            curve = float(self.direction @ image)
            if not curve > 0.0:  # rounding is all that is left
                self.is_over = True
                return
            length = self.size / curve
            self.x = self.x + length * self.direction
            self.residual = self.residual - length * image
            scaled = self._scaled()
            before, self.size = self.size, float(self.residual @ scaled)
            self.direction = scaled + self.size / before * self.direction
        self.is_over = not self.size > self.goal or self.products > self.most

    def _scaled(self) -> Floats:
        """Return the preconditioned residual; the residual loses what the multiplier explains."""
        if self.is_balanced:
            excess = float(self.weights @ self.residual) / self.total
            self.multiplier += excess
            self.residual = self.residual - excess
        return np.asarray(self.weights * self.residual)
