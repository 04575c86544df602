"""Bounds by spheres and boxes about one centre per label."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.cells import Bound, Cells
from hinge.bounds.geometry import distances_from, extremes, group_means, largest_in
from hinge.rows import Rows

Floats = NDArray[np.float64]


def by_label(signs: NDArray[np.int8]) -> tuple[NDArray[np.int32], Floats]:
    """Return the cells of two labels: that of every row, and the labels of the cells."""
    is_positive = signs > 0
    if is_positive.all() or not is_positive.any():
        return np.zeros(len(signs), dtype=np.int32), signs[:1].astype(np.float64)
    return is_positive.astype(np.int32), np.array([-1.0, 1.0])


class Sphere(Bound):
    """The sphere about the origin that holds all rows: Guillory and Bilmes, equation 2.

    Parameters
    ----------
    per_row : bool, default=False
        Whether every row keeps its own norm, which is never larger.
    """

    name: ClassVar[str] = "sphere"

    def __init__(self, per_row: bool = False) -> None:
        self.per_row = per_row

    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> Cells:  # noqa: ARG002
        """Return one cell per label, about the origin."""
        of_row, labels = by_label(signs)
        norms = rows.norm_bounds(rows.squared_norms)
        radii = largest_in(norms, of_row, len(labels))
        return Cells(of_row, labels, None, radii, distances=norms if self.per_row else None)


class CentredSphere(Bound):
    """A sphere about the mean of each class.

    Parameters
    ----------
    per_row : bool, default=False
        Whether every row keeps its own distance from the centre, which is never larger.
    """

    name: ClassVar[str] = "centred"

    def __init__(self, per_row: bool = False) -> None:
        self.per_row = per_row

    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> Cells:  # noqa: ARG002
        """Return one cell per label, about the mean of its rows."""
        of_row, labels = by_label(signs)
        centres = group_means(rows, of_row, len(labels))
        distances = distances_from(rows, of_row, centres)
        radii = largest_in(distances, of_row, len(labels))
        return Cells(of_row, labels, centres, radii, distances=distances if self.per_row else None)


class Box(Bound):
    """The bounding box of each class, about its middle, where it is narrower than a sphere."""

    name: ClassVar[str] = "box"

    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> Cells:  # noqa: ARG002
        """Return one cell per label, about the middle of its bounding box."""
        of_row, labels = by_label(signs)
        lowest, highest = extremes(rows, of_row, len(labels))
        centres = 0.5 * lowest + 0.5 * highest
        half_widths = np.maximum(highest - centres, centres - lowest)
        half_widths = np.nextafter(half_widths, np.inf)
        distances = distances_from(rows, of_row, centres)
        radii = largest_in(distances, of_row, len(labels))
        return Cells(of_row, labels, centres, radii, half_widths)


class Trajectory(Bound):
    r"""Another bound for what is left of a change after its part along the last known step.

    The margins of all rows are known at the last two full passes, hence how each one changes along
    the step u between them. Of a change :math:`\Delta w = a u + r` only the rest r is bounded.
    Weights that an iteration moves usually keep their direction for a while, so that r is short.

    Parameters
    ----------
    base : Bound or None, default=None
        The bound for the rest; None is ``Sphere(per_row=True)``, which needs no pass over the
        data. ``CentredSphere(per_row=True)`` spares some more rows of dense data, and takes as
        long as a few dozen evaluations to make.
    """

    name: ClassVar[str] = "trajectory"
    extrapolates = True

    def __init__(self, base: Bound | None = None) -> None:
        self.base = base

    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> Cells:
        """Return the cells of the bound for the rest."""
        base = Sphere(per_row=True) if self.base is None else self.base
        return base.cells(rows, signs, seed)
