r"""What a dual point proves of a hard margin: how wide it can be, and that there may be none.

With C infinite the problem is

.. math:: \min \tfrac12\|w\|^2 \quad\text{subject to}\quad y_i(w'x_i + b) \ge p ,

and a point's objective is half its squared norm where every margin, less its rounding, is at least
p, and infinite elsewhere. Take any :math:`\alpha \ge 0`, with :math:`v = \sum_i y_i\alpha_i x_i`
and :math:`S = \sum_i\alpha_i`. Every feasible (w, b) has

.. math:: p\,S \le \sum_i \alpha_i y_i (w'x_i + b) = w'v + b\,y'\alpha
          \le \|w\| \, V, \qquad V = \|v\| + R\,|y'\alpha| ,

because both classes have rows within R of the origin, which keeps :math:`|b| \le R\|w\|` (the last
term is there for a free intercept only). So the *geometric margin* p/||w|| is at most V/S, whatever
the scale of alpha, and :math:`p S - V^2/2` is a lower bound on the objective. Where V is zero the
classes cannot be separated: for a free intercept convex combinations of the two meet, otherwise
the origin is a convex combination of the rows :math:`y_i x_i`. V/S is computed with its rounding;
where few rows have a coefficient the sums are exact before they are rounded once, so that zero is
found where it is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.problem import Intercept, Problem
from hinge.result import Certificate

Floats = NDArray[np.float64]

NOTHING = 1e-12  # a margin this small, in the largest norm of a row, is none
_MOST_ENTRIES = 1 << 22  # values that are summed exactly
_SPLITTER = 134217729.0  # 2^27 + 1: halves a number's digits
_SMALLEST, _LARGEST = 1e-270, 1e270  # between these, products split without loss
_OUTWARDS = 1.0 + 16.0 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class DualBounds:
    """Sums over the coefficients of a dual point, and what rounding may have done to them.

    Parameters
    ----------
    total : float
        Sum of alpha.
    balance : float
        Sum of y alpha.
    length : float
        Norm of v, with its constant feature.
    spread : float
        Bound on the rounding error of v, in norm.
    relative : float
        Bound on the relative error of a sum over all rows.
    """

    total: float
    balance: float
    length: float
    spread: float
    relative: float


def total_loss(costs: Floats, values: Floats) -> float:
    """Return the sum of losses times costs; an infinite cost of no loss is nothing.

    Parameters
    ----------
    costs, values : ndarray of shape (n,)
        Costs, infinite ones included, and losses.
    """
    if np.isinf(costs).any():
        costs = np.where(values == 0.0, 0.0, costs)
    return float(costs @ values)


def hard_dual(
    problem: Problem, alpha: Floats, sums: DualBounds, is_feasible: bool
) -> tuple[float, float, tuple[str, ...]]:
    """Return the dual value, a lower bound on it, and notes on what is proven.

    Parameters
    ----------
    problem : Problem
        A problem with C infinite.
    alpha : ndarray of shape (n_samples,)
        Dual coefficients, not negative.
    sums : DualBounds
        Their sums.
    is_feasible : bool
        Whether the primal point has all its margins. If not, the value is the largest on the ray
        of the coefficients, already rounded down.
    """
    needed = problem.loss.zero_from
    is_free = problem.intercept is Intercept.FREE
    reach = problem.largest_norm if is_free else 0.0
    above = (sums.length + sums.spread) * (1.0 + rounding_factor(problem.n_features + 3))
    above += reach * (abs(sums.balance) + sums.relative * sums.total)
    if is_feasible:
        length = sums.length + reach * abs(sums.balance)
        dual = needed * sums.total - 0.5 * length * length
        below = needed * sums.total * (1.0 - sums.relative) - 0.5 * above * above * _OUTWARDS
        return dual, below, ()
    if not sums.total > 0.0:
        return 0.0, 0.0, ("a margin is missed, and no dual coefficient is positive",)
    widest = _widest_margin(problem, alpha)
    if widest is None:
        widest = above / (sums.total * (1.0 - sums.relative)) * _OUTWARDS
    value = needed / widest / math.sqrt(2.0) if widest > 0.0 else math.inf
    value *= value * (1.0 - 16.0 * UNIT_ROUNDOFF)
    return value, value, (_witness_note(problem, widest),)


def margin_interval(problem: Problem, certificate: Certificate) -> tuple[float, float]:
    """Return bounds on the widest geometric margin of a problem with C infinite.

    The geometric margin is the distance of the nearest row from the separating hyperplane; with an
    augmented intercept, in the space that the constant feature belongs to.

    Parameters
    ----------
    problem : Problem
        A problem with C infinite.
    certificate : Certificate
        What ``gap`` has proven of a point of it.

    Returns
    -------
    lower, upper : float
        The point's own margin, rounded down, or 0 if it misses a row's margin; and what no
        hyperplane exceeds.

    Examples
    --------
    >>> import hinge
    >>> from hinge.certificates import margin_interval
    >>> problem = hinge.Problem([[0.0], [2.0]], [0, 1], C=float("inf"))
    >>> lower, upper = margin_interval(problem, hinge.solve(problem).certificate)
    >>> bool(1.0 - 1e-9 < lower <= 1.0 <= upper < 1.0 + 1e-9)
    True
    """
    needed = problem.loss.zero_from
    if math.isfinite(certificate.gap):
        above, below = (
            certificate.primal + certificate.rounding,
            certificate.primal - certificate.gap,
        )
        lower = needed / math.sqrt(2.0 * above) / _OUTWARDS if above > 0.0 else math.inf
    else:
        below, lower = certificate.dual, 0.0
    return lower, needed / math.sqrt(2.0 * below) * _OUTWARDS if below > 0.0 else math.inf


def proves_not_separable(problem: Problem, certificate: Certificate) -> bool:
    """Return whether no hyperplane has a margin beyond rounding, and the point has none either.

    Parameters
    ----------
    problem : Problem
        A problem with C infinite.
    certificate : Certificate
        What ``gap`` has proven of a point of it.
    """
    lower, upper = margin_interval(problem, certificate)
    return lower == 0.0 and upper <= NOTHING * _largest_norm(problem)


def _largest_norm(problem: Problem) -> float:
    return math.hypot(problem.largest_norm, problem.constant_feature)


def _witness_note(problem: Problem, widest: float) -> str:
    if widest > NOTHING * _largest_norm(problem):
        return f"a margin is missed; no hyperplane has a geometric margin above {widest:.3g}"
    what = (
        "convex combinations of the two classes meet"
        if problem.intercept is Intercept.FREE
        else "the origin is a convex combination of the rows times their labels"
    )
    if widest == 0.0:
        return f"not separable: {what} exactly, so no hyperplane separates the classes"
    return (
        f"not separable: {what} up to rounding, so no hyperplane has a geometric margin above "
        f"{widest:.3g}"
    )


def _widest_margin(problem: Problem, alpha: Floats) -> float | None:
    """Return V / S, rounded up, from exact sums; None where these take too long or overflow."""
    support = np.flatnonzero(alpha > 0.0)
    per_row = problem.rows.n_stored / problem.n_rows
    if len(support) * max(per_row, problem.rows.longest_row) > _MOST_ENTRIES:
        return None
    rows, columns, values = problem.rows.entries(support)
    signed = problem.signs[support] * alpha[support]
    exact = _products(signed[rows], values)
    if exact is None:
        return None
    balance = math.fsum(signed)
    order = np.argsort(columns, kind="stable")
    edges = np.flatnonzero(np.diff(columns[order])) + 1
    parts = np.split(np.stack(exact)[:, order], edges, axis=1)
    sums = [math.fsum(part.ravel()) for part in parts] + [problem.constant_feature * balance]
    largest = max(map(abs, sums))
    length = 0.0
    if largest > 0.0:
        length = largest * math.sqrt(math.fsum((value / largest) ** 2 for value in sums))
    if problem.intercept is Intercept.FREE:
        length += problem.largest_norm * abs(balance)
    return length / math.fsum(alpha[support]) * _OUTWARDS


def _products(a: Floats, b: Floats) -> tuple[Floats, Floats] | None:
    """Return products and what rounding took from them, exactly; None if that is impossible."""
    product = a * b
    sizes = np.abs(np.concatenate((a, b, product)))
    if len(a) and not (np.min(sizes) > _SMALLEST and np.max(sizes) < _LARGEST):
        return None
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Return two numbers of half the digits each whose sum a number is (Dekker)."""
    scaled = _SPLITTER * values
    high = scaled - (scaled - values)
    return high, values - high
