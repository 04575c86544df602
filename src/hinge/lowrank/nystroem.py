r"""Nystroem factors: columns of the kernel matrix, chosen before any of them is seen.

With columns S, the factor is :math:`V = K_{\cdot S} K_{SS}^{-1/2}`, up to a rotation that the
Cholesky factor of :math:`K_{SS}` chooses. Columns are drawn uniformly, or by their *ridge leverage
scores*

.. math:: \ell_i(\lambda) = \big(K (K + \lambda I)^{-1}\big)_{ii} \approx
          v_i' (V_0'V_0 + \lambda I)^{-1} v_i + (k_{ii} - \|v_i\|^2) / \lambda ,

which say how much of row i no other row can stand for; they are computed from a first factor
:math:`V_0` of uniform columns. (Drineas and Mahoney weigh the columns that they draw; where all of
:math:`K_{SS}` is inverted, as here, the weights cancel.)

Reference: C. Williams and M. Seeger, Using the Nystroem method to speed up kernel machines, 2001;
P. Drineas and M. Mahoney, On the Nystroem method for approximating a Gram matrix, JMLR 6, 2005;
C. Musco and C. Musco, Recursive sampling for the Nystroem method, 2017.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.lowrank.cholesky import IncompleteCholesky
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_BATCH = 64  # columns that are added at a time
_ROWS_A_PANEL = 4096


def uniform_columns(
    growth: IncompleteCholesky, rank: int, seed: int, threads: int = 1, check: Check | None = None
) -> None:
    """Add columns that are drawn uniformly; those that are in the span already are left out.

    Parameters
    ----------
    growth : IncompleteCholesky
        A factor without columns.
    rank : int
        How many columns to draw.
    seed : int
        Seed of the draw.
    threads : int, default=1
        How many threads share out the rows.
    check : callable or None, default=None
        Called between pieces of work.
    """
    n = growth.source.n_rows
    drawn = np.random.default_rng(seed).choice(n, size=min(rank, n), replace=False)
    add_columns(growth, drawn, threads, check)


def leverage_columns(
    growth: IncompleteCholesky, rank: int, seed: int, threads: int = 1, check: Check | None = None
) -> None:
    """Add columns that are drawn by their ridge leverage scores.

    Parameters
    ----------
    growth : IncompleteCholesky
        A factor without columns.
    rank : int
        How many columns to draw.
    seed : int
        Seed of the draws.
    threads : int, default=1
        How many threads share out the rows.
    check : callable or None, default=None
        Called between pieces of work.
    """
    source, n = growth.source, growth.source.n_rows
    pilot = IncompleteCholesky(source, growth.remainder.copy(), growth.most, seed=seed)
    uniform_columns(pilot, rank, seed, threads, check)
    scores = leverage_scores(pilot)
    weights = scores / float(np.sum(scores)) if scores.any() else np.full(n, 1.0 / n)
    most = min(rank, int(np.count_nonzero(weights)))
    rng = np.random.default_rng((seed, 1))
    add_columns(growth, rng.choice(n, size=most, replace=False, p=weights), threads, check)


def add_columns(
    growth: IncompleteCholesky, ids: Ids, threads: int = 1, check: Check | None = None
) -> None:
    """Add columns that are known by number, in batches.

    Parameters
    ----------
    growth : IncompleteCholesky
        The factor.
    ids : ndarray of int64
        Rows, each once.
    threads : int, default=1
        How many threads share out the rows.
    check : callable or None, default=None
        Called between pieces of work.
    """
    for first in range(0, len(ids), _BATCH):
        room = growth.most - growth.rank
        if room <= 0:
            break
        growth.add(ids[first : first + min(_BATCH, room)], 0.0, threads, check)


def leverage_scores(growth: IncompleteCholesky) -> Floats:
    """Return approximate ridge leverage scores from a first factor.

    The ridge is the mean of what the factor leaves, as many rows as it has columns together.

    Parameters
    ----------
    growth : IncompleteCholesky
        The first factor.

    Returns
    -------
    ndarray of shape (n_rows,)
        The scores, not negative.
    """
    rank, left = growth.rank, growth.remainder
    if rank == 0:
        return np.maximum(left, 0.0)
    ridge = max(float(np.sum(left)) / rank, 1e-12 * growth.trace / rank)
    columns = growth.columns
    scores = np.empty(len(left))
    with single_threaded_blas():
        gram = np.zeros((rank, rank))
        panels = [slice(k, k + _ROWS_A_PANEL) for k in range(0, len(left), _ROWS_A_PANEL)]
        for some in panels:
            part = columns[some].astype(np.float64, copy=False)
            gram += part.T @ part
        gram[np.diag_indices(rank)] += ridge
        triangle = scipy.linalg.cholesky(gram, lower=True)
        for some in panels:
            part = columns[some].astype(np.float64, copy=False)
            solved = scipy.linalg.solve_triangular(triangle, part.T, lower=True)
            scores[some] = np.sum(solved * solved, axis=0)
    return scores + left / ridge
