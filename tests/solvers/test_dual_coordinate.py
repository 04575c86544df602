"""Dual coordinate descent against a quadratic programming solver, under every option."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.solvers.data import some_weights, two_clouds

import hinge
from hinge import Problem, Solution, Status, Stop, solve
from hinge.solvers import DualCoordinate
from hinge.testing import known_optimum, recompute, reference_solution, verify

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]
TIGHT = Stop(gap=1e-6, steps=100_000)


def _solved(problem: Problem, solver: DualCoordinate | None = None, stop: Stop = TIGHT) -> Solution:
    """Solve, and check the result against exact arithmetic and an independent solver."""
    solution = solve(problem, solver or DualCoordinate(), stop)
    assert solution.status is Status.SOLVED
    found = verify(problem, solution, stop)
    reference = recompute(problem, reference_solution(problem)).primal
    assert found.primal <= reference + Fraction(solution.certificate.gap)
    assert reference <= found.primal + abs(found.primal) * Fraction(1, 10**6)
    return solution


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_kind_of_problem(loss, intercept, sparse, dtype, weighted, seed: int) -> None:
    X, y = two_clouds(seed=seed, sparse=sparse)
    weights = some_weights(len(y), seed) if weighted else None
    for C in (0.01, 1.0):
        problem = Problem(
            X.astype(dtype),
            y,
            loss=loss,
            C=C,
            intercept=intercept,
            intercept_scale=2.0,
            sample_weight=weights,
        )
        _solved(problem)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("order", ["permuted", "cyclic", "random"])
def test_every_option(loss: str, intercept: str, order: str, seed: int) -> None:
    X, y = two_clouds(seed=seed + 7)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=0.1)
    for shrinking, screening, extrapolation in itertools.product([False, True], repeat=3):
        solver = DualCoordinate(
            order, shrinking=shrinking, screening=screening, extrapolation=extrapolation
        )
        _solved(problem, solver)


@pytest.mark.parametrize("aim", [0.0, 1e-8, 1.0])
def test_any_aim_arrives(aim: float) -> None:
    X, y = two_clouds()
    _solved(Problem(X, y), DualCoordinate(aim=aim))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_awkward_shapes(loss: str, intercept: str) -> None:
    rng = np.random.default_rng(0)
    X, y = two_clouds()
    zero_rows = X.copy()
    zero_rows[:10] = 0.0
    cases = {
        "two rows": ([[1.0, 2.0], [0.0, 1.0]], [0, 1]),
        "two equal rows": ([[1.0, 2.0], [1.0, 2.0]], [0, 1]),
        "one feature": (X[:, :1], y),
        "more features than rows": (rng.normal(size=(9, 40)), [0, 1] * 4 + [1]),
        "duplicates": (np.repeat(X[:20], 3, axis=0), np.repeat(y[:20], 3)),
        "rows of zeros": (zero_rows, y),
        "nothing but zeros": (np.zeros((6, 3)), [0, 1, 1, 1, 0, 1]),
        "empty CSR": (sp.csr_array((6, 3)), [0, 1, 1, 1, 0, 1]),
        "constant column": (np.column_stack([X, np.full(len(X), 5.0)]), y),
        "one against many": (X, (np.arange(len(X)) == 3).astype(int)),
        "separable": (X + 100.0 * np.outer(2 * y - 1, np.ones(X.shape[1])), y),
    }
    for name, (rows, labels) in cases.items():
        problem = Problem(rows, labels, loss=loss, intercept=intercept, C=0.5)
        try:
            _solved(problem)
        except (AssertionError, RuntimeError) as error:
            raise AssertionError(name) from error


@pytest.mark.parametrize("loss", ["hinge", "huber"])
def test_everything_at_its_bound(loss: str) -> None:
    X, y = two_clouds()
    problem = Problem(X, y, loss=loss, C=1e-8, intercept="none")
    solution = _solved(problem)
    np.testing.assert_array_equal(solution.dual_coef, np.full(len(y), 1e-8))


@pytest.mark.parametrize("exponent", range(-10, 11, 2))
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_any_C_returns_the_truth(loss: str, intercept: str, exponent: int) -> None:
    X, y = two_clouds()
    problem = Problem(X, y, loss=loss, C=10.0**exponent, intercept=intercept)
    stop = Stop(gap=1e-3, steps=2000)
    solution = solve(problem, DualCoordinate(), stop)
    verify(problem, solution, stop)
    assert solution.status in (Status.SOLVED, Status.ITERATION_LIMIT, Status.STALLED)
    if exponent <= 0:
        assert solution.status is Status.SOLVED


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-20, 1e20, 1e100, 1e140])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_any_scale_returns(loss: str, intercept: str, scale: float) -> None:
    X, y = two_clouds()
    stop = Stop(gap=1e-3, steps=500)
    problem = Problem(X * scale, y, loss=loss, intercept=intercept)
    solution = solve(problem, DualCoordinate(), stop)
    if solution.status is Status.SOLVED:
        assert solution.certificate.relative_gap <= 1e-3
    assert np.isfinite(solution.coef).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_weight_two_is_a_row_twice(loss: str, intercept: str, seed: int) -> None:
    X, y = two_clouds(40, seed=seed)
    repeats = np.random.default_rng(seed).integers(1, 4, len(y))
    options = {"loss": loss, "intercept": intercept, "C": 0.2}
    stop = Stop(gap=1e-10, steps=300_000)
    weighted = solve(Problem(X, y, sample_weight=repeats, **options), "dual-coordinate", stop=stop)
    twice = solve(
        Problem(np.repeat(X, repeats, axis=0), np.repeat(y, repeats), **options), stop=stop
    )
    assert weighted.status is twice.status is Status.SOLVED
    assert weighted.certificate.primal == pytest.approx(twice.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(weighted.coef, twice.coef, rtol=0, atol=1e-4)


def test_screened_rows_are_at_their_bounds(seed: int) -> None:
    for loss, intercept in itertools.product(["hinge", "huber"], ["augmented", "none"]):
        known = known_optimum(loss, intercept, n_pairs=30, seed=seed)
        solution = solve(known.problem, "dual-coordinate", stop=Stop(gap=1e-7, steps=100_000))
        settled = np.isnan(solution.state.rows[:, 1])
        assert settled.sum() == solution.state.run.settled > 10
        optimal = known.point.dual_coef[settled]
        assert np.isin(optimal, [0.0, known.problem.C]).all()
        np.testing.assert_array_equal(solution.dual_coef[settled], optimal)


@pytest.mark.parametrize("intercept", ["augmented", "none"])
def test_the_claimed_values_close_on_each_other(intercept: str) -> None:
    X, y = two_clouds(300)
    solution = solve(
        Problem(X, y, C=1.0, intercept=intercept),
        "dual-coordinate",
        stop=Stop(gap=1e-8, steps=10_000),
    )
    primal = solution.trace.column("primal", certified=False)
    dual = solution.trace.column("dual", certified=False)
    assert len(primal) >= 3
    rounding = 1e-12 * primal[-1]
    assert (np.diff(primal) <= rounding).all()
    assert (np.diff(dual) >= -rounding).all()
    assert (primal - dual >= -rounding).all()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"order": "permutted"}, "order must be one of .*Did you mean 'permuted'"),
        ({"order": 3}, "order must be one of"),
        ({"aim": -1.0}, "aim must"),
        ({"aim": float("nan")}, "aim must"),
    ],
)
def test_options_outside_their_range(options: dict[str, object], match: str) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=match):
        DualCoordinate(**options)


@pytest.mark.parametrize("intercept", ["free", "augmented", "none"])
def test_costs_below_the_range_of_floating_point_are_told(intercept: str) -> None:
    problem = Problem(*two_clouds(30, 3), loss="squared_hinge", C=1e-315, intercept=intercept)
    solution = solve(problem, "dual-coordinate", stop=Stop(gap=1e-3, steps=50))
    assert solution.status is Status.NUMERICAL_ERROR
    assert solution.certificate.relative_gap == math.inf
