"""Passes over rows that bounds are made from: means, distances, boxes of groups of rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.rows import Block, Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Groups = NDArray[np.int32]

_FEW = 4  # groups for which a pass each is faster than a sort
_UNDERFLOW = 1e-150  # more than the root of what squares may lose to underflow


def membership(of_row: Groups, count: int) -> sp.csr_array:
    """Return the matrix that sums rows by group: (count, n_rows), a one for every row."""
    n_rows = len(of_row)
    ones = np.ones(n_rows)
    return sp.csr_array((ones, (of_row, np.arange(n_rows))), shape=(count, n_rows))


def group_means(rows: Rows, of_row: Groups, count: int) -> Floats:
    """Return the mean row of every group, computed block by block."""
    sums = np.zeros((count, rows.n_features))
    with single_threaded_blas():
        for block in rows.blocks():
            product = membership(of_row[block.rows], count) @ block.matrix
            sums += product.toarray() if sp.issparse(product) else product
    sizes = np.bincount(of_row, minlength=count)
    return sums / np.maximum(sizes, 1)[:, None]


def distances_from(rows: Rows, of_row: Groups, centres: Floats) -> Floats:
    """Return upper bounds on the distance of every row from its centre, rounding included.

    Parameters
    ----------
    rows : Rows
        The data.
    of_row : ndarray of shape (n_rows,)
        Which centre belongs to a row.
    centres : ndarray of shape (n_centres, n_features)
        The centres.
    """
    distances = np.empty(rows.n_rows)
    with single_threaded_blas():
        for block in rows.blocks():
            distances[block.rows] = _block_distances(block, of_row[block.rows], centres)
    return distances


def _block_distances(block: Block, of_row: Groups, centres: Floats) -> Floats:
    width = centres.shape[1]
    if block.structure is None:
        differences = block.values - centres[of_row]
        squares = np.einsum("ij,ij->i", differences, differences)
        return np.asarray(np.sqrt(squares) * (1.0 + rounding_factor(width + 8)) + _UNDERFLOW)
    # ||x||^2 - 2 x'c + ||c||^2 cancels: the bound on its rounding goes on top.
    own = block.squared_norms()
    centre_squares = np.einsum("ij,ij->i", centres, centres)
    products = np.asarray(block.matrix @ centres.T)[np.arange(len(own)), of_row]
    squares = own - 2.0 * products + centre_squares[of_row]
    sizes = own + centre_squares[of_row]
    slack = (2.0 * rounding_factor(width + 8) + 8.0 * UNIT_ROUNDOFF) * sizes
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) + 2.0 * slack) + _UNDERFLOW)


def extremes(rows: Rows, of_row: Groups, count: int) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of every feature in every group."""
    lowest = np.full((count, rows.n_features), np.inf)
    highest = np.full((count, rows.n_features), -np.inf)
    for block in rows.blocks():
        for group in range(count):
            chosen = np.flatnonzero(of_row[block.rows] == group)
            if not len(chosen):
                continue
            part = block.matrix[chosen]
            low, high = part.min(axis=0), part.max(axis=0)
            if block.structure is not None:
                low, high = low.toarray().ravel(), high.toarray().ravel()
            lowest[group] = np.minimum(lowest[group], low)
            highest[group] = np.maximum(highest[group], high)
    return lowest, highest


def largest_in(values: Floats, of_row: Groups, count: int) -> Floats:
    """Return the largest value of every group; 0 for an empty one."""
    if count <= _FEW:
        return np.array([np.max(values[of_row == k], initial=0.0) for k in range(count)])
    largest = np.zeros(count)
    np.maximum.at(largest, of_row, values)
    return largest


def by_group(of_row: Groups, count: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the rows group by group, each in order, and where each group begins."""
    if count <= _FEW:
        parts = [np.flatnonzero(of_row == k).astype(np.uint32) for k in range(count)]
        starts = np.cumsum([0, *(len(part) for part in parts)])
        return np.concatenate([np.empty(0, np.uint32), *parts]), starts.astype(np.int64)
    order = np.argsort(of_row, kind="stable").astype(np.uint32)
    counts = np.bincount(of_row, minlength=count)
    return order, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def nearest(rows: Rows, members: NDArray[np.int64], centres: Floats) -> Groups:
    """Return the nearest centre of each of these rows, which are in increasing order."""
    offsets = -0.5 * np.einsum("ij,ij->i", centres, centres)
    groups = np.empty(len(members), dtype=np.int32)
    with single_threaded_blas():
        for block in rows.blocks():
            first, last = np.searchsorted(members, (block.start, block.stop))
            if first < last:
                part = block.matrix[members[first:last] - block.start]
                scores = np.asarray(part @ centres.T) + offsets
                groups[first:last] = np.argmax(scores, axis=1)
    return groups
