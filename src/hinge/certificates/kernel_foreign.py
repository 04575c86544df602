"""Machines whose support vectors are not rows of the data, or rows that somebody has rounded.

The objective of such a machine is computed from its own support vectors, with a bound on the
rounding of every score as for any other (:mod:`hinge.certificates.kernel_scores`). Where its
support vectors stand for rows, their coefficients on these rows are a dual point, which bounds the
optimum from below; the gap is then that between the machine's own objective and this bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.conditions import DualSums, condition_violations, worst_of, worst_row
from hinge.certificates.kernel_gap import kernel_gap
from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_margins import margin_slack
from hinge.certificates.kernel_scores import scores_at, support_scores
from hinge.certificates.kernel_sums import correct_sum
from hinge.certificates.kernel_values import loss_sums, squares
from hinge.problem import Problem
from hinge.result import Certificate, Point
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ForeignMachine:
    """Support vectors that are not taken from the data.

    Parameters
    ----------
    vectors : Rows
        The support vectors.
    coef : ndarray of shape (n_support,)
        Their coefficients ``b = y alpha``.
    intercept : float
        The intercept.
    """

    vectors: Rows
    coef: Floats
    intercept: float


@dataclass(frozen=True)
class Objective:
    """The objective of a machine on some data.

    Parameters
    ----------
    value, above : float
        The value, and an upper bound on it.
    margins, slack : ndarray of shape (n_samples,)
        Margins of the rows, and bounds on their errors; 0 for those without cost.
    """

    value: float
    above: float
    margins: Floats
    slack: Floats


def foreign_objective(problem: Problem, foreign: ForeignMachine, threads: int = 1) -> Objective:
    """Return the objective of a machine that has support vectors of its own.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel that knows any row.
    foreign : ForeignMachine
        The machine.
    threads : int, default=1
        Threads that share out panels of rows.
    """
    assert problem.kernel is not None
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        ids = np.flatnonzero(foreign.coef)
        machine = Machine(problem.kernel, foreign.vectors, ids, foreign.coef[ids])
        own = support_scores(machine, threads)
        norm = squares(machine.coef, own, np.asarray([0, len(ids)]))
        counted = np.flatnonzero(problem.costs > 0)
        scores = scores_at(machine, (problem.rows, counted), threads)
        where = problem.signs[counted], problem.costs[counted]
        ends = np.asarray([0, len(counted)])
        losses = loss_sums(problem.loss, foreign.intercept, where, scores, ends)
        margins, slack = np.zeros((2, problem.n_rows))
        margins[counted] = where[0] * (scores.values + foreign.intercept)
        slack[counted] = margin_slack(foreign.intercept, scores)
        above = (0.5 * norm.bounds[0] + losses.bounds[0]) * (1.0 + 2.0**-50)
    value = float(0.5 * norm.values[0] + losses.values[0])
    return Objective(value, float(above), margins, slack)


def foreign_gap(
    problem: Problem, point: Point, foreign: ForeignMachine, threads: int = 1
) -> Certificate:
    """Judge a machine whose support vectors stand for rows of the data.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel that knows any row.
    point : Point
        The machine's intercept, and its coefficients at the rows that its support vectors are.
    foreign : ForeignMachine
        The machine with its own support vectors.
    threads : int, default=1
        Threads that share out panels of rows.
    """
    found = kernel_gap(problem, point, threads=threads, region=False)
    own = foreign_objective(problem, foreign, threads)
    assert point.dual_coef is not None
    alpha, costs = point.dual_coef, problem.costs
    _, of_rows = worst_row(problem.loss, own.margins, own.slack, alpha, costs)
    pulls = problem.signs * point.dual_coef
    sums = DualSums(point.coef, correct_sum(pulls), correct_sum(np.abs(pulls)))
    worst = worst_of(of_rows, *condition_violations(problem, point, sums))
    found = replace(found, kkt=worst.above, kkt_rounding=worst.rounding)
    # The dual bound is the rows' own objective less their gap, or lower.
    difference = (own.above - found.primal) + found.gap
    if not (math.isfinite(difference) and math.isfinite(own.value)):
        inf = math.inf
        return replace(found, primal=own.value, gap=inf, relative_gap=inf, rounding=inf)
    difference += 2.0**-50 * (abs(own.above) + abs(found.primal) + found.gap)
    scale = max(abs(own.value), abs(found.dual), float(np.finfo(np.float64).tiny))
    return replace(
        found,
        primal=own.value,
        gap=difference,
        relative_gap=difference / scale,
        rounding=max(0.0, difference - (own.value - found.dual)),
    )
