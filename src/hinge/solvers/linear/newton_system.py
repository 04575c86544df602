"""The systems of Newton's method: how accurate they are, and with products or with a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.newton_held import system_gap
from hinge.solvers.linear.newton_state import NewtonState

Floats = NDArray[np.float64]

_TENTH = 0.1  # what a system's residual is to become of the gradient, at most
_SHARE = 0.25  # the same in gaps: of the one that is aimed at
_FEW_PRODUCTS = 4.0  # a matrix that costs no more is formed at once
_SQUARES = 16.0  # features of a dense row that BLAS squares in the time of a product
_ENTRIES = 2.0  # the same for stored values of a sparse row
_SOLVING = 48.0  # multiplications of a factorisation that cost what reading a value does
_TINY = float(np.finfo(np.float64).tiny)


def begin_system(state: NewtonState) -> None:
    """Begin the next system, and say what residual it may leave.

    Parameters
    ----------
    state : NewtonState
        A run with its gradient.
    """
    gap = 0.5 * float(state.gradient @ state.gradient)
    relative = gap / max(state.primal, _TINY)
    aimed = system_gap(state) if state.spread else _SHARE * state.aim * state.primal
    state.decrease = max(min(_TENTH**2, relative) * gap, min(aimed, _TENTH**2 * gap))
    restart_system(state)


def restart_system(state: NewtonState) -> None:
    """Begin the system from a direction of zero.

    Parameters
    ----------
    state : NewtonState
        A run that knows what residual it may leave.
    """
    state.direction[:] = 0.0
    state.residual[:] = -force_of(state)
    state.diagonal[:] = np.maximum(state.diagonal, _TINY)
    state.conjugate[:] = state.residual / state.diagonal
    state.products = 0
    uses_matrix = state.uses_matrix or bool(state.spread and state.has_matrix)
    if uses_matrix or (state.has_matrix and matrix_in_products(state) <= _FEW_PRODUCTS):
        begin_matrix(state)
    else:
        state.stage = "product"


def begin_matrix(state: NewtonState) -> None:
    """Bring the matrix up to date, from nothing where that is less.

    Parameters
    ----------
    state : NewtonState
        A run with room for a matrix.
    """
    if state.changed > state.curved:
        forget_matrix(state)
    state.uses_matrix = True
    state.stage = "matrix"


def forget_matrix(state: NewtonState) -> None:
    """Take no rows for being in the matrix.

    Parameters
    ----------
    state : NewtonState
        A run with or without a matrix.
    """
    state.matrix[...] = 0.0
    state.in_matrix[...] = 0.0


def force_of(state: NewtonState) -> Floats:
    """Return what the system is to balance: the gradient, and that of rows about to enter."""
    force = state.gradient + state.foreseen
    if state.is_free and not state.curved:
        # No row is in the window, so that nothing resists a free intercept: the rounding of its
        # slope would send it to infinity. It has found its place already.
        force[-1] = 0.0
    return force


def matrix_in_products(state: NewtonState) -> float:
    """Return what bringing the matrix up to date costs, in products with a vector.

    This decides between conjugate gradients and the matrix, which later steps need only change:
    it is formed at once where it costs a few products, and otherwise when as many have been taken.
    """
    rows = state.sample.rows
    stored = max(1.0, rows.n_stored / rows.n_rows)
    squares = stored / (_ENTRIES if rows.is_sparse else _SQUARES)
    curved = max(1, state.curved)
    solving = len(state.weights) ** 3 / 3.0 / _SOLVING / (curved * stored)
    return min(state.changed, curved) / curved * squares + solving
