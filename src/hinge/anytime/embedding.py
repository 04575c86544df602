r"""Cholesky embedding of a machine's functions, with bounds that survive rounding.

A function is :math:`f(x) = \langle W, \Phi(x)\rangle + b` in the space of the kernel. Basis points
:math:`z_1, z_2, \dots` span a growing subspace of it. With the rows :math:`T_j` of (nearly) the
inverse of the Cholesky factor of their kernel matrix K, the vectors
:math:`e_j = \sum_i T_{ji} \Phi(z_i)` are (nearly) orthonormal, and a query's coordinates are
:math:`q = T k(x)`, :math:`k(x)_i = k(z_i, x)`. After e points

.. math:: f_e(x) = \sum_{i \le e} a_i k(z_i, x) + b, \qquad
          |f(x) - f_e(x)| \le \|W_\perp\|\, R(x) + s \sqrt{k(x, x)},

where :math:`\|W_\perp\|` is the part of W outside the subspace, :math:`R(x)` that of the query,
:math:`R(x)^2 = k(x, x) - \|q\|^2`, and s is what rounding has left of W inside it. The two terms of
the paper's gap (eq. 21 and 23) are this one product.

*What rounding does.* T, a and the coordinates of W are computed numbers, so they are not quite what
they should be; but they are *known* numbers. With the Gram matrix :math:`G = T K T'` and
:math:`\delta \ge \|G - I\|`, and :math:`w_j = \langle W, e_j \rangle`,

.. math:: \|W_\perp\|^2 \le \|W\|^2 - \frac{\|w\|^2}{1 + \delta}, \quad
          R(x)^2 \le k(x, x) - \frac{\|q\|^2}{1 + \delta}, \quad
          s \le \frac{\|w - T K a\|}{\sqrt{1 - \delta}} ,

and every quantity on the right has a computed value and a bound on its error. R may be taken from
fewer points than :math:`f_e` is: it never grows. That spares the triangle of T, whose cost is the
square of the number of points, where the kernel values themselves cost less.

References
----------
D. DeCoste, "Anytime query-tuned kernel machine classifiers via Cholesky factorization", SDM 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.anytime.functions import Check, Functions
from hinge.anytime.sides import Side, magnitudes, sum_errors, value_errors
from hinge.inequality import rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_ROWS_A_CALL = 64
_COLUMNS_A_CALL = 1 << 14


@dataclass(frozen=True)
class Exit:
    """What is known after some number of basis points.

    Parameters
    ----------
    count : int
        How many points.
    coef : ndarray of shape (count, n_functions)
        The coefficients a.
    total : ndarray of shape (n_functions,)
        Sums of their absolute values.
    residual : ndarray of shape (n_functions,)
        Bounds on the part of each W outside the subspace.
    slack : ndarray of shape (n_functions,)
        Bounds on what rounding has left of each W inside it.
    """

    count: int
    coef: Floats
    total: Floats
    residual: Floats
    slack: Floats


@dataclass(frozen=True)
class Embedding:
    """Basis points and the triangle that makes coordinates of kernel values.

    Parameters
    ----------
    basis : Rows
        The points, in their order.
    triangle : ndarray of shape (n_points, n_points)
        T.
    spread : ndarray of shape (n_points,)
        Norms of the vectors of the sums of the absolute values of the first rows of T.
    defect : ndarray of shape (n_points,)
        Bounds on the distance of the Gram matrix of the first vectors from the identity.
    exits : tuple of Exit
        What is known after some numbers of points, in rising order.
    """

    basis: Rows
    triangle: Floats
    spread: Floats
    defect: Floats
    exits: tuple[Exit, ...]


def kernel_block(points: Side, terms: Side, numbers: Ids, where: Ids | None, count: int) -> Floats:
    """Return the kernel of some terms with some points, in the precision of the sides.

    Parameters
    ----------
    points, terms : Side
        The rows.
    numbers : ndarray of int64
        Which terms.
    where : ndarray of int64 or None
        Which points; None for the first ones.
    count : int
        How many points.
    """
    out: Any = np.empty((len(numbers), count), dtype=points.precision)
    points.rows.block(terms.rows, numbers, 0, where, out, None, 0, count)
    return np.asarray(out)


def embed(
    functions: Functions, basis: Rows, exits: tuple[int, ...], check: Check | None = None
) -> Embedding | None:
    """Return the embedding of a machine's functions on basis points.

    Parameters
    ----------
    functions : Functions
        The functions, of a positive semidefinite kernel.
    basis : Rows
        The points, stored as the support vectors are.
    exits : tuple of int
        After how many points to look.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.

    Returns
    -------
    Embedding or None
        The embedding, of fewer points where they depend on each other; None if none is left.
    """
    side = functions.side(basis, basis, np.float64)
    support = functions.side(functions.machine.support, basis, np.float64)
    K = _square(side, check)
    triangle = _inverse_factor(K)
    if len(triangle) == 0:
        return None
    n = len(triangle)
    kept = basis.take(np.arange(n))
    K, side = K[:n, :n], side.part(slice(0, n))
    relative, absolute = (float(np.max(error)) for error in value_errors(side, side))
    spread, defect = _defects(K, triangle, relative, absolute)
    images = functions.values(kept)
    image_errors = sum_errors(side, support, functions.total)
    w = triangle @ images
    turned = np.abs(triangle)
    w_errors = turned @ image_errors + rounding_factor(n) * (turned @ np.abs(images)) * 1.01
    squares = squared_norms(functions)
    found = []
    for count in sorted({min(count, n) for count in exits}):
        some = slice(0, count)
        coef = triangle[some, some].T @ w[some]
        left = w[some] - triangle[some, some] @ (K[some, some] @ coef)
        size = turned[some, some] @ (np.abs(K[some, some]) @ np.abs(coef))
        error = w_errors[some] + (relative + 2.0 * rounding_factor(count)) * 1.01 * size
        error += absolute * turned[some, some].sum(axis=1)[:, None] * np.abs(coef).sum(axis=0)
        error += 4.0 * np.finfo(float).eps * np.abs(w[some])
        if defect[count - 1] >= 0.5:
            break
        inside = np.linalg.norm(np.abs(left) + error, axis=0) / np.sqrt(1.0 - defect[count - 1])
        held = np.linalg.norm(w[some], axis=0) * (1.0 - rounding_factor(count))
        held = np.maximum(held - np.linalg.norm(w_errors[some], axis=0) * 1.0001, 0.0) ** 2
        outside = squares - held / (1.0 + defect[count - 1]) * (1.0 - 1e-15)
        total = np.abs(coef).sum(axis=0) * (1.0 + 1e-9)
        residual = np.sqrt(np.maximum(outside, 0.0)) * (1.0 + 1e-12)
        found.append(Exit(count, np.ascontiguousarray(coef), total, residual, inside * 1.0001))
    if not found:
        return None
    return Embedding(kept, triangle, spread, defect, tuple(found))


def squared_norms(functions: Functions) -> Floats:
    """Return upper bounds on ``||W||^2`` of every function.

    Parameters
    ----------
    functions : Functions
        The functions.
    """
    terms = functions.terms
    side = functions.side(terms, terms, np.float64)
    support = functions.side(functions.machine.support, terms, np.float64)
    at_terms = functions.at_terms
    errors = sum_errors(side, support, functions.total)
    absolute = np.abs(functions.coef)
    size = np.sum(absolute * np.abs(at_terms), axis=0)
    # Coefficients that were added up are off by the rounding of their sums.
    factor = 2.0 * rounding_factor(len(functions.machine.coefficients) + terms.n_rows)
    error = np.sum(absolute * errors, axis=0) + factor * (size + functions.total**2 * _most(side))
    value = np.sum(functions.coef * at_terms, axis=0)
    return np.asarray(np.maximum(value, 0.0) + error * 1.0001)


def _most(side: Side) -> float:
    return float(np.max(magnitudes(side, side), initial=0.0))


def _square(side: Side, check: Check | None) -> Floats:
    """Return the kernel matrix of the basis, made symmetric."""
    n = len(side)
    K = np.empty((n, n))
    for first in range(0, n, _ROWS_A_CALL):
        if check is not None:
            check()
        numbers = np.arange(first, min(first + _ROWS_A_CALL, n))
        K[numbers] = kernel_block(side, side, numbers, None, n)
    return np.asarray(np.tril(K) + np.tril(K, -1).T)


def _inverse_factor(K: Floats) -> Floats:
    """Return the inverse of the Cholesky factor of as many leading rows as have one."""
    factor, info = scipy.linalg.lapack.dpotrf(K, lower=1, clean=1)
    n = len(K) if info == 0 else max(0, info - 1)
    if n == 0:
        return np.empty((0, 0))
    inverse, _ = scipy.linalg.lapack.dtrtri(factor[:n, :n], lower=1)
    return np.ascontiguousarray(np.tril(inverse))


def _defects(
    K: Floats, triangle: Floats, relative: float, absolute: float
) -> tuple[Floats, Floats]:
    """Return ``spread`` and ``defect`` of every number of leading points."""
    turned, size = np.abs(triangle), np.abs(K)
    rows = turned.sum(axis=1) * (1.0 + 1e-9)
    spread = np.sqrt(np.cumsum(rows**2)) * (1.0 + 1e-9)
    factor = (relative + 4.0 * rounding_factor(len(K))) * 1.01
    # Frobenius norms of the leading squares: each adds a row and a column. Some rows at a time, so
    # that no further array of the square of the number of points is needed.
    added = np.empty(len(K))
    for first in range(0, len(K), _ROWS_A_CALL):
        last = min(first + _ROWS_A_CALL, len(K))
        few, leading = slice(first, last), slice(0, last)
        off = triangle[few, leading] @ K[leading, leading] @ triangle[leading, leading].T
        off[np.arange(last - first), np.arange(first, last)] -= 1.0
        np.abs(off, out=off)
        off += factor * (turned[few, leading] @ size[leading, leading] @ turned[leading, leading].T)
        off += absolute * np.outer(rows[few], rows[leading])
        added[few] = 2.0 * np.tril(off**2, first).sum(axis=1)
    return spread, np.sqrt(np.cumsum(added)) * (1.0 + 1e-9)
