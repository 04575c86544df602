"""What the active set method knows between rounds, and a state to begin with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hinge.machines import KernelCache
from hinge.problem import Problem
from hinge.solvers.kernel.dual_state import Floats, Ids, KernelState, present_rows

NEAR = 1e-3  # times 30: a violation at which the least objective is looked for


@dataclass
class ActiveState(KernelState):
    """What the active set method knows between rounds, besides what every kernel solver does.

    Parameters
    ----------
    free : ndarray of int64
        The free rows, in the order of the factor.
    packed : ndarray
        The factor of their matrix, its rows one after the other.
    shift : float
        The constant that is added to the matrix where the sum is kept; 0 where it is not.
    is_summed : bool
        Whether the scores have been summed up anew since the judge refused a claim.
    idle : int
        Rounds without progress.
    least : float
        The least objective so far, in the units of the kernel values.
    """

    free: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    packed: Floats = field(default_factory=lambda: np.zeros(0))
    shift: float = 0.0
    is_summed: bool = False
    idle: int = 0
    least: float = math.inf

    @cached_property
    def cache(self) -> KernelCache:
        """The kept kernel rows, in float64."""
        n, room = len(self.beta), self.cache_mb - self.source.copy_mb
        return KernelCache(n, n, room, exact=True)

    def keep(self, ids: Ids) -> None:
        """Compute and keep the kernel rows of some rows, as many as there is room for."""
        missing = ids[self.cache.slots(ids) < 0]
        self.cache.make_room(missing)
        slots = self.cache.lookup(ids)
        self.cache.write(slots[slots >= 0], self.source)

    def block(self, rows: Ids, columns: Ids) -> Floats:
        """Return the kernel of some rows with others: kept rows are looked up, others computed."""
        slots = self.cache.lookup(rows)
        block = np.empty((len(rows), len(columns)))
        found = np.flatnonzero(slots >= 0)
        self.cache.write(slots[found], self.source)
        block[found] = self.cache.pick(slots[found], columns)
        missing = np.flatnonzero(slots < 0)
        if len(missing):
            self.source.write(rows[missing], block, missing, columns)
        return block


def new_state(problem: Problem, cache_mb: float) -> ActiveState:
    """Return a state with no coefficients.

    Parameters
    ----------
    problem : Problem
        The problem of the run.
    cache_mb : float
        Memory for kept kernel rows.

    Returns
    -------
    ActiveState
        The state.
    """
    present = present_rows(problem)
    n = problem.n_rows if present is None else len(present)
    state = ActiveState(
        problem=problem,
        beta=np.zeros(n),
        scores=np.zeros(n),
        cache_mb=cache_mb,
        deferred=np.zeros((0, n)),
        group=np.full(n, -1, dtype=np.int8),
        settled=np.zeros(n, dtype=bool),
        aim=NEAR,
        is_exact=True,
    )
    state.shift = mean_square(state) if state.program.is_balanced else 0.0
    return state


def mean_square(state: KernelState) -> float:
    """Return the mean of the matrix's diagonal, a number of the size of its values."""
    problem, present = state.problem, state.program.present
    assert problem.kernel is not None
    diagonal = problem.kernel.training_diagonal(problem.rows)
    some = slice(None) if present is None else present
    return float(np.mean(np.abs(diagonal[some]))) / state.source.unit or 1.0


def inside_bounds(state: KernelState) -> Ids:
    """Return the rows whose coefficient is strictly inside its bounds."""
    program = state.program
    return np.flatnonzero((state.beta > program.lower) & (state.beta < program.upper))
