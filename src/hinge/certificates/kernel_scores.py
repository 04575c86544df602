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

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_linear import LinearSums, has_weights
from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_margins import Scores, surely_beyond
from hinge.certificates.kernel_operands import PANEL_ROWS, Wanted
from hinge.certificates.kernel_panels import Panels
from hinge.certificates.kernel_pass import (
    Rectangle,
    Sums,
    Triangle,
    nothing,
    prepared_loads,
    with_factors,
)
from hinge.certificates.kernel_stacks import Stacks, panel_rows
from hinge.certificates.kernel_weights import sum_error
from hinge.problem import Problem
from hinge.result import Point

Floats = NDArray[np.float64]
Check = Callable[[], None]

_FEW_VALUES = 1 << 19  # which take less time than telling support vectors and other rows apart
_ONE_PANEL = 1 << 17  # which are one
_FEW_ROWS = 1024  # so few are computed in float64 at once
_WORTH_IT = 0.5  # of a margin: a bound on errors that leaves most rows decided


def _linear_scores(machine: Machine, wanted: Wanted, threads: int, check: Check | None) -> Scores:
    """Return the scores of some rows of a machine that is its weights."""
    sums, *errors = LinearSums(machine, check).of(wanted, threads, check)
    return with_factors(machine, wanted, sums, (errors[0], errors[1]))


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
    sums = Sums(n)
    if not len(machine.ids) or not n:
        return Scores.zeros(n)
    if panels is None and has_weights(machine):
        return _linear_scores(machine, wanted, threads, check)
    _ask(check)
    panels = panels or machine.panels(wanted)
    # Few values are one panel: what a panel costs beside them is more.
    is_small = n * max(len(machine.ids), panels.row_width(wanted[0])) <= _ONE_PANEL
    height = n if is_small else panel_rows(machine)
    heights = [(start, min(start + height, n)) for start in range(0, n, height)]
    stacks = Stacks(machine, panels, wanted, heights)
    for load in prepared_loads(machine, panels, threads):
        rectangle = Rectangle(load, stacks, sums)
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
    _ask(check)
    sums = Sums(n)
    panels = machine.panels(wanted)
    # Panels of rows lie within panels of columns, so that the diagonal is met in one piece.
    stacks = Stacks(machine, panels, wanted, machine.cuts(panel_rows(machine)))
    for load in prepared_loads(machine, panels, threads):
        count = sum(heights[0][0] < load.end for heights in stacks.heights)
        triangle = Triangle(load, stacks, sums)
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


def _ask(check: Check | None) -> None:
    """Ask before a pass: in it, other threads may do all that there is to do."""
    if check is not None:
        check()


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
