"""What a method that begins with samples of the rows knows between two panels of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.solvers.linear.block_pass import KeepsThreads
from hinge.solvers.linear.pilot import Sample, draw, sample_sizes
from hinge.solvers.protocol import State

Floats = NDArray[np.float64]


class SampledState(KeepsThreads, State, ABC):
    """A run that is made of passes, over the rows of a sample first, then over all.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    seed : int
        Seed of the samples.
    """

    STAGES: ClassVar[tuple[str, ...]]  # the passes by name
    tree: Floats  # sums of the panels that are done
    _transient: ClassVar[tuple[str, ...]] = ("problem", "_sample", "_pool")

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem = problem
        self.seed = int(seed) % 2**32
        self.constant = 1.0 if self.is_free else problem.constant_feature
        self.level = 0  # which of the samples
        self.last_level = len(sample_sizes(problem)) - 1
        width = problem.n_features + (1 if self.constant else 0)
        self.weights = np.zeros(width)  # the primal point, constant feature included
        self.stage = "measure"
        self.position = 0  # panels of the present pass that are done
        self.n_sums = 1  # how many sums the present pass makes
        self.is_warm = False
        self.primal = self.dual = math.nan
        self.steps = 0
        self.sample_steps = 0  # of these, on a sample
        self.work = 0
        self.at_rest = False

    def check(self) -> None:
        """Refuse a state that no run can have been in, as a damaged file may describe one."""
        levels = len(sample_sizes(self.problem))
        is_possible = (
            self.stage in self.STAGES
            and self.last_level == levels - 1
            and 0 <= self.level < levels
            and 0 <= self.position < self.n_panels
            and 0 < self.n_sums <= self.tree.shape[1]
        )
        if not is_possible:
            message = f"a run cannot be in stage {self.stage!r} of level {self.level}"
            raise ValueError(message)

    def take_weights(self, warm: Point) -> bool:
        """Begin with all rows, at known weights, if these are of use; return whether."""
        if warm.coef.shape != (self.problem.n_features,):
            return False
        known = np.append(warm.coef, warm.intercept / self.constant if self.constant else 0.0)
        known = known[: len(self.weights)]
        # A point whose norm alone is worse than all losses at zero is no help, and may overflow.
        with np.errstate(over="ignore"):
            is_useful = float(known @ (self.ridge * known)) <= 2.0 * self.value_at_zero
        if not is_useful or not np.isfinite(known).all():
            return False
        self.weights[:] = known
        self.level, self.is_warm = self.last_level, True
        return True

    @property
    @abstractmethod
    def n_panels(self) -> int:
        """How many panels the present pass has."""

    @property
    @abstractmethod
    def panel_rows(self) -> int:
        """Rows that the present pass takes at a time."""

    @abstractmethod
    def extent(self, number: int) -> tuple[int, int]:
        """Return the first row of a panel and the one after its last."""

    def extents(self, panels: range) -> tuple[int, int, int]:
        """Return the first row of some panels, the one after their last, and rows of a panel."""
        start, _ = self.extent(panels[0])
        _, stop = self.extent(panels[-1])
        return start, stop, self.panel_rows

    @property
    def is_final_level(self) -> bool:
        """Whether this is about all rows."""
        return self.level == self.last_level

    @property
    def is_free(self) -> bool:
        """Whether the intercept is free."""
        return self.problem.intercept is Intercept.FREE

    @property
    def sample(self) -> Sample:
        """The rows that the run is about now."""
        kept: dict[str, Any] = self.__dict__
        if "_sample" not in kept:
            size = sample_sizes(self.problem)[self.level]
            kept["_sample"] = draw(self.problem, size, self.seed, self.threads)
        sample: Sample = kept["_sample"]
        return sample

    @property
    def ridge(self) -> Floats:
        """What the norm adds to the matrix: ones, but zero for a free intercept."""
        ridge = np.ones(len(self.weights))
        if self.is_free:
            ridge[-1] = 0.0
        return ridge

    @property
    def value_at_zero(self) -> float:
        """The objective of zero weights."""
        at_zero = self.problem.loss.value(np.zeros(1))
        return float(at_zero[0]) * float(np.sum(self.problem.costs))
