r"""Gaussian kernels with smaller errors than float32's own, over the terms that float32 has packed.

In float32 distances by inner products, :math:`x'x + z'z - 2x'z`, are off by a share of the squared
norms. There are two ways around it, and kernel values are large where distances are small.

*By differences*, in float32 with unit roundoff u: a sum of n squared differences, 32 of them at a
time, is off by :math:`m = \min(n, 32) + \lceil n/32 \rceil + 3` roundings of itself, and either row
was rounded once, which moves a distance by :math:`e = u (\|x\| + \|z\|)` at the most.

*In float64*, with unit roundoff v: inner products of the query as it is with the terms as they were
rounded, whose own squares are taken in float64 as well. Then :math:`e = u \|z\|`, and squared
distances are off by :math:`(n + 8) v (\|x\| + \|z\|)^2` besides.

With :math:`2 \gamma d e \le \sqrt\gamma e (1 + t)` the exponent :math:`t = \gamma d^2` is within
:math:`A \hat t + B` of the true one,

.. math:: A = (m + 4) w + \sqrt\gamma e, \qquad
          B = \sqrt\gamma e + \gamma e^2 + \gamma (n + 8) v (\|x\| + \|z\|)^2,

with w the one or the other roundoff, and so a sum of kernel values is within

.. math:: A\,h(x) + (B + u + \epsilon)\,g(x), \qquad h(x) = \sum_i |c_i|\,\hat k_i\,\hat t_i, \quad
          g(x) = \sum_i |c_i|\,\hat k_i,

of the true sum: u for coefficients in float32, :math:`\epsilon` for the exponential and the sum. A
fifth more covers products of errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.sides import SINGLE_ROUNDOFF, Precision, Side, unit_of
from hinge.anytime.single import SingleSums
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels.exponential import exponential_error

Floats = NDArray[np.float64]

MOST_FEATURES = 4096  # beyond it panels have no place for every feature
_TOGETHER = 32  # squares that the compiled core sums apart
_PANEL_ROWS = 64
_IN_PANEL = 16  # roundings of a product and its sum within a panel
_LARGEST_EXPONENT = 710.0  # beyond it a kernel value is 0 in float64, and long before in float32
_MORE = 1.2  # products of errors
_USEFUL = 0.05  # of a kernel value: a larger error proves nothing
_LOST = 1e-43  # what a coefficient below the normal numbers of float32 may lose


@dataclass(frozen=True)
class NearSums:
    """What rounding may do to sums by differences, for all queries of at most some norm.

    Parameters
    ----------
    slope : float
        What h counts.
    share : float
        What g counts.
    fixed : ndarray of shape (n_functions,)
        What comes on top.
    """

    slope: float
    share: float
    fixed: Floats

    @staticmethod
    def of(
        sums: SingleSums, gamma: float, point: Side, terms: Side, precision: Precision
    ) -> NearSums | None:
        """Return the bounds; None where they prove nothing.

        Parameters
        ----------
        sums : SingleSums
            The functions.
        gamma : float
            Of the kernel.
        point : Side
            A point of the largest norm that a query may have.
        terms : Side
            The terms in float32.
        precision : type
            Of the query and of the arithmetic.
        """
        n, unit = sums.terms.n_features, unit_of(precision)
        if n > MOST_FEATURES:
            return None
        largest, norm = float(np.max(terms.norms, initial=0.0)), float(point.norms[0])
        # The centre is subtracted from both in float64; float32 has a smallest number.
        off = SINGLE_ROUNDOFF * largest + unit * norm + 4.0 * UNIT_ROUNDOFF * (norm + largest)
        off += 2.0 * n * 2.0**-149
        if precision is np.float64:  # by inner products
            by_products = (n + 8) * UNIT_ROUNDOFF * (norm + largest) ** 2
            return bounds_of(sums, gamma, off, 4, by_products, precision)
        return bounds_of(sums, gamma, off, min(n, _TOGETHER) + -(-n // _TOGETHER) + 3)


def bounds_of(
    sums: SingleSums,
    gamma: float,
    off: float,
    roundings: int,
    fixed: float = 0.0,
    precision: Precision = np.float32,
) -> NearSums | None:
    """Return the bounds that follow from those on distances; None where they prove nothing.

    Parameters
    ----------
    sums : SingleSums
        The functions.
    gamma : float
        Of the kernel.
    off : float
        What a distance is off by, because rows were rounded.
    roundings : int
        Of a squared distance.
    fixed : float, default=0.0
        What a squared distance is off by besides.
    precision : type, default=np.float32
        Of the arithmetic.
    """
    unit, off = unit_of(precision), _MORE * off
    slope = _MORE * ((roundings + 4) * unit + np.sqrt(gamma) * off)
    exponent = _MORE * (np.sqrt(gamma) * off + gamma * (off**2 + 2.0 * fixed)) + 1e-30
    if not slope * _LARGEST_EXPONENT + exponent < _USEFUL:
        return None
    exponential, smallest = exponential_error(np.zeros(1), unit)
    panels = -(-sums.terms.n_rows // _PANEL_ROWS)
    summed = _IN_PANEL * unit + rounding_factor(panels) + SINGLE_ROUNDOFF
    share = _MORE * (exponent + float(exponential[0]) + summed)
    merging = 2.0 * rounding_factor(sums.n_merged)
    rest = (2.0 * float(smallest[0]) + merging) * sums.total
    rest = rest + sums.terms.n_rows * _LOST + 1e-15 * np.abs(sums.intercept)
    return NearSums(float(_MORE * slope), float(share), rest * 1.01)
