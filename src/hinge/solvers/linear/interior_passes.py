"""The passes over rows that an interior point method is made of.

Each is a kernel: state and panel number in; sums, and the largest of some ratio, out. Rows are read
once in a pass, in native code, which writes to the variables of the panel's own rows only.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.block_pass import Partial
from hinge.solvers.linear.interior_state import VECTORS, InteriorState

Floats = NDArray[np.float64]

VALUES = 3  # sums that objective values are made of: losses, coefficients, curvature
_kept = threading.local()


def measure(state: InteriorState, number: int) -> Partial:
    """Set margins; sum up what the objective values need."""
    sums = np.zeros(len(state.weights) + VALUES)
    state.passes.measure(*state.extent(number), state.weights, sums)
    return sums, -math.inf


def matrix(state: InteriorState, number: int) -> Partial:
    """Sum up the matrix of the normal equations, and the vectors that are known by then.

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


def trial(state: InteriorState, number: int) -> Partial:
    """Set the change of margins along the direction; sum up the smoothed losses' derivative."""
    at = (state.tau, state.length)
    slope = state.passes.trial(*state.extent(number), state.direction, at)
    return np.array([slope]), -math.inf


def search(state: InteriorState, number: int) -> Partial:
    """Sum up the derivative of the smoothed losses along the direction, at another length."""
    slope = state.passes.search(*state.extent(number), state.tau, state.length)
    return np.array([slope]), -math.inf


def settle(state: InteriorState, number: int) -> Partial:
    """Move the margins along the direction."""
    state.passes.settle(*state.extent(number), state.length)
    return np.zeros(1), -math.inf


def affine(state: InteriorState, number: int) -> Partial:
    """Follow the affine direction: what complementarity becomes, and what the corrector needs."""
    sums = np.zeros(len(state.weights) + VALUES)
    return sums, state.passes.affine(*state.extent(number), state.direction, sums)


def final(state: InteriorState, number: int) -> Partial:
    """Follow the corrected direction: how far it may go, and where it moves the dual point."""
    sums = np.zeros(len(state.weights))
    extent = state.extent(number)
    return sums, state.passes.final(*extent, state.direction, state.tau, sums)


def refine(state: InteriorState, number: int) -> Partial:
    """Ask for products nearer to tau after a longer step; sum up what that adds to the force."""
    sums = np.zeros(len(state.weights))
    state.passes.refine(*state.extent(number), state.tau, state.length, sums)
    return sums, -math.inf


def update(state: InteriorState, number: int) -> Partial:
    """Take the step; sum up what the objective values need, and complementarity."""
    sums = np.zeros(VALUES + 1)
    state.passes.update(*state.extent(number), state.tau, state.length, sums)
    return sums, -math.inf


KERNELS: dict[str, Callable[[InteriorState, int], Partial]] = {
    kernel.__name__: kernel
    for kernel in (measure, matrix, trial, search, settle, affine, final, refine, update)
}


def _buffer(shape: tuple[int, int], is_single: bool) -> NDArray[Any]:
    """Return an array that this thread uses again: a fresh one would cost its page faults."""
    kept = getattr(_kept, "array", None)
    dtype = np.dtype(np.float32 if is_single else np.float64)
    if kept is None or kept.shape[1] != shape[1] or len(kept) < shape[0] or kept.dtype != dtype:
        kept = _kept.array = np.zeros(shape, dtype)
    array: NDArray[Any] = kept[: shape[0]]
    return array
