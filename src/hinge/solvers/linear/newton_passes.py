"""The passes over rows that Newton's method is made of.

Each is a kernel: state and panel number in, sums out. Kernels write to the variables of their own
rows only. Native sums read a row only if its weight is not zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.solvers.linear.block_pass import Partial
from hinge.solvers.linear.newton_state import SUMS, NewtonState

Floats = NDArray[np.float64]

SHORT = 0.5  # a step of this length has been stopped by rows that came into the window
_SURE = 1.0 + 1e-6  # what a bound is multiplied with, so that rounding does not matter


def measure(state: NewtonState, number: int) -> Partial:
    """Set the margins."""
    rows = state.panel(number)
    all_rows = np.ones(rows.stop - rows.start, dtype=np.uint8)
    scores = np.empty(len(all_rows))
    state.sums.scores(rows.start, all_rows, state.weights, scores)
    state.margin[rows] = state.signs(rows) * scores
    state.change[rows] = 0.0
    state.is_exact[rows] = 1
    return np.zeros(1), -math.inf


def shift(state: NewtonState, number: int) -> Partial:
    """Sum up the derivatives of the losses by a free intercept."""
    rows = state.panel(number)
    signs = state.signs(rows)
    return _along(state, rows, _moved(state, rows, signs), signs)


def search(state: NewtonState, number: int) -> Partial:
    """Sum up the derivatives of the losses along the direction."""
    rows = state.panel(number)
    change = state.change[rows]
    return _along(state, rows, state.margin[rows] + state.length * change, change)


def gradient(state: NewtonState, number: int) -> Partial:
    """Take the step; sum up losses, slopes and the diagonal of the second derivatives.

    Rows that a whole step would have carried into the window are what made it short: they count
    as if they were in it, or the next step would be as short.
    """
    rows, window = state.panel(number), state.window
    signs, costs = state.signs(rows), state.costs(rows)
    margin = state.margin[rows]
    end = margin + state.change[rows]  # of a whole step
    margin[...] = _moved(state, rows, signs)
    depth = window.depth(margin)
    inside = window.is_inside(depth)
    is_foreseen = np.zeros(len(margin), dtype=bool)
    if 0.0 < state.length < SHORT:
        is_foreseen = window.is_inside(window.depth(end)) & ~inside
        inside |= is_foreseen
    curvature = np.multiply(inside, window.bend * costs)
    state.curvature[rows] = curvature
    width = len(state.weights)
    out = np.zeros(3 * width + SUMS)
    slopes = (-window.bend * costs) * depth
    state.sums.weighted_sum(rows.start, signs * slopes, out[:width])
    if not state.uses_matrix:
        state.sums.weighted_squares(rows.start, curvature, out[width : 2 * width])
    if is_foreseen.any():
        beyond = (-window.bend * costs) * (window.top - margin) - slopes
        pulls = np.where(is_foreseen, signs * beyond, 0.0)
        state.sums.weighted_sum(rows.start, pulls, out[2 * width : 3 * width])
    out[-5] = float(np.sum(costs * window.values(margin, depth)))
    out[-4] = -float(np.sum(slopes))
    out[-3] = -float(np.sum(slopes * depth))
    out[-2] = np.count_nonzero(curvature)
    out[-1] = np.count_nonzero(curvature != state.in_matrix[rows])
    return out, -math.inf


def product(state: NewtonState, number: int) -> Partial:
    """Sum up the product of the second derivatives with a vector."""
    rows = state.panel(number)
    out = np.zeros(len(state.weights))
    state.sums.curvature_product(rows.start, state.curvature[rows], state.conjugate, out)
    return out, -math.inf


def matrix(state: NewtonState, number: int) -> Partial:
    """Sum up by how much the matrix changes: the rows that have come into the window or left it."""
    rows = state.panel(number)
    width = len(state.weights)
    change = state.curvature[rows] - state.in_matrix[rows]
    state.in_matrix[rows] = state.curvature[rows]
    if state.sample.rows.is_sparse:
        out = np.zeros((width, width))
        state.sums.weighted_outer(rows.start, change, out)
        return out.ravel(), -math.inf
    come, gone = np.flatnonzero(change > 0.0), np.flatnonzero(change < 0.0)
    scaled = _scaled_rows(state, rows.start + come, np.sqrt(change[come]))
    square = scaled.T @ scaled
    if len(gone):
        scaled = _scaled_rows(state, rows.start + gone, np.sqrt(-change[gone]))
        square -= scaled.T @ scaled
    return square.ravel(), -math.inf


def trial(state: NewtonState, number: int) -> Partial:
    """Set the change of margins along the direction.

    A margin that stays above the window wherever the step may end needs no product: Cauchy and
    Schwarz bound it, and the bound stands for it until it no longer suffices.
    """
    rows = state.panel(number)
    signs, margin, is_exact = state.signs(rows), state.margin[rows], state.is_exact[rows]
    n = state.problem.n_features
    reach = _SURE * float(np.linalg.norm(state.direction[:n]))
    worst = -reach * np.sqrt(state.sample.rows.squared_norms[rows])
    if state.constant:
        worst += state.constant * state.direction[-1] * signs
    lowest = margin + state.longest * np.minimum(worst, 0.0) - state.room
    wanted = (lowest <= state.window.top).astype(np.uint8)
    scores = np.empty(len(wanted))
    unknown = wanted & (1 - is_exact)
    if unknown.any():
        state.sums.scores(rows.start, unknown, state.weights, scores)
        np.copyto(margin, signs * scores, where=unknown != 0)
    state.sums.scores(rows.start, wanted, state.direction, scores)
    np.copyto(worst, signs * scores, where=wanted != 0)
    state.change[rows] = worst
    is_exact[...] = wanted
    return np.array([float(np.count_nonzero(wanted))]), -math.inf


KERNELS: dict[str, Callable[[NewtonState, int], Partial]] = {
    kernel.__name__: kernel for kernel in (measure, shift, gradient, product, matrix, trial, search)
}


def _moved(state: NewtonState, rows: slice, signs: Floats) -> Floats:
    """Return the margins after the step and the shift of the intercept."""
    moved = state.margin[rows] + state.length * state.change[rows]
    return moved + state.shift * signs if state.shift else moved


def _along(state: NewtonState, rows: slice, margin: Floats, change: Floats) -> Partial:
    """Return first and second derivative of the losses where margins change at this rate."""
    window, costs = state.window, state.costs(rows)
    depth = window.depth(margin)
    slope = -window.bend * float(np.sum(costs * depth * change))
    inside = np.multiply(window.is_inside(depth), costs * change)
    size = window.bend * float(np.sum(costs * depth * np.abs(change)))
    return np.array([slope, window.bend * float(inside @ change), size]), -math.inf


def _scaled_rows(state: NewtonState, numbers: NDArray[np.int64], roots: Floats) -> Any:
    """Return some dense rows as float64, constant feature included, times factors."""
    rows = state.sample.rows
    scaled = np.empty((len(numbers), len(state.weights)))
    np.multiply(rows.values[numbers], roots[:, None], out=scaled[:, : rows.n_features])
    if state.constant:
        scaled[:, -1] = state.constant * roots
    return scaled
