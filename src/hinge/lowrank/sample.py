r"""Pivots that are chosen among a sample of the rows, for all of which the factor is then made.

To choose r pivots among n rows takes ``n r^2`` operations, in as many passes over the columns as
there are rounds. A sample of n' rows is enough to choose by. What its factor leaves of a row that
is no pivot is, on the average, what it will leave of the others: growth ends when

.. math:: \sum_{i \in S} e_i \le \tau \sum_{i \in S \setminus B} k_{ii} .

The columns of all rows then come in one pass. The remainder of every row is known after it; where
the sample was too hopeful, growth goes on among all rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import Kernel
from hinge.lowrank.cholesky import IncompleteCholesky
from hinge.machines import source
from hinge.rows import Rows

Ids = NDArray[np.int64]
Check = Callable[[], None]

_SHARE = 0.125  # of the rows


def adopt_from_sample(
    growth: IncompleteCholesky,
    data: tuple[Kernel, Rows, Ids | None],
    tolerance: float,
    seed: int = 0,
    threads: int = 1,
    check: Check | None = None,
) -> None:
    """Choose pivots among a sample of the rows, and take their columns.

    Parameters
    ----------
    growth : IncompleteCholesky
        A factor without columns; its limit on them holds for the sample as well.
    data : tuple of Kernel, Rows and ndarray of int64 or None
        The kernel, the training data, and which of its rows the factor is of; None for all.
    tolerance : float
        Share of the trace that may be left; 0 for as many columns as there may be.
    seed : int, default=0
        Seed of the sample and of the choice.
    threads : int, default=1
        How many threads share out rows; never changes a bit.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it, which leaves no column.
    """
    kernel, rows, present = data
    n = growth.source.n_rows
    rng = np.random.default_rng((seed, 2))
    drawn = np.sort(rng.choice(n, size=max(1, int(_SHARE * n)), replace=False))
    values = source(kernel, rows, present=drawn if present is None else present[drawn])
    try:
        diagonal = growth.remainder[drawn] * (growth.source.unit / values.unit)
        pilot = IncompleteCholesky(values, diagonal, growth.most, growth.pivots, seed, growth.dtype)
        goal = tolerance
        while not pilot.is_exhausted and pilot.relative_error > goal:
            pilot.grow(pilot.most, goal, threads, check)
            goal = tolerance * (1.0 - float(np.sum(diagonal[pilot.basis])) / pilot.trace)
    finally:
        values.release()
        growth.source.computed += values.computed
    if pilot.rank:
        scale = float(np.sqrt(values.unit / growth.source.unit))
        growth.adopt(drawn[pilot.basis], scale * pilot.triangle(), threads, check)
