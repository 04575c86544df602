"""What solvers of the dual of kernel machines have in common: when to stop, to rest and to rejoin.

A method derives from ``DualSolver`` and only says how a round improves the coefficients. It begins
in float32; where the judge refuses what that claims, or nothing moves in it any more, the scores
are summed up anew in float64 and working sets (:mod:`hinge.solvers.kernel.working_sets`) go on.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from hinge.parameters import boolean, positive
from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.carry import covered_rows, take_over
from hinge.solvers.kernel.dual_state import (
    REST_GROUPS,
    Ends,
    Floats,
    KernelState,
    best_intercept,
    dual_program,
    note_values,
    point_of,
    progress_of,
    start_beta,
    turn_exact,
)
from hinge.solvers.kernel.queue import advance_queue, advance_rejoining, begin_rejoining
from hinge.solvers.kernel.reach import is_at_reach
from hinge.solvers.kernel.refresh import advance_refreshing, begin_refreshing
from hinge.solvers.kernel.screening import screen
from hinge.solvers.kernel.working_sets import rounding_of
from hinge.solvers.protocol import Solver, Support

_REST_SHARE = 0.1  # of the rows that must go to rest for the change to be worth it


class DualSolver(Solver):
    """A method on the dual program that keeps the scores of all rows.

    Parameters
    ----------
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out of the sums until the end.
    tolerance : float, default=1e-3
        Violation at which resting rows rejoin; the run goes on below it if asked to.
    """

    takes_kernels: ClassVar[bool] = True
    least_kept: ClassVar[int] = 0  # kernel rows that must find room, however little memory there is
    state_class: ClassVar[type[KernelState]] = KernelState

    def __init__(
        self, cache_mb: float = 200.0, shrinking: bool = True, tolerance: float = 1e-3
    ) -> None:
        self.cache_mb = positive(cache_mb, "cache_mb")
        self.shrinking = boolean(shrinking, "shrinking")
        self.tolerance = positive(tolerance, "tolerance")

    def supports(self, problem: Problem) -> Support:  # noqa: ARG002
        """Every problem with a kernel."""
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> KernelState:  # noqa: ARG002
        """Return the state before the first round; no choice is random."""
        covered = covered_rows(warm)
        n = problem.n_rows if covered is None else len(covered)
        if problem.sample_weight is not None and covered is None:
            n = int(np.count_nonzero(problem.sample_weight > 0.0))
        state = self.state_class(
            problem=problem,
            beta=np.zeros(n),
            scores=np.zeros(n),
            cache_mb=self.cache_mb,
            deferred=np.zeros((REST_GROUPS, n)),
            group=np.full(n, -1, dtype=np.int8),
            settled=np.zeros(n, dtype=bool),
            aim=self.tolerance,
            least_kept=self.least_kept,
            covered=covered,
        )
        if take_over(state, warm):
            return state
        unit = state.source.unit
        program = dual_program(problem, unit, state.present)
        state.beta = start_beta(problem, program, warm, unit)
        state.queue = np.flatnonzero(state.beta)
        state.queue_changes = state.beta[state.queue]
        return state

    def step(self, state: KernelState, work: int) -> int:  # noqa: ARG002
        """Do a bounded part of a round: move coefficients, or bring some scores up to date."""
        state.source.threads, state.source.check = state.threads, state.stop_check
        before, touched = state.source.computed, 0
        if len(state.queue):
            advance_queue(state)
        elif state.is_rejoining:
            advance_rejoining(state)
        elif len(state.to_refresh):
            advance_refreshing(state)
        else:
            touched = self._round(state)
        stored = max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        done = (state.source.computed - before + len(state.beta)) * stored + touched
        state.work += done
        return done

    def point(self, state: KernelState) -> Point:
        """Return the coefficients, and the intercept that shares the violation out."""
        return point_of(state, best_intercept(state, state.ends(state.gradient())))

    def progress(self, state: KernelState) -> Progress:
        """Return the own gap and violation, where the scores are complete."""
        return progress_of(state)

    def go_on(self, state: KernelState, *, at_rest: bool) -> bool:  # noqa: ARG002
        """Go on in float64 where float32 has come to its end."""
        if state.is_exact or is_at_reach(state):
            return False
        turn_exact(state)
        return True

    @abstractmethod
    def improve(self, state: Any, gradient: Floats, ends: Ends) -> int:
        """Move coefficients, given the gradient and where it is worst among those that take part.

        Returns how many kept values that touched, besides the kernel values computed.
        """

    def _round(self, state: KernelState) -> int:
        """See what there is to do; improve the coefficients if the aim has not been reached."""
        if state.was_refused and not state.is_exact:
            turn_exact(state)
            return 0
        gradient = state.gradient()
        ends = state.ends(gradient)
        if state.is_complete:
            arrives = ends.violation <= state.aim < state.violation
            if arrives and begin_refreshing(state, gradient, ends):
                return 0
            note_values(state, ends)
            if ends.violation <= state.aim and is_at_reach(state):
                state.at_rest = True  # at bounds that only keep numbers finite
                return 0
            if arrives:
                return 0  # time for a certificate; whoever wants more asks for another step
            if ends.violation <= rounding_of(gradient):
                state.at_rest = True  # from here on only rounding would move rows
                return 0
            if ends.violation <= state.aim:
                screen(state, ends)
                state.aim = 0.1 * ends.violation
        elif ends.violation <= state.aim:
            begin_rejoining(state)
            return 0
        return self.improve(state, gradient, ends)


def let_rest(state: KernelState, gradient: Floats, ends: Ends) -> None:
    """Let rows rest that are at a bound and that no pair would draw away from it.

    Parameters
    ----------
    state : KernelState
        The run, with nothing in its queue.
    gradient : ndarray
        The gradient, as far as it is known.
    ends : Ends
        Where it is worst.
    """
    program = state.program
    threshold_down = ends.down if ends.is_balanced else 0.0
    threshold_up = ends.up if ends.is_balanced else 0.0
    at_lower = (state.beta <= program.lower) & (gradient > threshold_down)
    at_upper = (state.beta >= program.upper) & (gradient < threshold_up)
    tired = (at_lower | at_upper) & ~state.resting
    group = int(np.max(state.group)) + 1
    if group < REST_GROUPS and np.count_nonzero(tired) >= _REST_SHARE * len(tired):
        state.group[tired] = group
