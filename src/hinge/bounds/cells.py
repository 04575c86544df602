r"""Cells: groups of rows whose margins change by nearly the same.

Rows of a cell have one label y and lie near a centre c. When (w', b') becomes (w, b), every margin
of the cell changes by

.. math:: y\,(\Delta w' c + \Delta b) \pm e, \qquad e \ge \max_i |\Delta w'(x_i - c)| .

A bound is a way to choose cells and to compute e. Since the cells have one label, a change of
the intercept is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.products import dots, norm
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.rows import Rows

Floats = NDArray[np.float64]

_SPARE = 16


@dataclass(frozen=True)
class Change:
    """By how much margins may have changed.

    Parameters
    ----------
    shift, spread : ndarray of shape (n_cells,)
        Every change of a margin of the cell lies within ``spread`` of ``shift``.
    rounding : ndarray of shape (n_cells,)
        What rounding adds: a row at a known distance from the centre lies within ``length`` times
        that distance, plus this.
    length : float
        An upper bound on the length of the change of the weights.
    """

    shift: Floats
    spread: Floats
    rounding: Floats
    length: float


#: Says of nodes, given their first and last cell and their change, which are decided.
Decides = Callable[[NDArray[np.int64], NDArray[np.int64], Change], NDArray[np.bool_]]


@dataclass(frozen=True)
class Cells:
    """Rows in cells, and what bounds the change of their margins.

    Parameters
    ----------
    of_row : ndarray of int32 of shape (n_rows,)
        The cell of every row.
    signs : ndarray of shape (n_cells,)
        The label of every cell, -1 or +1.
    centres : ndarray of shape (n_cells, n_features) or None
        The centres; None where all are the origin.
    radii : ndarray of shape (n_cells,)
        No row is farther from its centre.
    half_widths : ndarray of shape (n_cells, n_features) or None
        No row differs from its centre by more in any feature.
    distances : ndarray of shape (n_rows,) or None
        How far each row is from its centre at the most; None where only radii are used.
    """

    of_row: NDArray[np.int32]
    signs: Floats
    centres: Floats | None
    radii: Floats
    half_widths: Floats | None = None
    distances: Floats | None = None

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.signs)

    def change(self, dw: Floats, db: float = 0.0, slack: float = 0.0) -> Change:
        """Return, per cell, the shift of all margins and how much more or less one may move.

        Parameters
        ----------
        dw : ndarray of shape (n_features,)
            Computed change of the weights.
        db : float, default=0.0
            Computed change of the intercept, one rounding in it.
        slack : float, default=0.0
            By how much, in norm, the computed change of the weights may be wrong.

        Returns
        -------
        Change
            Bounds that hold in real arithmetic.
        """
        share = rounding_factor(len(dw) + _SPARE)
        length = (norm(dw) * (1.0 + share) + slack) * (1.0 + 4.0 * UNIT_ROUNDOFF)
        towards = None if self.centres is None else dots(self.centres, dw)
        change = self.change_of(length, db, towards, share * length + slack)
        if self.half_widths is None:
            return change
        wide = dots(self.half_widths, np.abs(dw)) * (1.0 + share) + slack * self.radii
        wide = wide * (1.0 + _SPARE * UNIT_ROUNDOFF) + change.rounding
        return replace(change, spread=np.minimum(change.spread, wide))

    @property
    def needs_parts(self) -> bool:
        """Whether a change is bounded by its features, or by some of the cells alone."""
        return self.half_widths is not None

    def decided_change(self, dw: Floats, db: float, slack: float, decides: Decides) -> Change:
        """Return the change of each cell; nested cells leave out what a larger one decides.

        Parameters
        ----------
        dw : ndarray of shape (n_features,)
            Computed change of the weights.
        db : float
            Computed change of the intercept.
        slack : float
            Error of the change of the weights, in norm.
        decides : callable
            Says of nodes, given as ranges of cells and their change, which are decided.

        Returns
        -------
        Change
            Bounds for every cell.
        """
        del decides  # these cells are not nested
        return self.change(dw, db, slack)

    def change_of(self, length: float, db: float, towards: Floats | None, wrong: float) -> Change:
        """Return bounds from the length of a change and its products with the centres.

        Parameters
        ----------
        length : float
            An upper bound on the length of the change of the weights.
        db : float
            Computed change of the intercept.
        towards : ndarray of shape (n_cells,) or None
            Computed products of the change with the centres.
        wrong : float
            These products are wrong by at most this times the norm of the centre.

        Returns
        -------
        Change
            Bounds that hold in real arithmetic; half-widths are not used.
        """
        shift = self.signs * db
        rounding = np.abs(shift) * (_SPARE * UNIT_ROUNDOFF)
        if towards is not None:
            shift = shift + self.signs * towards
            rounding += wrong * self._centre_norms + _SPARE * UNIT_ROUNDOFF * np.abs(towards)
        spread = length * self.radii * (1.0 + _SPARE * UNIT_ROUNDOFF) + rounding
        return Change(shift, spread, rounding, length)

    def row_change(self, row: int, dw: Floats, db: float = 0.0) -> tuple[float, float]:
        """Return the shift and the spread of one row; narrower where its distance is known.

        Parameters
        ----------
        row : int
            The row.
        dw : ndarray of shape (n_features,)
            Change of the weights.
        db : float, default=0.0
            Change of the intercept.

        Returns
        -------
        shift, spread : float
            The change of its margin lies within ``spread`` of ``shift``.
        """
        cell = int(self.of_row[row])
        change = self.change(dw, db)
        spread = float(change.spread[cell])
        if self.distances is not None:
            own = change.length * float(self.distances[row]) * (1.0 + _SPARE * UNIT_ROUNDOFF)
            spread = min(spread, own + float(change.rounding[cell]))
        return float(change.shift[cell]), spread

    @property
    def _centre_norms(self) -> Floats:
        norms = self.__dict__.get("_norms")
        if norms is None:
            centres = np.asarray(self.centres)
            norms = np.array([norm(centre) for centre in centres])
            norms = norms * (1.0 + rounding_factor(centres.shape[1] + _SPARE))
            self.__dict__["_norms"] = norms
        return np.asarray(norms)


class Bound(ABC):
    """A way to put rows into cells."""

    name: ClassVar[str]
    #: Whether the step between the last two full passes narrows the bound further.
    extrapolates: bool = False

    @abstractmethod
    def cells(self, rows: Rows, signs: NDArray[np.int8], seed: int = 0) -> Cells:
        """Return the cells of these rows.

        Parameters
        ----------
        rows : Rows
            The data.
        signs : ndarray of int8 of shape (n_rows,)
            -1 or +1 for every row.
        seed : int, default=0
            For bounds that draw rows.

        Returns
        -------
        Cells
            The cells.
        """
