"""A path in C as its corners: the machine and its certificate for any C in between."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.gap import gap
from hinge.errors import InvalidParameterError
from hinge.parameters import positive
from hinge.problem import Problem
from hinge.result import Certificate, Point
from hinge.solvers.kernel.path_events import LARGEST

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """A straight piece of a path.

    Parameters
    ----------
    C : float
        Where it begins.
    intercept, intercept_rate : float
        The intercept there, and how it changes with C.
    free : ndarray of int32
        The rows whose coefficient is strictly between its bounds.
    coef, rates : ndarray
        Their coefficients, times their labels, and how they change with C.
    """

    C: float
    intercept: float
    intercept_rate: float
    free: NDArray[np.int32]
    coef: Floats
    rates: Floats


@dataclass(frozen=True)
class ExactPath:
    """The optimal machines of a problem for every C of an interval.

    Parameters
    ----------
    problem : Problem
        The problem; its own C is not used.
    Cs : ndarray of shape (n_corners + 2,)
        The first value, every C at which the set of free rows changes, and the last value.
    is_complete : bool
        Whether the path reaches the value that was asked for.
    pieces : list of Piece
        What lies between them.
    """

    problem: Problem
    Cs: Floats
    is_complete: bool
    pieces: list[Piece] = field(repr=False)
    _present: Ids | None = field(repr=False)
    _start: NDArray[np.int8] = field(repr=False)
    _changes: tuple[NDArray[np.int32], NDArray[np.int8], Ids] = field(repr=False)

    def point(self, C: float) -> Point:
        """Return the optimal machine for a value of C.

        Parameters
        ----------
        C : float
            A value on the path.

        Returns
        -------
        Point
            Its dual coefficients and intercept.
        """
        number = self._piece(C)
        piece = self.pieces[number]
        some = slice(None) if self._present is None else self._present
        problem = self.problem.with_C(C)
        largest = problem.loss.upper_bound(problem.costs)[some]
        alpha = np.where(self._where(number) == LARGEST, largest, 0.0)
        free = piece.free
        coef = piece.coef + (C - piece.C) * piece.rates
        alpha[free] = np.clip(self.problem.signs[some][free] * coef, 0.0, largest[free])
        everywhere = np.zeros(self.problem.n_rows)
        everywhere[some] = alpha
        intercept = piece.intercept + (C - piece.C) * piece.intercept_rate
        return Point(np.zeros(0), intercept, everywhere)

    def certificate(self, C: float) -> Certificate:
        """Return the certificate of the machine for a value of C, recomputed from the raw data.

        Parameters
        ----------
        C : float
            A value on the path.

        Returns
        -------
        Certificate
            Objective values, gap and violation.
        """
        return gap(self.problem.with_C(C), self.point(C))

    def n_free(self) -> Ids:
        """Return how many coefficients are strictly between their bounds on every piece."""
        return np.array([len(piece.free) for piece in self.pieces], dtype=np.int64)

    def _piece(self, C: float) -> int:
        """Return the number of the piece that a value of C is on."""
        value = positive(C, "C")
        if not self.Cs[0] <= value <= self.Cs[-1]:
            message = (
                f"C = {value:g} is not on the path, which is from {self.Cs[0]:g} to "
                f"{self.Cs[-1]:g}."
            )
            raise InvalidParameterError(message)
        return min(int(np.searchsorted(self.Cs, value, side="right")) - 1, len(self.pieces) - 1)

    def _where(self, number: int) -> NDArray[np.int8]:
        """Return where the coefficients are on a piece."""
        rows, to, ends = self._changes
        where = self._start.copy()
        count = int(ends[number])
        where[rows[:count]] = to[:count]  # of several changes of a row the last one counts
        return where


class PathRecorder:
    """Keeps a path while it is walked.

    Parameters
    ----------
    problem : Problem
        The problem.
    present : ndarray of int64 or None
        Which rows have a cost; None for all.
    where : ndarray of int8
        Where their coefficients are at the beginning.
    unit : float
        What coefficients are multiplied by.
    """

    def __init__(
        self, problem: Problem, present: Ids | None, where: NDArray[np.int8], unit: float
    ) -> None:
        self._problem, self._present, self._unit = problem, present, unit
        self._start, self._now = where.copy(), where.copy()
        self._pieces: list[Piece] = []
        self._rows: list[int] = []
        self._to: list[int] = []
        self._ends: list[int] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def piece(
        self, C: float, nu: float, nu_rate: float, free: Ids, beta: Floats, rates: Floats
    ) -> None:
        """Note a straight piece that begins here."""
        ids = free.astype(np.int32)
        piece = Piece(C, nu, nu_rate, ids, beta / self._unit, rates / self._unit)
        if self._pieces and self._pieces[-1].C == C:  # of length zero
            self._pieces.pop()
            self._ends.pop()
        self._pieces.append(piece)
        self._ends.append(len(self._rows))

    def corner(self, where: NDArray[np.int8]) -> None:
        """Note what has changed at a corner."""
        for row in np.flatnonzero(where != self._now):
            self._rows.append(int(row))
            self._to.append(int(where[row]))
        self._now[:] = where

    def finished(self, C: float, *, is_complete: bool) -> ExactPath:
        """Return the path, which ends here."""
        changes = (
            np.array(self._rows, dtype=np.int32),
            np.array(self._to, dtype=np.int8),
            np.array(self._ends, dtype=np.int64),
        )
        Cs = np.array([piece.C for piece in self._pieces] + [C])
        return ExactPath(
            self._problem, Cs, is_complete, self._pieces, self._present, self._start, changes
        )
