"""The passes over rows that an interior point method is made of.

Each is a kernel: state and block number in; sums, and the largest of some ratio, out. Rows are read
once in a pass. Kernels write to the variables of their own rows only.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.rows import Block
from hinge.solvers.linear.block_pass import Partial
from hinge.solvers.linear.central_path import centred
from hinge.solvers.linear.interior_state import VECTORS, InteriorState, RowPart

Floats = NDArray[np.float64]

_kept = threading.local()
_SPARSE_PRODUCT = 20  # how much dearer a product of sparse matrices is, per multiplication


def measure(state: InteriorState, number: int) -> Partial:
    """Set margins; sum up what the objective values need."""
    block, part = _block(state, number)
    part.dual.margin[...] = part.signs * _scores(state, block, state.weights)
    pulled = _pull(state, block, part.signs * part.dual.alpha)
    return np.concatenate((pulled, part.value_sums(state))), -math.inf


def matrix(state: InteriorState, number: int) -> Partial:
    """Sum up the matrix of the normal equations, and the vectors that are known by then.

    With roots r of the weights, the vectors are columns beside ``diag(r) X``: one product of
    the whole with itself gives them together with the matrix.
    """
    block, part = _block(state, number)
    dual = part.dual
    if state.is_centring:
        dual.centre(state.tau, part.upper)
    weights = part.counted(dual.spread)
    roots = np.sqrt(weights)
    pushes = part.signs * roots
    columns = (part.signs * dual.alpha, pushes * dual.force, pushes * dual.barrier())
    if block.structure is not None and _is_thin(block):
        return _sparse_square(state, block, weights, columns).ravel(), -math.inf
    n, width = block.n_features, len(state.weights)
    scaled = _buffer(len(roots), width + VECTORS)
    rows: Any = block.values if block.structure is None else block.matrix.toarray()
    np.multiply(rows, roots[:, None], out=scaled[:, :n])
    if state.constant:
        np.multiply(roots, state.constant, out=scaled[:, n])
    np.divide(columns[0], np.where(roots > 0.0, roots, 1.0), out=scaled[:, width])
    scaled[:, width + 1], scaled[:, width + 2] = columns[1:]
    return (scaled.T @ scaled).ravel(), -math.inf


def trial(state: InteriorState, number: int) -> Partial:
    """Set the change of margins along the direction."""
    block, part = _block(state, number)
    part.change[...] = part.signs * _scores(state, block, state.direction)
    return np.zeros(1), -math.inf


def search(state: InteriorState, number: int) -> Partial:
    """Sum up the derivative of the smoothed losses along the direction."""
    part = _part(state, number)
    margin = part.dual.margin + state.length * part.change
    alpha, _ = centred(part.dual, margin, state.tau, part.upper)
    return np.array([float(alpha @ part.change)]), -math.inf


def settle(state: InteriorState, number: int) -> Partial:
    """Move the margins along the direction."""
    part = _part(state, number)
    part.dual.margin[...] += state.length * part.change
    return np.zeros(1), -math.inf


def affine(state: InteriorState, number: int) -> Partial:
    """Follow the affine direction: what complementarity becomes, and what the corrector needs."""
    block, part = _block(state, number)
    dual, second = part.dual, part.second
    move = dual.affine(part.signs * _scores(state, block, state.direction))
    second[0][...], second[1][...] = dual.second_order(move)
    correction = part.signs * dual.spread * dual.corrector(*second)
    sums = np.concatenate((_pull(state, block, correction), dual.products(move)))
    return sums, dual.blocked(move)


def final(state: InteriorState, number: int) -> Partial:
    """Follow the corrected direction: how far it may go, and where it moves the dual point."""
    block, part = _block(state, number)
    part.change[...] = part.signs * _scores(state, block, state.direction)
    move = part.dual.corrected(part.change, part.second, state.tau)
    return _pull(state, block, part.signs * move.alpha), part.dual.blocked(move)


def refine(state: InteriorState, number: int) -> Partial:
    """Ask for products nearer to tau after a longer step; sum up what that adds to the force."""
    block, part = _block(state, number)
    dual, second = part.dual, part.second
    move = dual.corrected(part.change, second, state.tau)
    low, high = dual.off_centre(move, state.length, state.tau)
    second[0][...] -= low
    if dual.is_bounded:
        second[1][...] += high
    return _pull(state, block, part.signs * dual.spread * dual.corrector(-low, high)), -math.inf


def update(state: InteriorState, number: int) -> Partial:
    """Take the step; sum up what the objective values need, and complementarity."""
    part = _part(state, number)
    dual = part.dual
    move = dual.corrected(part.change, part.second, state.tau)
    dual.take(move, state.length)
    dual.margin[...] += state.length * part.change
    return np.array([*part.value_sums(state), dual.products(move)[0]]), -math.inf


KERNELS: dict[str, Callable[[InteriorState, int], Partial]] = {
    kernel.__name__: kernel
    for kernel in (measure, matrix, trial, search, settle, affine, final, refine, update)
}
READING = ("measure", "matrix", "trial", "affine", "final", "refine")  # the others need no rows


def _part(state: InteriorState, number: int) -> RowPart:
    size = state.sample.panel_rows
    return state.part(slice(number * size, min((number + 1) * size, state.sample.rows.n_rows)))


def _block(state: InteriorState, number: int) -> tuple[Block, RowPart]:
    block = state.sample.panel(number)
    return block, state.part(block.rows)


def _scores(state: InteriorState, block: Block, weights: Floats) -> Floats:
    """Return the rows' products with weights that include the constant feature's."""
    scores = block.dot(weights[: block.n_features])
    return scores + state.constant * weights[-1] if state.constant else scores


def _pull(state: InteriorState, block: Block, weights: Floats) -> Floats:
    """Return the sum of the rows with these weights, constant feature included."""
    sums = block.transpose_dot(weights)
    return np.append(sums, state.constant * np.sum(weights)) if state.constant else sums


def _buffer(n_rows: int, width: int) -> Floats:
    """Return an array that this thread uses again: a fresh one would cost its page faults."""
    kept = getattr(_kept, "array", None)
    if kept is None or kept.shape[1] != width or len(kept) < n_rows:
        kept = _kept.array = np.zeros((n_rows, width))
    array: Floats = kept[:n_rows]
    return array


def _is_thin(block: Block) -> bool:
    """Return whether rows are so sparse that their outer products are better left sparse."""
    n_rows = max(1, block.stop - block.start)
    return _SPARSE_PRODUCT * (len(block.values) / n_rows) ** 2 < block.n_features**2


def _sparse_square(
    state: InteriorState, block: Block, weights: Floats, columns: tuple[Floats, Floats, Floats]
) -> Floats:
    """Return what the dense product has, as far as it is looked at, from sparse rows."""
    n, width, rows = block.n_features, len(state.weights), block.matrix
    roots = np.sqrt(weights)
    square = np.zeros((width + VECTORS, width + VECTORS))
    square[:n, :n] = (rows.T @ rows.multiply(weights[:, None]).tocsr()).toarray()
    if state.constant:
        border = _pull(state, block, weights)
        square[:n, n] = square[n, :n] = state.constant * border[:n]
        square[n, n] = state.constant * border[n]
    pulls = (columns[0], roots * columns[1], roots * columns[2])
    for number, pull in enumerate(pulls):
        square[width + number, :width] = _pull(state, block, pull)
    return square
