"""Decision values of kernel machines: sums of kernel functions, in a fixed order.

A value is the sum over the support rows in their order, taken in panels of a fixed size; every
kernel value's own sum runs over the features in their order. So the bits of f(x) depend on x and
the machine alone, not on the other rows of a batch nor on who shares it out among threads.

In float64 each kernel value is within ``kernel.block_error`` of the true one. In float32
(``precision="float32"``) kernel values are, and their sum is still taken in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import unknown_name
from hinge.kernels import ChiSquared, Kernel, Laplacian
from hinge.kernels.centre import centre_for
from hinge.kernels.gamma import number
from hinge.kernels.products import places_among
from hinge.machines.native_rows import (
    VERY_MANY_FEATURES,
    NativeKernel,
    native_kernel,
    native_rows,
    scales_of,
    terms_of,
    view,
)
from hinge.machines.team import Check, Piece, Team
from hinge.rows import Rows

Floats = NDArray[np.float64]

_TERMS_A_CALL = 1 << 15  # support rows whose panels are made at once, so that memory stays bounded
_PANEL_VALUES = 1 << 17
_PRECISIONS: dict[str, type[np.floating[Any]]] = {"float64": np.float64, "float32": np.float32}


def decision_values(
    kernel: Kernel,
    support: Rows | NDArray[np.int64],
    coef: Floats,
    X: Rows,
    threads: int = 1,
    check: Check | None = None,
    precision: str = "float64",
) -> Floats:
    """Return ``sum_i coef_i k(x_i, x)`` for every row x of X.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    support : Rows or ndarray of int64
        The support rows; for a precomputed kernel their numbers, which are columns of X.
    coef : ndarray of shape (n_support,) or (n_support, n_outputs)
        Coefficients of one function or of several.
    X : Rows
        Where to evaluate.
    threads : int, default=1
        How many threads share out the rows; never changes a bit.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    precision : {"float64", "float32"}, default="float64"
        Of kernel values.

    Returns
    -------
    ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The values, without intercepts.
    """
    if precision not in _PRECISIONS:
        raise unknown_name(precision, "precision", _PRECISIONS)
    functions = np.ascontiguousarray(np.atleast_2d(np.asarray(coef, dtype=np.float64).T))
    values = np.zeros((X.n_rows, len(functions)))
    kernel = kernel.on(support) if isinstance(support, Rows) else kernel
    native = native_kernel(kernel)
    if native is None or not isinstance(support, Rows):
        _by_reference(kernel, support, functions, X, values, check)
    elif functions.shape[1]:
        pieces = _Pieces(native, support, functions, X, _PRECISIONS[precision])
        pieces.add_to(values, threads, check)
    return values if np.ndim(coef) == 2 else values[:, 0]


class _Pieces:
    """The evaluation of one machine on one batch, in pieces of bounded work."""

    def __init__(
        self,
        native: NativeKernel,
        support: Rows,
        functions: Floats,
        X: Rows,
        precision: type[np.floating[Any]],
    ) -> None:
        # The centre is the support's, never the batch's: other rows must not change a value.
        centre = None if X.is_sparse else centre_for(native.kernel, support)
        used = _columns_in_use(support, X)
        terms, points = (
            _native_rows(native, rows, centre, precision, used) for rows in (support, X)
        )
        self._terms, self._points = terms, points
        self._functions = functions

    def add_to(self, values: Floats, threads: int, check: Check | None) -> None:
        """Add the values of all rows, in threads if there are several."""
        team = Team(threads, check)
        n_terms = self._functions.shape[1]
        for first in range(0, n_terms, _TERMS_A_CALL):
            numbers = np.arange(first, min(first + _TERMS_A_CALL, n_terms))
            team.over_columns(self._adding(numbers, values), len(numbers), len(values))

    def _adding(self, numbers: NDArray[np.int64], values: Floats) -> Piece:
        """Return what adds some of the terms to the values of some rows."""
        coef = np.ascontiguousarray(self._functions[:, numbers])
        terms, points = terms_of(self._terms, numbers), self._points

        def piece(first: int, stop: int, threads: int) -> None:
            terms.add(points, coef, first, None, values[first:stop], threads)

        return piece


def _columns_in_use(support: Rows, X: Rows) -> NDArray[Any] | None:
    """Return the features that support rows have, if they are few of very many; else None."""
    if not (support.is_sparse and X.is_sparse) or X.n_features < VERY_MANY_FEATURES:
        return None
    return np.unique(support.indices)


def _native_rows(
    native: NativeKernel,
    rows: Rows,
    centre: Floats | None,
    precision: type[np.floating[Any]],
    used: NDArray[Any] | None,
) -> Any:
    """Return rows as the compiled core takes them; of very many features, those in use alone."""
    scales = scales_of(native, rows, 1.0)
    if used is None:
        return native_rows(native, view(rows), (centre, scales), precision)
    narrow, left_out = _narrowed(rows, used)
    if isinstance(native.kernel, Laplacian | ChiSquared):
        # The distance in features that no support row has is the same to all of them.
        factors = np.exp(-number(native.kernel.gamma) * left_out)
        scales = factors if scales is None else scales * factors
    return native_rows(native, view(rows), (centre, scales), precision, view(narrow))


def _narrowed(rows: Rows, used: NDArray[Any]) -> tuple[Rows, Floats]:
    """Return sparse rows with some of their features alone, which are numbered anew.

    Also what the others add up to in every row. They are in no product with a support row; the
    sums of rows with themselves are taken from the whole rows.
    """
    places, kept = places_among(used, rows.indices)
    before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(kept)))
    pieces = (rows.values[kept], places[kept], before[rows.indptr])
    narrow = Rows(sp.csr_array(pieces, shape=(rows.n_rows, max(1, len(used)))))
    owner = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))[~kept]
    sizes = np.abs(rows.values[~kept].astype(np.float64))
    return narrow, np.asarray(np.bincount(owner, sizes, rows.n_rows), dtype=np.float64)


def _by_reference(
    kernel: Kernel, support: Any, functions: Floats, X: Rows, values: Floats, check: Check | None
) -> None:
    """Evaluate a kernel that the compiled core does not know, a panel of rows at a time."""
    operand = support.matrix if isinstance(support, Rows) else np.asarray(support)
    size = max(1, _PANEL_VALUES // max(1, functions.shape[1]))
    for start in range(0, X.n_rows, size):
        if check is not None:
            check()
        some = X.take(np.arange(start, min(start + size, X.n_rows))).matrix
        block = kernel.block(some, operand)
        for column, function in enumerate(functions):
            # A sum of each row's own, where a matrix product would depend on its neighbours; a row
            # after the other in memory, or how it is summed up would depend on how many there are.
            terms = np.multiply(block, function, order="C")
            values[start : start + size, column] = np.sum(terms, axis=1)
