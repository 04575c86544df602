r"""Nystroem factors of columns that are drawn unevenly, reweighted, and cut to their leading part.

Draw c rows with replacement, row i with probability :math:`p_i = K_{ii}^2 / \sum_j K_{jj}^2`, and
divide the image of each by :math:`\sqrt{c\,p_i}`: sums over the sample then stand for sums over
all rows [1]_. The leading r directions of the sample, from the eigenvectors U of
:math:`A = S K_{BB} S` with :math:`S = \operatorname{diag}(1/\sqrt{c\,p})`, span the factor:

.. math:: V = K_{\cdot B}\, S U_r \Lambda_r^{-1/2} .

Without the cut (r = c) the weights would cancel, and V would be the plain projection onto the span
of the sample; they say which of its directions matter. The factor is a projection in either case.

References
----------
.. [1] P. Drineas and M. W. Mahoney, "On the Nystrom method for approximating a Gram matrix for
   improved kernel-based learning", JMLR 6, 2005.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.lowrank.lanczos import Projection
from hinge.machines import KernelSource
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_DRAWN = 2  # columns for one of the factor
_SMALLEST = 1e-12  # eigenvalues below it, in units of the largest, are rounding
_VALUES_A_PANEL = 1 << 18


def weighted_directions(
    source: KernelSource,
    diagonal: Floats,
    rank: int,
    seed: int,
    threads: int = 1,
    check: Check | None = None,
) -> tuple[Ids, Projection]:
    """Return the leading directions of a reweighted sample of columns.

    Parameters
    ----------
    source : KernelSource
        Where kernel values come from.
    diagonal : ndarray of shape (n_rows,)
        The kernel of every row with itself, in the source's unit.
    rank : int
        Directions to keep; twice as many rows are drawn.
    seed : int
        Seed of the draw.
    threads : int, default=1
        How many threads share out the rows; never changes a bit.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.

    Returns
    -------
    ids : ndarray of int64
        The rows that were drawn, each once.
    Projection
        Factor and map, in the source's unit.
    """
    n = source.n_rows
    ids, scales = _draw(np.maximum(diagonal, 0.0), _DRAWN * rank, seed)
    source.threads, source.check = threads, check
    with single_threaded_blas():
        among = source.exact_block(ids)
        values, turns = scipy.linalg.eigh(scales[:, None] * (0.5 * (among + among.T)) * scales)
        kept = np.flatnonzero(values > _SMALLEST * max(float(np.max(values, initial=0.0)), 0.0))
        kept = kept[::-1][:rank]
        spanning = scales[:, None] * turns[:, kept] / np.sqrt(values[kept])
        columns = np.zeros((n, len(kept)))
        size = max(64, _VALUES_A_PANEL // max(1, len(ids)))

        def panel(number: int) -> None:
            first, stop = number * size, min((number + 1) * size, n)
            columns[first:stop] = source.panel(ids, np.arange(first, stop)).T @ spanning

        share = threads if source.is_thread_safe else 1
        map_numbers(panel, -(-n // size), lambda one, _: one, threads=share, check=check)
    source.computed += n * len(ids)
    return ids, Projection(columns, spanning)


def _draw(diagonal: Floats, size: int, seed: int) -> tuple[Ids, Floats]:
    """Return rows that were drawn, and what their images are multiplied by."""
    largest = float(np.max(diagonal, initial=0.0))
    squares = (diagonal / largest) ** 2 if largest > 0.0 else np.ones(len(diagonal))
    shares = squares / float(np.sum(squares))
    drawn = np.random.default_rng(seed).choice(len(diagonal), size=size, p=shares)
    ids, times = np.unique(drawn, return_counts=True)
    return ids.astype(np.int64), np.sqrt(times / (size * shares[ids]))
