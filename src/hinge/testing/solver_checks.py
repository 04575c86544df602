"""Checks that every solver must pass, whatever its method.

Run them from a test::

    @pytest.mark.parametrize("check", list(yield_checks(MySolver())), ids=str)
    def test_my_solver(check):
        check()
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.result import Point, Status, Stop
from hinge.solvers.driver import solve
from hinge.solvers.protocol import Solver
from hinge.testing.known_optimum import KnownOptimum, known_optimum
from hinge.testing.verification import verify

_BUDGET = 200_000_000  # stored values that a solver may touch before a check gives it up
_STEPS_FAR_FROM_REST = 5
_MANY_STEPS = 100_000


@dataclass(frozen=True)
class Check:
    """One property on one problem; call it, it raises ``AssertionError`` on failure.

    Parameters
    ----------
    solver : Solver
        The solver under test.
    known : KnownOptimum
        A problem that it says it supports.
    property : callable
        What is checked.
    label : str
        Kind of problem.
    """

    solver: Solver
    known: KnownOptimum
    property: Callable[[Solver, KnownOptimum], None]
    label: str

    def __call__(self) -> None:
        """Run the check."""
        self.property(self.solver, self.known)

    def __str__(self) -> str:
        return f"{self.property.__name__}-{self.label}"


def yield_checks(solver: Solver, seed: int = 0) -> Iterator[Check]:
    """Yield every check on every kind of small problem that the solver supports.

    Parameters
    ----------
    solver : Solver
        The solver under test.
    seed : int, default=0
        Seed of the problems; the checks must hold for any.

    Yields
    ------
    Check
        A callable that raises on failure.
    """
    for loss, intercept, sparse, dtype, weighted in itertools.product(
        ("hinge", "squared_hinge", "huber"),
        ("free", "augmented", "none"),
        (False, True),
        (np.float64, np.float32),
        (False, True),
    ):
        if solver.takes_kernels and intercept == "augmented":
            continue  # there is no such problem
        known = known_optimum(
            loss,
            intercept,
            sparse=sparse,
            dtype=dtype,
            weighted=weighted,
            seed=seed,
            kernel="linear" if solver.takes_kernels else None,
        )
        if not solver.supports(known.problem):
            continue
        storage = "csr" if sparse else "dense"
        weights = "weighted" if weighted else "plain"
        label = f"{loss}-{intercept}-{storage}-{np.dtype(dtype)}-{weights}"
        for check in (*CHECKS, *CHECKS_OF_WEIGHTS) if weighted else CHECKS:
            yield Check(solver, known, check, label)


def check_reaches_the_known_optimum(solver: Solver, known: KnownOptimum) -> None:
    """Check that the certified optimum is the one that the problem was built from."""
    stop = Stop(gap=1e-8, steps=_MANY_STEPS)
    solution = solve(known.problem, solver, stop)
    _require(solution.status is Status.SOLVED, f"status is {solution.status}")
    verify(known.problem, solution, stop)
    certificate, value = solution.certificate, float(known.value)
    _require(
        value - certificate.gap <= certificate.primal <= value + certificate.gap,
        f"primal {certificate.primal!r} is not within {certificate.gap!r} of {value!r}",
    )
    distance = float(np.linalg.norm(solution.coef - known.point.coef))
    _require(distance**2 <= 2.0 * certificate.gap, f"the weights are off by {distance!r}")


def check_status_is_truthful(solver: Solver, known: KnownOptimum) -> None:
    """Check that a run reports what the data say, whatever ends it."""
    for stop in (
        Stop(gap=1e-2),
        Stop(gap=1e-5, steps=_MANY_STEPS),
        Stop(gap=0.0, steps=1),
        Stop(gap=1e-12, steps=3),
    ):
        verify(known.problem, solve(known.problem, solver, stop), stop)


def check_any_budget_gives_the_same_bits(solver: Solver, known: KnownOptimum) -> None:
    """Check that slicing the work into calls of ``step`` changes nothing."""
    ends: dict[int, list[tuple[bytes, ...]]] = {1: [], 17: [], 1000: [], 10_000_000: []}
    steps = _STEPS_FAR_FROM_REST
    for budget in sorted(ends, reverse=True):
        state = _after_steps(solver, known.problem, budget, _noting(solver, ends[budget]), steps)
        # A call may end beyond the last step asked for; finer slices must get there as well.
        steps = max(steps, solver.progress(state).steps + 1)
    finest = set(ends[1])
    for budget, points in ends.items():
        _require(
            finest.issuperset(points), f"a budget of {budget} values per call changes the bits"
        )


def check_a_pickled_state_resumes(solver: Solver, known: KnownOptimum) -> None:
    """Check that a state pickled between any two calls goes on as if it had not been."""
    straight = _after_steps(solver, known.problem, 100)
    saved = _after_steps(solver, known.problem, 100, between_calls=_pickled)
    _require(_bits(solver, saved) == _bits(solver, straight), "pickling changes the bits")


def check_the_seed_decides_the_bits(solver: Solver, known: KnownOptimum) -> None:
    """Check that two runs of one seed return the same bits."""
    stop = Stop(gap=1e-6, steps=_MANY_STEPS)
    runs = [solve(known.problem, solver, stop, seed=5).point for _ in range(2)]
    _require(_point_bits(runs[0]) == _point_bits(runs[1]), "the same seed gave other bits")


def check_inputs_are_left_alone(solver: Solver, known: KnownOptimum) -> None:
    """Check that neither the caller's arrays nor the given starting point is written to."""
    problem, point = known.problem, known.point
    arrays = _arrays(problem, point)
    before = [array.tobytes() for array in arrays]
    solve(problem, solver, Stop(gap=1e-6, steps=_MANY_STEPS), warm=point)
    _require([a.tobytes() for a in arrays] == before, "an input array was changed")


def check_a_returned_point_is_a_copy(solver: Solver, known: KnownOptimum) -> None:
    """Check that a point and the state that it came from do not share memory."""
    state = solver.start(known.problem, None, 0)
    solver.step(state, 1000)
    point = solver.point(state)
    before = _point_bits(point)
    solver.step(state, 1000)
    _require(_point_bits(point) == before, "a later step changed a point that was handed out")
    current = _bits(solver, state)
    handed_out = solver.point(state)
    handed_out.coef[...] = np.nan
    if handed_out.dual_coef is not None:
        handed_out.dual_coef[...] = np.nan
    _require(_bits(solver, state) == current, "writing to a point changed the state")


def check_a_warm_start_at_the_optimum_stays(solver: Solver, known: KnownOptimum) -> None:
    """Check that a run that starts at the optimum is certified there."""
    stop = Stop(gap=1e-7, steps=5)
    solution = solve(known.problem, solver, stop, warm=known.point)
    verify(known.problem, solution, stop)
    _require(
        solution.status is Status.SOLVED,
        f"{solution.status} at relative gap {solution.certificate.relative_gap!r}",
    )


def check_a_row_without_weight_is_absent(solver: Solver, known: KnownOptimum) -> None:
    """Check that dropping the rows of weight 0 changes no bit of the solver's path."""
    problem = known.problem
    present = problem.costs > 0
    reduced = _rows_of(problem, present)
    got, wanted = (
        solver.point(_after_steps(solver, each, 10_000_000)) for each in (problem, reduced)
    )
    _require(got.coef.tobytes() == wanted.coef.tobytes(), "the weights differ")
    _require(got.intercept == wanted.intercept, "the intercepts differ")
    if got.dual_coef is not None and wanted.dual_coef is not None:
        _require(bool(np.all(got.dual_coef[~present] == 0)), "an absent row has a coefficient")
        same = got.dual_coef[present].tobytes() == wanted.dual_coef.tobytes()
        _require(same, "the dual coefficients differ")


CHECKS: tuple[Callable[[Solver, KnownOptimum], None], ...] = (
    check_reaches_the_known_optimum,
    check_status_is_truthful,
    check_any_budget_gives_the_same_bits,
    check_a_pickled_state_resumes,
    check_the_seed_decides_the_bits,
    check_inputs_are_left_alone,
    check_a_returned_point_is_a_copy,
    check_a_warm_start_at_the_optimum_stays,
)
CHECKS_OF_WEIGHTS: tuple[Callable[[Solver, KnownOptimum], None], ...] = (
    check_a_row_without_weight_is_absent,
)


def _after_steps(
    solver: Solver,
    problem: Problem,
    budget: int,
    between_calls: Callable[[Any, Problem], Any] = lambda state, _: state,
    steps: int = _STEPS_FAR_FROM_REST,
) -> Any:
    """Return the state after at least so many steps, made in calls of that budget."""
    state = solver.start(problem, None, 0)
    spent = 0
    while solver.progress(state).steps < steps:
        if solver.progress(state).at_rest:
            break
        spent += max(1, solver.step(state, budget))
        state = between_calls(state, problem)
        _require(spent < _BUDGET, "the solver works without ever finishing a step")
    return state


def _pickled(state: Any, problem: Problem) -> Any:
    """Return the state as it is after a round trip through a pickle."""
    return pickle.loads(pickle.dumps(state)).resumed(problem)


def _noting(solver: Solver, seen: list[tuple[bytes, ...]]) -> Callable[[Any, Problem], Any]:
    """Return a function that notes down the point between two calls."""

    def note(state: Any, _: Problem) -> Any:
        seen.append(_bits(solver, state))
        return state

    return note


def _rows_of(problem: Problem, kept: NDArray[np.bool_]) -> Problem:
    """Return the problem of some of the rows."""
    rows, weights = problem.rows, problem.sample_weight
    X: Any = rows.values
    if rows.is_sparse:
        pieces = (rows.values, rows.indices, rows.indptr)
        X = sp.csr_array(pieces, shape=(rows.n_rows, rows.n_features))
    return Problem(
        X[kept],
        problem.signs[kept],
        loss=problem.loss,
        C=problem.C,
        intercept=problem.intercept,
        intercept_scale=problem.intercept_scale,
        kernel=problem.kernel,
        sample_weight=None if weights is None else weights[kept],
    )


def _arrays(problem: Problem, point: Point) -> list[NDArray[Any]]:
    rows = problem.rows
    arrays = [rows.values, problem.signs, point.coef]
    arrays += [rows.indices, rows.indptr] if rows.is_sparse else []
    given = (problem.sample_weight, point.dual_coef)
    return arrays + [array for array in given if array is not None]


def _bits(solver: Solver, state: Any) -> tuple[bytes, ...]:
    return _point_bits(solver.point(state))


def _point_bits(point: Point) -> tuple[bytes, ...]:
    dual = b"" if point.dual_coef is None else point.dual_coef.tobytes()
    return point.coef.tobytes(), np.float64(point.intercept).tobytes(), dual


def _require(holds: bool, otherwise: str) -> None:
    """Raise the failure; unlike an assert statement also under ``python -O``."""
    if not holds:
        raise AssertionError(otherwise)
