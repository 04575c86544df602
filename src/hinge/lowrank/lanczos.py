r"""Factors from the leading eigenvectors of the kernel matrix, by the Lanczos method.

With approximate eigenvectors U, orthonormal, the factor is :math:`V = K U (U'KU)^{-1/2}`: the
projection onto the span of :math:`\sum_i U_{ij} \phi(x_i)`. For exact eigenvectors that is :math:`U
\Lambda^{1/2}`, the best factor of its rank; for approximate ones it still leaves a remainder that
is positive semidefinite, which :math:`U \Theta U'` of Ritz values does not.

Every row is in the basis, and a product with K costs ``n`` times ``n`` kernel values: this is for
thousands of rows, to see what the best factor would be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray

from hinge.machines import KernelSource
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Check = Callable[[], None]

_KEPT_VALUES = 1 << 25  # of the kernel matrix that are kept as float64, 256 MB; else computed anew
_SMALLEST = 1e-12  # of the largest eigenvalue: others are rounding
_TOLERANCE = 1e-8  # of an eigenvalue: more would change no remainder that anyone notices


@dataclass(frozen=True)
class Projection:
    """A factor, and the combinations of rows that span it.

    Parameters
    ----------
    values : ndarray of shape (n_rows, rank)
        The factor.
    map : ndarray of shape (n_rows, rank)
        Takes kernel values with all rows to coordinates.
    """

    values: Floats
    map: Floats


def leading_directions(
    source: KernelSource, rank: int, seed: int, threads: int = 1, check: Check | None = None
) -> Projection:
    """Return the projection onto the leading eigenvectors of the kernel matrix.

    Parameters
    ----------
    source : KernelSource
        Where kernel values come from.
    rank : int
        How many eigenvectors to look for.
    seed : int
        Seed of the vector to begin with.
    threads : int, default=1
        How many threads share out kernel values.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.

    Returns
    -------
    Projection
        Factor and map, in the source's unit; of less rank where eigenvalues are rounding.
    """
    n = source.n_rows
    source.threads, source.check = threads, check
    multiply = _Product(source, check)
    with single_threaded_blas():
        if rank >= n - 1:
            vectors = scipy.linalg.eigh(multiply.whole())[1][:, ::-1]
        else:
            start = np.random.default_rng(seed).standard_normal(n)
            operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=multiply, dtype=np.float64)
            try:
                vectors = scipy.sparse.linalg.eigsh(
                    operator, k=rank, v0=start, tol=_TOLERANCE, which="LA"
                )[1][:, ::-1]
            except scipy.sparse.linalg.ArpackNoConvergence as failure:
                vectors = failure.eigenvectors[:, ::-1]
        vectors = vectors[:, :rank]
        images = np.column_stack([multiply(column) for column in vectors.T])
        return _projection(vectors, images)


def _projection(vectors: Floats, images: Floats) -> Projection:
    """Return the projection onto combinations of rows, given their products with K."""
    middle = vectors.T @ images
    values, turns = scipy.linalg.eigh(0.5 * (middle + middle.T))
    kept = values > _SMALLEST * max(float(np.max(values, initial=0.0)), 0.0)
    order = np.flatnonzero(kept)[::-1]
    shrink = turns[:, order] / np.sqrt(values[order])
    return Projection(images @ shrink, vectors @ shrink)


class _Product:
    """Products with the kernel matrix, which is kept if it is small."""

    def __init__(self, source: KernelSource, check: Check | None) -> None:
        self._source = source
        self._check = check
        n = source.n_rows
        self._kept = source.exact_block(np.arange(n)) if n * n <= _KEPT_VALUES else None

    def whole(self) -> Floats:
        """Return the matrix."""
        if self._kept is not None:
            return self._kept
        return self._source.exact_block(np.arange(self._source.n_rows))

    def __call__(self, vector: Floats) -> Floats:
        """Return K times a vector."""
        if self._check is not None:
            self._check()
        flat = np.ascontiguousarray(vector, dtype=np.float64).reshape(-1)
        if self._kept is not None:
            return np.asarray(self._kept @ flat)
        out = np.zeros(len(flat))
        step = max(64, (1 << 22) // len(flat))
        for first in range(0, len(flat), step):
            ids = np.arange(first, min(first + step, len(flat)))
            self._source.add(ids, flat[ids], out, exact=True)
        return out
