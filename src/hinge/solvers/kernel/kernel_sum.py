"""A sum of kernel functions at some rows, added up a bounded number of terms at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.machines import KernelSource

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

VALUES_A_PIECE = 1 << 22  # kernel values of a piece, some 10 to 20 ms
_LEAST_TERMS = 64  # of a piece: they fill a panel


@dataclass
class KernelSum:
    """``sum_i coef_i k(x_i, x_j)`` added to ``out[j]``, as far as it has come.

    Parameters
    ----------
    ids : ndarray of int64
        The rows of the sum.
    coef : ndarray of shape (len(ids),)
        Their coefficients.
    columns : ndarray of int64 or None
        The rows at which it is evaluated; None for all.
    out : ndarray
        What has been added to so far; never changed in place.
    done : int
        Terms that have been added.
    """

    ids: Ids
    coef: Floats
    columns: Ids | None
    out: Floats
    done: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to add."""
        return self.done >= len(self.ids) or len(self.out) == 0

    def advance(self, source: KernelSource) -> None:
        """Add some terms in float64; nothing has happened if the source gives up.

        Parameters
        ----------
        source : KernelSource
            Where kernel values come from.
        """
        if self.is_complete:
            return
        size = max(_LEAST_TERMS, VALUES_A_PIECE // len(self.out))
        some = slice(self.done, self.done + size)
        added = self.out.copy()
        source.add(self.ids[some], self.coef[some], added, self.columns, exact=True)
        self.out, self.done = added, self.done + size
