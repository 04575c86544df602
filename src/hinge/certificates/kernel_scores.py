r"""Decision values of a kernel machine, recomputed with a bound on every rounding error.

The scores :math:`f_i = \sum_j b_j k(x_j, x_i)` are summed apart for positive and for negative
coefficients: their difference is the score, and for a kernel that is never negative their sum is
what its rounding is relative to, at no cost.

*Never compute a margin that a bound already decides.* Most rows are no support vectors and lie
beyond the margin from which the loss is zero. Their values are computed in float32 first; where
the margin, less a proven bound on its error, is beyond that point, the row adds nothing to any sum
and violates nothing, and its value is never needed more exactly. All other rows, support vectors
among them, are computed in float64. Support vectors against each other make a symmetric matrix, of
which one half is computed.

Panels and the order of sums depend on the data alone: the bits do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_machine import Cut, Machine, row_factors
from hinge.certificates.kernel_panels import (
    PANEL_COLUMNS,
    PANEL_ROWS,
    Columns,
    Panels,
    Wanted,
)
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.problem import Problem
from hinge.result import Point

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_FEW_ROWS = 1024  # so few are computed in float64 at once
_TRIAL_ROWS = 256  # rows on which float32 is tried
_WORTH_IT = 0.6  # share of rows that float32 must decide to be faster than float64 for all
_USEFUL = 0.1  # a relative error beyond this bounds nothing


@dataclass(frozen=True)
class Scores:
    """What a machine's support vectors sum up to at some rows.

    Parameters
    ----------
    plus, minus : ndarray of shape (n,)
        Sums over the support vectors of positive and of negative coefficient, of ``|b_j| k_j``.
    error : ndarray of shape (n,)
        Bound on the rounding error of their difference, and of their sum.
    """

    plus: Floats
    minus: Floats
    error: Floats

    @property
    def values(self) -> Floats:
        """The decision values, without intercept."""
        return self.plus - self.minus

    @staticmethod
    def zeros(n: int) -> Scores:
        """Return scores of zero, without error."""
        return Scores(np.zeros(n), np.zeros(n), np.zeros(n))

    def put(self, ids: Ids, other: Scores) -> None:
        """Overwrite the scores of some rows."""
        self.plus[ids], self.minus[ids], self.error[ids] = other.plus, other.minus, other.error


class _Sums:
    """Sums over support vectors of either sign, of absolute values, and errors of the values."""

    def __init__(self, n: int) -> None:
        self.sums = np.zeros((3, n))
        self.relative = np.zeros(n)
        self.absolute = np.zeros(n)

    def finished(self, machine: Machine, wanted: Wanted) -> Scores:
        """Return the scores with the factors of their rows and the bound on their errors."""
        plus, minus, magnitude = self.sums
        if machine.never_cancels:
            magnitude = plus + minus
        absolute = self.absolute
        # A panel's sum, then the sums of panels one after another, or in a tree.
        n = len(machine.ids)
        summed = min(n, max(PANEL_COLUMNS, PANEL_ROWS)) + 2 * (n // PANEL_ROWS) + 8
        inexact = self.relative + rounding_factor(summed)
        inexact += machine.weight_error + 8.0 * UNIT_ROUNDOFF
        if machine.has_factors:
            factors, errors = row_factors(machine.kernel, *wanted)
            plus, minus, magnitude = plus * factors, minus * factors, magnitude * factors
            absolute = absolute * factors
            inexact += errors
        # Errors multiply up; while their sum is small, its square is more than that adds.
        error = inexact * (1.0 + 2.0 * inexact) * magnitude + absolute * machine.total * 1.01
        return Scores(plus, minus, np.where(inexact < _USEFUL, error, np.inf))


@dataclass(frozen=True)
class _Load:
    """Panels of support vectors that are prepared, with their coefficients."""

    machine: Machine
    panels: Panels
    cuts: list[Cut]
    columns: list[Columns]

    @staticmethod
    def prepared(machine: Machine, panels: Panels, cuts: list[Cut]) -> _Load:
        """Prepare the support vectors of some cuts."""
        columns = [panels.columns(machine.rows, machine.ids[slice(*cut)]) for cut in cuts]
        return _Load(machine, panels, cuts, columns)

    def add(self, sums: Floats, values: Floats, cut: Cut, columns: Columns) -> None:
        """Add what a panel of values gives to the sums of its rows."""
        weights = self.machine.weights[slice(*cut)] * columns.factors
        sums[self.machine.side(cut)] += values @ weights
        if not self.machine.never_cancels:
            sums[2] += np.abs(values, out=values) @ weights


@dataclass(frozen=True)
class _Rectangle:
    """Rows against prepared support vectors, a panel of rows at a time."""

    load: _Load
    wanted: Wanted
    sums: _Sums

    def __call__(self, number: int) -> None:
        """Add what the support vectors give to one panel of rows."""
        rows, ids = self.wanted
        these = slice(number * PANEL_ROWS, (number + 1) * PANEL_ROWS)
        panels = self.load.panels
        panel = panels.panel(rows, ids[these])
        sums = np.zeros((3, len(panel.factors)))
        for cut, columns in zip(self.load.cuts, self.load.columns, strict=True):
            self.load.add(sums, panels.values(panel, columns), cut, columns)
        self.sums.sums[:, these] += sums * panel.factors
        self.sums.relative[these], self.sums.absolute[these] = panels.error(panel)


@dataclass(frozen=True)
class _Triangle:
    """Support vectors against those prepared that come after them: half of a symmetric matrix."""

    load: _Load
    heights: list[Cut]
    sums: _Sums

    def __call__(self, number: int) -> Floats:
        """Add what comes after a panel of rows to it; return what it gives to what comes after."""
        first, last = self.heights[number]
        machine, panels = self.load.machine, self.load.panels
        begin, end = self.load.cuts[0][0], self.load.cuts[-1][1]
        panel = panels.panel(machine.rows, machine.ids[first:last])
        pulls = machine.weights[first:last] * panel.factors
        side = machine.side((first, last))
        sums, mirrored = np.zeros((3, last - first)), np.zeros((3, end - begin))
        for cut, all_columns in zip(self.load.cuts, self.load.columns, strict=True):
            low = max(cut[0], first)
            if low >= cut[1]:
                continue
            columns = all_columns.after(low - cut[0])
            values = panels.values(panel, columns)
            # The square on the diagonal holds both halves already.
            there = slice(max(low, last) - begin, cut[1] - begin)
            beyond = values[:, max(low, last) - low :]
            mirrored[side, there] = pulls @ beyond
            self.load.add(sums, values, (low, cut[1]), columns)
            if not machine.never_cancels:
                mirrored[2, there] = pulls @ beyond  # absolute values by now
        self.sums.sums[:, first:last] += sums * panel.factors
        self.sums.relative[first:last], self.sums.absolute[first:last] = panels.error(panel)
        return mirrored


def scores_at(
    machine: Machine,
    wanted: Wanted,
    dtype: Any = np.float64,
    threads: int = 1,
    check: Check | None = None,
) -> Scores:
    """Return the scores of some rows.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    wanted : tuple of Rows and ndarray of int
        The rows: of which data, and which.
    dtype : dtype, default=float64
        Arithmetic of the kernel values.
    threads : int, default=1
        Threads that share out panels of rows.
    check : callable or None, default=None
        Called between panels; may raise to abandon the pass.
    """
    n = len(wanted[1])
    sums = _Sums(n)
    if not len(machine.ids) or not n:
        return Scores.zeros(n)
    panels = machine.panels(wanted, dtype)
    for cuts in machine.loads(dtype):
        rectangle = _Rectangle(_Load.prepared(machine, panels, cuts), wanted, sums)
        count = -(-n // PANEL_ROWS)
        map_numbers(rectangle, count, _nothing, threads=threads, check=check)
    return sums.finished(machine, wanted)


def support_scores(machine: Machine, threads: int = 1, check: Check | None = None) -> Scores:
    """Return the scores of the support vectors themselves, in their order, in float64."""
    n = len(machine.ids)
    if not n:
        return Scores.zeros(0)
    wanted = (machine.rows, machine.ids)
    sums = _Sums(n)
    panels = machine.panels(wanted)
    # Panels of rows lie within panels of columns, so that the diagonal is met in one piece.
    heights = machine.cuts(PANEL_ROWS)
    for cuts in machine.loads():
        load = _Load.prepared(machine, panels, cuts)
        begin, end = cuts[0][0], cuts[-1][1]
        count = sum(first < end for first, _ in heights)
        triangle = _Triangle(load, heights, sums)
        mirrored = map_numbers(triangle, count, np.add, threads=threads, check=check)
        factors = np.concatenate([columns.factors for columns in load.columns])
        sums.sums[:, begin:end] += mirrored * factors
    return sums.finished(machine, wanted)


def training_scores(
    problem: Problem, point: Point, threads: int = 1, check: Check | None = None
) -> Scores:
    """Return the scores of every training row that has a cost or a coefficient.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    point : Point
        A finite point.
    threads : int, default=1
        Threads that share out panels of rows.
    check : callable or None, default=None
        Called between panels; may raise to abandon the pass.

    Returns
    -------
    Scores
        One entry for every training row; 0 for those that count for nothing.
    """
    machine = machine_of(problem, point)
    scores = Scores.zeros(problem.n_rows)
    scores.put(machine.ids, support_scores(machine, threads, check))
    is_support = np.zeros(problem.n_rows, dtype=bool)
    is_support[machine.ids] = True
    others = np.flatnonzero((problem.costs > 0) & ~is_support)
    if _is_worth_it(problem, point, machine, others):
        found = scores_at(machine, (problem.rows, others), np.float32, threads, check)
        scores.put(others, found)
        others = others[~_decided(problem, point, others, found)]
    exact = scores_at(machine, (problem.rows, others), np.float64, threads, check)
    scores.put(others, exact)
    return scores


def machine_of(problem: Problem, point: Point) -> Machine:
    """Return the machine that a point of a kernel problem is."""
    if problem.kernel is None or point.dual_coef is None:
        message = "only a point with dual coefficients, of a kernel problem, is a kernel machine."
        raise ValueError(message)
    pulls = problem.signs * point.dual_coef
    ids = np.flatnonzero(pulls)
    return Machine(problem.kernel, problem.rows, ids, pulls[ids])


def lowest_margins(problem: Problem, point: Point, ids: Ids, scores: Scores) -> Floats:
    """Return lower bounds on the margins of some rows."""
    values = scores.values
    size = np.abs(values) + abs(point.intercept) + scores.error
    slack = scores.error + 8.0 * UNIT_ROUNDOFF * size
    return np.asarray(problem.signs[ids] * (values + point.intercept) - slack)


def _decided(problem: Problem, point: Point, ids: Ids, scores: Scores) -> NDArray[np.bool_]:
    """Return which rows surely have a margin at which the loss is zero."""
    needed = max(problem.loss.zero_from, problem.loss.dual_linear)
    return np.asarray(lowest_margins(problem, point, ids, scores) >= needed)


def _is_worth_it(problem: Problem, point: Point, machine: Machine, others: Ids) -> bool:
    """Return whether float32 decides so many rows that trying it first saves time."""
    if len(others) < _FEW_ROWS or not machine.is_fast:
        return False
    sample = others[:: len(others) // _TRIAL_ROWS][:_TRIAL_ROWS]
    found = scores_at(machine, (problem.rows, sample), np.float32)
    return bool(np.mean(_decided(problem, point, sample, found)) >= _WORTH_IT)


def _nothing(a: None, b: None) -> None:
    """Merge results that are none."""
