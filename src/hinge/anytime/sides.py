r"""Rows on either side of kernel values, with what rounding may do to those values.

Every bound of anytime classification is a statement about true kernel values, made from computed
ones. With :math:`\rho` and :math:`\alpha` from ``value_errors``,

.. math:: |\hat k(x, z) - k(x, z)| \le \rho(x)\,|\hat k(x, z)| + \alpha(x)

holds for every row z on the other side, in the precision of the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels import RBF, InnerProductKernel, Kernel, Sigmoid
from hinge.kernels.gamma import number
from hinge.machines.native_rows import NativeKernel, native_kernel, scales_of, self_sums, view
from hinge.rows import Rows

Floats = NDArray[np.float64]
Precision = type[np.floating[Any]]

SINGLE_ROUNDOFF = 2.0**-24
_SMALLEST = {np.float32: 2.0**-149, np.float64: 5e-324}
_COUNTED = 1 << 20  # values that are looked at together
_USEFUL = 0.1  # a relative error beyond this bounds nothing


def unit_of(precision: Precision) -> float:
    """Return the unit roundoff of a precision."""
    return SINGLE_ROUNDOFF if precision is np.float32 else UNIT_ROUNDOFF


def bounded_kernel(kernel: Kernel, support: Any) -> NativeKernel | None:
    """Return the native form of a kernel whose rounding is bounded; None if there is none.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    support : Rows or ndarray of int
        The support vectors; of numbers of columns nothing is known.
    """
    if not isinstance(support, Rows):
        return None
    native = native_kernel(kernel.on(support))
    if native is None or not isinstance(native.kernel, InnerProductKernel):
        return None
    return native


@dataclass(frozen=True)
class Side:
    """Rows as the terms or points of kernel values in one precision.

    Parameters
    ----------
    native : NativeKernel
        The kernel.
    rows : core.KernelRowsFloat or core.KernelRowsDouble
        The rows for the compiled core.
    norms : ndarray of shape (n,)
        Upper bounds on their norms, measured from their centre.
    diagonal : ndarray of shape (n,)
        Upper bounds on the kernel of every row with itself.
    scales, scale_errors : ndarray of shape (n,)
        Factors of the kernel values of a normalised kernel and their relative errors.
    longest : int
        The most values that a row has.
    precision : type
        ``np.float32`` or ``np.float64``.
    selfs : ndarray of shape (n,)
        Sums of the rows with themselves in float64.
    centre : ndarray of shape (n_features,) or None
        Where the rows are measured from.
    """

    native: NativeKernel
    rows: Any
    norms: Floats
    diagonal: Floats
    scales: Floats
    scale_errors: Floats
    longest: int
    precision: Precision
    selfs: Floats
    centre: Floats | None = None

    @staticmethod
    def of(
        native: NativeKernel,
        rows: Rows,
        centre: Floats | None,
        precision: Precision,
        wider: Side | None = None,
        is_counted: bool = True,
    ) -> Side:
        """Prepare rows.

        Parameters
        ----------
        native : NativeKernel
            A kernel of ``bounded_kernel``.
        rows : Rows
            The rows.
        centre : ndarray of shape (n_features,) or None
            Where to measure them from.
        precision : type
            ``np.float32`` or ``np.float64``.
        wider : Side or None, default=None
            The same rows in float64, whose sums are used where the centre is the same.
        is_counted : bool, default=True
            Whether the values of dense rows that are not zero are counted, which costs a look at
            all of them.
        """
        matrix = view(rows)
        # Sums of rows with themselves are made in float64, and rounded once for float32: what is
        # then rounded in a product is only as many terms as both rows have.
        if wider is not None and wider.centre is centre:
            exact = wider.selfs
        elif centre is None:
            exact = rows.squared_norms  # in another order than the core's, within the same bound
        else:
            exact = self_sums(native, matrix, centre, np.float64)
        with np.errstate(over="ignore"):  # what float32 cannot hold proves nothing
            selfs: Any = exact.astype(precision, copy=False)
        scales = scales_of(native, rows, 1.0)
        kind = core.KernelRowsFloat if precision is np.float32 else core.KernelRowsDouble
        held: Any = None if scales is None else scales.astype(precision)
        prepared = kind(matrix, native.choice, selfs, held, centre)
        # The rows were rounded once, which the two spare roundings of the factor do not cover.
        above = exact * (1.0 + 2.0 * rounding_factor(rows.longest_row + 4))
        above = above * (1.0 + 4.0 * unit_of(precision))
        norms = np.sqrt(above + 2.0 * rows.longest_row * _SMALLEST[precision])
        made = Side(
            native,
            prepared,
            norms,
            np.empty(0),
            np.ones(rows.n_rows) if scales is None else scales,
            np.zeros(rows.n_rows),
            _longest(rows, centre) if is_counted else rows.longest_row,
            precision,
            exact,
            centre,
        )
        return made._with_sizes(rows)

    def _with_sizes(self, rows: Rows) -> Side:
        """Return the side with bounds on diagonals and on the errors of factors."""
        kernel: Any = self.native.kernel
        if isinstance(kernel, (RBF, Sigmoid)):
            diagonal = np.ones(len(self.norms))
        else:
            t = kernel.scale * self.norms**2 + 2.0 * kernel.shift(self.norms**2)
            relative, absolute = kernel.block_error(self.norms, self.norms, self.longest)
            values = np.abs(kernel.apply(np.abs(t) * (1.0 + 4.0 * UNIT_ROUNDOFF)))
            diagonal = values * (1.0 + relative) + absolute
        if not self.native.is_normalised:
            return _replaced(self, diagonal=diagonal)
        # Factors are made in float64, from the rows as they are, before any centre.
        norms = rows.norm_bounds(rows.squared_norms)
        relative, absolute = kernel.block_error(norms, norms, self.longest)
        error = relative + absolute * self.scales**2 + 4.0 * UNIT_ROUNDOFF
        error = error * (1.0 + 2.0 * error) + 2.0 * unit_of(self.precision)
        error = np.where((error < _USEFUL) & (self.scales > 0.0), error, np.inf)
        return _replaced(self, diagonal=np.ones(len(norms)), scale_errors=error)

    def part(self, ids: NDArray[np.int64] | slice) -> Side:
        """Return the bounds of some of the rows; the prepared rows stay all of them."""
        return _replaced(
            self,
            norms=self.norms[ids],
            diagonal=self.diagonal[ids],
            scales=self.scales[ids],
            scale_errors=self.scale_errors[ids],
            selfs=self.selfs[ids],
        )

    def __len__(self) -> int:
        return len(self.norms)


def _longest(rows: Rows, centre: Floats | None) -> int:
    """Return the most values that a row has, measured from the centre."""
    if rows.is_sparse or rows.n_rows == 0:
        return rows.longest_row
    filled = np.zeros(rows.n_features, dtype=bool) if centre is None else centre != 0.0
    if filled.all():
        return rows.longest_row
    size = max(1, _COUNTED // rows.n_features)
    return max(
        int(np.max(np.count_nonzero((rows.values[k : k + size] != 0.0) | filled, axis=1)))
        for k in range(0, rows.n_rows, size)
    )


def _replaced(side: Side, **changes: Any) -> Side:
    values = {name: getattr(side, name) for name in Side.__dataclass_fields__}
    return Side(**{**values, **changes})


def value_errors(points: Side, terms: Side) -> tuple[Floats, Floats]:
    """Return relative and absolute error bounds of kernel values, for every point.

    Parameters
    ----------
    points, terms : Side
        The rows, in the same precision.

    Returns
    -------
    relative, absolute : ndarray of shape (n_points,)
        Bounds, relative to the computed value; both infinite where nothing is proven.
    """
    unit = unit_of(points.precision)
    kernel = points.native.kernel
    largest = float(np.max(terms.norms, initial=0.0))
    # A product that is zero rounds nothing; in float32 sums of rows with themselves have been
    # rounded once, in float64 as often as they have terms.
    pick = min if points.precision is np.float32 else max
    longest = pick(points.longest, terms.longest)
    if isinstance(kernel, RBF) and points.precision is np.float32:
        error = _distance_error(points.norms, largest, longest)
        relative, absolute = kernel.value_error(error, number(kernel.gamma) * error, unit)
    else:
        relative, absolute = kernel.block_error(points.norms, largest, longest, unit)
    if points.native.is_normalised:
        factor = points.scale_errors + float(np.max(terms.scale_errors, initial=0.0)) + 4.0 * unit
        relative = (relative + factor) * (1.0 + 2.0 * (relative + factor))
        scale = points.scales * float(np.max(terms.scales, initial=0.0))
        absolute = absolute * scale * (1.0 + 4.0 * factor)
    proven = (relative < _USEFUL) & np.isfinite(absolute)
    return np.where(proven, relative, np.inf), np.where(proven, absolute, np.inf)


def _distance_error(norms: Floats, largest: float, longest: int) -> Floats:
    r"""Return bounds on the error of squared distances in float32, and of their product with gamma.

    With unit roundoff u: either squared norm is rounded once, and so is their sum, which makes
    :math:`2 u (\rho^2 + R^2)`. An inner product of n terms, its rows rounded before, is off by
    :math:`(n + 3) u \rho R`, and counts twice. The difference, gamma and the product with it are
    rounded once each, :math:`3 u (\rho + R)^2`. Two more of each cover products of errors.
    """
    squares, products = norms**2 + largest**2, norms * largest
    error = 4.0 * squares + 2.0 * (longest + 5) * products + 5.0 * (norms + largest) ** 2
    return np.asarray(SINGLE_ROUNDOFF * error + 8.0 * (longest + 4) * _SMALLEST[np.float32])


def magnitudes(points: Side, terms: Side) -> Floats:
    """Return upper bounds on the size of the kernel values of every point.

    Parameters
    ----------
    points, terms : Side
        The rows.
    """
    kernel: Any = points.native.kernel
    if points.native.is_normalised or isinstance(kernel, (RBF, Sigmoid)):
        return np.ones(len(points))
    largest = float(np.max(terms.norms, initial=0.0))
    size, error = kernel.argument_error(points.norms, largest, 1, UNIT_ROUNDOFF)
    degree = int(getattr(kernel, "degree", 1))
    with np.errstate(over="ignore"):
        return np.asarray((size + error) ** degree * (1.0 + 1e-12))


def sum_errors(points: Side, terms: Side, total: Floats, extra_terms: int = 0) -> Floats:
    r"""Return bounds on the error of ``sum_i coef_i k(z_i, x)``, summed in float64.

    Parameters
    ----------
    points, terms : Side
        The rows.
    total : ndarray of shape (n_functions,)
        Sums of the absolute values of the coefficients.
    extra_terms : int, default=0
        Roundings on top of those of the sum itself.

    Returns
    -------
    ndarray of shape (n_points, n_functions)
        The bounds; infinite where nothing is proven.
    """
    relative, absolute = value_errors(points, terms)
    with np.errstate(invalid="ignore", over="ignore"):
        computed = (magnitudes(points, terms) + absolute) * (1.0 + 2.0 * relative)
        one = relative * computed + absolute
        one += rounding_factor(len(terms) + 16 + extra_terms) * computed
        one = one * 1.0001 + len(terms) * 1e-300
        errors = one[:, None] * total[None, :]
    return np.where(np.isfinite(errors), errors, np.inf)
