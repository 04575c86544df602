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

from hinge.problem import Intercept, Problem
from hinge.solvers.linear.newton_state import MOST_FEATURES, first_ease

LEAST_GAP = 1e-12  # what gap 0 is taken for: below, objective values are all rounding
DEFAULT_GAP = 1e-3

_ROUNDS = 2.0  # of Newton's method for a smooth loss, beside one for each decade that costs rise
_FEW_ROWS = 25.0  # for a feature: where the steps of a smoothed corner are about twice as many
# Times as many steps where classes are apart: Newton's method, with a corner; interior points.
_APART, _CORNER_APART, _INTERIOR_APART = 2.0, 10.0, 1.4
_WIDE_CORNER = 3.0  # the same where no matrix is formed: with a corner four runs in ten stall then
# Stiffness beyond which primal-newton takes so many times as many steps: raw wine with C = 1e4 took
# it 30 to 50, with C = 100 12 to 23.
_VERY_STIFF, _VERY_STIFF_STEPS = 1e9, 3.0
_OVERLAPPING_STEPS = 8.0  # of it, for a smooth loss and classes that overlap
_FREE_ROW = 150.0  # what a row adds where every step finds the place of a free intercept
_WIDE_ROWS = 4.0  # rows for a feature from which products no longer grow with the stiffness
_NEAR, _FAR = 12.0, 60.0  # coordinate descent: a row in the cache, in memory,
_VALUE, _SPARSE = 0.6, 2.0  # and a value of dense and of sparse rows
_CACHED = 1 << 21  # stored values that stay in the cache
_ROW_WORK = 8  # values that coordinate descent counts for a visit beside those of the row
# Sweeps of coordinate descent where classes overlap, for four digits of the gap: a few, and what
# the stiffness adds to a power; with a corner the larger of them. A free intercept takes more.
_LEAST_SWEEPS, _SWEEPS, _GROWTH = 5.0, 12.0, 0.8
_LEAST_CORNER_SWEEPS, _CORNER_SWEEPS, _CORNER_GROWTH = 8.0, 13.5, 0.6
_PRODUCT_GROWTH = 0.6  # of the products of conjugate gradients
_FREE_SWEEPS = 1.5
_FIRST_PASSES = 2.0  # before the rows that matter are known
_FOUR_DIGITS = 4.0
# What coordinate descent takes at the least: passes for a digit of the gap, and, in nanoseconds,
# calls with looks at what they have come to. With a corner more rows are left out, and sooner.
_LEAST, _LEAST_WITH_CORNER = (4.0, 500_000.0), (2.0, 300_000.0)


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
    return problem.cost_squares / max(1, problem.n_counted)


def coordinate_cost(problem: Problem) -> float:
    """Return what a stored value costs coordinate descent, its share of its row included.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    rows = problem.rows
    row = _NEAR if rows.is_sparse or problem.n_values <= _CACHED else _FAR
    share = problem.n_counted / max(1, problem.n_values)
    return (_SPARSE if rows.is_sparse else _VALUE) + row * share


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
    if problem.loss.dual_curvature == 0.0:
        growth = math.pow(stiffness(problem), _CORNER_GROWTH)
        sweeps = max(_LEAST_CORNER_SWEEPS, _CORNER_SWEEPS * growth)
    else:
        sweeps = _LEAST_SWEEPS + _SWEEPS * math.pow(stiffness(problem), _GROWTH)
        sweeps *= _FREE_SWEEPS if problem.intercept is Intercept.FREE else 1.0
    passes = _FIRST_PASSES + share * sweeps * digits(gap) / _FOUR_DIGITS
    return passes * pass_work(problem) * coordinate_cost(problem)


def pass_work(problem: Problem) -> float:
    """Return the work that coordinate descent counts for a visit of every row.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    return float(problem.n_values + _ROW_WORK * problem.n_counted)


def _matrix_products(problem: Problem) -> float:
    """Return the multiplications of a matrix X'DX, those of sparse rows at their price."""
    rows = problem.rows
    width = problem.n_features + 1
    dense = float(problem.n_counted) * width**2
    if not rows.is_sparse:
        return dense
    lengths = np.diff(rows.indptr).astype(np.float64)[problem.costs > 0.0]
    return min(dense, 60.0 * float(lengths @ lengths))


def interior_cost(problem: Problem, gap: float | None) -> float:
    """Return what the interior point method is expected to cost where classes overlap.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    has_corner = problem.loss.dual_curvature == 0.0
    steps = 9.0 + 1.5 * digits(gap) if has_corner else 5.0 + digits(gap)
    per_step = (
        350_000.0
        + 25.0 * problem.n_counted
        + 1.7 * problem.n_values
        + 0.02 * _matrix_products(problem)
        + 0.02 * float(problem.n_features) ** 3
    )
    return steps * per_step + _free_cost(problem)


def primal_newton_cost(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method with a dense matrix is expected to cost where classes overlap.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for. For a smooth loss any is near, since the last steps are
        quadratic; a corner is rounded less and less.
    """
    if problem.loss.dual_curvature == 0.0:
        return primal_newton_steps(problem, gap) * _primal_step(problem, 25.0, 0.006)
    return _OVERLAPPING_STEPS * _primal_step(problem, 15.0, 0.035)


def primal_newton_cost_apart(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method with a dense matrix is expected to cost where classes are apart.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    if problem.loss.dual_curvature == 0.0:
        return primal_newton_cost(problem, gap)
    return primal_newton_steps(problem, gap) * _primal_step(problem, 15.0, 0.02)


def primal_newton_steps(problem: Problem, gap: float | None) -> float:
    """Return how many steps Newton's method with a dense matrix is expected to take at the most.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    if problem.loss.dual_curvature == 0.0:
        return (12.0 + 0.5 * problem.n_features) * digits(gap) / _FOUR_DIGITS
    return _OVERLAPPING_STEPS + 0.3 * problem.n_features


def _primal_step(problem: Problem, row: float, product: float) -> float:
    """Return what a step costs, with so much for a row and a product in the matrix of dense rows.

    Fewer rows are on a curved part of the loss, and in the matrix, where it has a corner or where
    classes are apart; line searches over rounded corners take more places.
    """
    products = product * _matrix_products(problem)
    value = 2.0 if problem.rows.is_sparse else 0.7
    reading = row * problem.n_counted + value * problem.n_values
    step = 5_000.0 + reading + products + 0.06 * float(problem.n_features) ** 3
    return step * (_VERY_STIFF_STEPS if stiffness(problem) > _VERY_STIFF else 1.0)


def coordinate_least(problem: Problem, gap: float | None) -> float:
    """Return what coordinate descent costs at the least, the interpreter's share included.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    has_corner = problem.loss.dual_curvature == 0.0
    passes, calls = _LEAST_WITH_CORNER if has_corner else _LEAST
    passes *= digits(gap)
    return calls + passes * pass_work(problem) * coordinate_cost(problem)


def newton_rounds(problem: Problem, gap: float | None) -> float:
    """Return how many problems Newton's method solves one after the other.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for. For a smooth loss any is near, since the last steps are
        quadratic; a corner is smoothed less and less, about once for each digit.
    """
    eased = -math.log10(first_ease(problem))  # costs rise tenfold until they are the problem's
    return eased + (digits(gap) if problem.loss.dual_curvature == 0.0 else _ROUNDS)


def newton_cost(problem: Problem, gap: float | None) -> float:
    """Return what Newton's method is expected to cost where classes overlap.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    width = problem.n_features
    n_rows, stored = float(problem.n_counted), float(problem.n_values)
    has_corner = problem.loss.dual_curvature == 0.0
    rounds = newton_rounds(problem, gap)
    # Most rounds are solved on samples: reading all rows is a part that grows less.
    if width >= MOST_FEATURES:
        cost = rounds * 700_000.0 + _product_cost(problem) * stored
        cost *= _WIDE_CORNER if has_corner else 1.0
    elif has_corner:
        systems = 0.009 * _matrix_products(problem) + 0.6 * stored + 0.1 * float(width) ** 3
        cost = rounds * (1_300_000.0 + 12.0 * n_rows + systems) + 3.3 * stored
    else:
        systems = 0.008 * _matrix_products(problem) + 0.005 * float(width) ** 3
        cost = rounds * (650_000.0 + systems) + 70.0 * n_rows + 6.0 * stored
    if has_corner:
        cost *= 1.0 + _FEW_ROWS * width / n_rows
    return cost + _free_cost(problem)


def _product_cost(problem: Problem) -> float:
    """Return what a stored value costs in all products of conjugate gradients.

    They are the more the stiffer the problem, but few where features have many rows, and dense
    rows are read so much faster that this does not show.
    """
    if not problem.rows.is_sparse:
        return 90.0
    growth = math.pow(max(1.0, stiffness(problem)), _PRODUCT_GROWTH)
    has_many_rows = problem.n_counted > _WIDE_ROWS * problem.n_features
    return 60.0 * (min(growth, 4.0) if has_many_rows else growth)


def _free_cost(problem: Problem) -> float:
    return _FREE_ROW * problem.n_counted if problem.intercept is Intercept.FREE else 0.0


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


def interior_cost_apart(problem: Problem, gap: float | None) -> float:
    """Return what the interior point method is expected to cost where classes are apart.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    gap : float or None
        The relative gap that is asked for.
    """
    return _INTERIOR_APART * interior_cost(problem, gap)


Cost = Callable[[Problem, float | None], float]

COSTS: dict[str, Cost] = {
    "interior-point": interior_cost,
    "newton": newton_cost,
    "primal-newton": primal_newton_cost,
}
COSTS_APART: dict[str, Cost] = {
    "interior-point": interior_cost_apart,
    "newton": newton_cost_apart,
    "primal-newton": primal_newton_cost_apart,
}
