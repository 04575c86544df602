"""Dual coordinate descent in a dozen lines of plain Python: the yardstick for checks of solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.result import Progress
from hinge.solvers import Solver, State, Support
from hinge.testing.reference import raw_matrix

WORK_PER_ROW = 20_000  # stored values that native code would touch while Python does one row


class PlainState(State):
    """Coefficients, weights, and where in which order the pass is."""

    def __init__(self, problem: Problem, warm: Point | None, seed: int) -> None:
        self.problem = problem
        self.random = np.random.default_rng(seed)
        self.kept = np.flatnonzero(problem.costs > 0)
        self.alpha = np.zeros(problem.n_rows)
        if warm is not None and warm.dual_coef is not None:
            top = problem.loss.upper_bound(problem.costs)
            self.alpha = np.clip(warm.dual_coef, 0.0, top)
        rows = self.rows()
        self.weights = np.zeros(rows.shape[1])
        for i in self.kept:  # row by row: rows without cost must not change the order of sums
            self.weights += (problem.signs[i] * self.alpha[i]) * rows[i]
        self.order = self.random.permutation(self.kept)
        self.place = 0
        self.steps = 0
        self.work = 0
        self.moved = 0.0
        self.at_rest = False

    def rows(self) -> np.ndarray:
        """Return all rows with their constant feature, dense."""
        matrix = raw_matrix(self.problem.rows)
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        constant = np.full(len(dense), self.problem.constant_feature)
        return np.column_stack([dense, constant])


class PlainCoordinate(Solver):
    """Minimise over one dual coefficient at a time, in permuted order."""

    name = "plain-coordinate"

    def supports(self, problem: Problem) -> Support:
        if problem.intercept.value == "free":
            return Support(False, "a free intercept needs pairs; use intercept='augmented'.")
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> Any:
        return PlainState(problem, warm, seed)

    def step(self, state: Any, work: int) -> int:
        problem, rows, done = state.problem, state.rows(), 0
        top = problem.loss.upper_bound(problem.costs)
        while done < work:
            i = state.order[state.place]
            self.minimise_one(state, rows[i], i, top[i])
            done += WORK_PER_ROW
            state.place += 1
            if state.place == len(state.order):
                self.finish_pass(state)
                break
        state.work += done
        return done

    def minimise_one(self, state: Any, row: np.ndarray, i: int, top: float) -> None:
        """Set one coefficient to its best value, the others held."""
        problem = state.problem
        loss, y, cost = problem.loss, float(problem.signs[i]), float(problem.costs[i])
        curvature = float(np.sum(row * row)) + loss.dual_curvature / cost
        slope = y * float(np.sum(row * state.weights)) - loss.dual_linear
        slope += loss.dual_curvature * state.alpha[i] / cost
        old = state.alpha[i]
        best = old - slope / curvature if curvature > 0 else np.inf
        state.alpha[i] = min(max(best, 0.0), top)
        state.moved = max(state.moved, abs(state.alpha[i] - old))
        state.weights += (y * (state.alpha[i] - old)) * row

    def finish_pass(self, state: Any) -> None:
        """Draw the next order; note whether anything moved."""
        state.at_rest = state.moved <= 1e-15 * (1.0 + float(np.max(state.alpha)))
        state.moved, state.place = 0.0, 0
        state.order = state.random.permutation(state.kept)
        state.steps += 1

    def point(self, state: Any) -> Point:
        scale = state.problem.constant_feature
        return Point(
            state.weights[:-1].copy(), float(scale * state.weights[-1]), state.alpha.copy()
        )

    def progress(self, state: Any) -> Progress:
        return Progress(state.steps, state.work, at_rest=state.at_rest)
