r"""What a factor leaves of the kernel matrix: products with it, and its largest eigenvalue.

The trace of :math:`E = K - VV'` bounds its largest eigenvalue from above, with certainty and for
nothing, but generously. A closer bound costs products with E. After k steps of the Lanczos method
from a random vector the largest Ritz value :math:`\theta` is at least :math:`(1 -
\epsilon)\lambda_1` but for a probability of :math:`1.648 \sqrt n\, e^{-\sqrt\epsilon (2k - 1)}`
[1]_, so that, with a chance of failure :math:`\delta` that the caller chooses,

.. math:: \lambda_1 \le \frac{\theta}{1 - \epsilon}, \qquad
          \sqrt\epsilon = \frac{\log(1.648 \sqrt n / \delta)}{2k - 1}.

References
----------
.. [1] J. Kuczynski and H. Wozniakowski, "Estimating the largest eigenvalue by the power and Lanczos
   algorithms with a random start", SIAM J. Matrix Anal. Appl. 13, 1992.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.lowrank.factor import Factor
from hinge.machines import KernelSource
from hinge.machines.source import source
from hinge.parameters import count, positive
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Check = Callable[[], None]

_VALUES_A_CALL = 1 << 22


def remainder_values(
    factor: Factor, rows: Rows, vector: Floats, threads: int = 1, check: Check | None = None
) -> Floats:
    """Return ``(K - V V') b``.

    Parameters
    ----------
    factor : Factor
        The factor.
    rows : Rows
        The rows that it is of.
    vector : ndarray of shape (n_rows,)
        The vector b; only rows where it is not zero cost kernel values.
    threads : int, default=1
        How many threads share out kernel values; never changes a bit.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.

    Returns
    -------
    ndarray of shape (n_rows,)
        The product.
    """
    values = source(factor.kernel, rows)
    values.threads, values.check = threads, check
    return _product(factor, values, np.asarray(vector, dtype=np.float64))


def largest_remainder(
    factor: Factor,
    rows: Rows,
    steps: int = 30,
    failure: float = 1e-6,
    seed: int = 0,
    threads: int = 1,
    check: Check | None = None,
) -> float:
    """Return an upper bound on the largest eigenvalue of ``K - V V'``.

    It costs ``steps`` times all kernel values of the rows. It is wrong with a probability of
    ``failure`` at the most; ``factor.trace_error`` is a bound that is never wrong, and where that
    is smaller it is what is returned.

    Parameters
    ----------
    factor : Factor
        The factor.
    rows : Rows
        The rows that it is of.
    steps : int, default=30
        Steps of the Lanczos method, at least 1.
    failure : float, default=1e-6
        Probability with which the bound may fail, greater than 0.
    seed : int, default=0
        Seed of the vector to begin with.
    threads : int, default=1
        How many threads share out kernel values; never changes a bit.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.

    Returns
    -------
    float
        The bound.
    """
    n = rows.n_rows
    steps = max(1, min(count(steps, "steps"), n))
    root = math.log(1.648 * math.sqrt(n) / positive(failure, "failure")) / (2 * steps - 1)
    if root >= 1.0 and steps < n:
        return factor.trace_error  # too few steps to say anything
    kernel_source = source(factor.kernel, rows)
    kernel_source.threads, kernel_source.check = threads, check
    with single_threaded_blas():
        ritz = _largest_ritz(factor, kernel_source, steps, seed)
    share = 0.0 if steps >= n else root * root
    return min(factor.trace_error, ritz / (1.0 - share))


def _largest_ritz(factor: Factor, kernel_source: KernelSource, steps: int, seed: int) -> float:
    """Return the largest Ritz value after some steps, each vector orthogonal to all before."""
    n = len(factor.remainder)
    vector = np.random.default_rng(seed).standard_normal(n)
    vectors = np.zeros((steps, n))
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    length = float(np.linalg.norm(vector))
    done = 0
    for step in range(steps):
        if not length > 0.0:
            break
        vectors[step] = vector / length
        image = _product(factor, kernel_source, vectors[step])
        diagonal[step] = float(vectors[step] @ image)
        known = vectors[: step + 1]
        for _ in range(2):
            image = image - known.T @ (known @ image)
        vector, length = image, float(np.linalg.norm(image))
        beside[step] = length
        done = step + 1
    if done == 0:
        return 0.0
    found = scipy.linalg.eigvalsh_tridiagonal(diagonal[:done], beside[: done - 1])
    return max(0.0, float(found[-1]))


def _product(factor: Factor, kernel_source: KernelSource, vector: Floats) -> Floats:
    """Return the remainder times a vector."""
    out = np.zeros(len(vector))
    ids = np.flatnonzero(vector)
    step = max(64, _VALUES_A_CALL // max(1, len(vector)))
    for first in range(0, len(ids), step):
        some = ids[first : first + step]
        kernel_source.add(some, vector[some], out, exact=True)
    with single_threaded_blas():
        return kernel_source.unit * out - factor.values @ (factor.values.T @ vector)
