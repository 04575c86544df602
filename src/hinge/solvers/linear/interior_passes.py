"""The passes over rows that an interior point method is made of.

Each is a kernel: state and block number in; sums, and the largest of some ratio, out. Rows are read
once in a pass. Kernels write to the variables of their own rows only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.rows import Block
from hinge.solvers.linear.block_pass import Partial
from hinge.solvers.linear.central_path import Move, centred
from hinge.solvers.linear.interior_state import InteriorState, RowPart

Floats = NDArray[np.float64]

_SPARSE_PRODUCT = 20  # how much dearer a product of sparse matrices is, per multiplication


def measure(state: InteriorState, number: int) -> Partial:
    """Set margins; sum up what the objective values need."""
    block, part = _block(state, number)
    part.dual.margin[...] = part.signs * _scores(state, block, state.weights)
    pulled = _pull(state, block, part.signs * part.dual.alpha)
    return np.concatenate((pulled[:, 0], part.value_sums(state))), -math.inf


def matrix(state: InteriorState, number: int) -> Partial:
    """Sum up the matrix of the normal equations, and the vectors that are known by then."""
    block, part = _block(state, number)
    dual = part.dual
    if state.is_centring:
        dual.centre(state.tau, part.upper)
    spread = dual.spread() * np.abs(part.signs)
    pushes = part.signs * spread
    columns = (part.signs * dual.alpha, pushes * dual.force(), pushes * dual.barrier())
    vectors = _pull(state, block, *columns)
    normal = _weighted_square(state, block, spread)
    return np.concatenate((normal.ravel(), vectors.T.ravel())), -math.inf


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
    part.affine[...] = part.signs * _scores(state, block, state.direction)
    move = part.dual.affine(part.affine)
    correction = part.signs * part.dual.spread() * part.dual.corrector(move)
    pulled = _pull(state, block, correction)
    return np.concatenate((pulled[:, 0], part.dual.products(move))), part.dual.blocked(move)


def final(state: InteriorState, number: int) -> Partial:
    """Follow the corrected direction: how far it may go, and where it moves the dual point."""
    block, part = _block(state, number)
    part.change[...] = part.signs * _scores(state, block, state.direction)
    move = _corrected(state, part)
    return _pull(state, block, part.signs * move.alpha)[:, 0], part.dual.blocked(move)


def update(state: InteriorState, number: int) -> Partial:
    """Take the step; sum up what the objective values need, and complementarity."""
    part = _part(state, number)
    dual = part.dual
    move = _corrected(state, part)
    dual.take(move, state.length)
    dual.margin[...] += state.length * part.change
    return np.array([*part.value_sums(state), dual.products(move)[0]]), -math.inf


KERNELS: dict[str, Callable[[InteriorState, int], Partial]] = {
    kernel.__name__: kernel
    for kernel in (measure, matrix, trial, search, settle, affine, final, update)
}
READING = ("measure", "matrix", "trial", "affine", "final")  # the others need no rows


def _corrected(state: InteriorState, part: RowPart) -> Move:
    """Return the step of the rows that belongs to the changes of their margins."""
    return part.dual.corrected(part.change, part.dual.affine(part.affine), state.tau)


def _part(state: InteriorState, number: int) -> RowPart:
    rows = state.sample.rows
    start = number * rows.block_rows
    return state.part(slice(start, min(start + rows.block_rows, rows.n_rows)))


def _block(state: InteriorState, number: int) -> tuple[Block, RowPart]:
    block = state.sample.rows.block(number)
    return block, state.part(block.rows)


def _scores(state: InteriorState, block: Block, weights: Floats) -> Floats:
    """Return the rows' products with weights that include the constant feature's."""
    scores = block.dot(weights[: block.n_features])
    return scores + state.constant * weights[-1] if state.constant else scores


def _pull(state: InteriorState, block: Block, *columns: Floats) -> Floats:
    """Return sums of the rows with these weights, one column each, constant feature included."""
    weights = np.column_stack(columns)
    sums = block.transpose_dot(weights)
    if not state.constant:
        return sums
    return np.concatenate((sums, state.constant * weights.sum(axis=0)[None, :]))


def _weighted_square(state: InteriorState, block: Block, weights: Floats) -> Floats:
    """Return ``X' diag(weights) X``, constant feature included."""
    if block.structure is not None and _is_thin(block):
        return _sparse_square(state, block, weights)
    rows: Any = block.values if block.structure is None else block.matrix.toarray()
    scaled = np.empty((len(weights), len(state.weights)))
    roots = np.sqrt(weights)
    np.multiply(rows, roots[:, None], out=scaled[:, : block.n_features])
    if state.constant:
        np.multiply(roots, state.constant, out=scaled[:, -1])
    return np.asarray(scaled.T @ scaled)


def _is_thin(block: Block) -> bool:
    """Return whether rows are so sparse that their outer products are better left sparse."""
    n_rows = max(1, block.stop - block.start)
    return _SPARSE_PRODUCT * (len(block.values) / n_rows) ** 2 < block.n_features**2


def _sparse_square(state: InteriorState, block: Block, weights: Floats) -> Floats:
    n, rows = block.n_features, block.matrix
    square = np.zeros((len(state.weights), len(state.weights)))
    square[:n, :n] = (rows.T @ rows.multiply(weights[:, None]).tocsr()).toarray()
    if state.constant:
        square[:n, -1] = square[-1, :n] = state.constant * block.transpose_dot(weights)
        square[-1, -1] = state.constant**2 * float(np.sum(weights))
    return square
