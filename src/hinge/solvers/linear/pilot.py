"""The rows that an interior point method works on: a sample of them first, then all.

A sample is drawn row by row from equal stretches of the data, so that neither their order nor a
period in it matters, and its costs are scaled up to those of all rows. It is copied, so that its
size is bounded, whatever the size of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.ingest import assemble
from hinge.problem import Problem
from hinge.rows import Rows

Floats = NDArray[np.float64]

_SHARE = 8  # a sample is at most this fraction of the rows that follow it
_MOST_VALUES = 1 << 23  # stored values of a sample
_LEAST_ROWS = 1000
_ROWS_PER_FEATURE = 8
_LEAST_OF_A_CLASS = 20
_SPARSE_BYTES = 24  # for a stored value: places that it is copied from, or the copy and its place
_ROW_BYTES = 32  # for a row of a sample: its number, label, cost and norm
_COPIED = 1 << 18  # values that a thread copies at a time
_BLOCKS = 4  # blocks that a panel of wide rows has
_FEW_FEATURES = 128
_ROWS_PER_MATRIX = 2  # for each feature: adding up matrices then costs little beside them
_MOST_PRODUCTS = 1 << 30  # in a panel's matrix: some 20 ms
# How much dearer a multiplication is whose result goes anywhere: than double, than single ones.
_SCATTERED = (12.0, 40.0)


@dataclass(frozen=True)
class Sample:
    """Rows with labels and costs.

    Parameters
    ----------
    rows : Rows
        The rows.
    signs : ndarray of int8
        Their labels.
    cost : float
        Their cost; the mean one if they have costs of their own.
    costs : ndarray or None
        Their costs, where these differ.
    """

    rows: Rows
    signs: NDArray[np.int8]
    cost: float
    costs: Floats | None = None

    @property
    def panel_rows(self) -> int:
        """Rows that a pass takes at a time; a wide matrix is for many rows to share."""
        width, size = self.rows.n_features, self.rows.block_rows
        if self.rows.is_sparse or width <= _FEW_FEATURES:
            return size
        return max(_BLOCKS * size, min(_ROWS_PER_MATRIX * width, _MOST_PRODUCTS // width**2))

    @property
    def n_panels(self) -> int:
        """How many panels there are."""
        return -(-self.rows.n_rows // self.panel_rows)

    def extent(self, number: int) -> tuple[int, int]:
        """Return the first row of a panel and the one after its last."""
        size = self.panel_rows
        return number * size, min((number + 1) * size, self.rows.n_rows)

    @cached_property
    def filled(self) -> float:
        """Values that are not zero, of the first panel if rows are dense, for each row."""
        rows = self.rows
        if rows.is_sparse:
            return rows.n_stored / rows.n_rows
        start, stop = self.extent(0)
        return float(np.count_nonzero(rows.values[start:stop])) / (stop - start)

    def is_thin(self, is_single: bool) -> bool:
        """Return whether so many values are zero that products of rows are better left sparse."""
        return _SCATTERED[is_single] * self.filled**2 < self.rows.n_features**2


def sample_sizes(problem: Problem) -> list[int]:
    """Return how many rows the samples have, the smallest first, all rows last."""
    rows = problem.rows
    sizes = [rows.n_rows]
    per_row = max(1, rows.n_stored // rows.n_rows)
    least = max(_LEAST_ROWS, _ROWS_PER_FEATURE * rows.n_features)
    while (size := min(sizes[0] // _SHARE, _MOST_VALUES // per_row)) >= least:
        sizes.insert(0, size)
    return sizes


def sample_bytes(problem: Problem) -> int:
    """Return what the copy of the largest sample takes, about.

    Parameters
    ----------
    problem : Problem
        Whose rows.
    """
    sizes, rows = sample_sizes(problem), problem.rows
    if len(sizes) == 1:
        return 0
    value = _SPARSE_BYTES if rows.is_sparse else rows.values.dtype.itemsize
    return sizes[-2] * (-(-rows.n_stored // rows.n_rows) * value + _ROW_BYTES)


def draw(problem: Problem, size: int, seed: int, threads: int = 1) -> Sample:
    """Return a sample of that many rows that have a cost; all rows if it is all of them.

    Parameters
    ----------
    problem : Problem
        Whose rows.
    size : int
        How many.
    seed : int
        Seed of the choice.
    threads : int, default=1
        Threads that copy dense rows.

    Returns
    -------
    Sample
        The rows, their labels and costs.
    """
    rows, weights = problem.rows, problem.sample_weight
    if size == rows.n_rows:
        picks: Any = slice(None)
        sample = rows
    else:
        if weights is None:
            picks = _picks(rows.n_rows, size, seed)
        else:
            present = np.flatnonzero(weights > 0.0)
            picks = present[_picks(len(present), size, seed)] if len(present) > size else present
        sample = Rows(_take(rows, picks, threads), threads)
    total = float(np.sum(problem.costs))
    if weights is None:
        return Sample(sample, problem.signs[picks], total / sample.n_rows)
    costs = problem.costs[picks]
    costs = costs * (total / float(np.sum(costs)))
    mean = float(np.sum(costs)) / int(np.count_nonzero(costs))
    return Sample(sample, problem.signs[picks], mean, costs)


def represents(sample: Sample) -> bool:
    """Return whether a sample has enough rows of both classes to say something of all rows."""
    positive = int(np.count_nonzero(sample.signs > 0))
    return min(positive, len(sample.signs) - positive) >= _LEAST_OF_A_CLASS


def _picks(count: int, size: int, seed: int) -> NDArray[np.int64]:
    """Return one number below ``count`` from each of so many equal stretches."""
    offsets = np.random.default_rng([seed, size]).random(size)
    picks = ((np.arange(size) + offsets) * (count / size)).astype(np.int64)
    return np.minimum(picks, count - 1)


def _take(rows: Rows, picks: NDArray[np.int64], threads: int) -> Any:
    """Return some rows as an array or a CSR array of their own."""
    if not rows.is_sparse:
        return _take_dense(rows.values, picks, threads)
    starts, stops = rows.indptr[picks].astype(np.int64), rows.indptr[picks + 1].astype(np.int64)
    lengths = stops - starts
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    pieces = (rows.values[places], rows.indices[places], offsets.astype(rows.indices.dtype))
    return assemble(pieces, (len(picks), rows.n_features))


def _take_dense(values: NDArray[Any], picks: NDArray[np.int64], threads: int) -> NDArray[Any]:
    """Return some rows of an array; threads copy stretches of them."""
    taken = np.empty((len(picks), values.shape[1]), values.dtype)
    size = max(1, _COPIED // max(1, values.shape[1]))

    def copy(number: int) -> None:
        here = slice(number * size, (number + 1) * size)
        # With a mode that needs no check before it writes, NumPy writes where it is told to.
        np.take(values, picks[here], axis=0, out=taken[here], mode="clip")

    map_numbers(copy, -(-len(picks) // size), lambda one, _: one, threads=threads)
    return taken
