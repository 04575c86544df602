"""The passes over rows that Newton's method is made of.

Each is a kernel: state and panel number in, sums out. Rows are read in native code, one call for a
panel, which writes to the variables of the panel's own rows only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.block_pass import Partial
from hinge.solvers.linear.newton_state import SUMS, NewtonState

Floats = NDArray[np.float64]

_SURE = 1.0 + 1e-6  # what a bound is multiplied with, so that rounding does not matter


def measure(state: NewtonState, number: int) -> Partial:
    """Set the margins; sum up the rows times coefficients that the run starts from, if any."""
    state.passes.measure(*state.extent(number), state.weights)
    sums = np.zeros(len(state.weights))
    if state.smoothing and state.is_warm:
        rows, signs, size = state.sample.rows, state.sample.signs, state.panel_blocks
        for each in range(number * size, min((number + 1) * size, rows.n_blocks)):
            block = rows.block(each)
            pull = signs[block.rows] * state.known_dual[block.rows]
            sums[: rows.n_features] += block.transpose_dot(pull)
            if state.constant:
                sums[-1] += state.constant * float(np.sum(pull))
    return sums, -math.inf


def shift(state: NewtonState, number: int) -> Partial:
    """Sum up the derivatives of the losses by a free intercept."""
    return np.array(state.passes.shift(*state.extent(number), _place(state))), -math.inf


def search(state: NewtonState, number: int) -> Partial:
    """Sum up the derivatives of the losses along the direction."""
    return np.array(state.passes.search(*state.extent(number), _place(state))), -math.inf


def gradient(state: NewtonState, number: int) -> Partial:
    """Take the step; sum up losses, slopes and the diagonal of the second derivatives.

    Rows that a whole step would have carried into the window are what made it short: they count
    as if they were in it, or the next step would be as short.
    """
    sums = np.zeros(3 * len(state.weights) + SUMS)
    needs_diagonal = not state.uses_matrix
    state.passes.gradient(*state.extent(number), _place(state), needs_diagonal, sums)
    return sums, -math.inf


def product(state: NewtonState, number: int) -> Partial:
    """Sum up the product of the second derivatives with a vector."""
    sums = np.zeros(len(state.weights))
    state.passes.product(*state.extent(number), state.conjugate, sums)
    return sums, -math.inf


def matrix(state: NewtonState, number: int) -> Partial:
    """Sum up by how much the matrix changes: the rows that have come into the window or left it."""
    extent = state.extent(number)
    width = len(state.weights)
    if state.sample.rows.is_sparse:
        square = np.zeros((width, width))
        state.passes.outer(*extent, square)
        return square.ravel(), -math.inf
    n_come, n_gone = state.passes.changed(*extent)
    scaled = np.empty((n_come + n_gone, width))
    state.passes.scaled(*extent, scaled)
    square = scaled[:n_come].T @ scaled[:n_come]
    if n_gone:
        square -= scaled[n_come:].T @ scaled[n_come:]
    return square.ravel(), -math.inf


def trial(state: NewtonState, number: int) -> Partial:
    """Set the change of margins along the direction.

    A margin that stays above the window wherever the step may end needs no product: Cauchy and
    Schwarz bound it, and the bound stands for it until it no longer suffices.
    """
    norm = _SURE * float(np.linalg.norm(state.direction[: state.problem.n_features]))
    reach = (norm, state.longest, state.room)
    n_read = state.passes.trial(*state.extent(number), state.weights, state.direction, reach)
    return np.array([float(n_read)]), -math.inf


KERNELS: dict[str, Callable[[NewtonState, int], Partial]] = {
    kernel.__name__: kernel for kernel in (measure, shift, gradient, product, matrix, trial, search)
}


def _place(state: NewtonState) -> tuple[float, float, float]:
    """Return where the losses are looked at, and what costs are multiplied with."""
    return state.length, state.shift, state.ease
