"""A run of Newton's method on a kernel machine, between two steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.solvers.kernel.dual_state import REST_GROUPS, Floats, Ids, KernelState, present_rows


@dataclass
class NewtonState(KernelState):
    """What Newton's method knows between steps.

    Parameters
    ----------
    order : ndarray of int64
        The rows in the order in which they join.
    size : int
        How many of them take part: the others have no coefficient, and their scores are not known.
    intercept : float
        The intercept.
    zones : ndarray of int8 of shape (n,)
        On which part of its loss each row was at the last step.
    """

    order: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    size: int = 0
    intercept: float = 0.0
    zones: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))

    @property
    def members(self) -> Ids:
        """The rows that take part, in their own order."""
        return np.sort(self.order[: self.size])

    @property
    def has_all(self) -> bool:
        """Whether every row takes part."""
        return self.size == len(self.beta)


def fresh_state(problem: Problem, seed: int, first: int) -> NewtonState:
    """Return a state before the first step, with no coefficients.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    seed : int
        Seed of the order in which rows join.
    first : int
        How many take part at first.
    """
    present = present_rows(problem)
    n = problem.n_rows if present is None else len(present)
    return NewtonState(
        problem=problem,
        beta=np.zeros(n),
        scores=np.zeros(n),
        cache_mb=1.0,
        deferred=np.zeros((REST_GROUPS, 0)),
        group=np.full(n, -1, dtype=np.int8),
        settled=np.zeros(n, dtype=bool),
        aim=np.inf,
        order=np.random.default_rng(seed).permutation(n),
        size=min(n, first),
        zones=np.full(n, -1, dtype=np.int8),
    )


def costs_and_signs(state: NewtonState) -> tuple[Floats, Floats]:
    """Return costs, in units of the kernel, and signs of the rows that have a cost."""
    problem, program = state.problem, state.program
    some = slice(None) if program.present is None else program.present
    return problem.costs[some] * state.source.unit, problem.signs[some].astype(np.float64)
