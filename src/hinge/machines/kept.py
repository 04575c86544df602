"""A machine whose support vectors are packed once, for calls of a few rows.

``Machine.values`` packs the support vectors for every batch, which for one row is nearly all of the
work. Here that is done when the first few rows come, once for dense and once for sparse ones.
Panels, their order and every sum are the same, so the values are the same to the last bit. The
packed values are a copy: whatever becomes of the support vectors, native code reads no others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.kernels.centre import centre_for
from hinge.machines.machine import Machine
from hinge.machines.native_rows import (
    NativeKernel,
    native_kernel,
    native_rows,
    scales_of,
    view,
)
from hinge.rows import Rows

Floats = NDArray[np.float64]

_MOST_BYTES = 1 << 26  # of packed support vectors
_MOST_FEATURES = 4096  # beyond it packed rows keep a number for every feature
_MOST_ROWS = 128
_PRODUCTS_A_CALL = 1 << 27  # of features: some 10 ms


class KeptMachine:
    """A machine, and what is made of it once.

    Parameters
    ----------
    machine : Machine
        The machine.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._native = self._packable()
        self._packed: dict[bool, tuple[Floats | None, core.KeptTermsDouble]] = {}

    def takes(self, rows: Rows) -> bool:
        """Return whether rows are so few that packed support vectors serve them best.

        Parameters
        ----------
        rows : Rows
            The rows.
        """
        products = rows.n_rows * len(self.machine.coefficients) * rows.n_features
        is_few = rows.n_rows <= _MOST_ROWS and products <= _PRODUCTS_A_CALL
        return is_few and self._native is not None

    def values(self, rows: Rows) -> Floats:
        """Return the decision values of a few rows, with the bits of ``Machine.values``.

        Parameters
        ----------
        rows : Rows
            Rows that it takes.

        Returns
        -------
        ndarray of shape (n_samples, n_pairs)
            Decision values.
        """
        native, machine = self._native, self.machine
        assert native is not None
        centre, packed = self._packed.get(rows.is_sparse) or self._pack(native, rows.is_sparse)
        values = np.zeros((rows.n_rows, len(machine.intercept)))
        packed.add(_prepared(native, rows, centre), 0, values)
        return values + machine.intercept

    def _packable(self) -> NativeKernel | None:
        """Return the kernel for native code; None if support vectors are not to be packed."""
        support, count = self.machine.support, len(self.machine.coefficients)
        if count == 0 or not isinstance(support, Rows) or support.n_features > _MOST_FEATURES:
            return None
        is_large = 8 * count * support.n_features > _MOST_BYTES
        return None if is_large else native_kernel(self.machine.kernel.on(support))

    def _pack(
        self, native: NativeKernel, is_sparse: bool
    ) -> tuple[Floats | None, core.KeptTermsDouble]:
        support = self.machine.support
        centre = None if is_sparse else centre_for(native.kernel, support)
        coef = np.ascontiguousarray(self.machine.coefficients.T)
        made = centre, core.KeptTermsDouble(_prepared(native, support, centre), coef)
        self._packed[is_sparse] = made
        return made


def _prepared(native: NativeKernel, rows: Rows, centre: Floats | None) -> Any:
    return native_rows(native, view(rows), (centre, scales_of(native, rows, 1.0)), np.float64)
