"""Objectives in extended precision, and a solution by clarabel to compare with."""

from __future__ import annotations

import math
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from fuzz.kernel_machines.problems import Case, Wide

_TOLERANCE = 1e-11
_SECTIONS = 260  # of the interval of intercepts, each leaving 0.618 of it: to the last bit


def objective(case: Case, pulls: Any, intercept: Any) -> Any:
    """Return the primal value of ``f = K pulls + intercept``, in extended precision."""
    problem = case.problem
    wide = np.asarray(pulls, dtype=Wide)
    scores = case.matrix @ wide
    margins = problem.signs * (scores + Wide(intercept))
    losses = problem.costs.astype(Wide) * problem.loss.value(margins)
    return Wide(0.5) * (wide @ scores) + losses.sum()


def best_intercept(case: Case, pulls: Any) -> Any:
    """Return the intercept with the smallest objective, by golden section."""
    scores = case.matrix @ np.asarray(pulls, dtype=Wide)
    problem = case.problem
    costs = problem.costs.astype(Wide)

    def loss(intercept: Any) -> Any:
        return (costs * problem.loss.value(problem.signs * (scores + intercept))).sum()

    reach = Wide(problem.loss.zero_from + 1.0)
    low, high = -scores.max() - reach, -scores.min() + reach
    ratio = (Wide(5.0) ** Wide(0.5) - 1) / 2
    for _ in range(_SECTIONS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if loss(left) <= loss(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def clarabel_objective(case: Case) -> Any:
    """Return the smallest objective that clarabel's solutions have: two scalings are tried."""
    values = []
    for scale in (1.0, float(np.median(case.problem.costs[case.problem.costs > 0.0]))):
        pulls = _pulls(case, scale)
        if pulls is not None:
            is_free = case.problem.intercept.value == "free"
            intercept = best_intercept(case, pulls) if is_free else Wide(0)
            values.append(objective(case, pulls, intercept))
    return min(values, default=Wide(math.inf))


def _pulls(case: Case, scale: float) -> Any:
    """Solve the dual in variables ``b / scale``; None if clarabel returns no numbers."""
    program = case.problem.dual()
    kept = np.flatnonzero(case.problem.costs > 0.0)
    n = len(kept)
    matrix = case.matrix[np.ix_(kept, kept)].astype(np.float64)
    quadratic = scale * (matrix + np.diag(program.diagonal[kept]))
    rows, right = [], []
    lower, upper = program.lower[kept] / scale, program.upper[kept] / scale
    eye = sp.eye_array(n).tocsr()
    if program.groups:
        rows.append(sp.csr_array(np.ones((1, n))))
        right.append(np.zeros(1))
    for bound, sign in ((upper, 1.0), (lower, -1.0)):
        finite = np.flatnonzero(np.isfinite(bound))
        rows.append(sign * eye[finite])
        right.append(sign * bound[finite])
    limits = np.concatenate(right)
    equal = len(program.groups)
    cones = [clarabel.ZeroConeT(equal), clarabel.NonnegativeConeT(len(limits) - equal)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, 500
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, _TOLERANCE)
    solution = clarabel.DefaultSolver(
        sp.csc_array(np.triu(quadratic)),
        -program.linear[kept],
        sp.csc_array(sp.vstack(rows)),
        limits,
        cones if equal else cones[1:],
        settings,
    ).solve()
    found = np.asarray(solution.x)
    if not np.isfinite(found).all():
        return None
    pulls = np.zeros(case.problem.n_rows)
    pulls[kept] = np.clip(found * scale, program.lower[kept], program.upper[kept])
    return pulls
