"""The full evaluation over support vectors that are packed once: the machine's own bits.

``Machine.values`` packs the support vectors again for every piece of a batch, which for a few
queries is most of the work. Here they are packed once for dense and once for sparse queries. The
panels, their order and every sum are the same, so the values are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Sides
from hinge.machines.native_rows import native_rows, scales_of, view
from hinge.rows import Rows

Floats = NDArray[np.float64]

_BYTES = 1 << 28  # of packed support vectors
_MOST_FEATURES = 4096  # beyond it packed rows keep a number for every feature
_VALUES_A_CALL = 1 << 21  # kernel values of one native call: some 10 ms


def full_values(
    functions: Functions, sides: Sides, rows: Rows, check: Callable[[], None] | None = None
) -> Floats:
    """Return the decision values of the full evaluation.

    Parameters
    ----------
    functions : Functions
        The functions.
    sides : Sides
        Where packed support vectors are kept.
    rows : Rows
        The queries.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.

    Returns
    -------
    ndarray of shape (n_rows, n_functions)
        What ``functions.machine.values(rows)`` returns, to the bit.
    """
    machine = functions.machine
    support, count = machine.support, len(machine.coefficients)
    if support.n_features > _MOST_FEATURES or 8 * count * support.n_features > _BYTES:
        return machine.values(rows)
    native, centre = functions.native, functions.centre(rows)

    def prepared(some: Rows) -> Any:
        scales = scales_of(native, some, 1.0)
        return native_rows(native, view(some), (centre, scales), np.float64)

    kept = sides.made(
        "full",
        rows,
        machine,
        lambda: core.KeptTermsDouble(
            prepared(support), np.ascontiguousarray(machine.coefficients.T)
        ),
    )
    values = np.zeros((rows.n_rows, len(machine.intercept)))
    points = prepared(rows)
    size = max(96, _VALUES_A_CALL // count)
    for first in range(0, rows.n_rows, size):
        if check is not None:
            check()
        kept.add(points, first, values[first : first + size])
    return values + machine.intercept
