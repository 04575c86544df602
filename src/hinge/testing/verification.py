"""Whether what a solution says of itself is what the raw data say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Intercept, Problem
from hinge.result import Certificate, Point, Solution, Status, Stop
from hinge.testing.exact import Recomputed, recompute

OBJECTIVE_TOLERANCE = 1e-9  # relative, of reported against recomputed objective values
GAP_TOLERANCE = 1e-7  # of the gap, relative to the objective
ROUNDING_TOLERANCE = 1e-5  # of the rounding bound, relative to the terms of the objective


def verify(problem: Problem, solution: Solution, stop: Stop | None = None) -> Recomputed:
    """Recompute a solution by independent code and assert that it reported the truth.

    Parameters
    ----------
    problem : Problem
        The problem that was solved.
    solution : Solution
        The result of the run.
    stop : Stop or None, default=None
        The criteria of the run; with them a status of "solved" is checked too.

    Returns
    -------
    Recomputed
        The recomputed values.

    Raises
    ------
    AssertionError
        If a reported number is not what the data say, or the status claims too much.
    """
    recomputed = verify_certificate(problem, solution.point, solution.certificate)
    if stop is not None and solution.status is Status.SOLVED:
        scale = max(abs(recomputed.primal), abs(recomputed.dual))
        limit = math.inf if stop.gap is None else stop.gap
        _require(
            recomputed.gap <= scale * (Fraction(limit) if math.isfinite(limit) else limit),
            f"status is solved, but the gap is {float(recomputed.gap):.3e}; asked for {stop}",
        )
        _require(stop.satisfied_by(solution.certificate), "solved, but the criteria do not hold")
    return recomputed


def verify_certificate(problem: Problem, point: Point, certificate: Certificate) -> Recomputed:
    """Recompute a certificate by independent code and assert that it tells the truth.

    Parameters
    ----------
    problem : Problem
        The problem.
    point : Point
        The point that was judged, with dual coefficients inside their box.
    certificate : Certificate
        What was said of it.

    Returns
    -------
    Recomputed
        The recomputed values.
    """
    recomputed = recompute(problem, point)
    primal, dual = float(recomputed.primal), float(recomputed.dual)
    penalty = _balance_penalty(problem, point, recomputed)
    scale = max(abs(primal), abs(dual), penalty)
    _require(recomputed.in_the_box, "a dual coefficient lies outside its box")
    rounding = certificate.rounding
    _require(
        0.0 <= rounding <= ROUNDING_TOLERANCE * _magnitude(problem, point, scale),
        f"the rounding bound {rounding!r} is larger than any rounding",
    )
    tolerance = OBJECTIVE_TOLERANCE * scale + rounding
    _close("primal", certificate.primal, primal, tolerance)
    _close("dual", certificate.dual, dual - penalty, tolerance)
    _require(
        certificate.gap >= recomputed.gap,
        f"the gap is {float(recomputed.gap)!r}, more than the reported {certificate.gap!r}",
    )
    # Widened by the rounding bound, and the values themselves may be off by as much.
    tolerance = GAP_TOLERANCE * scale + 2.0 * rounding
    _close("gap", certificate.gap, float(recomputed.gap) + penalty, tolerance)
    relative = certificate.gap / max(abs(certificate.primal), abs(certificate.dual))
    _close("relative_gap", certificate.relative_gap, relative, 1e-12 * relative)
    violation = recomputed.violation.worst
    _require(
        certificate.kkt >= violation,
        f"the violation is {float(violation)!r}, more than the reported {certificate.kkt!r}",
    )
    _close("kkt", certificate.kkt, float(violation), 2.0 * certificate.kkt_rounding)
    return recomputed


def _magnitude(problem: Problem, point: Point, scale: float) -> float:
    """Return the size of the terms that cancel in the objective: what rounding is relative to."""
    row_norms = _row_norms(problem)
    length = float(np.linalg.norm(point.coef))
    if problem.kernel is not None and point.dual_coef is not None:
        length = float(point.dual_coef @ row_norms)
    scores = length * row_norms + abs(point.intercept)
    return scale + float(problem.costs @ (1.0 + scores))


def _row_norms(problem: Problem) -> NDArray[np.float64]:
    """Return the norms of the rows, or of their images under the kernel."""
    if problem.kernel is None:
        return np.sqrt(problem.rows.squared_norms)
    return np.sqrt(np.maximum(problem.kernel.training_diagonal(problem.rows), 0.0))


def _balance_penalty(problem: Problem, point: Point, recomputed: Recomputed) -> float:
    """Return what a certificate may charge for ``y'alpha != 0``: a bound on |b*| times it.

    The bound is one on ``||w*||``, by the objective, and for a linear machine by the distance of
    its weights from the optimum as well: by the gap with what the bound before it charges.
    """
    if problem.intercept is not Intercept.FREE:
        return 0.0
    largest = float(np.max(_row_norms(problem)[problem.costs > 0]))
    missing = abs(float(recomputed.balance))
    longest = math.sqrt(2.0 * float(recomputed.primal))
    for _ in range(0 if problem.kernel is not None else 2):
        penalty = (problem.loss.zero_from + largest * longest) * missing
        gap = max(float(recomputed.gap) + penalty, 0.0)
        longest = min(longest, float(np.linalg.norm(point.coef)) + math.sqrt(2.0 * gap))
    return (problem.loss.zero_from + largest * longest) * missing


def _close(name: str, reported: float, recomputed: float, tolerance: float) -> None:
    _require(
        abs(reported - recomputed) <= tolerance,
        f"{name} is reported as {reported!r} and recomputed as {recomputed!r}",
    )


def _require(holds: bool, otherwise: str) -> None:
    """Raise the failure; unlike an assert statement also under ``python -O``."""
    if not holds:
        raise AssertionError(otherwise)
