"""Runs whose dual program has no optimum end, with numbers, and say so."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.solvers.kernel_cases import kernel_solver, rows_of_two_classes

import hinge
from hinge import Point, Problem, Status, Stop, solve
from hinge.kernels import CallableKernel, Kernel, Polynomial, Precomputed, Sigmoid
from hinge.solvers import SMO, Decomposition, KernelDualCoordinate

VIOLATION = Stop(gap=None, kkt=1e-3, steps=200_000)  # the limit ends what would go on for ever
SOLVERS = {
    "decomposition": Decomposition(),
    "small sets": Decomposition(working_set=20),
    "projection": Decomposition(inner="gradient-projection"),
    "hardly any cache": Decomposition(cache_mb=0.01),
    "second": SMO(),
    "first": SMO("first"),
    "platt": SMO("platt"),
    "coordinates": KernelDualCoordinate(),
    "auto": "auto",
}
KINDS = ["sigmoid", "polynomial", "matrix", "function", "denied"]


def _negative(A: Any, B: Any) -> Any:
    return -np.exp(-np.sum(np.square(A[:, None] - B[None]), axis=2))


def _problem(
    kind: str, solver: Any = None, loss: str = "squared_hinge", C: float = 10.0
) -> Problem:
    """Return a problem whose dual objective falls for ever along some direction."""
    X, y = rows_of_two_classes()
    kernel: Kernel = Sigmoid(2.0, 1.0)
    if kind == "polynomial":
        kernel = Polynomial(3, 1.0, -2.0)
    elif kind == "function":
        kernel = CallableKernel(_negative)
    elif kind in ("matrix", "denied"):
        X = X @ np.diag([1.0, -1.0, 0.5]) @ X.T
        kernel = Precomputed(psd=False if kind == "denied" else None)
    intercept = "none" if isinstance(solver, KernelDualCoordinate) else "free"
    return Problem(X, y, loss=loss, kernel=kernel, C=C, intercept=intercept)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_what_falls_for_ever_ends_as_stalled_and_says_why(solver: Any, kind: str) -> None:
    for C in (10.0, 1e4):
        problem = _problem(kind, solver, C=C)
        solution = solve(problem, solver, VIOLATION)
        assert solution.status is Status.STALLED
        certificate = solution.certificate
        assert "no gap certificate" in certificate.notes[0]
        assert "the dual program has no optimum" in certificate.notes[1]
        assert math.isfinite(certificate.primal)
        assert 1e-3 < certificate.kkt < math.inf
        assert np.isfinite(solution.dual_coef).all()
        assert math.isfinite(solution.intercept)


@pytest.mark.parametrize("loss", ["hinge", "huber"])
@pytest.mark.parametrize("kind", KINDS)
def test_losses_with_a_largest_slope_have_an_optimum(kind: str, loss: str) -> None:
    solution = solve(_problem(kind, loss=loss), stop=VIOLATION)
    assert solution.status is Status.SOLVED
    assert len(solution.certificate.notes) == 1


def test_a_curved_loss_that_outweighs_the_kernel_is_solved() -> None:
    """With 1/(2C) on its diagonal the matrix is positive definite: there is one optimum."""
    signs = np.repeat([-1, 1], 10)
    problem = Problem(-np.eye(20), signs, loss="squared_hinge", kernel=Precomputed(), C=0.49)
    solution = solve(problem, "decomposition", VIOLATION)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.dual_coef, 1.0 / (1.0 / 0.98 - 1.0), rtol=1e-3)
    assert len(solution.certificate.notes) == 1


@pytest.mark.parametrize("name", ["decomposition", "smo", "dual-coordinate"])
@pytest.mark.parametrize("weights", [None, "some"])
def test_no_bound_is_in_the_way_of_a_definite_matrix_that_nobody_vouches_for(
    name: str, weights: str | None
) -> None:
    X, y = rows_of_two_classes()
    costs = None if weights is None else np.random.default_rng(0).exponential(size=len(y)) ** 3
    intercept = "none" if name == "dual-coordinate" else "free"
    options: dict[str, Any] = {"loss": "squared_hinge", "C": 100.0, "intercept": intercept}
    found = [
        solve(
            Problem(X @ X.T, y, kernel=Precomputed(psd=psd), sample_weight=costs, **options),
            name,
            Stop(gap=None, kkt=1e-6),
        )
        for psd in (None, True)
    ]
    assert all(solution.status is Status.SOLVED for solution in found)
    np.testing.assert_array_equal(found[0].dual_coef, found[1].dual_coef)


def test_a_run_goes_on_from_a_pickle_and_from_a_point_with_the_same_end() -> None:
    problem = _problem("sigmoid")
    whole = solve(problem, "smo", VIOLATION)
    part = solve(problem, "smo", replace(VIOLATION, steps=5))
    assert part.status is Status.ITERATION_LIMIT
    state = pickle.loads(pickle.dumps(part.state))
    rest = solve(problem, "smo", VIOLATION, resume=state)
    assert rest.status is Status.STALLED
    np.testing.assert_array_equal(rest.dual_coef, whole.dual_coef)
    far = Point(np.zeros(0), 0.0, np.full(problem.n_rows, 1e300))
    assert np.max(solve(problem, "smo", VIOLATION, warm=far).dual_coef) < 1e6


def test_every_pair_of_classes_ends() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    model = hinge.SVC(kernel="sigmoid", gamma=2.0, coef0=1.0, loss="squared_hinge")
    with pytest.warns(ConvergenceWarning, match="The dual program has no optimum"):
        model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.dual_coef_).all()


def test_only_a_point_with_balanced_coefficients_is_a_direction() -> None:
    """Its multiples would have to be feasible for the objective to fall along them."""
    signs = np.repeat([-1, 1], 4)
    problem = Problem(-np.eye(8), signs, loss="squared_hinge", kernel=Precomputed(), C=10.0)
    notes = [
        hinge.certificates.gap(problem, Point(np.zeros(0), 0.0, alpha)).notes
        for alpha in (np.full(8, 3.0), np.where(signs > 0, 3.0, 0.0), np.zeros(8))
    ]
    assert [any("no optimum" in note for note in of_one) for of_one in notes] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("name", ["active-set", "gradient-projection"])
@pytest.mark.parametrize("kind", ["matrix", "function"])
def test_methods_for_convex_programs_end_as_well(name: str, kind: str) -> None:
    solution = solve(_problem(kind), kernel_solver(name), VIOLATION)
    assert solution.status is Status.STALLED
    assert np.isfinite(solution.dual_coef).all()
