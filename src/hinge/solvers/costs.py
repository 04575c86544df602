"""What the methods for linear machines are expected to cost, for ``solver="auto"``.

Costs are nanoseconds of one processor of the machine that ``docs/results/choice.md`` was measured
on. Only their ratios matter, and these differ little between machines. They are constants, not
measurements of the run: what is returned depends on inputs, seed and gap alone, and neither on
the machine's load nor on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hinge.problem import Problem
from hinge.solvers.linear.newton_state import MOST_FEATURES

LEAST_GAP = 1e-12  # what gap 0 is taken for: below, objective values are all rounding
DEFAULT_GAP = 1e-3

_FEW_ROWS = 100.0  # for a feature: where the steps of a smoothed corner are about twice as many
_APART, _CORNER_APART = 3.0, 10.0  # times as many steps of Newton's method where classes are apart
_HELD = 1 << 22  # stored values that the last level of a cache holds
_NEAR, _FAR = 12.0, 60.0  # coordinate descent: a row in the cache, in memory,
_VALUE, _SPARSE = 0.6, 2.0  # and a value of dense and of sparse rows
_CACHED = 1 << 19  # stored values that stay in the cache
_ROW_WORK = 8  # values that coordinate descent counts for a visit beside those of the row
_LEAST_SWEEPS = 8.0  # of coordinate descent where classes overlap, for four digits of the gap,
_SWEEPS, _CORNER_SWEEPS = 27.0, 13.5  # and how they grow with the stiffness,
_GROWTH = 0.6  # to this power
_FIRST_PASSES = 2.0  # before the rows that matter are known
_FOUR_DIGITS = 4.0


def digits(gap: float | None) -> float:
    """Return how many decimal digits a gap asks for.

    Parameters
    ----------
    gap : float or None
        The relative gap that is asked for.
    """
    return -math.log10(max(DEFAULT_GAP if gap is None else gap, LEAST_GAP))


def stiffness(problem: Problem) -> float:
    """Return the mean of cost times squared norm: the passes of coordinate descent grow with it.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    costs = problem.costs
    total = float(np.sum(costs * problem.rows.squared_norms))
    return total / max(1, int(np.count_nonzero(costs)))


def coordinate_cost(problem: Problem) -> float:
    """Return what a stored value costs coordinate descent, its share of its row included.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    rows = problem.rows
    row = _NEAR if rows.is_sparse or rows.n_stored <= _CACHED else _FAR
    return (_SPARSE if rows.is_sparse else _VALUE) + row * rows.n_rows / max(1, rows.n_stored)


def coordinate_forecast(problem: Problem, gap: float | None, share: float) -> float:
    """Return what coordinate descent is expected to cost where classes overlap.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    share : float
        Share of the rows that have a coefficient; the others are soon left out.
    """
    rate = _CORNER_SWEEPS if problem.loss.dual_curvature == 0.0 else _SWEEPS
    sweeps = max(_LEAST_SWEEPS, rate * math.pow(stiffness(problem), _GROWTH))
    passes = _FIRST_PASSES + share * sweeps * digits(gap) / _FOUR_DIGITS
    return passes * pass_work(problem) * coordinate_cost(problem)


def pass_work(problem: Problem) -> float:
    """Return the work that coordinate descent counts for a visit of every row.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    return float(problem.rows.n_stored + _ROW_WORK * problem.rows.n_rows)


def _matrix_products(problem: Problem) -> float:
    """Return the multiplications of a matrix X'DX, those of sparse rows at their price."""
    rows = problem.rows
    width = problem.n_features + 1
    dense = float(rows.n_rows) * width**2
    if not rows.is_sparse:
        return dense
    lengths = np.diff(rows.indptr).astype(np.float64)
    return min(dense, 60.0 * float(lengths @ lengths))


def interior_cost(problem: Problem, gap: float | None) -> float:
    """Return what the interior point method is expected to cost.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    rows = problem.rows
    has_corner = problem.loss.dual_curvature == 0.0
    steps = 9.0 + 1.5 * digits(gap) if has_corner else 5.0 + digits(gap)
    per_step = (
        400_000.0
        + 60.0 * rows.n_rows
        + 2.5 * rows.n_stored
        + 0.035 * _matrix_products(problem)
        + 0.05 * float(problem.n_features) ** 3
    )
    return steps * per_step


def primal_newton_cost(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method with a dense matrix is expected to cost.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    rows = problem.rows
    has_corner = problem.loss.dual_curvature == 0.0
    steps = 20.0 * digits(gap) if has_corner else 12.0
    per_step = (
        1_500_000.0
        + 1000.0 * rows.n_rows
        + 0.035 * float(rows.n_rows) * problem.n_features**2
        + 0.05 * float(problem.n_features) ** 3
    )
    return steps * per_step


def newton_cost(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method is expected to cost where classes overlap.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for. For a smooth loss any is near, since the last steps are
        quadratic; a corner is smoothed less and less, which takes few steps where every feature has
        very many rows and many where it has not.
    """
    rows = problem.rows
    stored = float(rows.n_stored)
    has_corner = problem.loss.dual_curvature == 0.0
    if problem.n_features >= MOST_FEATURES:
        cost = 15.0 * 400_000.0 + 300.0 * 2.0 * stored
    elif has_corner:
        value = 8.0 if stored <= _HELD else 25.0
        matrices = 0.05 * _matrix_products(problem)
        cost = 7_000_000.0 + 700.0 * rows.n_rows + value * stored + matrices
    else:
        systems = 0.02 * _matrix_products(problem) + 0.2 * float(problem.n_features) ** 3
        cost = 2_000_000.0 + 150.0 * rows.n_rows + 5.0 * stored + systems
    if has_corner:
        narrowings = (3.0 + digits(gap)) / (3.0 + _FOUR_DIGITS)
        cost *= narrowings * (1.0 + _FEW_ROWS * problem.n_features / problem.n_rows)
    return cost


def newton_cost_apart(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method is expected to cost where classes are apart, or may be.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    has_corner = problem.loss.dual_curvature == 0.0
    return (_CORNER_APART if has_corner else _APART) * newton_cost(problem, gap)


Cost = Callable[[Problem, float | None], float]

COSTS: dict[str, Cost] = {
    "interior-point": interior_cost,
    "newton": newton_cost,
    "primal-newton": primal_newton_cost,
}
COSTS_APART: dict[str, Cost] = {**COSTS, "newton": newton_cost_apart}
