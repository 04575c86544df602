"""What an interior point method knows between two blocks of rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.problem import Intercept, Problem
from hinge.solvers.linear.block_pass import KeepsThreads, tree_levels
from hinge.solvers.linear.pilot import Sample, draw, sample_sizes
from hinge.solvers.protocol import State

Floats = NDArray[np.float64]

# Coefficient, room, the two multipliers; margin, its change; the corrector's two products.
ROW_VARIABLES = 8
STAGES = (
    *("measure", "matrix", "trial", "search", "settle"),
    *("affine", "final", "refine", "update"),
)  # the passes by name
VECTORS = 3  # sums of rows that come with the matrix


class InteriorState(KeepsThreads, State):
    """A run of the interior point method.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    seed : int
        Seed of the samples.
    """

    _transient: ClassVar[tuple[str, ...]] = ("problem", "_sample", "_passes", "_pool")

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
        self.right = np.zeros(width)  # the right-hand side of the corrected step
        self.pull_change = np.zeros(width)  # how it moves the sum of rows
        self.factor = np.zeros((width, width))
        self.scale = np.zeros(width)
        levels = tree_levels(problem.rows.n_blocks)
        self.tree = np.zeros((levels, width * width + VECTORS * width))
        self.stage = "measure"
        self.position = 0  # panels of the present pass that are done
        self.n_sums = 1  # how many sums the present pass makes
        self.peak = -math.inf  # the largest value that it has met
        self.is_centring = True
        self.is_refined = False  # whether the present step has been bent towards the path
        self.is_warm = False
        self.tau = math.nan
        self.is_single = True  # whether products in single precision are exact enough
        self.corrections = 0  # of the present step, for what they spoil
        self.length, self.low, self.high = 1.0, 0.0, math.inf
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

    def check(self) -> None:
        """Refuse a state that no run can have been in, as a damaged file may describe one."""
        levels = len(sample_sizes(self.problem))
        is_possible = (
            self.stage in STAGES
            and self.last_level == levels - 1
            and 0 <= self.level < levels
            and 0 <= self.position < self.sample.n_panels
            and 0 < self.n_sums <= self.tree.shape[1]
        )
        if not is_possible:
            message = f"a run cannot be in stage {self.stage!r} of level {self.level}"
            raise ValueError(message)

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
        self.change_rows(self.level + 1)

    def forget(self) -> None:
        """Begin anew, without the point that the run was started from."""
        self.is_warm = False
        self.weights[...] = 0.0
        self.change_rows(0)

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

    @property
    def passes(self) -> core.InteriorPasses:
        """The passes over the present rows, in native code."""
        kept: dict[str, Any] = self.__dict__
        # A state that is read from a file gets other arrays than it was made with.
        if "_passes" not in kept or kept["_passes"][0] is not self.row_variables:
            kept["_passes"] = self.row_variables, self._native_passes()
        passes: core.InteriorPasses = kept["_passes"][1]
        return passes

    def _native_passes(self) -> core.InteriorPasses:
        sample, loss = self.sample, self.problem.loss
        rows = sample.rows
        rows.check_structure()
        columns, offsets = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
        return core.InteriorPasses(
            core.RowsView(rows.values, columns, offsets, rows.n_rows, rows.n_features),
            core.InteriorArrays(sample.signs, sample.costs, self.row_variables),
            core.PathProgram(loss.dual_linear, loss.dual_curvature, loss.dual_upper),
            sample.cost,
            self.constant,
        )

    def change_rows(self, level: int) -> None:
        """Go to another sample, of which nothing is known yet."""
        self.level = level
        self.is_single = True
        self.row_variables[...] = 0.0
        self.__dict__.pop("_sample", None)
        self.__dict__.pop("_passes", None)
