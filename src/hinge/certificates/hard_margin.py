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
where few rows have a coefficient it comes from exact sums (:mod:`hinge.certificates.hull_witness`),
which find zero where it is zero, and say whether it is zero up to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.hull_witness import OUTWARDS, Witness, witness
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.problem import Intercept, Problem
from hinge.result import Certificate

Floats = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)
_SMALLEST_VALUE = 1e-290  # smaller objective values have lost digits to underflow
_SMALLEST_SQUARE = 2.0**-1073  # twice what a square may lose to underflow
_NOT_SEPARABLE = "not separable"  # how the note of a witness begins
MARGIN = "margin "  # how the note of a margin begins


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


def costs_of_losses(costs: Floats, values: Floats) -> Floats:
    """Return losses times costs; an infinite cost of no loss is nothing.

    Parameters
    ----------
    costs : ndarray of shape (n,) or (1,)
        Costs, infinite ones included; one if it is that of every row.
    values : ndarray of shape (n,)
        Losses.
    """
    if np.isinf(costs).any():
        costs = np.where(values == 0.0, 0.0, costs)
    return costs * values


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
    if not math.isfinite(sums.total):
        return -math.inf, -math.inf, ("the sum of the dual coefficients overflows",)
    needed = problem.loss.zero_from
    is_free = problem.intercept is Intercept.FREE
    reach = problem.largest_norm if is_free else 0.0
    above = (sums.length + sums.spread) * (1.0 + rounding_factor(problem.n_features + 3))
    above += reach * (abs(sums.balance) + sums.relative * sums.total) + _underflow(problem)
    if is_feasible:
        length = sums.length + reach * abs(sums.balance)
        dual = needed * sums.total - 0.5 * length * length
        below = needed * sums.total * (1.0 - sums.relative) - 0.5 * above * above * OUTWARDS
        return dual, below, ()
    if not sums.total > 0.0:
        return 0.0, 0.0, ("a margin is missed, and no dual coefficient is positive",)
    proven = witness(problem, alpha)
    if proven is None:
        proven = Witness(above / (sums.total * (1.0 - sums.relative)) * OUTWARDS, False)
    value = _least_objective(needed, proven.widest)
    return value, value, (_witness_note(problem, proven),)


def _underflow(problem: Problem) -> float:
    """Return what underflow may have taken from the norm of v, in its terms and in its squares."""
    terms = problem.n_features + 4
    return math.sqrt(terms * _SMALLEST_SQUARE) + problem.n_rows * terms * _SMALLEST_SQUARE


def _least_objective(needed: float, widest: float) -> float:
    """Return the objective of the widest margin, rounded down; infinite only if that is zero."""
    if widest == 0.0:
        return math.inf
    root = needed / widest / math.sqrt(2.0)
    value = min(root * root * (1.0 - 16.0 * UNIT_ROUNDOFF), _LARGEST)
    return value if value >= _SMALLEST_VALUE else 0.0


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
    needed, is_feasible = problem.loss.zero_from, math.isfinite(certificate.rounding)
    below = -math.inf if is_feasible else certificate.dual
    if math.isfinite(certificate.gap):
        below = certificate.primal - certificate.gap
    lower, upper = 0.0, math.inf
    if is_feasible:
        above = max(certificate.primal + certificate.rounding, _SMALLEST_VALUE)
        lower = needed / math.sqrt(above) / math.sqrt(2.0) / OUTWARDS
    if below > 0.0:
        upper = needed / math.sqrt(below) / math.sqrt(2.0) * OUTWARDS
    return lower, upper


def margin_notes(problem: Problem, certificate: Certificate) -> tuple[str, ...]:
    """Return a note on the margin of a point that has all its margins; none of other points.

    Parameters
    ----------
    problem : Problem
        Any problem without a kernel.
    certificate : Certificate
        What ``gap`` has proven of a point of it.
    """
    if not (problem.is_hard and math.isfinite(certificate.rounding)):
        return ()
    lower, upper = margin_interval(problem, certificate)
    where = ""
    if problem.intercept is Intercept.AUGMENTED:
        where = " where the constant feature counts"
    limit = f"; no hyperplane has more than {upper:.10g}" if math.isfinite(upper) else ""
    note = (
        f"{MARGIN}{lower:.10g}, the distance of the nearest row from the hyperplane{where}{limit}"
    )
    return (note,)


def proves_not_separable(problem: Problem, certificate: Certificate) -> bool:
    """Return whether a witness is zero, exactly or up to its own rounding, and no margin is known.

    Parameters
    ----------
    problem : Problem
        A problem with C infinite.
    certificate : Certificate
        What ``gap`` has proven of a point of it.
    """
    lower, _ = margin_interval(problem, certificate)
    is_witness = any(note.startswith(_NOT_SEPARABLE) for note in certificate.notes)
    return lower == 0.0 and is_witness


def _witness_note(problem: Problem, proven: Witness) -> str:
    bound = f"no hyperplane has a geometric margin above {proven.widest:.3g}"
    if not proven.is_met:
        return f"a margin is missed; {bound}"
    what = (
        "convex combinations of the two classes meet"
        if problem.intercept is Intercept.FREE
        else "the origin is a convex combination of the rows times their labels"
    )
    if proven.widest == 0.0:
        return f"{_NOT_SEPARABLE}: {what} exactly, so no hyperplane separates the classes"
    return (
        f"{_NOT_SEPARABLE} beyond rounding: {what} up to the last digits of the data, and {bound}"
    )
