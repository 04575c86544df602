"""Points of kernel problems, one after another: what their certificates are made of, but scores.

Numbers of rows are arrays over the rows of all problems, numbers of problems arrays over these. A
single problem is an array of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_sums import correct_sums
from hinge.losses import Loss
from hinge.problem import Intercept, Problem
from hinge.result import Point

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class KernelPoints:
    """Points of kernel problems that differ in their rows alone.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    is_free : bool
        Whether the intercepts are free.
    is_psd : bool
        Whether the kernel is known to be positive semidefinite.
    ends : ndarray of int64 of shape (m + 1,)
        Where the rows of every problem begin, and where the last ones end.
    signs, costs, alpha : ndarray of shape (n,)
        Labels, costs and dual coefficients of the rows.
    intercept : ndarray of shape (m,)
        The intercepts.
    reach : ndarray of shape (m,)
        Upper bounds on the norms of the images of all rows that have a cost.
    """

    loss: Loss
    is_free: bool
    is_psd: bool
    ends: Ids
    signs: Floats
    costs: Floats
    alpha: Floats
    intercept: Floats
    reach: Floats

    @staticmethod
    def of(problem: Problem, point: Point) -> KernelPoints:
        """Return the point of one problem."""
        assert problem.kernel is not None
        alpha = np.zeros(problem.n_rows) if point.dual_coef is None else point.dual_coef
        return KernelPoints(
            problem.loss,
            problem.intercept is Intercept.FREE,
            problem.kernel.psd is True,
            np.asarray([0, problem.n_rows]),
            problem.signs.astype(np.float64),
            problem.costs,
            alpha,
            np.asarray([point.intercept]),
            np.asarray([problem.largest_norm]),
        )

    @cached_property
    def pulls(self) -> Floats:
        """The coefficients ``b = y alpha``."""
        return self.signs * self.alpha

    @cached_property
    def balance(self) -> Floats:
        """The sums of the coefficients ``b = y alpha`` of every problem, correctly rounded."""
        return self.sums(self.pulls)

    @cached_property
    def total(self) -> Floats:
        """The sums of their absolute values, correctly rounded."""
        return self.sums(np.abs(self.pulls))

    @cached_property
    def sizes(self) -> Ids:
        """How many rows each problem has."""
        return np.diff(self.ends)

    def at_rows(self, numbers: Floats) -> Floats:
        """Return a number of every problem at each of its rows."""
        return np.repeat(numbers, self.sizes)

    def sums(self, terms: Floats) -> Floats:
        """Return the correctly rounded sum over the rows of every problem."""
        return correct_sums(terms, self.ends)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the largest value of the rows of every problem, NaN if one is."""
        return np.asarray(np.maximum.reduceat(values, self.ends[:-1]))
