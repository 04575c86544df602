r"""Newton's method for kernel machines in the primal.

.. math:: \min_{\beta, b} \tfrac12 \beta'K\beta + \sum_i c_i\,\ell(y_i f_i), \qquad
          f = K\beta + b 1 ,

for losses with a piecewise linear derivative: squared hinge and Huber. A row is on the part of its
loss that is zero (where the optimal :math:`\beta_i` is 0), on the straight part of Huber's
(:math:`\beta_i = y_i c_i`) or on the curved part. With the curved rows I, a step is

1. let the others have the coefficient of their part;
2. solve :math:`(K_{II} + D_I)\,\beta_I + b 1 = p_I - K_{I\bar I}\beta_{\bar I}`, for a free
   intercept with :math:`\sum \beta = 0`: Newton's equations, with :math:`D = \kappa / c` and
   :math:`p = p_\ell\, y` of the dual program;
3. go along the line to that point as far as the objective falls, exactly: it is piecewise
   quadratic;
4. choose the best intercept.

When no row changes its part, the step is the last one: the method ends after finitely many, and
exactly. Coefficients are then dual ones. Rows join in rounds, a random part of them first and
twice as many in every round, so that few steps are large.

Given: squared hinge or Huber loss, a positive semidefinite kernel. Returns the coefficients.
Cost per step: ``n |I|`` kernel values, and ``|I|^3 / 3`` operations, or, beyond
``MOST_FACTORISED`` curved rows, products with :math:`K_{II}` in conjugate gradients.
Reference: O. Chapelle, Training a support vector machine in the primal, 2007. Ours: the straight
part of Huber's loss in the same system, the exact line search, and any sample weights.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.losses import Loss
from hinge.losses.intercept import optimal_intercepts
from hinge.problem import Problem
from hinge.result import Point, Progress
from hinge.solvers.kernel.bordered import (
    Apply,
    conjugate_gradients,
    factorised,
    solve_bordered,
)
from hinge.solvers.kernel.dual_state import Floats, Ids, note_values, point_of, start_beta
from hinge.solvers.kernel.newton_state import NewtonState, costs_and_signs, fresh_state
from hinge.solvers.linear.balance import balance
from hinge.solvers.protocol import Solver, Support

MOST_FACTORISED = 2000
_FIRST_ROWS = 500
_MOST_PRODUCTS = 300  # of conjugate gradients in a step
_KEPT_ROWS = 8000  # curved rows whose matrix is kept as float32, 256 MB; else it is computed anew
_SHARE = 1e-4  # of the right-hand side that conjugate gradients leave: the next step sees to it
_ROUNDING = 1e-14  # violations below it, relative to the gradient, are none
_NO_GAIN = 1e-15  # relative decrease of the objective below which nothing moves
_HALVINGS = 60
_VALUES_A_CALL = 1 << 22
ZERO, CURVED, STRAIGHT = 0, 1, 2


class KernelNewton(Solver):
    """Newton's method in the primal, for kernel machines with a smooth loss.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, loss="squared_hinge", C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=KernelNewton(), stop=hinge.Stop(gap=1e-9))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "kernel-newton"
    takes_kernels: ClassVar[bool] = True

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss has a curved part and the kernel a convex problem."""
        use = "use solver='decomposition'."
        if not problem.loss.dual_curvature > 0.0:
            return Support(False, f"{problem.loss!r} has a corner and no curved part: {use}")
        if problem.kernel is None or problem.kernel.psd is not True:
            reason = f"{problem.kernel!r} is not known to be positive semidefinite"
            return Support(False, f"{reason}: {use}")
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> NewtonState:
        """Return the state before the first step, from known dual coefficients if given."""
        state = fresh_state(problem, seed, _FIRST_ROWS)
        unit = state.source.unit
        known = start_beta(problem, state.program, warm, unit)
        if known.any():
            state.size = len(known)
            state.beta = known
            state.queue = np.flatnonzero(known)
            state.queue_changes = known[state.queue]
            state.intercept = 0.0 if warm is None else float(np.nan_to_num(warm.intercept))
        return state

    def step(self, state: NewtonState, work: int) -> int:  # noqa: ARG002
        """Do one step of the rows that take part, or let more of them join."""
        source = state.source
        source.threads, source.check = state.threads, state.stop_check
        before = source.computed
        with np.errstate(over="ignore", invalid="ignore"):
            if len(state.queue):
                _catch_up(state)
            else:
                _newton(state)
        values = source.computed - before + len(state.beta)
        done = values * max(1, state.problem.rows.n_stored // max(1, state.problem.n_rows))
        state.work += done
        return done

    def point(self, state: NewtonState) -> Point:
        """Return the coefficients, within their bounds, and the intercept."""
        program = state.program
        feasible = np.clip(state.beta, program.lower, program.upper)
        if program.is_balanced:
            _, signs = costs_and_signs(state)
            alpha = np.abs(feasible)
            balance(alpha, signs.astype(np.int8))
            feasible = signs * alpha
        kept, state.beta = state.beta, feasible
        try:
            return point_of(state, state.intercept)
        finally:
            state.beta = kept

    def progress(self, state: NewtonState) -> Progress:
        """Return the own values, where the coefficients are dual ones of all rows."""
        return Progress(
            state.steps,
            state.work,
            primal=state.primal,
            dual=state.dual,
            at_rest=state.at_rest,
            kkt=state.violation,
        )


def _catch_up(state: NewtonState) -> None:
    """Compute the scores of coefficients that a warm start brought."""
    scores = np.zeros(len(state.beta))
    _add(state, state.queue, state.queue_changes, scores)
    loss = state.problem.loss
    costs, signs = costs_and_signs(state)
    value = 0.5 * float(state.beta @ scores)
    value += float(costs @ loss.value(signs * (scores + state.intercept)))
    if not value <= float(costs @ loss.value(np.zeros(len(costs)))):
        # No better than nothing: rounding would be relative to what it has to undo.
        state.beta, scores = np.zeros(len(costs)), np.zeros(len(costs))
        state.intercept, state.size = 0.0, min(len(costs), _FIRST_ROWS)
    state.scores = scores
    state.queue, state.queue_changes = state.queue[:0], state.queue_changes[:0]


def _add(state: NewtonState, ids: Ids, coef: Floats, out: Floats, at: Ids | None = None) -> None:
    """Add kernel functions of some rows, all rows of a call in a few milliseconds."""
    width = len(out)
    size = max(64, _VALUES_A_CALL // max(1, width))
    for first in range(0, len(ids), size):
        some = slice(first, first + size)
        state.source.add(ids[some], coef[some], out, at, exact=True)


def _newton(state: NewtonState) -> None:
    """Do one Newton step; everything is stored at its end."""
    members = state.members
    loss, program = state.problem.loss, state.program
    costs, signs = (values[members] for values in costs_and_signs(state))
    scores, beta = state.scores[members], state.beta[members]
    intercept = state.intercept
    if state.steps == 0 and program.is_balanced:
        intercept = _best_intercept(loss, scores, signs, costs)
    zones = zones_of(loss, signs * (scores + intercept))
    change, moved = _direction(state, members, zones, intercept)
    image = np.zeros(len(members))
    moving = np.flatnonzero(change)
    _add(state, members[moving], change[moving], image, members)
    objective = _Line(loss, signs, costs, (beta, scores, intercept), (change, image, moved))
    length = objective.best_length()
    gain = objective.value(0.0) - objective.value(length)
    beta, scores = beta + length * change, scores + length * image
    intercept += length * moved
    if program.is_balanced:
        intercept = _best_intercept(loss, scores, signs, costs, intercept)
    after = zones_of(loss, signs * (scores + intercept))
    state.beta[members], state.scores[members] = beta, scores
    state.intercept = intercept
    state.zones[members] = after
    state.steps += 1
    is_exact = np.count_nonzero(zones == CURVED) <= MOST_FACTORISED
    is_over = bool(is_exact and length == 1.0 and np.array_equal(after, zones))
    is_over |= not gain > _NO_GAIN * objective.value(length)
    if not state.has_all:
        if is_over or state.steps >= 50 * (1 + state.size // _FIRST_ROWS):
            _let_more_join(state)
        return
    _note(state, is_over)


def _direction(
    state: NewtonState, members: Ids, zones: NDArray[np.int8], intercept: float
) -> tuple[Floats, float]:
    """Return the change of coefficients, and of the intercept, to Newton's point."""
    program = state.program
    beta, scores = state.beta[members], state.scores[members].copy()
    reach = np.where(program.linear[members] > 0.0, program.upper[members], program.lower[members])
    target = np.where(zones == STRAIGHT, reach, 0.0)
    curved = np.flatnonzero(zones == CURVED)
    change = np.where(zones == CURVED, 0.0, target - beta)
    if len(curved) == 0:
        return change, 0.0
    # Rows that leave the curved part, or change sides, first: the system is about what is left.
    moving = np.flatnonzero(change)
    at_curved = scores[curved]
    _add(state, members[moving], change[moving], at_curved, members[curved])
    ids = members[curved]
    diagonal = program.diagonal[ids]
    right = program.linear[ids] - at_curved - diagonal * beta[curved] - intercept
    wanted = -float(np.sum(beta) + np.sum(change)) if program.is_balanced else None
    step, moved = solve_bordered(_inverse(state, ids, diagonal), right, wanted)
    change[curved] = step
    return change, moved


def _inverse(state: NewtonState, ids: Ids, diagonal: Floats) -> Apply:
    """Return what solves systems with the curved rows' matrix."""
    source, check = state.source, state.stop_check
    m = len(ids)
    if m <= MOST_FACTORISED:
        matrix = source.exact_block(ids)
        matrix[np.diag_indices(m)] += diagonal
        return factorised(matrix, check)
    own = diagonal + _own_values(state, ids)
    kept = source.block(ids, ids) if m <= _KEPT_ROWS else None

    def product(x: Floats) -> Floats:
        out = diagonal * x
        if kept is not None:
            single = x.astype(np.float32)
            for first in range(0, m, 512):
                out[first : first + 512] += kept[first : first + 512] @ single
                if check is not None:
                    check()
        else:
            _add(state, ids, x, out, ids)
        return out

    return conjugate_gradients(product, own, _SHARE, _MOST_PRODUCTS, check)


def _own_values(state: NewtonState, ids: Ids) -> Floats:
    """Return the kernel of rows with themselves, in the source's unit."""
    problem, program = state.problem, state.program
    assert problem.kernel is not None
    values = problem.kernel.training_diagonal(problem.rows) / state.source.unit
    return np.asarray((values if program.present is None else values[program.present])[ids])


class _Line:
    """The objective along a line, in units of the kernel."""

    def __init__(
        self,
        loss: Loss,
        signs: Floats,
        costs: Floats,
        here: tuple[Floats, Floats, float],
        there: tuple[Floats, Floats, float],
    ) -> None:
        beta, scores, intercept = here
        change, image, moved = there
        self._loss, self._costs = loss, costs
        self._margins = signs * (scores + intercept)
        self._slopes = signs * (image + moved)
        # A form of the second order along the line: constant, slope, curvature.
        self._norm = (float(beta @ scores), float(beta @ image), float(change @ image))

    def value(self, t: float) -> float:
        """Return the objective at t."""
        constant, slope, curve = self._norm
        losses = float(self._costs @ self._loss.value(self._margins + t * self._slopes))
        return 0.5 * (constant + t * (2.0 * slope + t * curve)) + losses

    def slope(self, t: float) -> float:
        """Return the derivative at t."""
        _, slope, curve = self._norm
        pulls = self._costs * self._loss.subgradient(self._margins + t * self._slopes)
        return slope + t * curve + float(self._slopes @ pulls)

    def best_length(self) -> float:
        """Return where the objective is least: 1 where Newton's point is the minimum."""
        scale = abs(self.slope(0.0))
        if abs(self.slope(1.0)) <= 1e-9 * scale:
            return 1.0
        low, high = 0.0, 1.0
        while self.slope(high) < 0.0 and high < 1e6:
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.slope(middle) < 0.0 else (low, middle)
        return 0.5 * (low + high)


def _let_more_join(state: NewtonState) -> None:
    """Double the rows that take part; those that join get their scores."""
    size = min(len(state.beta), 2 * state.size)
    joining = np.sort(state.order[state.size : size])
    late = np.zeros(len(joining))
    ids = np.flatnonzero(state.beta)
    _add(state, ids, state.beta[ids], late, joining)
    state.scores[joining] = late
    state.size = size


def _note(state: NewtonState, is_over: bool) -> None:
    """Store own values if the coefficients are within their bounds, up to rounding."""
    program = state.program
    feasible = np.clip(state.beta, program.lower, program.upper)
    reach = float(np.max(np.abs(state.beta), initial=0.0))
    outside = float(np.max(np.abs(state.beta - feasible), initial=0.0))
    state.primal = state.dual = state.violation = np.nan
    if outside <= 1e-12 * reach:
        state.beta = feasible
        gradient = state.gradient()
        ends = state.ends(gradient)
        state.aim = max(ends.violation, 0.0)
        note_values(state, ends)
        is_over |= ends.violation <= _ROUNDING * max(1.0, float(np.max(np.abs(gradient))))
    state.at_rest = is_over


def _best_intercept(
    loss: Loss, scores: Floats, signs: Floats, costs: Floats, near: float = 0.0
) -> float:
    """Return the intercept of the least objective, the one nearest to another of several."""
    low, high = optimal_intercepts(loss, scores, signs.astype(np.int8), costs)
    return float(min(max(near, low), high))


def zones_of(loss: Loss, margins: Floats) -> NDArray[np.int8]:
    """Return on which part of its loss each row is: zero, curved or straight.

    Parameters
    ----------
    loss : Loss
        A loss with a curved part.
    margins : ndarray of shape (n,)
        The margins.
    """
    bend = np.full(len(margins), loss.left_derivative[1])
    for kink in loss.kinks:
        bend += kink.bend * (margins >= kink.margin)
    zones = np.where(margins < loss.zero_from, STRAIGHT, ZERO)
    return np.where(bend > 1e-12, CURVED, zones).astype(np.int8)
