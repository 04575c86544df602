r"""Pivots that are chosen among a sample of the rows, for all of which the factor is then made.

To choose r pivots among n rows takes ``n r^2`` operations, in as many passes over the columns as
there are rounds. A sample S of n' rows is enough to choose by. What its factor leaves of a row that
is no pivot is, on the average, what it will leave of the others: growth ends when

.. math:: \sum_{i \in S} e_i \le \tau \sum_{i \in S \setminus B} k_{ii} .

The columns of all rows then come in one pass.

A machine that is trained on the factor loses :math:`\tfrac12 \beta'E\beta` of its objective at the
most: what is left of rows without a coefficient does not matter. So the caller may say, of a first
factor, how much rows count, as by the squared coefficients of a machine of the sample. Further
pivots are chosen by :math:`q_i e_i`, with these weights q, until less is left of what counts,

.. math:: \sum_{i \in S} q_i e_i \le \tau_q \sum_{i \in S \setminus B} q_i k_{ii}, \qquad
          \tau_q = \tau / 20 .
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import Kernel
from hinge.lowrank.cholesky import IncompleteCholesky, Pilot
from hinge.machines.source import source
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]
Weighing = Callable[[NDArray[np.floating], Ids], Floats | None]

_SHARE = 0.125  # of the rows
WEIGHTED_SHARE = 0.05  # of the tolerance, for rows at their weights
_FIRST_SHARE = 0.25  # of a rank that is asked for: columns of the first factor


class SampledPivots:
    """Pivots of a factor to be, chosen among a sample of its rows.

    Parameters
    ----------
    growth : IncompleteCholesky
        A factor without columns; its limit on them holds for the sample as well.
    data : tuple of Kernel, Rows and ndarray of int64 or None
        The kernel, the training data, and which of its rows the factor is of; None for all.
    seed : int, default=0
        Seed of the sample and of the choice.

    Attributes
    ----------
    drawn : ndarray of int64
        The rows of the sample, in the order of the factor's rows.
    """

    def __init__(
        self, growth: IncompleteCholesky, data: tuple[Kernel, Rows, Ids | None], seed: int = 0
    ) -> None:
        kernel, rows, present = data
        n = growth.source.n_rows
        rng = np.random.default_rng((seed, 2))
        self.drawn: Ids = np.sort(rng.choice(n, size=max(1, int(_SHARE * n)), replace=False))
        self._growth = growth
        self._values = source(
            kernel, rows, present=self.drawn if present is None else present[self.drawn]
        )
        diagonal = growth.remainder[self.drawn] * (growth.source.unit / self._values.unit)
        self._pilot = IncompleteCholesky(
            self._values, diagonal, growth.most, growth.pivots, seed, growth.dtype
        )

    @property
    def rank(self) -> int:
        """Pivots so far."""
        return self._pilot.rank

    def choose(
        self,
        tolerance: float,
        threads: int = 1,
        check: Check | None = None,
        weighing: Weighing | None = None,
    ) -> None:
        """Choose pivots.

        Parameters
        ----------
        tolerance : float
            Share of the trace that may be left; 0 for as many columns as there may be.
        threads : int, default=1
            How many threads share out rows; never changes a bit.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it, which leaves the pivots so far.
        weighing : callable or None, default=None
            Takes the columns of a first factor of the sample, and ``drawn``, and returns weights
            of these rows, or None for none. A twentieth of the tolerance is then for the weighted
            trace.
        """
        pilot = self._pilot
        most = pilot.most
        if weighing is not None and not tolerance:
            most = int(_FIRST_SHARE * most)
        self._grow(most, tolerance, threads, check)
        if weighing is None or pilot.rank in (0, pilot.most):
            return
        weights = weighing(pilot.first_columns(pilot.rank), self.drawn)
        if weights is not None and weights.any():
            pilot.weigh(weights)
            self._grow(pilot.most, WEIGHTED_SHARE * tolerance, threads, check)
            pilot.weigh(None)
        if not tolerance:  # all rows that count are in the span, or none does
            self._grow(pilot.most, 0.0, threads, check)

    def adopt(self, threads: int = 1, check: Check | None = None, most: int | None = None) -> None:
        """Take the columns of the pivots, for all rows.

        Parameters
        ----------
        threads : int, default=1
            How many threads share out rows; never changes a bit.
        check : callable or None, default=None
            Called between pieces of work; raises to abandon it, which leaves no column.
        most : int or None, default=None
            How many of the pivots, the first ones; None for all.
        """
        pilot, growth = self._pilot, self._growth
        rank = pilot.rank if most is None else min(most, pilot.rank)
        if rank == 0:
            return
        scale = float(np.sqrt(self._values.unit / growth.source.unit))
        columns = pilot.first_columns(rank)
        columns *= columns.dtype.type(scale)
        triangle = scale * pilot.triangle()[:rank, :rank]
        basis = self.drawn[pilot.basis[:rank]]
        growth.adopt(Pilot(basis, triangle, self.drawn, columns), threads, check)

    def count_values(self) -> None:
        """Count the kernel values that the sample took as those of all rows."""
        self._growth.source.computed += self._values.computed
        self._values.computed = 0

    def _grow(self, most: int, tolerance: float, threads: int, check: Check | None) -> None:
        """Grow until what is left of the rows that are no pivots is small enough."""
        pilot = self._pilot
        sizes = pilot.diagonal if pilot.weights is None else pilot.weights * pilot.diagonal
        whole = float(np.sum(sizes))
        goal = tolerance
        while pilot.rank < most and not pilot.is_exhausted and pilot.weighted_error > goal:
            pilot.grow(most, goal, threads, check)
            goal = tolerance * (1.0 - float(np.sum(sizes[pilot.basis])) / whole)
