"""Cells by clustering: rows near one another change their margins alike."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.bounds.cells import Bound, Cells
from hinge.bounds.geometry import distances_from, group_means, largest_in, nearest
from hinge.errors import InvalidParameterError
from hinge.parameters import count
from hinge.rows import Rows

Floats = NDArray[np.float64]

_SAMPLE = 4096  # rows of a label that centres are moved by


class Clusters(Bound):
    """A few spheres per label, about centres that a few rounds of Lloyd's method have moved.

    Parameters
    ----------
    k : int, default=8
        Clusters of each label at most.
    rounds : int, default=4
        Rounds of moving centres to the mean of their nearest rows, on a sample.
    per_row : bool, default=False
        Whether every row keeps its own distance from its centre.
    """

    name: ClassVar[str] = "clusters"

    def __init__(self, k: int = 8, rounds: int = 4, per_row: bool = False) -> None:
        self.k, self.rounds, self.per_row = count(k, "k"), count(rounds, "rounds"), per_row
        if self.k == 0:
            message = "k must be at least 1; got 0."
            raise InvalidParameterError(message)

    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> Cells:
        """Return the clusters of each label, each with the sphere that holds its rows."""
        rng = np.random.default_rng(seed)
        of_row = np.zeros(rows.n_rows, dtype=np.int32)
        labels: list[float] = []
        for sign in (-1, 1):
            members = np.flatnonzero(signs == sign)
            if not len(members):
                continue
            centres = self._centres(rows, members, rng)
            of_row[members] = nearest(rows, members, centres) + len(labels)
            labels += [float(sign)] * len(centres)
        return sphere_cells(rows, of_row, np.array(labels), per_row=self.per_row)

    def _centres(self, rows: Rows, members: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Return centres that a sample of the members has been moved to."""
        size = min(_SAMPLE, len(members))
        drawn = Rows(part_of(rows, np.sort(rng.choice(members, size, replace=False))))
        everyone = np.arange(size)
        first = rng.choice(size, min(self.k, size), replace=False)
        centres = np.asarray(rows_of(drawn, np.sort(first)), dtype=np.float64)
        for _ in range(self.rounds):
            groups = nearest(drawn, everyone, centres)
            means = group_means(drawn, groups, len(centres))
            used = np.bincount(groups, minlength=len(centres)) > 0
            centres = np.where(used[:, None], means, centres)
        return centres


def part_of(rows: Rows, numbers: NDArray[np.int64]) -> Any:
    """Return some rows, dense or sparse as all are."""
    if not rows.is_sparse:
        return rows.values[numbers]
    found, columns, values = rows.entries(numbers)
    return sp.csr_array((values, (found, columns)), shape=(len(numbers), rows.n_features))


def rows_of(rows: Rows, numbers: NDArray[np.int64]) -> Floats:
    """Return some rows as a dense array of float64."""
    found, columns, values = rows.entries(numbers)
    dense = np.zeros((len(numbers), rows.n_features))
    dense[found, columns] = values
    return dense


def sphere_cells(rows: Rows, of_row: NDArray[np.int32], labels: Floats, *, per_row: bool) -> Cells:
    """Return cells about the mean of each group, those without rows left out."""
    present, places = np.unique(of_row, return_inverse=True)
    of_row = places.astype(np.int32)
    centres = group_means(rows, of_row, len(present))
    distances = distances_from(rows, of_row, centres)
    radii = largest_in(distances, of_row, len(present))
    kept = distances if per_row else None
    return Cells(of_row, labels[present], centres, radii, distances=kept)
