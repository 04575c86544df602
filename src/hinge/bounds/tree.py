"""A metric tree: nested spheres, so that whole subtrees are decided by one product."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.cells import Bound, Cells, Change, Decides
from hinge.bounds.clusters import rows_of
from hinge.bounds.geometry import by_group, distances_from, group_means, largest_in
from hinge.bounds.spheres import by_label
from hinge.errors import InvalidParameterError
from hinge.parameters import count
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Groups = NDArray[np.int32]

_DEEPEST = 16  # every node has a dense centre


@dataclass(frozen=True)
class Level:
    """The nodes of one level of a tree.

    Parameters
    ----------
    cells : Cells
        Their spheres.
    first, last : ndarray of int64
        The leaves of each node, as a range.
    """

    cells: Cells
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class TreeCells(Cells):
    """The leaves of a metric tree as cells, and the levels above them.

    Parameters
    ----------
    levels : list of Level
        From the roots down; the leaves themselves are not among them.
    """

    levels: list[Level] = field(default_factory=list)

    @property
    def needs_parts(self) -> bool:
        """True: only the products of nodes that are looked at are computed."""
        return True

    def decided_change(self, dw: Floats, db: float, slack: float, decides: Decides) -> Change:
        """Return the change of each leaf, from the highest node above it that is decided.

        Parameters
        ----------
        dw : ndarray of shape (n_features,)
            Computed change of the weights.
        db : float
            Computed change of the intercept.
        slack : float
            Error of the change of the weights, in norm.
        decides : callable
            Says which nodes are decided.

        Returns
        -------
        Change
            Bounds for every leaf.
        """
        shift, spread, rounding = (np.empty(self.count) for _ in range(3))
        open_leaves = np.ones(self.count, dtype=bool)
        length = 0.0
        leaves = np.arange(self.count)
        for level in [*self.levels, Level(self, leaves, leaves + 1)]:
            nodes = np.flatnonzero(open_leaves[level.first])
            if not len(nodes):
                break
            change = _some(level.cells, nodes).change(dw, db, slack)
            length = change.length
            first, last = level.first[nodes], level.last[nodes]
            settled = decides(first, last, change)
            for node in range(len(nodes)):
                span = slice(first[node], last[node])
                shift[span], spread[span] = change.shift[node], change.spread[node]
                rounding[span] = change.rounding[node]
                open_leaves[span] = not settled[node]
        return Change(shift, spread, rounding, length)


def _some(cells: Cells, nodes: NDArray[np.int64]) -> Cells:
    """Return some of the cells, without their rows."""
    assert cells.centres is not None
    no_rows = np.empty(0, dtype=np.int32)
    return Cells(no_rows, cells.signs[nodes], cells.centres[nodes], cells.radii[nodes])


class MetricTree(Bound):
    """Spheres in spheres: each label's rows are halved again and again.

    A node is split at the median along the line from its mean to its farthest row.

    Parameters
    ----------
    depth : int, default=5
        How often rows are halved, at most 16 times; there are ``2 ** depth`` leaves per label.
    """

    name: ClassVar[str] = "tree"

    def __init__(self, depth: int = 5) -> None:
        self.depth = count(depth, "depth")
        if self.depth > _DEEPEST:
            message = (
                f"depth must be at most {_DEEPEST}, which is {2**_DEEPEST} leaves for each label; "
                f"got {depth!r}."
            )
            raise InvalidParameterError(message)

    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> TreeCells:  # noqa: ARG002
        """Return the leaves, and the levels above them."""
        of_row, labels = by_label(signs)
        levels = []
        for _ in range(self.depth):
            nodes = _spheres(rows, of_row, labels)
            levels.append(_some(nodes, np.arange(nodes.count, dtype=np.int64)))
            of_row, labels = _halved(rows, nodes)
        leaves = _spheres(rows, of_row, labels)
        nested = []
        for depth, cells in enumerate(levels):
            width = 2 ** (self.depth - depth)
            first = np.arange(cells.count, dtype=np.int64) * width
            nested.append(Level(cells, first, first + width))
        return TreeCells(of_row, labels, leaves.centres, leaves.radii, levels=nested)


def _spheres(rows: Rows, of_row: Groups, labels: Floats) -> Cells:
    """Return the sphere about the mean of each node; an empty node has radius 0."""
    centres = group_means(rows, of_row, len(labels))
    distances = distances_from(rows, of_row, centres)
    radii = largest_in(distances, of_row, len(labels))
    return Cells(of_row, labels, centres, radii, distances=distances)


def _halved(rows: Rows, cells: Cells) -> tuple[Groups, Floats]:
    """Return the children of every row, and their labels."""
    assert cells.centres is not None
    assert cells.distances is not None
    order, starts = by_group(cells.of_row, cells.count)
    directions = np.zeros_like(cells.centres)
    for node in range(cells.count):
        members = order[starts[node] : starts[node + 1]]
        if len(members):
            farthest = members[np.argmax(cells.distances[members])]
            row = rows_of(rows, np.array([farthest], dtype=np.int64))[0]
            directions[node] = row - cells.centres[node]
    along = np.empty(rows.n_rows)
    with single_threaded_blas():
        for block in rows.blocks():
            own = cells.of_row[block.rows]
            products = np.asarray(block.matrix @ directions.T)
            along[block.rows] = products[np.arange(len(own)), own]
    upper = np.zeros(rows.n_rows, dtype=np.int32)
    for node in range(cells.count):
        members = order[starts[node] : starts[node + 1]]
        if len(members):
            upper[members] = along[members] > np.median(along[members])
    return 2 * cells.of_row + upper, np.repeat(cells.signs, 2)
