"""The passes over rows that an interior point method is made of.

Each is a kernel: state, panels and threads in; for every panel its sums, and the largest of some
ratio, out. Rows are read once in a pass, in native code, one call for all panels of the kernel,
each of which writes to the variables of its own rows only; the matrix of dense rows is left to
BLAS, panel by panel.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.block_pass import some_blocks
from hinge.solvers.linear.interior_state import VECTORS, InteriorState

Floats = NDArray[np.float64]
Partial = tuple[Floats, float]  # what a panel adds to the sums, and its largest value

VALUES = 3  # sums that objective values are made of: losses, coefficients, curvature
_kept = threading.local()


def measure(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Set margins; sum up what the objective values need."""
    sums = np.zeros((len(panels), len(state.weights) + VALUES))
    state.passes.measure(*state.extents(panels), state.weights, sums, threads)
    return _without_peaks(sums)


def matrix(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Sum up the matrix of the normal equations, and the vectors that are known by then."""
    return some_blocks(lambda number: _panel_matrix(state, number), panels, threads, state.pool)


def _panel_matrix(state: InteriorState, number: int) -> Partial:
    """Return what a panel adds to the matrix, after what it adds to the vectors.

    Of the matrix the lower triangle counts. Products in single precision are twice as fast; what
    they spoil shows when the step is followed, and so does what rows of small weights are taken
    for.
    """
    extent = state.extent(number)
    width = len(state.weights)
    sums = np.zeros(VECTORS * width + width * width)
    vectors = sums[: VECTORS * width]
    square = sums[len(vectors) :].reshape(width, width)
    rule = (state.tau if state.is_centring else math.nan, state.least_weight)
    if state.sample.is_thin(state.is_single):
        state.passes.outer(*extent, rule, vectors, square)
    else:
        scaled = _buffer((extent[1] - extent[0], width), state.is_single)
        fill = state.passes.scaled_single if state.is_single else state.passes.scaled
        n_kept = fill(*extent, rule, vectors, scaled)
        square[...] = scaled[:n_kept].T @ scaled[:n_kept]
    return sums, -math.inf


def trial(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Set the change of margins along the direction; sum up the smoothed losses' derivative."""
    slopes, at = np.empty((len(panels), 1)), (state.tau, state.length)
    state.passes.trial(*state.extents(panels), state.direction, at, slopes, threads)
    return _without_peaks(slopes)


def search(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Sum up the derivative of the smoothed losses along the direction, at another length."""
    slopes = np.empty((len(panels), 1))
    state.passes.search(*state.extents(panels), state.tau, state.length, slopes, threads)
    return _without_peaks(slopes)


def settle(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Move the margins along the direction."""
    state.passes.settle(*state.extents(panels), state.length, threads)
    return _without_peaks(np.zeros((len(panels), 1)))


def affine(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Follow the affine direction: what complementarity becomes, and what the corrector needs."""
    sums = np.zeros((len(panels), len(state.weights) + VALUES))
    peaks = np.empty(len(panels))
    state.passes.affine(*state.extents(panels), state.direction, sums, peaks, threads)
    return zip(sums, peaks.tolist(), strict=True)


def final(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Follow the corrected direction: how far it may go, and where it moves the dual point."""
    sums = np.zeros((len(panels), len(state.weights)))
    peaks = np.empty(len(panels))
    direction = state.direction, state.tau
    state.passes.final(*state.extents(panels), *direction, sums, peaks, threads)
    return zip(sums, peaks.tolist(), strict=True)


def refine(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Ask for products nearer to tau after a longer step; sum up what that adds to the force."""
    sums = np.zeros((len(panels), len(state.weights)))
    state.passes.refine(*state.extents(panels), state.tau, state.length, sums, threads)
    return _without_peaks(sums)


def update(state: InteriorState, panels: range, threads: int) -> Iterable[Partial]:
    """Take the step; sum up what the objective values need, and complementarity."""
    sums = np.zeros((len(panels), VALUES + 1))
    state.passes.update(*state.extents(panels), state.tau, state.length, sums, threads)
    return _without_peaks(sums)


KERNELS: dict[str, Callable[[InteriorState, range, int], Iterable[Partial]]] = {
    kernel.__name__: kernel
    for kernel in (measure, matrix, trial, search, settle, affine, final, refine, update)
}


def _without_peaks(sums: Floats) -> Iterable[Partial]:
    """Return the sums of every panel, of a pass that looks for no largest value."""
    return ((of_panel, -math.inf) for of_panel in sums)


def _buffer(shape: tuple[int, int], is_single: bool) -> NDArray[Any]:
    """Return an array that this thread uses again: a fresh one would cost its page faults."""
    kept = getattr(_kept, "array", None)
    dtype = np.dtype(np.float32 if is_single else np.float64)
    if kept is None or kept.shape[1] != shape[1] or len(kept) < shape[0] or kept.dtype != dtype:
        kept = _kept.array = np.zeros(shape, dtype)
    array: NDArray[Any] = kept[: shape[0]]
    return array
