"""The support vectors of a machine, in the order in which they are summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_operands import MOST_PAIRS, Wanted, parts
from hinge.certificates.kernel_panels import (
    PANEL_COLUMNS,
    Panels,
    ProductPanels,
    ReferencePanels,
)
from hinge.inequality import rounding_factor
from hinge.kernels import InnerProductKernel, Kernel
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Cut = tuple[int, int]  # first and last support vector of a panel

_PREPARED_BYTES = 1 << 23  # of support vectors that are prepared at a time


class Machine:
    """The support vectors of a machine and their coefficients, the positive ones first.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : Rows
        Where the support vectors are.
    ids : ndarray of int
        Which rows they are.
    coef : ndarray
        Their coefficients ``b = y alpha``, not zero.
    asked : tuple of Rows and ndarray of int or None, default=None
        All rows that will be asked for, if they are known: what their panels share is then
        prepared once, however many passes there are over some of them.
    """

    def __init__(
        self, kernel: Kernel, rows: Rows, ids: Ids, coef: Floats, asked: Wanted | None = None
    ) -> None:
        order = np.argsort(coef < 0.0, kind="stable")
        self.kernel = kernel.on(rows)
        self.rows = rows
        self.ids = ids[order]
        self.coef = coef[order]
        self.n_positive = int(np.count_nonzero(coef > 0.0))
        self.weights = np.abs(self.coef)
        self.weight_error = 0.0
        if self.has_factors:
            factors, errors = row_factors(self.kernel, rows, self.ids)
            self.weights = self.weights * factors
            self.weight_error = float(np.max(errors, initial=0.0))
        self.total = float(np.sum(self.weights)) * (1.0 + rounding_factor(len(ids)))
        self.asked = asked
        self._panels: dict[Any, Panels] = {}
        self.kept: dict[Panels, Any] = {}  # support vectors as prepared for panels

    @property
    def has_factors(self) -> bool:
        """Whether the kernel is made from another by factors of its rows."""
        return self.kernel.core is not self.kernel

    @property
    def never_cancels(self) -> bool:
        """Whether no kernel value is negative: sums over coefficients of one sign do not cancel."""
        return self.kernel.core.is_never_negative

    @property
    def is_fast(self) -> bool:
        """Whether the kernel is a function of inner products, which float32 computes as well."""
        return isinstance(self.kernel.core, InnerProductKernel)

    @property
    def is_dear(self) -> bool:
        """Whether a kernel value costs so much that few are to be computed at a time."""
        return self.kernel.core.is_dear

    def panels(self, wanted: Wanted, dtype: Any = np.float64) -> Panels:
        """Return how panels of some rows with the support vectors are computed."""
        if self.asked is None or wanted[0] is not self.asked[0]:
            return self._made(wanted, dtype)
        if dtype not in self._panels:
            self._panels[dtype] = self._made(self.asked, dtype)
        return self._panels[dtype]

    def _made(self, wanted: Wanted, dtype: Any) -> Panels:
        core, support = self.kernel.core, (self.rows, self.ids)
        if isinstance(core, InnerProductKernel):
            return ProductPanels(core, support, wanted, dtype)
        return ReferencePanels(core, support, wanted)

    def side(self, cut: Cut) -> int:
        """Return 0 for support vectors of positive, 1 for those of negative coefficient."""
        return 0 if cut[0] < self.n_positive else 1

    def cuts(self, width: int = PANEL_COLUMNS) -> list[Cut]:
        """Return where panels of at most that width begin and end; none holds both signs."""
        wide = [(0, self.n_positive), (self.n_positive, len(self.ids))]
        wide = [
            (start, min(start + PANEL_COLUMNS, last))
            for first, last in wide
            for start in range(first, last, PANEL_COLUMNS)
        ]
        return [
            (start, min(start + width, last))
            for first, last in wide
            for start in range(first, last, width)
        ]

    def loads(self) -> list[list[Cut]]:
        """Return the cuts in groups that are prepared together, in bounded memory."""
        features = min(self.rows.n_features, self.rows.longest_row * PANEL_COLUMNS)
        if self.rows.is_sparse:
            features = max(features, MOST_PAIRS // 2)  # whose sums may be in float32
        each = max(1, features * PANEL_COLUMNS * np.dtype(np.float64).itemsize)
        size = 1 if self.is_dear else max(1, _PREPARED_BYTES // each)
        cuts = self.cuts()
        return [cuts[start : start + size] for start in range(0, len(cuts), size)]


def row_factors(kernel: Kernel, rows: Rows, ids: Ids) -> tuple[Floats, Floats]:
    """Return the factors of some rows and bounds on their relative errors."""
    found = [np.ones((2, 0))]
    for part in parts(ids):
        matrix = rows.take(part).matrix
        norms = rows.norm_bounds(rows.squared_norms[part])
        errors = kernel.factor_error(matrix, norms, rows.longest_row)
        found.append(np.stack([kernel.factors(matrix), errors]))
    factors, errors = np.concatenate(found, axis=1)
    return factors, errors
