"""The passes over rows that Newton's method is made of.

Each is a kernel: state, panels and threads in, the sums of every panel out. Rows are read in native
code, one call for all panels of the kernel, each of which writes to the variables of its own rows
only; the matrix of dense rows is left to BLAS, panel by panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.block_pass import some_blocks
from hinge.solvers.linear.newton_state import SUMS, NewtonState

Floats = NDArray[np.float64]

_SURE = 1.0 + 1e-6  # what a bound is multiplied with, so that rounding does not matter


def measure(state: NewtonState, panels: range, threads: int) -> Floats:
    """Set the margins; sum up the rows times coefficients that the run starts from, if any."""
    state.passes.measure(*state.extents(panels), state.weights, threads)
    sums = np.zeros((len(panels), len(state.weights)))
    if state.smoothing and state.is_warm:
        sums += [_known_sum(state, number) for number in panels]
    return sums


def _known_sum(state: NewtonState, number: int) -> Floats:
    """Return the sum of a panel's rows, times the coefficients that the run starts from."""
    rows, signs, size = state.sample.rows, state.sample.signs, state.panel_blocks
    total = np.zeros(len(state.weights))
    for each in range(number * size, min((number + 1) * size, rows.n_blocks)):
        block = rows.block(each)
        pull = signs[block.rows] * state.known_dual[block.rows]
        total[: rows.n_features] += block.transpose_dot(pull)
        if state.constant:
            total[-1] += state.constant * float(np.sum(pull))
    return total


def shift(state: NewtonState, panels: range, threads: int) -> Floats:
    """Sum up the derivatives of the losses by a free intercept."""
    sums = np.empty((len(panels), 3))
    state.passes.shift(*state.extents(panels), _place(state), sums, threads)
    return sums


def search(state: NewtonState, panels: range, threads: int) -> Floats:
    """Sum up the derivatives of the losses along the direction."""
    sums = np.empty((len(panels), 3))
    state.passes.search(*state.extents(panels), _place(state), sums, threads)
    return sums


def gradient(state: NewtonState, panels: range, threads: int) -> Floats:
    """Take the step; sum up losses, slopes and the diagonal of the second derivatives.

    Rows that a whole step would have carried into the window are what made it short: they count
    as if they were in it, or the next step would be as short.
    """
    sums = np.zeros((len(panels), 3 * len(state.weights) + SUMS))
    needs_diagonal = not state.uses_matrix
    state.passes.gradient(*state.extents(panels), _place(state), needs_diagonal, sums, threads)
    return sums


def product(state: NewtonState, panels: range, threads: int) -> Floats:
    """Sum up the product of the second derivatives with a vector."""
    sums = np.zeros((len(panels), len(state.weights)))
    state.passes.product(*state.extents(panels), state.conjugate, sums, threads)
    return sums


def matrix(state: NewtonState, panels: range, threads: int) -> Iterator[Floats]:
    """Sum up by how much the matrix changes: the rows that have come into the window or left it."""
    return some_blocks(lambda number: _panel_matrix(state, number), panels, threads, state.pool)


def _panel_matrix(state: NewtonState, number: int) -> Floats:
    """Return by how much the matrix changes for the rows of a panel."""
    extent = state.extent(number)
    width = len(state.weights)
    if state.sample.rows.is_sparse:
        square = np.zeros((width, width))
        state.passes.outer(*extent, square)
        return square.ravel()
    n_come, n_gone = state.passes.changed(*extent)
    scaled = np.empty((n_come + n_gone, width))
    state.passes.scaled(*extent, scaled)
    square = scaled[:n_come].T @ scaled[:n_come]
    if n_gone:
        square -= scaled[n_come:].T @ scaled[n_come:]
    return np.asarray(square.ravel())


def trial(state: NewtonState, panels: range, threads: int) -> Floats:
    """Set the change of margins along the direction.

    A margin that stays above the window wherever the step may end needs no product: Cauchy and
    Schwarz bound it, and the bound stands for it until it no longer suffices.
    """
    norm = _SURE * float(np.linalg.norm(state.direction[: state.problem.n_features]))
    reach = (norm, state.longest, state.room)
    n_read = np.empty((len(panels), 1))
    vectors = state.weights, state.direction
    state.passes.trial(*state.extents(panels), *vectors, reach, n_read, threads)
    return n_read


KERNELS: dict[str, Callable[[NewtonState, range, int], Iterator[Floats] | Floats]] = {
    kernel.__name__: kernel for kernel in (measure, shift, gradient, product, matrix, trial, search)
}


def _place(state: NewtonState) -> tuple[float, float, float]:
    """Return where the losses are looked at, and what costs are multiplied with."""
    return state.length, state.shift, state.ease
