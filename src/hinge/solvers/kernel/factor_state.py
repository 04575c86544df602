"""A run on a low-rank factor of a kernel problem, between two steps.

The factor grows in stages. Its columns are not stored with a state: the sizes of its rounds are,
and a run that goes on makes the same columns again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from hinge.labels import WeightsAsRead
from hinge.lowrank.cholesky import IncompleteCholesky
from hinge.lowrank.factorise import begin
from hinge.machines import KernelSource
from hinge.machines.source import source
from hinge.problem import Problem
from hinge.rows import Rows
from hinge.solvers.kernel.active_state import ActiveState
from hinge.solvers.kernel.dual_state import REST_GROUPS, Floats, present_rows
from hinge.solvers.protocol import State

_CACHE_MB = 200.0  # for kernel rows of the free rows, where a run is finished on the exact problem


@dataclass
class FactorState(ActiveState):
    """What a solver over a factor knows between steps.

    Parameters
    ----------
    most_columns : int
        Columns that the factor may have.
    stages : tuple of int
        The ranks at which the factor has been used, the last one being its aim.
    batches : tuple of int
        How many candidates each round of the factor's growth has had.
    inner : State or None
        The run of the linear problem over the factor.
    inner_gap : float
        Relative gap of the linear problem at which the exact one is looked at.
    inner_kernel : str or None
        ``"linear"`` where the problem over the factor is solved as one with a kernel.
    losses : tuple of float
        What the factor of each stage has lost of the exact objective.
    is_finishing : bool
        Whether the run has left its factor for the exact problem.
    """

    most_columns: int = 0
    stages: tuple[int, ...] = ()
    batches: tuple[int, ...] = ()
    inner: Any = None
    inner_gap: float = 1e-4
    inner_kernel: str | None = None
    losses: tuple[float, ...] = ()
    is_finishing: bool = False
    _transient: ClassVar[tuple[str, ...]] = (*ActiveState._transient, "growth", "linear")

    @cached_property
    def source(self) -> KernelSource:
        """Where kernel values come from, without a compact copy of the rows: all are float64."""
        assert self.problem.kernel is not None
        return source(self.problem.kernel, self.problem.rows, 0.0, present_rows(self.problem))

    @cached_property
    def growth(self) -> IncompleteCholesky:
        """The factor, with the columns of every round so far."""
        problem = self.problem
        assert problem.kernel is not None
        present = present_rows(problem)
        growth = begin(
            problem.kernel,
            problem.rows,
            self.source,
            self.most_columns,
            seed=self.seed,
            present=present,
        )
        for size in self.batches:
            growth.round(size, self.threads)
        return growth

    def grow(self, size: int) -> None:
        """Add a round of columns."""
        self.growth.round(size, self.threads, self.stop_check)
        self.batches = (*self.batches, size)

    @cached_property
    def linear(self) -> Problem:
        """The linear problem over the factor, in the source's unit."""
        columns = self.growth.columns
        some = slice(None) if self.program.present is None else self.program.present
        problem = self.problem
        weights = problem.sample_weight
        scaled = np.sqrt(self.source.unit) * columns if self.source.unit != 1.0 else columns
        return Problem(
            Rows(scaled if columns.shape[1] else np.zeros((len(columns), 1))),
            problem.signs[some] > 0,
            loss=problem.loss,
            C=problem.C,
            intercept=problem.intercept,
            sample_weight=None if weights is None else WeightsAsRead(weights[some]),
            kernel=self.inner_kernel,
        )

    @property
    def is_grown(self) -> bool:
        """Whether the factor has the rank of the present stage, or all that there is."""
        return self.growth.rank >= self.stages[-1] or self.growth.is_exhausted

    def resumed(self, problem: Problem) -> Self:
        """Return a copy to go on from, with the linear problem made anew."""
        inner, self.inner = self.inner, None
        try:
            twin = super().resumed(problem)
        finally:
            self.inner = inner
        if inner is not None:
            twin.inner = inner.resumed(twin.linear)
        return twin

    def release(self) -> None:
        """Let go of threads."""
        super().release()
        if isinstance(self.inner, State):
            self.inner.release()


def factor_state(problem: Problem, seed: int, most: int, first: int) -> FactorState:
    """Return a state before the first column.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    seed : int
        Seed of the choice of columns.
    most : int
        Columns that the factor may have.
    first : int
        Columns of the first stage.
    """
    present = present_rows(problem)
    n = problem.n_rows if present is None else len(present)
    state = FactorState(
        problem=problem,
        beta=np.zeros(n),
        scores=np.zeros(n),
        cache_mb=_CACHE_MB,
        deferred=np.zeros((REST_GROUPS, 0)),
        group=np.full(n, -1, dtype=np.int8),
        settled=np.zeros(n, dtype=bool),
        aim=np.inf,
        most_columns=min(n, most),
        stages=(min(n, first),),
    )
    state.seed = seed
    return state


def clean(alpha: Floats, upper: Floats, share: float) -> Floats:
    """Return coefficients with those next to a bound put on it.

    Parameters
    ----------
    alpha, upper : ndarray of shape (n,)
        Coefficients and their upper bounds, which may be infinite.
    share : float
        Of the largest coefficient, or of the bound: what counts as next to it.
    """
    largest = float(np.max(alpha, initial=0.0))
    kept = np.where(alpha <= share * largest, 0.0, alpha)
    finite = np.isfinite(upper)
    return np.where(finite & (upper - kept <= share * np.where(finite, upper, 0.0)), upper, kept)
