"""Factors by name: how the rows that span a factor are chosen, and when there are enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError, UnsupportedError, unknown_name
from hinge.kernels import Kernel, get_kernel
from hinge.lowrank.cholesky import IncompleteCholesky
from hinge.lowrank.factor import Factor
from hinge.lowrank.lanczos import Projection, leading_directions
from hinge.lowrank.nystroem import leverage_columns, uniform_columns
from hinge.lowrank.pivots import inverse_of
from hinge.lowrank.weighted import weighted_directions
from hinge.machines import KernelSource
from hinge.machines.source import source
from hinge.parameters import count, positive, real_number
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

METHODS = ("cholesky", "random-cholesky", "uniform", "leverage", "weighted", "lanczos")
_CHOOSE_BY_TRACE = METHODS[:2]


def factorise(
    kernel: str | Kernel | Callable[[Any, Any], Any],
    X: Any,
    rank: int | None = None,
    tolerance: float | None = None,
    method: str = "random-cholesky",
    seed: int = 0,
    most_mb: float = 1024.0,
    single: bool = False,
    threads: int = 1,
    check: Check | None = None,
) -> Factor:
    """Return a matrix V with ``K - V V'`` positive semidefinite and small.

    Parameters
    ----------
    kernel : str, Kernel or callable
        The kernel, as ``Problem`` takes it; it must be positive semidefinite.
    X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
        The rows; for a precomputed kernel the kernel matrix.
    rank : int or None, default=None
        Columns of V at the most, at least 1; None is as many as memory allows.
    tolerance : float or None, default=None
        Share of the trace of K that may be left, in (0, 1); for the Cholesky methods, which then
        stop as soon as it is reached.
    method : str, default="random-cholesky"
        ``"cholesky"`` takes the rows of which most is left; ``"random-cholesky"`` draws rows by
        how much of them is left; ``"uniform"`` and ``"leverage"`` draw all rows at once
        (Nystroem); ``"weighted"`` draws twice as many by the squares of the diagonal, reweights
        them and keeps their leading directions; ``"lanczos"`` finds the leading eigenvectors.
    seed : int, default=0
        Seed of every random choice.
    most_mb : float, default=1024.0
        Memory for V, in megabytes: it limits the rank.
    single : bool, default=False
        Whether V is stored as float32, in half the memory.
    threads : int, default=1
        How many threads share out rows; never changes a bit.
    check : callable or None, default=None
        Called between pieces of work, some 10 ms each; raises to abandon it.

    Returns
    -------
    Factor
        The factor, with what it leaves of the trace.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 200).reshape(-1, 1)
    >>> factor = factorise("rbf", X, tolerance=1e-6)
    >>> factor.rank < 20, factor.relative_error <= 1e-6
    (True, True)
    """
    rows = X if isinstance(X, Rows) else Rows(X)
    resolved = get_kernel(kernel).resolved(rows)
    limits = _limits(rows, rank, tolerance, method, most_mb, single)
    check_kernel(resolved)
    values = source(resolved, rows)
    if method == "lanczos":
        return _by_eigenvectors(resolved, rows, values, (limits[0], seed), (threads, check))
    if method == "weighted":
        return _by_weights(resolved, rows, values, (limits[0], seed), (threads, check))
    growth = begin(resolved, rows, values, limits[0], method, seed, single)
    if method == "uniform":
        uniform_columns(growth, limits[0], seed, threads, check)
    elif method == "leverage":
        leverage_columns(growth, limits[0], seed, threads, check)
    else:
        growth.grow(limits[0], limits[1], threads, check)
    return finished(growth, resolved, rows, method)


def check_kernel(kernel: Kernel) -> None:
    """Refuse a kernel that no factor can be trusted for.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    """
    if kernel.psd is not True:
        message = (
            f"a low-rank factor needs a kernel that is positive semidefinite; {kernel!r} is not "
            "known to be. If it is, say so with psd=True where the kernel takes it."
        )
        raise UnsupportedError(message)


def begin(
    kernel: Kernel,
    rows: Rows,
    values: KernelSource,
    most: int,
    method: str = "random-cholesky",
    seed: int = 0,
    single: bool = False,
    present: Ids | None = None,
) -> IncompleteCholesky:
    """Return a factor without columns, to be grown.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    rows : Rows
        The training data.
    values : KernelSource
        Where kernel values come from.
    most : int
        Columns that there is to be room for.
    method : str, default="random-cholesky"
        How pivots are chosen.
    seed : int, default=0
        Seed of the choice.
    single : bool, default=False
        Whether the factor is stored as float32.
    present : ndarray of int64 or None, default=None
        Which of the rows the source is of; None for all.
    """
    diagonal = kernel.training_diagonal(rows) / values.unit
    diagonal = diagonal if present is None else diagonal[present]
    pivots = "largest" if method == "cholesky" else "random"
    dtype = np.float32 if single else np.float64
    return IncompleteCholesky(values, diagonal, most, pivots, seed, dtype)


def finished(
    growth: IncompleteCholesky,
    kernel: Kernel,
    rows: Rows,
    method: str,
    present: Ids | None = None,
) -> Factor:
    """Return the factor that has been grown; the growth must not go on.

    Parameters
    ----------
    growth : IncompleteCholesky
        The columns.
    kernel : Kernel
        The kernel.
    rows : Rows
        The training data.
    method : str
        How the pivots were chosen.
    present : ndarray of int64 or None, default=None
        Which of the rows the source is of; None for all. ``basis`` counts in all rows.
    """
    unit = growth.source.unit
    basis = growth.basis if present is None else present[growth.basis]
    triangle = growth.triangle()
    with single_threaded_blas():
        inverse = inverse_of(triangle)
    columns = growth.release()
    if unit != 1.0:
        columns *= columns.dtype.type(np.sqrt(unit))
    return Factor(
        values=columns,
        basis=basis,
        map=np.ascontiguousarray(inverse.T) / np.sqrt(unit),
        remainder=growth.remainder * unit,
        trace=growth.trace * unit,
        kernel=kernel,
        support=_support(kernel, rows, basis),
        method=method,
        computed=growth.source.computed,
    )


def most_columns(n_rows: int, most_mb: float, single: bool) -> int:
    """Return how many columns of so many rows fit in memory.

    Parameters
    ----------
    n_rows : int
        Rows of the factor.
    most_mb : float
        Memory in megabytes.
    single : bool
        Whether values are float32.
    """
    return int(most_mb * 2**20 // ((4 if single else 8) * max(1, n_rows)))


def _by_eigenvectors(
    kernel: Kernel,
    rows: Rows,
    values: KernelSource,
    which: tuple[int, int],
    how: tuple[int, Check | None],
) -> Factor:
    """Return the factor of leading eigenvectors."""
    found = leading_directions(values, *which, *how)
    return _projected(kernel, rows, values, (np.arange(rows.n_rows), found), "lanczos")


def _by_weights(
    kernel: Kernel,
    rows: Rows,
    values: KernelSource,
    which: tuple[int, int],
    how: tuple[int, Check | None],
) -> Factor:
    """Return the factor of the leading directions of a reweighted sample."""
    diagonal = kernel.training_diagonal(rows) / values.unit
    found = weighted_directions(values, diagonal, *which, *how)
    return _projected(kernel, rows, values, found, "weighted")


def _projected(
    kernel: Kernel, rows: Rows, values: KernelSource, found: tuple[Ids, Projection], method: str
) -> Factor:
    """Return the factor of a projection onto combinations of basis rows."""
    basis, projection = found
    diagonal = kernel.training_diagonal(rows)
    columns = projection.values * np.sqrt(values.unit)
    left = np.maximum(diagonal - np.sum(columns * columns, axis=1), 0.0)
    return Factor(
        values=columns,
        basis=basis,
        map=projection.map / np.sqrt(values.unit),
        remainder=left,
        trace=float(np.sum(diagonal)),
        kernel=kernel,
        support=_support(kernel, rows, basis),
        method=method,
        computed=values.computed,
    )


def _support(kernel: Kernel, rows: Rows, ids: Ids) -> Any:
    """Return basis rows as evaluation takes them: the rows, or the numbers of a kernel matrix."""
    return rows.take(ids) if kernel.knows_new_rows else ids


def _limits(
    rows: Rows,
    rank: int | None,
    tolerance: float | None,
    method: str,
    most_mb: float,
    single: bool,
) -> tuple[int, float]:
    """Return how many columns to look for, and what share of the trace may be left."""
    if method not in METHODS:
        raise unknown_name(method, "method", list(METHODS))
    room = most_columns(rows.n_rows, positive(most_mb, "most_mb"), single)
    if room < 1:
        message = (
            f"most_mb={most_mb!r} does not hold a single column of {rows.n_rows} rows; raise it."
        )
        raise InvalidParameterError(message)
    left = 0.0
    if tolerance is not None:
        left = real_number(tolerance, "tolerance")
        if not 0.0 < left < 1.0:
            message = f"tolerance must be a share between 0 and 1; got {tolerance!r}."
            raise InvalidParameterError(message)
        if method not in _CHOOSE_BY_TRACE:
            message = (
                f"tolerance is for the methods {', '.join(_CHOOSE_BY_TRACE)}; method {method!r} "
                "takes a rank."
            )
            raise InvalidParameterError(message)
    if rank is None:
        if tolerance is None:
            message = "give a rank, a tolerance, or both."
            raise InvalidParameterError(message)
        return min(room, rows.n_rows), left
    if count(rank, "rank") < 1:
        message = f"rank must be at least 1; got {rank!r}."
        raise InvalidParameterError(message)
    return min(rank, room, rows.n_rows), left
