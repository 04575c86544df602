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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_linear import LinearSums, has_weights
from hinge.certificates.kernel_machine import Cut, Machine, row_factors
from hinge.certificates.kernel_operands import PANEL_ROWS, Wanted
from hinge.certificates.kernel_panels import PANEL_COLUMNS, Columns, Panel, Panels
from hinge.certificates.kernel_stacks import Stacks, panel_rows
from hinge.certificates.kernel_weights import PanelWeights, sum_error, sum_loss
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.losses import Loss
from hinge.problem import Problem
from hinge.result import Point

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]
Signs = NDArray[np.int8] | Floats

_FEW_VALUES = 1 << 19  # which take less time than telling support vectors and other rows apart
_ONE_PANEL = 1 << 17  # which are one
_FEW_ROWS = 1024  # so few are computed in float64 at once
_WORTH_IT = 0.5  # of a margin: a bound on errors that leaves most rows decided
_USEFUL = 0.1  # a relative error beyond this bounds nothing


@dataclass(frozen=True)
class Scores:
    """What a machine's support vectors sum up to at some rows.

    Parameters
    ----------
    plus, minus : ndarray of shape (n,)
        Sums over the support vectors of positive and of negative coefficient, of ``|b_j| k_j``.
    magnitude : ndarray of shape (n,)
        The sum of ``|b_j| |k_j|`` over all of them, or more, which rounding is relative to.
    error : ndarray of shape (n,)
        Bound on the rounding error of their difference, and of their sum.
    """

    plus: Floats
    minus: Floats
    magnitude: Floats
    error: Floats

    @property
    def values(self) -> Floats:
        """The decision values, without intercept."""
        return self.plus - self.minus

    @staticmethod
    def zeros(n: int) -> Scores:
        """Return scores of zero, without error."""
        return Scores(*np.zeros((4, n)))

    def some(self, ids: Any) -> Scores:
        """Return the scores of some rows."""
        return Scores(self.plus[ids], self.minus[ids], self.magnitude[ids], self.error[ids])

    def put(self, ids: Ids, other: Scores) -> None:
        """Overwrite the scores of some rows."""
        for name in ("plus", "minus", "magnitude", "error"):
            getattr(self, name)[ids] = getattr(other, name)


class _Sums:
    """Sums over support vectors of either sign, of absolute values, and the norms of the rows."""

    def __init__(self, n: int) -> None:
        self.sums = np.zeros((3, n))
        self.norms = np.zeros(n)

    def take(self, heights: list[Cut], stack: list[Panel], found: list[Floats]) -> None:
        """Add what was found for the rows of a stack."""
        for (first, last), panel, sums in zip(heights, stack, found, strict=True):
            self.sums[:, first:last] += sums * panel.factors
            self.norms[first:last] = panel.norms

    def finished(self, machine: Machine, wanted: Wanted, panels: Panels) -> Scores:
        """Return the scores with the factors of their rows and the bound on their errors."""
        plus, minus, magnitude = self.sums
        if machine.never_cancels:
            magnitude = plus + minus
        relative, absolute = panels.error(self.norms)
        absolute = absolute + sum_loss(panels.dtype, len(machine.ids))
        # A panel's sum, then the sums of panels one after another, or in a tree.
        n = len(machine.ids)
        summed = min(n, max(PANEL_COLUMNS, PANEL_ROWS)) + 2 * (n // PANEL_ROWS) + 8
        relative = relative + (rounding_factor(summed) + sum_error(panels.dtype))
        sums = np.stack((plus, minus, magnitude))
        return _with_factors(machine, wanted, sums, (relative, absolute * machine.total))


def _with_factors(
    machine: Machine, wanted: Wanted, sums: Floats, errors: tuple[Floats, Floats]
) -> Scores:
    """Return scores with the factors of their rows, given bounds on relative and other errors."""
    relative, absolute = errors
    relative = relative + (machine.weight_error + 8.0 * UNIT_ROUNDOFF)
    if machine.has_factors:
        factors, inexact = row_factors(machine.kernel, *wanted)
        sums, absolute, relative = sums * factors, absolute * factors, relative + inexact
    plus, minus, magnitude = sums
    return Scores(plus, minus, magnitude, bounded_error(relative, magnitude, absolute))


def _linear_scores(machine: Machine, wanted: Wanted, threads: int, check: Check | None) -> Scores:
    """Return the scores of some rows of a machine that is its weights."""
    sums, *errors = LinearSums(machine, check).of(wanted, threads, check)
    return _with_factors(machine, wanted, sums, (errors[0], errors[1]))


def bounded_error(relative: Floats, magnitude: Floats, absolute: Floats) -> Floats:
    """Return a bound on the rounding errors of sums; infinity where nothing is known.

    Parameters
    ----------
    relative : ndarray
        The sum of bounds on all relative errors.
    magnitude : ndarray
        What they are relative to: the sum of absolute values.
    absolute : ndarray
        A bound on the other errors.
    """
    # Errors multiply up; while their sum is small, its square is more than that adds.
    error = relative * (1.0 + 2.0 * relative) * magnitude + absolute * 1.01
    return np.where(relative < _USEFUL, error, np.inf)


@dataclass(frozen=True)
class _Load:
    """Panels of support vectors that are prepared, with their coefficients."""

    machine: Machine
    panels: Panels
    cuts: list[Cut]
    columns: list[Columns]
    weights: list[PanelWeights]

    @property
    def begin(self) -> int:
        """The first support vector."""
        return self.cuts[0][0]

    @property
    def end(self) -> int:
        """The one after the last."""
        return self.cuts[-1][1]

    @staticmethod
    def prepared(machine: Machine, panels: Panels, cuts: list[Cut], threads: int) -> _Load:
        """Prepare the support vectors of some cuts."""

        def columns(number: int) -> list[Columns]:
            return [panels.columns(machine.rows, machine.ids[slice(*cuts[number])])]

        found = map_numbers(columns, len(cuts), list.__add__, threads=threads)
        weights = [
            PanelWeights(machine.weights[slice(*cut)] * some.factors, panels.dtype)
            for cut, some in zip(cuts, found, strict=True)
        ]
        return _Load(machine, panels, cuts, found, weights)

    def add(self, sums: Floats, values: NDArray[Any], side: int, weights: PanelWeights) -> None:
        """Add what a panel of values gives to the sums of its rows."""
        sums[side] += weights.sums(values)
        if not self.machine.never_cancels:
            sums[2] += weights.sums(np.abs(values, out=values))


def _loads(machine: Machine, panels: Panels, threads: int) -> Iterator[_Load]:
    """Prepare support vectors, as many at a time as there is room for."""
    if panels in machine.kept:
        yield machine.kept[panels]
        return
    loads = machine.loads()
    for cuts in loads:
        load = _Load.prepared(machine, panels, cuts, threads)
        if len(loads) == 1 and machine.asked is not None:
            machine.kept[panels] = load
        yield load


@dataclass(frozen=True)
class _Rectangle:
    """Rows against prepared support vectors, a stack of rows at a time."""

    load: _Load
    stacks: Stacks
    sums: _Sums

    def __call__(self, number: int) -> None:
        """Add what the support vectors give to a stack of panels of rows."""
        load, panels, stack = self.load, self.load.panels, self.stacks.panels(number)
        sums = [np.zeros((3, len(panel.factors))) for panel in stack]
        for cut, columns, weights in zip(load.cuts, load.columns, load.weights, strict=True):
            side = load.machine.side(cut)
            for panel, found in zip(stack, sums, strict=True):
                load.add(found, panels.values(panel, columns), side, weights)
        self.sums.take(self.stacks.heights[number], stack, sums)


@dataclass(frozen=True)
class _Triangle:
    """Support vectors against those prepared that come after them: half of a symmetric matrix."""

    load: _Load
    stacks: Stacks
    sums: _Sums

    def __call__(self, number: int) -> Floats:
        """Add what comes after a stack of rows to it; return what it gives to what comes after."""
        load = self.load
        heights, stack = self.stacks.heights[number], self.stacks.panels(number)
        sums = [np.zeros((3, len(panel.factors))) for panel in stack]
        mirrored = np.zeros((3, load.end - load.begin))
        for cut, columns in zip(load.cuts, load.columns, strict=True):
            for height, panel, found in zip(heights, stack, sums, strict=True):
                if height[0] < cut[1]:
                    self._meet((height, panel, found), (cut, columns), mirrored)
        self.sums.take(heights, stack, sums)
        return mirrored

    def _meet(
        self,
        rows: tuple[Cut, Panel, Floats],
        others: tuple[Cut, Columns],
        mirrored: Floats,
    ) -> None:
        """Add what a panel of rows and the support vectors from it on give to each other."""
        (first, last), panel, sums = rows
        cut, columns = others
        load, machine = self.load, self.load.machine
        low = max(cut[0], first)
        columns = columns.after(low - cut[0])
        values = load.panels.values(panel, columns)
        # The square on the diagonal holds both halves already.
        there = slice(max(low, last) - load.begin, cut[1] - load.begin)
        beyond = values[:, max(low, last) - low :]
        pulls = machine.weights[first:last] * panel.factors
        mirrored[machine.side((first, last)), there] += pulls @ beyond
        weights = PanelWeights(machine.weights[low : cut[1]] * columns.factors, values.dtype)
        load.add(sums, values, machine.side(cut), weights)
        if not machine.never_cancels:
            mirrored[2, there] += pulls @ beyond  # absolute values by now


def scores_at(
    machine: Machine,
    wanted: Wanted,
    threads: int = 1,
    check: Check | None = None,
    panels: Panels | None = None,
) -> Scores:
    """Return the scores of some rows.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    wanted : tuple of Rows and ndarray of int
        The rows: of which data, and which.
    threads : int, default=1
        Threads that share out panels of rows.
    check : callable or None, default=None
        Called between panels; may raise to abandon the pass.
    panels : Panels or None, default=None
        How kernel values are computed; None for in float64.
    """
    n = len(wanted[1])
    sums = _Sums(n)
    if not len(machine.ids) or not n:
        return Scores.zeros(n)
    if panels is None and has_weights(machine):
        return _linear_scores(machine, wanted, threads, check)
    panels = panels or machine.panels(wanted)
    # Few values are one panel: what a panel costs beside them is more.
    height = n if n * len(machine.ids) <= _ONE_PANEL else panel_rows(machine)
    heights = [(start, min(start + height, n)) for start in range(0, n, height)]
    stacks = Stacks(machine, panels, wanted, heights)
    for load in _loads(machine, panels, threads):
        rectangle = _Rectangle(load, stacks, sums)
        map_numbers(rectangle, len(stacks), nothing, threads=threads, check=check)
    return sums.finished(machine, wanted, panels)


def support_scores(machine: Machine, threads: int = 1, check: Check | None = None) -> Scores:
    """Return the scores of the support vectors themselves, in their order, in float64."""
    n = len(machine.ids)
    if not n:
        return Scores.zeros(0)
    wanted = (machine.rows, machine.ids)
    if has_weights(machine):
        return _linear_scores(machine, wanted, threads, check)
    sums = _Sums(n)
    panels = machine.panels(wanted)
    # Panels of rows lie within panels of columns, so that the diagonal is met in one piece.
    stacks = Stacks(machine, panels, wanted, machine.cuts(panel_rows(machine)))
    for load in _loads(machine, panels, threads):
        count = sum(heights[0][0] < load.end for heights in stacks.heights)
        triangle = _Triangle(load, stacks, sums)
        mirrored = map_numbers(triangle, count, np.add, threads=threads, check=check)
        factors = np.concatenate([columns.factors for columns in load.columns])
        sums.sums[:, load.begin : load.end] += mirrored * factors
    return sums.finished(machine, wanted, panels)


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
    scores = Scores.zeros(problem.n_rows)
    counting = np.flatnonzero((problem.costs > 0) | (point.dual_coef != 0.0))
    machine = machine_of(problem, point, (problem.rows, counting))
    are_few = len(counting) < _FEW_ROWS and len(machine.ids) * len(counting) <= _FEW_VALUES
    if are_few or has_weights(machine):
        everything = (problem.rows, counting)
        scores.put(everything[1], scores_at(machine, everything, threads, check))
        return scores
    scores.put(machine.ids, support_scores(machine, threads, check))
    is_support = np.zeros(problem.n_rows, dtype=bool)
    is_support[machine.ids] = True
    others = np.flatnonzero((problem.costs > 0) & ~is_support)
    wanted = (problem.rows, others)
    if machine.is_fast and len(others) >= _FEW_ROWS and len(machine.ids):
        panels = machine.panels(wanted, np.float32)
        if _is_worth_it(machine, panels, wanted, scores.magnitude[machine.ids]):
            found = scores_at(machine, wanted, threads, check, panels)
            scores.put(others, found)
            signs = problem.signs[others]
            decided = surely_beyond(problem.loss, signs, point.intercept, found)
            wanted = (problem.rows, others[~decided])
    scores.put(wanted[1], scores_at(machine, wanted, threads, check))
    return scores


def machine_of(problem: Problem, point: Point, asked: Wanted | None = None) -> Machine:
    """Return the machine that a point of a kernel problem is; see ``Machine``."""
    if problem.kernel is None or point.dual_coef is None:
        message = "only a point with dual coefficients, of a kernel problem, is a kernel machine."
        raise ValueError(message)
    pulls = problem.signs * point.dual_coef
    ids = np.flatnonzero(pulls)
    return Machine(problem.kernel, problem.rows, ids, pulls[ids], asked)


def lowest_margins(signs: Signs, intercept: Floats | float, scores: Scores) -> Floats:
    """Return lower bounds on the margins of rows of these signs."""
    slack = margin_slack(intercept, scores)
    return np.asarray(signs * (scores.values + intercept) - slack)


def margin_slack(intercept: Floats | float, scores: Scores) -> Floats:
    """Return bounds on the errors of margins, their own roundings included."""
    size = np.abs(scores.values) + np.abs(intercept) + scores.error
    return np.asarray(scores.error + 8.0 * UNIT_ROUNDOFF * size)


def surely_beyond(
    loss: Loss, signs: Signs, intercept: Floats | float, scores: Scores
) -> NDArray[np.bool_]:
    """Return which rows surely have a margin at which the loss is zero."""
    needed = max(loss.zero_from, loss.dual_linear)
    return np.asarray(lowest_margins(signs, intercept, scores) >= needed)


def _is_worth_it(machine: Machine, panels: Panels, wanted: Wanted, magnitude: Floats) -> bool:
    """Return whether float32 will decide so many rows that trying it first saves time.

    Margins differ from the one that is needed by about one, so what counts is whether the bound on
    an error is well below; what it is relative to is known from the support vectors.
    """
    rows, ids = wanted
    sample = ids[:: -(-len(ids) // PANEL_ROWS)]
    relative, absolute = panels.error(panels.panel(rows, sample).norms)
    relative = relative + sum_error(panels.dtype)
    return decides_most(relative * np.median(magnitude) + absolute * machine.total)


def decides_most(error: Floats) -> bool:
    """Return whether most rows are decided with such bounds on the errors of their margins.

    Parameters
    ----------
    error : ndarray
        Bounds for some of the rows.
    """
    return bool(np.median(error) <= _WORTH_IT)


def nothing(a: None, b: None) -> None:
    """Merge results that are none."""
