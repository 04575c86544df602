"""A run of Newton's method on a kernel machine, between two steps."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.solvers.kernel.conjugate import ConjugateGradients
from hinge.solvers.kernel.dual_state import REST_GROUPS, Floats, Ids, KernelState, present_rows
from hinge.solvers.kernel.kernel_sum import KernelSum


@dataclass
class OpenStep:
    """What is known of a step that has begun.

    Parameters
    ----------
    zones : ndarray of int8
        The part of its loss that each member was on at the beginning.
    intercept : float
        The intercept that the step begins with.
    change : ndarray
        The change of the members' coefficients, as far as it is known.
    moved : float
        The change of the intercept.
    system : ConjugateGradients or None
        The equations of the curved rows, if they are being solved.
    """

    zones: NDArray[np.int8]
    intercept: float
    change: Floats
    moved: float = 0.0
    system: ConjugateGradients | None = None

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


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
    phase : str
        What is to be done when the awaited sum is complete.
    awaited : KernelSum or None
        A sum that is being added up.
    open_step : OpenStep or None
        The step that has begun, if one has.
    """

    order: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    size: int = 0
    intercept: float = 0.0
    zones: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    phase: str = "start"
    awaited: KernelSum | None = None
    open_step: OpenStep | None = None

    def parts(self) -> dict[str, Any]:
        """Return what makes this state; of a step that has begun, nothing: it begins again."""
        own = super().parts()
        for name in ("phase", "awaited", "open_step"):
            del own[name]
        return {**own, "is_joining": self.phase in ("join", "joined")}

    def put(self, name: str, part: Any) -> None:
        """Set one of the parts."""
        if name == "is_joining":
            self.phase = "join" if part else "start"
            self.awaited = self.open_step = None
        else:
            super().put(name, part)

    @property
    def step_at_work(self) -> OpenStep:
        """The step that has begun."""
        assert self.open_step is not None
        return self.open_step

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
