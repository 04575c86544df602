"""What an interior point method knows between two blocks of rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Intercept, Problem
from hinge.solvers.linear.block_pass import tree_levels
from hinge.solvers.linear.central_path import DualRows
from hinge.solvers.linear.pilot import Sample, draw, sample_sizes
from hinge.solvers.protocol import State

Floats = NDArray[np.float64]

MARGIN, CHANGE, AFFINE = 4, 5, 6  # rows of the array of row variables, after the dual ones
ROW_VARIABLES = 7
SUMS = 8  # numbers that a pass sums up beside the matrix and three vectors


class InteriorState(State):
    """A run of the interior point method.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    seed : int
        Seed of the samples.
    """

    threads: int = 1
    _transient: ClassVar[tuple[str, ...]] = ("problem", "threads", "_sample", "_stand_in")

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem = problem
        self.seed = int(seed) % 2**32
        free = problem.intercept is Intercept.FREE
        self.constant = 1.0 if free else problem.constant_feature
        width = problem.n_features + (1 if self.constant else 0)
        sizes = sample_sizes(problem)
        self.level = 0  # which of the samples
        self.last_level = len(sizes) - 1
        self.row_variables = np.zeros((ROW_VARIABLES, problem.n_rows))
        self.weights = np.zeros(width)  # the primal point, constant feature included
        self.pulled = np.zeros(width)  # the sum of rows that the dual point makes
        self.force = np.zeros(width)  # right-hand sides: of the affine step,
        self.barrier = np.zeros(width)  # what tau is multiplied with,
        self.direction = np.zeros(width)  # and the step itself
        self.pull_change = np.zeros(width)  # how it moves the sum of rows
        self.factor = np.zeros((width, width))
        self.scale = np.zeros(width)
        levels = tree_levels(problem.rows.n_blocks)
        self.tree = np.zeros((levels, width * width + 3 * width + SUMS))
        self.stage = "measure"
        self.position = 0  # blocks of the present pass that are done
        self.n_sums = 1  # how many sums the present pass makes
        self.peak = -math.inf  # the largest value that it has met
        self.is_centring = True
        self.is_warm = False
        self.tau = math.nan
        self.length, self.low, self.high = 1.0, 0.0, 0.0
        self.slope = math.nan
        self.primal = self.dual = math.nan
        self.smallest_gap = math.inf
        self.idle = 0  # steps since the gap has become much smaller
        self.short_steps = 0
        self.centring_steps = 0
        self.n_searches = 0
        self.recentrings = 0
        self.steps = 0
        self.work = 0
        self.at_rest = False

    @property
    def is_final_level(self) -> bool:
        """Whether this is about all rows."""
        return self.level == self.last_level

    @property
    def sample(self) -> Sample:
        """The rows that the run is about now."""
        kept: dict[str, Any] = self.__dict__
        if "_sample" not in kept:
            sizes = sample_sizes(self.problem)
            kept["_sample"] = draw(self.problem, sizes[min(self.level, len(sizes) - 1)], self.seed)
        sample: Sample = kept["_sample"]
        return sample

    def next_level(self) -> None:
        """Go on to more rows."""
        self.level += 1
        self.__dict__.pop("_sample", None)
        self.__dict__.pop("_stand_in", None)
        self.row_variables[...] = 0.0

    def forget(self) -> None:
        """Begin anew, without the point that the run was started from."""
        self.level, self.is_warm = 0, False
        self.weights[...] = 0.0
        self.row_variables[...] = 0.0
        self.__dict__.pop("_sample", None)
        self.__dict__.pop("_stand_in", None)

    @property
    def ridge(self) -> Floats:
        """What the objective's norm adds to the matrix: ones, but zero for a free intercept."""
        ridge = np.ones(len(self.weights))
        if self.problem.intercept is Intercept.FREE:
            ridge[-1] = 0.0
        return ridge

    @property
    def value_at_zero(self) -> float:
        """The objective of zero weights."""
        at_zero = self.problem.loss.value(np.zeros(1))
        return float(at_zero[0]) * float(np.sum(self.problem.costs))

    @property
    def is_bounded(self) -> bool:
        """Whether dual coefficients have upper bounds."""
        return math.isfinite(self.problem.loss.dual_upper)

    @property
    def n_products(self) -> int:
        """How many complementarity products there are."""
        return self.sample.rows.n_rows * (2 if self.is_bounded else 1)

    def part(self, rows: slice) -> RowPart:
        """Return what is known of some rows."""
        return RowPart(self, rows)


class RowPart:
    """Views of the variables of some rows, and the numbers of their dual program.

    Rows without cost have the sign 0: they move nothing, whatever their own variables do.
    """

    def __init__(self, state: InteriorState, rows: slice) -> None:
        sample, loss = state.sample, state.problem.loss
        costs = sample.costs[rows]
        signs = sample.signs[rows].astype(np.float64)
        if "_stand_in" not in state.__dict__:
            state.__dict__["_stand_in"] = sample.stand_in
        absent = costs <= 0.0
        if absent.any():
            signs[absent] = 0.0
            costs = np.where(absent, state.__dict__["_stand_in"], costs)
        own = state.row_variables[:, rows]
        self.signs = signs
        self.costs = costs
        self.upper = loss.upper_bound(costs)
        self.change, self.affine = own[CHANGE], own[AFFINE]
        bend: Any = loss.dual_curvature / costs if loss.dual_curvature else 0.0
        self.dual = DualRows(*own[:MARGIN], own[MARGIN], loss.dual_linear, bend, state.is_bounded)

    def value_sums(self, state: InteriorState) -> tuple[float, float, float]:
        """Return the sums that the objective values need: losses, coefficients, curvature."""
        dual, counted = self.dual, np.abs(self.signs)
        losses = float((self.costs * counted) @ state.problem.loss.value(dual.margin))
        alpha = dual.alpha * counted
        bent = float(np.sum(dual.bend * alpha * alpha))
        return losses, float(np.sum(alpha)), bent
