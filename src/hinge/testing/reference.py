"""Reference solutions by an interior-point solver that shares nothing with hinge."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.problem import DualProgram, Problem
from hinge.result import Point
from hinge.rows import Rows

Floats = NDArray[np.float64]


def raw_matrix(rows: Rows) -> Any:
    """Return the rows as one float64 matrix, dense or CSR.

    Parameters
    ----------
    rows : Rows
        The rows.

    Returns
    -------
    ndarray or csr_array
        A copy of all of them.
    """
    if not rows.is_sparse:
        return np.array(rows.values, dtype=np.float64)
    pieces = (rows.values.astype(np.float64), rows.indices.copy(), rows.indptr.copy())
    return sp.csr_array(pieces, shape=(rows.n_rows, rows.n_features))


def reference_solution(problem: Problem, tolerance: float = 1e-10) -> Point:
    """Solve the dual quadratic program with clarabel, with or without a kernel.

    Meant for problems of at most some thousand rows. Rows without cost are left out before the
    solver sees them (their variables have no interior).

    Parameters
    ----------
    problem : Problem
        The problem.
    tolerance : float, default=1e-10
        Gap and feasibility tolerance, absolute and relative.

    Returns
    -------
    Point
        Weights ``w(alpha)``, intercept and dual coefficients, clipped to their box.
    """
    kept = np.flatnonzero(problem.costs > 0)
    if problem.kernel is not None:
        return _kernel_solution(problem, kept, tolerance)
    matrix = sp.csr_array(raw_matrix(problem.rows))[kept]
    program = problem.dual()
    solution = _solve(matrix, program, kept, tolerance)
    pulls = np.clip(np.asarray(solution.x)[: len(kept)], program.lower[kept], program.upper[kept])
    alpha = np.zeros(problem.n_rows)
    alpha[kept] = np.abs(pulls)
    if program.groups:
        intercept = float(solution.z[matrix.shape[1]])  # the multiplier of sum(b) = 0
    else:
        intercept = program.constant_feature**2 * float(np.sum(pulls))
    return Point(np.asarray(matrix.T @ pulls), intercept, alpha)


def _solve(matrix: Any, program: DualProgram, kept: NDArray[np.int64], tolerance: float) -> Any:
    """Minimise over ``(b, v)`` with ``v = X'b``, which keeps the quadratic form sparse."""
    if program.constant_feature:
        column = np.full((matrix.shape[0], 1), program.constant_feature)
        matrix = sp.hstack([matrix, column])
    n, d = matrix.shape
    lower, upper = program.lower[kept], program.upper[kept]
    quadratic = sp.diags_array(np.concatenate([program.diagonal[kept], np.ones(d)])).tocsc()
    linear = np.concatenate([-program.linear[kept], np.zeros(d)])
    equalities = [sp.hstack([matrix.T, -sp.eye_array(d)])]
    if program.groups:
        equalities.append(sp.csr_array(np.concatenate([np.ones(n), np.zeros(d)])[None, :]))
    return _minimised((quadratic, linear), equalities, (lower, upper), tolerance)


def _kernel_solution(problem: Problem, kept: NDArray[np.int64], tolerance: float) -> Point:
    """Solve the dual of a kernel machine, whose quadratic form is dense."""
    kernel, program = problem.kernel, problem.dual()
    if kernel is None or kernel.psd is False:
        message = f"no reference solution for {kernel!r}: the dual is not concave."
        raise ValueError(message)
    rows = problem.rows.take(kept).matrix
    matrix = kernel.block(rows, kernel.operand(problem.rows, kept))
    matrix = 0.5 * (matrix + matrix.T) + np.diag(program.diagonal[kept])
    objective = (sp.csc_array(np.triu(matrix)), -program.linear[kept])
    equalities = [sp.csr_array(np.ones((1, len(kept))))] if program.groups else []
    bounds = (program.lower[kept], program.upper[kept])
    solution = _minimised(objective, equalities, bounds, tolerance)
    alpha = np.zeros(problem.n_rows)
    alpha[kept] = np.abs(np.clip(np.asarray(solution.x), *bounds))
    intercept = float(solution.z[0]) if program.groups else 0.0
    return Point(np.zeros(0), intercept, alpha)


def _minimised(
    objective: tuple[Any, Floats],
    equalities: list[Any],
    bounds: tuple[Floats, Floats],
    tolerance: float,
) -> Any:
    """Minimise a quadratic program whose first variables have bounds and whose equalities sum to 0.

    Parameters
    ----------
    objective : tuple
        Quadratic form (sparse, its upper half) and linear term.
    equalities : list of sparse matrices
        What must be zero.
    bounds : tuple of two ndarray
        Lower and upper bounds, infinite ones included.
    tolerance : float
        Gap and feasibility tolerance.
    """
    try:
        import clarabel  # noqa: PLC0415 - only tests need it
    except ImportError as error:
        message = "reference_solution needs clarabel: pip install clarabel"
        raise ImportError(message) from error

    quadratic, linear = objective
    lower, upper = bounds
    above, below = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
    select = sp.eye_array(len(linear)).tocsr()
    constraints = sp.vstack([*equalities, select[above], -select[below]]).tocsc()
    n_equal = sum(piece.shape[0] for piece in equalities)
    right = np.concatenate([np.zeros(n_equal), upper[above], -lower[below]])
    cones = [clarabel.ZeroConeT(n_equal), clarabel.NonnegativeConeT(len(right) - n_equal)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 500
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, tolerance)
    solver = clarabel.DefaultSolver(quadratic, linear, constraints, right, cones, settings)
    solution = solver.solve()
    if str(solution.status) != "Solved":
        message = f"clarabel ended with status {solution.status}; no reference solution."
        raise RuntimeError(message)
    return solution
