r"""The Gaussian kernel where products are not exact enough for its distances.

As :math:`\|a\|^2 + \|b\|^2 - 2 a'b` a distance is off by some roundings of the squared norms. Where
one feature is huge beside the others, and rows agree in it, that is more than the distance itself:
with a feature of 1e7 nothing is left of differences below 0.1. Summed up from differences, feature
by feature, a distance is off by some roundings of itself.

That takes several times as long, and no float32. So it is left to rows of which a bound on what
rounding does to the exponent says that it matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hinge.inequality import rounding_factor
from hinge.kernels.base import Floats
from hinge.kernels.centre import centre_for
from hinge.kernels.decay import DecayKernel
from hinge.kernels.products import as_pair, dense_columns

if TYPE_CHECKING:
    from hinge.kernels.rbf import RBF
    from hinge.rows import Rows

_MOST_LOST = 1e-7  # of a kernel value: sums over thousands of rows lose as much times their costs
_MOST_FEATURES = 4096  # of sparse rows: they are made dense, some at a time
_ALL_NORMS = 4.0  # times the largest squared norm: that of two rows, and twice their product
_ROUNDINGS = 8  # besides those of the sum
_NO_ROWS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class GaussianOfDifferences(DecayKernel):
    """The Gaussian kernel, with distances that are sums of squared differences.

    Parameters
    ----------
    gamma : float
        Not negative.
    """

    gamma: float
    name: ClassVar[str] = "rbf"
    is_never_negative: ClassVar[bool] = True
    is_dear: ClassVar[bool] = True

    @property
    def psd(self) -> bool:
        """True: it is the Fourier transform of a positive density."""
        return True

    def block(self, A: Any, B: Any) -> Floats:
        """Return the kernel of every row of A with every row of B, both dense or CSR."""
        from scipy.spatial.distance import cdist  # noqa: PLC0415 - slow to import, seldom used

        with np.errstate(over="ignore"):
            squares: Floats = np.asarray(cdist(*dense_columns(*as_pair(A, B)), "sqeuclidean"))
            squares *= -self.gamma
        return np.exp(squares, out=squares)

    def roundings(self, terms: int) -> int:
        """Return those of squares of differences, and of their sum."""
        return 2 * terms + _ROUNDINGS

    def lost(self, terms: int) -> float:
        """Return what squares below the range of normal numbers lose."""
        return 2.0 * (terms + 1) * float(np.finfo(np.float64).smallest_subnormal) * self.gamma


def loses_digits(kernel: RBF, gamma: float, rows: Rows) -> bool:
    """Return whether products may not be exact enough for the distances of some rows.

    The rows of which these are some decide, so that every part of them is taken alike. Rows that
    are measured from their mean count as far as they are from it.

    Parameters
    ----------
    kernel : RBF
        The kernel, as functions of products take it.
    gamma : float
        Its gamma.
    rows : Rows
        The rows.
    """
    whole, _ = rows.whole_of(_NO_ROWS)
    lost = _ALL_NORMS * gamma * rounding_factor(whole.longest_row + _ROUNDINGS)
    if lost * float(np.max(whole.squared_norms, initial=0.0)) <= _MOST_LOST:
        return False
    if whole.is_sparse and whole.n_features > _MOST_FEATURES:
        return False
    centre = centre_for(kernel, whole)
    if centre is None:
        return True
    with np.errstate(over="ignore"):
        farthest = [
            float(np.max(np.sum(np.square(block.values - centre), axis=1), initial=0.0))
            for block in whole.blocks()
        ]
    return not lost * max(farthest) <= _MOST_LOST
