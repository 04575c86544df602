"""What Newton's method knows between two panels of rows."""

from __future__ import annotations

import math
import operator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.problem import Problem
from hinge.rows import Rows
from hinge.solvers.linear.block_pass import tree_levels
from hinge.solvers.linear.newton_window import Window
from hinge.solvers.linear.sampled_state import SampledState

Floats = NDArray[np.float64]

MOST_FEATURES = 1000  # of a matrix of second derivatives that is formed
SUMS = 6  # numbers that come with the gradient
# Margin, or a lower bound that is enough; its change along the direction, or a lower bound; cost
# times second derivative of the loss; the value of that which the matrix has been formed with; and
# what is taken from margins where coefficients are held.
ROW_VARIABLES = 5
ON_ROWS = ("shift", "search")  # passes that need what is known of the rows, not the rows
FIRST_SMOOTHING = 0.5  # half-width of the parabola that a corner is first smoothed with
DAMPING = 0.1  # share of a wider parabola's matrix that directions without rows get
EASY = 10.0  # cost times squared norm and second derivative that a cold start can take
_FEWEST_BLOCKS = 4  # of rows in a panel: threads that make short calls hinder each other
_BLOCKS = 8  # at the most,
_PIECES = 8  # and so many that there are this many panels for threads to share
_PANELS = 8  # times as many rows as features, at the most, in a panel of the matrix
_ROWS = 1 << 15  # rows in a panel of a pass that does not read them


class NewtonState(SampledState):
    """A run of Newton's method.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    seed : int
        Seed of the samples.
    aim : float
        The relative gap that systems are solved for.
    """

    STAGES: ClassVar[tuple[str, ...]] = (
        *("measure", "shift", "gradient", "product", "matrix", "trial", "search"),
    )
    _transient: ClassVar[tuple[str, ...]] = (*SampledState._transient, "_passes")

    def __init__(self, problem: Problem, seed: int, aim: float) -> None:
        super().__init__(problem, seed)
        self.aim = aim
        width, n_rows = len(self.weights), problem.n_rows
        # Half-width of the parabola at the loss's corner; 0 for a loss that has none.
        self.smoothing = 0.0 if problem.loss.dual_curvature else FIRST_SMOOTHING
        # How much wider a window is whose coefficients are held near others; 0 if none are.
        self.spread = 0.0
        self.away = 0.0  # how far they are from those: half of it is taken from the dual value
        # The point is then made of the weights with the least objective so far and of what is held.
        self.best_weights = np.zeros(width)
        self.best_primal = self.held_dual = math.nan
        self.held_scale = 1.0  # what coefficients are multiplied with to make the dual point
        self.tried = 0  # steps since the loss or the rows have changed,
        self.short = 0  # and how many of the last were short
        self.ease = first_ease(problem)  # what costs are multiplied with, 1 in the end
        self.row_variables = np.zeros((ROW_VARIABLES, n_rows))
        self.is_exact = np.zeros(n_rows, dtype=np.uint8)  # whether a margin is more than a bound
        self.gradient = np.zeros(width)
        self.foreseen = np.zeros(width)  # what rows add to it that are about to enter the window
        self.diagonal = np.ones(width)  # of the second derivatives
        self.direction = np.zeros(width)
        self.residual = np.zeros(width)  # of the system
        self.conjugate = np.zeros(width)  # direction of the conjugate gradient method
        has_matrix = width <= MOST_FEATURES
        self.matrix = np.zeros((width, width) if has_matrix else (0, 0))
        # The same with the wider parabola before, or of the sample before; and its share.
        self.wider = np.zeros_like(self.matrix)
        self.damping = DAMPING
        longest = max(3 * width + SUMS, self.matrix.size)
        self.tree = np.zeros((tree_levels(self._most_panels()), longest))
        self.products = 0  # of the present system with a vector,
        self.products_in_all = 0  # and of all systems on these rows
        self.uses_matrix = False  # once it has been formed, it is only changed
        self.decrease = math.nan  # what the residual was at the start
        self.curved = self.changed = 0  # rows in the window, and rows that have changed sides
        self.length, self.low, self.high = 0.0, -math.inf, math.inf
        self.longest = 1.0  # that the step may be
        self.shift = 0.0  # of a free intercept, after the step,
        self.room = math.inf  # and how large it may be
        self.slope = math.nan  # along the direction
        self.searches = 0
        self.scale = 1.0  # what the slopes are multiplied with to make the dual point
        self.smallest_primal = self.smallest_gap = math.inf
        self.idle = 0  # steps since anything has become smaller

    def check(self) -> None:
        """Refuse a state that no run can have been in, as a damaged file may describe one."""
        super().check()
        if self.stage == "matrix" and not self.has_matrix:
            message = "a run cannot be in stage 'matrix' without room for one"
            raise ValueError(message)
        has_corner = self.problem.loss.dual_curvature == 0.0
        if not (0.0 < self.smoothing <= FIRST_SMOOTHING if has_corner else self.smoothing == 0.0):
            message = f"a run cannot smooth this loss by {self.smoothing!r}"
            raise ValueError(message)
        if not 0.0 <= self.spread < math.inf or (self.spread and not self.is_final):
            message = f"a run cannot hold coefficients by {self.spread!r} here"
            raise ValueError(message)

    @property
    def has_matrix(self) -> bool:
        """Whether there is room for a matrix of second derivatives."""
        return self.matrix.size > 0

    @property
    def is_final(self) -> bool:
        """Whether this is about the problem itself: all rows, with their own costs."""
        return self.is_final_level and self.ease == 1.0

    @property
    def window(self) -> Window:
        """Where the loss is a parabola, or is smoothed by one."""
        loss = self.problem.loss
        if self.spread:
            return Window.held(loss, self.spread)
        return Window.smoothed(loss, self.smoothing) if self.smoothing else Window.of(loss)

    @property
    def margin(self) -> Floats:
        """The margins, or lower bounds on those that do not matter."""
        margin: Floats = self.row_variables[0]
        return margin

    @property
    def known_dual(self) -> Floats:
        """Coefficients that a run starts from, until margins are measured."""
        known: Floats = self.row_variables[2]
        return known

    @property
    def in_matrix(self) -> Floats:
        """The curvature of each row that the matrix has been formed with."""
        curvature: Floats = self.row_variables[3]
        return curvature

    @property
    def offset(self) -> Floats:
        """What is taken from margins: the spread times what coefficients are held near."""
        offset: Floats = self.row_variables[4]
        return offset

    @property
    def passes(self) -> core.NewtonPasses:
        """The passes over the present rows, in native code."""
        kept: dict[str, Any] = self.__dict__
        # A state that is read from a file gets other arrays than it was made with.
        arrays = (self.row_variables, self.is_exact)
        if "_passes" not in kept or any(map(operator.is_not, kept["_passes"][0], arrays)):
            kept["_passes"] = arrays, self._native_passes()
        passes: core.NewtonPasses = kept["_passes"][1]
        return passes

    def _native_passes(self) -> core.NewtonPasses:
        sample = self.sample
        rows = sample.rows
        rows.check_structure()
        columns, offsets = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
        return core.NewtonPasses(
            core.RowsView(rows.values, columns, offsets, rows.n_rows, rows.n_features),
            core.NewtonArrays(
                *(sample.signs, sample.costs, sample.cost),
                *(rows.squared_norms, self.row_variables, self.is_exact),
            ),
            self.window.native(
                self.problem.loss, self.spread, foresees=not (self.smoothing or self.spread)
            ),
            self.constant,
        )

    @property
    def panel_blocks(self) -> int:
        """Blocks of rows in a panel of a pass that reads them."""
        return _panel_blocks(self.sample.rows)

    @property
    def panel_rows(self) -> int:
        """Rows that the present pass takes at a time."""
        if self.stage in ON_ROWS:
            return _ROWS
        size = self.sample.rows.block_rows
        if self.stage != "matrix":
            return self.panel_blocks * size
        # Sums as large as the matrix are worth adding up for as many rows only, most of which
        # may not have changed.
        width, n_rows = len(self.weights), self.sample.rows.n_rows
        share = max(1, min(self.changed, self.curved)) / n_rows
        return max(_BLOCKS * size, min(_PANELS * width, int(width / share)))

    @property
    def n_panels(self) -> int:
        """How many panels the present pass has."""
        return -(-self.sample.rows.n_rows // self.panel_rows)

    def _most_panels(self) -> int:
        rows = self.problem.rows
        size = min(_ROWS, _panel_blocks(rows) * rows.block_rows)
        return max(2 * _PIECES, -(-rows.n_rows // size))

    def extent(self, number: int) -> tuple[int, int]:
        """Return the first row of a panel and the one after its last."""
        start = number * self.panel_rows
        return start, min(start + self.panel_rows, self.sample.rows.n_rows)

    def smooth_less(self, factor: float) -> None:
        """Narrow the parabola at the corner by a power of two, which is exact."""
        self.widen_matrix()
        self.smoothing *= factor
        self.matrix /= factor
        self.in_matrix[...] /= factor
        self.smallest_primal = self.smallest_gap = math.inf
        self.idle = self.tried = self.short = 0
        self.__dict__.pop("_passes", None)

    def widen_matrix(self) -> None:
        """Keep the matrix for when there are fewer rows in the window, or others."""
        if self.smoothing and self.uses_matrix:
            self.wider[...] = self.matrix

    def to_level(self, level: int) -> None:
        """Go on to other rows, with the same weights."""
        self.widen_matrix()
        self.level = level
        self.__dict__.pop("_sample", None)
        self.__dict__.pop("_passes", None)
        self.in_matrix[...] = 0.0
        self.matrix[...] = 0.0
        self.smallest_primal = self.smallest_gap = math.inf
        self.idle = self.products_in_all = 0
        self.tried = self.short = 0
        self.stage = "measure"


def first_ease(problem: Problem) -> float:
    """Return a power of ten that makes costs small beside the norm's curvature, at most 1.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    """
    stiffness = problem.cost_squares / problem.n_counted
    stiffness /= problem.loss.dual_curvature or 2.0 * FIRST_SMOOTHING
    if not math.isfinite(stiffness):
        return 1.0
    return math.pow(10.0, min(0, -math.ceil(math.log10(max(stiffness, 1.0) / EASY))))


def _panel_blocks(rows: Rows) -> int:
    """Return how many blocks of some rows make a panel."""
    return min(max(rows.n_blocks // _PIECES, _FEWEST_BLOCKS), _BLOCKS)
