r"""Decomposition: a working set of many rows at a time, solved in the cache.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta \quad\text{subject to}\quad
          l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ (free intercept)}

With the gradient :math:`e = K\beta + D\beta - p`, a round is

1. choose the working set: the rows that violate the optimality conditions most on either side (the
   first-order rule of SVMlight [1]_), and those of the last set that are strictly inside their
   bounds, since they move together;
2. solve the program over the working set, all else fixed, by pairs of the second-order rule
   (``cpp/include/hinge/working_set.hpp``) or by gradient projection
   (:mod:`hinge.solvers.kernel.projected_set`, as PGPDT does it [3]_), until its violation is a
   tenth of what it was;
3. add the kernel rows of what has changed to the scores of all rows.

Only rows whose coefficient has changed cost kernel values, each about as many as there are rows: a
run computes hardly more than the support vectors' rows of K, which is what any exact method must.
Rows that end strictly inside their bounds are kept in a cache, since they will be back; those that
went to a bound are added without being stored.

*Shrinking*: rows at a bound that none of the others can draw away from it rest; they rejoin, their
scores brought up to date in one pass, when the others violate the conditions by no more than the
aim. *Screening* is exact: with the absolute gap g of the run's own values, the optimal function
differs from the current one by at most :math:`\sqrt{2 g}\,\sqrt{k(x, x)}` at x, and rows whose
margin stays on its side of the corner wherever the optimum lies are settled for good. It decides
something only when the gap is below about one.

Kernel values are float32. Where the judge refuses what they claim, or nothing moves in them any
more, the scores are summed up anew in float64 and the run goes on in that precision; a working set
that pairs do not finish is helped by Newton steps (:mod:`hinge.solvers.kernel.inside_steps`).

Different from the paper: sets of hundreds instead of ten rows, the pair rule inside, the deferred
sums of resting rows, and the exact screening.

References
----------
.. [1] T. Joachims, "Making large-scale SVM learning practical", in Advances in Kernel Methods,
   1999.
.. [2] R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information
   for training support vector machines", JMLR 6, 2005.
.. [3] L. Zanni, T. Serafini and G. Zanghirati, "Parallel software for training large scale support
   vector machines on multiprocessor systems", JMLR 7, 2006.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.errors import unknown_name
from hinge.parameters import count, positive
from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.carry import take_over
from hinge.solvers.kernel.dual_state import (
    REST_GROUPS,
    Ends,
    Floats,
    Ids,
    KernelState,
    best_intercept,
    dual_program,
    note_values,
    point_of,
    progress_of,
    start_beta,
    turn_exact,
)
from hinge.solvers.kernel.inside_steps import step_inside
from hinge.solvers.kernel.projected_set import solve_by_projection
from hinge.solvers.kernel.queue import advance_queue, advance_rejoining, begin_rejoining
from hinge.solvers.kernel.screening import screen
from hinge.solvers.protocol import Solver, Support

_INNER = 0.1  # share of the violation at which a working set is left
_INNER_SOLVERS = ("pairs", "gradient-projection")
_MOST_PROJECTIONS = 200  # steps on one working set, each a product with its matrix
_MOST_PAIRS = 20_000  # steps on one working set: some 20 ms
_SMALLEST_SET = 256
_SMALL_SET, _LARGE_SET = 512, 2048
_LARGE_EXACT_SET = 1024  # whose matrix has as many bytes
_KEPT = 0.75  # share of a working set that rows of the last one may fill
_ROUNDS_TO_REST = 8  # rounds between two looks for rows that may rest
_REST_SHARE = 0.1  # that they must make up for the change to be worth it
_ROUNDING = 1e-14  # violations below it, relative to the gradient, are none


class Decomposition(Solver):
    """Working sets of many rows, solved by pairs in the cache.

    Parameters
    ----------
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out of the sums until the end.
    working_set : int or None, default=None
        Rows of a working set; None is twice as many as are strictly inside their bounds, between
        512 (a quarter of all rows if that is less, but 256) and 2048.
    tolerance : float, default=1e-3
        Violation at which resting rows rejoin; the run goes on below it if asked to.
    inner : {"pairs", "gradient-projection"}, default="pairs"
        How a working set is solved.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=Decomposition(), stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "decomposition"
    takes_kernels: ClassVar[bool] = True

    def __init__(
        self,
        cache_mb: float = 200.0,
        shrinking: bool = True,
        working_set: int | None = None,
        tolerance: float = 1e-3,
        inner: str = "pairs",
    ) -> None:
        self.cache_mb = positive(cache_mb, "cache_mb")
        self.shrinking = bool(shrinking)
        self.working_set = (
            None if working_set is None else max(2, count(working_set, "working_set"))
        )
        self.tolerance = positive(tolerance, "tolerance")
        if inner not in _INNER_SOLVERS:
            raise unknown_name(inner, "inner", _INNER_SOLVERS)
        self.inner = inner

    def supports(self, problem: Problem) -> Support:  # noqa: ARG002
        """Every problem with a kernel."""
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> KernelState:  # noqa: ARG002
        """Return the state before the first round; no choice of this method is random."""
        n = problem.n_rows
        if problem.sample_weight is not None:
            n = int(np.count_nonzero(problem.sample_weight > 0.0))
        state = KernelState(
            problem=problem,
            beta=np.zeros(n),
            scores=np.zeros(n),
            cache_mb=self.cache_mb,
            deferred=np.zeros((REST_GROUPS, n)),
            group=np.full(n, -1, dtype=np.int8),
            settled=np.zeros(n, dtype=bool),
            aim=self.tolerance,
        )
        if take_over(state, warm):
            return state
        unit = state.source.unit
        state.beta = start_beta(problem, dual_program(problem, unit), warm, unit)
        state.queue = np.flatnonzero(state.beta)
        state.queue_changes = state.beta[state.queue]
        return state

    def step(self, state: KernelState, work: int) -> int:  # noqa: ARG002
        """Do a bounded part of a round: solve a working set, or bring some scores up to date."""
        state.source.threads, state.source.check = state.threads, state.stop_check
        before = state.source.computed
        if len(state.queue):
            advance_queue(state)
        elif state.is_rejoining:
            advance_rejoining(state)
        else:
            self._round(state)
        values = state.source.computed - before + len(state.beta)
        done = values * max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
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
        if state.is_exact:
            return False
        turn_exact(state)
        return True

    def _round(self, state: KernelState) -> None:
        """Choose and solve a working set; its changes go into the queue."""
        if state.was_refused and not state.is_exact:
            turn_exact(state)
            return
        gradient = state.gradient()
        ends = state.ends(gradient)
        if state.is_complete:
            arrives = ends.violation <= state.aim < state.violation
            note_values(state, ends)
            if arrives:
                return  # time for a certificate; whoever wants more asks for another step
            if ends.violation <= _ROUNDING * max(1.0, float(np.max(np.abs(gradient)))):
                state.at_rest = True  # from here on only rounding would move rows
                return
            if ends.violation <= state.aim:
                screen(state, ends)
                state.aim = 0.1 * ends.violation
        elif ends.violation <= state.aim:
            begin_rejoining(state)
            return
        if (
            self.shrinking
            and not state.is_exact
            and state.rounds % _ROUNDS_TO_REST == _ROUNDS_TO_REST - 1
        ):
            _let_rest(state, gradient, ends)
        chosen = self._choose(state, gradient)
        self._solve(state, chosen, gradient, ends)

    def _choose(self, state: KernelState, gradient: Floats) -> Ids:
        """Return the rows of the next working set, in order."""
        program = state.program
        size = self.working_set or _set_size(state)
        taking_part = ~(state.resting | state.settled)
        if size >= np.count_nonzero(taking_part):
            return np.flatnonzero(taking_part)
        kept = _still_inside(state, taking_part)[: int(_KEPT * size)]
        room = (size - len(kept)) // 2
        up = np.where(taking_part & (state.beta < program.upper), gradient, np.inf)
        down = np.where(taking_part & (state.beta > program.lower), -gradient, np.inf)
        chosen = np.concatenate((_smallest(up, room), _smallest(down, room), kept))
        return np.unique(chosen)

    def _solve(self, state: KernelState, chosen: Ids, gradient: Floats, ends: Ends) -> None:
        """Solve the program over the working set and queue what has changed."""
        program = state.program
        most = _MOST_PAIRS if self.inner == "pairs" else _MOST_PROJECTIONS
        if state.step_limit is not None:
            most = min(most, state.step_limit - state.steps)
        kernel = _kernel_among(state, chosen)
        beta, slope = state.beta[chosen], gradient[chosen]
        bounds = program.lower[chosen], program.upper[chosen]
        diagonal = program.diagonal[chosen]
        wanted = _INNER * ends.violation
        if self.inner == "pairs":
            steps, left = core.solve_working_set(
                kernel,
                diagonal,
                *bounds,
                beta,
                slope,
                program.is_balanced,
                True,
                wanted,
                max(0, most),
            )
        else:
            steps, left = solve_by_projection(
                kernel,
                diagonal,
                bounds,
                beta,
                slope,
                program.is_balanced,
                wanted,
                max(0, most),
                state.stop_check,
            )
        is_slow = left > wanted
        if is_slow and state.is_exact:
            steps += step_inside(kernel, diagonal, bounds, beta, slope, program.is_balanced)
        state.steps += steps
        state.rounds += 1
        changes = beta - state.beta[chosen]
        moved = changes != 0.0
        state.beta[chosen] = beta
        state.queue, state.queue_changes = chosen[moved], changes[moved]
        state.previous = chosen
        if is_slow and not state.is_exact and len(chosen) == len(state.beta):
            turn_exact(state)  # all rows are here, and pairs will not do it
            return
        noise = _ROUNDING * max(1.0, float(np.max(np.abs(gradient))))
        if not moved.any() or ends.violation <= noise:
            state.at_rest = state.is_complete
            if not state.is_complete:
                begin_rejoining(state)


def _set_size(state: KernelState) -> int:
    """Return how many rows to take: those that interact are the ones inside their bounds."""
    program = state.program
    inside = int(np.count_nonzero((state.beta > program.lower) & (state.beta < program.upper)))
    least = min(max(len(state.beta) // 4, _SMALLEST_SET), _SMALL_SET)
    return min(max(2 * inside, least), _LARGE_EXACT_SET if state.is_exact else _LARGE_SET)


def _still_inside(state: KernelState, taking_part: np.ndarray) -> Ids:
    """Return the rows of the last working set that are strictly inside their bounds."""
    last = state.previous
    beta, program = state.beta[last], state.program
    inside = (beta > program.lower[last]) & (beta < program.upper[last]) & taking_part[last]
    return np.asarray(last[inside], dtype=np.int64)


def _smallest(values: Floats, most: int) -> Ids:
    """Return where the smallest finite values are."""
    if most < len(values):
        candidates = np.argpartition(values, most)[:most]
    else:
        candidates = np.arange(len(values))
    return np.asarray(candidates[np.isfinite(values[candidates])], dtype=np.int64)


def _kernel_among(state: KernelState, chosen: Ids) -> NDArray[Any]:
    """Return the kernel matrix of the working set: kept rows are looked up, others computed."""
    if state.is_exact:
        return state.source.exact_block(chosen)
    slots = state.cache.lookup(chosen)
    if len(chosen) == len(state.beta) <= state.cache.n_slots:
        _keep(state, chosen[slots < 0])  # its rows are whole rows
        slots = state.cache.lookup(chosen)
    matrix = np.empty((len(chosen), len(chosen)), dtype=np.float32)
    missing = np.flatnonzero(slots < 0)
    matrix[missing] = state.source.block(chosen[missing], chosen)
    found = np.flatnonzero(slots >= 0)
    state.cache.write(slots[found], state.source)
    matrix[found] = state.cache.pick(slots[found], chosen)
    return matrix


def _keep(state: KernelState, ids: Ids) -> None:
    """Compute and keep rows; there is room for all."""
    state.cache.slots(ids)
    slots = state.cache.make_room(ids)
    state.cache.write(slots, state.source)


def _let_rest(state: KernelState, gradient: Floats, ends: Ends) -> None:
    """Let rows rest that are at a bound and that no pair would draw away from it."""
    program = state.program
    threshold_down = ends.down if ends.is_balanced else 0.0
    threshold_up = ends.up if ends.is_balanced else 0.0
    at_lower = (state.beta <= program.lower) & (gradient > threshold_down)
    at_upper = (state.beta >= program.upper) & (gradient < threshold_up)
    tired = (at_lower | at_upper) & ~state.resting
    group = int(np.max(state.group)) + 1
    if group < REST_GROUPS and np.count_nonzero(tired) >= _REST_SHARE * len(tired):
        state.group[tired] = group
