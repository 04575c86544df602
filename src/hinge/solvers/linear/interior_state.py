"""What an interior point method knows between two blocks of rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.problem import Problem
from hinge.solvers.linear.block_pass import tree_levels
from hinge.solvers.linear.sampled_state import SampledState

Floats = NDArray[np.float64]

# Coefficient, room, the two multipliers; margin, its change; the corrector's two products.
ROW_VARIABLES = 8
VECTORS = 3  # sums of rows that come with the matrix
ON_ROWS = ("search", "settle", "update")  # passes that need what is known of the rows, not the rows
_PANELS = 4  # panels of a pass that reads few of the rows or none, in one
MOST_LEFT_OUT = 0.1  # share of the matrix that few rows may stand for


class InteriorState(SampledState):
    """A run of the interior point method.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    seed : int
        Seed of the samples.
    """

    STAGES: ClassVar[tuple[str, ...]] = (
        *("measure", "matrix", "trial", "search", "settle"),
        *("affine", "final", "refine", "update"),
    )
    _transient: ClassVar[tuple[str, ...]] = (*SampledState._transient, "_passes")

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(problem, seed)
        width = len(self.weights)
        self.row_variables = np.zeros((ROW_VARIABLES, problem.n_rows))
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
        self.peak = -math.inf  # the largest value that the present pass has met
        self.is_centring = True
        self.is_refined = False  # whether the present step has been bent towards the path
        self.tau = math.nan
        self.is_single = True  # whether products in single precision are exact enough
        self.left_out = MOST_LEFT_OUT  # share of the matrix that few of many rows may stand for,
        self.least_weight = 0.0  # and the largest weight of these rows; 0 if there are none
        self.corrections = 0  # of the present step, for what all that spoils
        self.length, self.low, self.high = 1.0, 0.0, math.inf
        self.slope = math.nan
        self.smallest_gap = math.inf
        self.idle = 0  # steps since the gap has become much smaller
        self.short_steps = 0
        self.centring_steps = 0
        self.n_searches = 0
        self.recentrings = 0

    @property
    def panel_rows(self) -> int:
        """Rows that the present pass takes at a time: more, if not all of them are read."""
        size = self.sample.panel_rows
        is_sparing = self.stage == "matrix" and bool(self.least_weight)
        return _PANELS * size if is_sparing or self.stage in ON_ROWS else size

    @property
    def n_panels(self) -> int:
        """How many panels the present pass has."""
        return -(-self.sample.rows.n_rows // self.panel_rows)

    def extent(self, number: int) -> tuple[int, int]:
        """Return the first row of a panel and the one after its last."""
        size = self.panel_rows
        return number * size, min((number + 1) * size, self.sample.rows.n_rows)

    def next_level(self) -> None:
        """Go on to more rows."""
        self.change_rows(self.level + 1)

    def forget(self) -> None:
        """Begin anew, without the point that the run was started from."""
        self.is_warm = False
        self.weights[...] = 0.0
        self.change_rows(0)

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
        self.left_out, self.least_weight = MOST_LEFT_OUT, 0.0
        self.row_variables[...] = 0.0
        self.__dict__.pop("_sample", None)
        self.__dict__.pop("_passes", None)
