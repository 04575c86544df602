r"""Decision values of a machine with the linear kernel, by its weights.

The sum over support vectors of either sign is a product with one vector,

.. math:: \sum_j |b_j|\, x_j'x = v'x, \qquad v = \sum_j |b_j|\, x_j ,

so a pass takes as many products as there are rows and support vectors, and not as many as there
are pairs of them. Both sums round by parts of what their terms add up to without signs,

.. math:: \frac{(m + n)u}{1 - (m + n)u}\; a'|x|, \qquad a = \sum_j |b_j|\,|x_j| ,

with m additions one after another for v, panels of support vectors and then their sums, and n for a
product with a row. Every term that underflows loses a fixed amount beside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_operands import PANEL_ROWS, Wanted
from hinge.inequality import rounding_factor
from hinge.kernels import Linear

Floats = NDArray[np.float64]

_MOST_FEATURES = 1 << 22  # whose weights take some memory, but no more than that
_PART_VALUES = 1 << 20  # of rows that are multiplied at a time: a few milliseconds
_LOST = 2.0**-1072  # to underflow, of a few products


def has_weights(machine: Machine) -> bool:
    """Return whether a machine is its weights, which are not too many.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    """
    is_linear = isinstance(machine.kernel.core, Linear)
    return is_linear and machine.rows.n_features <= _MOST_FEATURES


class LinearSums:
    """The weights of a machine with the linear kernel.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    check : callable or None
        Called between panels; may raise to abandon the sums.
    """

    def __init__(self, machine: Machine, check: Callable[[], None] | None) -> None:
        self._machine = machine
        rows, self._cuts = machine.rows, machine.cuts(PANEL_ROWS)
        self._weights = np.zeros((rows.n_features, 2))
        self._sizes = np.zeros(rows.n_features)
        for cut in self._cuts:
            if check is not None:
                check()
            matrix = in_float64(rows.take(machine.ids[slice(*cut)]).matrix)
            weights = machine.weights[slice(*cut)]
            self._weights[:, machine.side(cut)] += matrix.T @ weights
            self._sizes += abs(matrix).T @ weights

    def of(
        self, wanted: Wanted, threads: int, check: Callable[[], None] | None
    ) -> tuple[Floats, Floats, Floats]:
        """Return the sums of some rows, and their relative and absolute error bounds.

        Parameters
        ----------
        wanted : tuple of Rows and ndarray of int
            The rows, at least one: of which data, and which.
        threads : int
            Threads that share out rows.
        check : callable or None
            Called between parts of the rows; may raise to abandon the pass.

        Returns
        -------
        sums, relative, absolute : ndarray of shape (3, n) or (n,)
            Sums over support vectors of positive and of negative coefficient, and without signs.
        """
        rows, ids = wanted
        size = max(PANEL_ROWS, _PART_VALUES * rows.n_rows // max(1, rows.n_stored))

        def sums(number: int) -> list[Floats]:
            matrix = in_float64(rows.take(ids[number * size : (number + 1) * size]).matrix)
            signed = np.asarray(matrix @ self._weights).T
            return [np.vstack((signed, abs(matrix) @ self._sizes))]

        count = -(-len(ids) // size)
        found = map_numbers(sums, count, list.__add__, threads=threads, check=check)
        return np.concatenate(found, axis=1), *self._error(wanted)

    def _error(self, wanted: Wanted) -> tuple[Floats, Floats]:
        machine, (rows, ids) = self._machine, wanted
        terms = max(rows.longest_row, machine.rows.longest_row)
        relative = rounding_factor(PANEL_ROWS + len(self._cuts) + terms + 4)
        return np.full(len(ids), relative), lost_to_underflow(wanted, len(machine.ids), terms)


def lost_to_underflow(wanted: Wanted, n_support: int, terms: int) -> Floats:
    """Return bounds on what underflow takes from the sums of some rows.

    Parameters
    ----------
    wanted : tuple of Rows and ndarray of int
        The rows: of which data, and which.
    n_support, terms : int
        How many support vectors there are, and the most values that one of them or a row has.
    """
    rows, ids = wanted
    reach = rows.norm_bounds(rows.squared_norms[ids])
    return np.asarray(_LOST * (n_support + terms) * (1.0 + terms) * (1.0 + reach))


def in_float64(matrix: Any) -> Any:
    """Return a dense or sparse matrix in float64.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The matrix.
    """
    return matrix.astype(np.float64, copy=False)
