"""Violations with what rounding may have done to them, against exact and extended arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.certificates.kernel_problems import random_kernel_point, random_kernel_problem
from tests.certificates.random_problems import random_point, random_problem, weights_of

import hinge
from hinge import Point, Problem, Stop
from hinge.certificates import gap, kkt
from hinge.certificates.conditions import row_violations, worst_row
from hinge.testing import known_optimum, recompute

EXTENDED = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="longdouble has no more digits than float64 here"
)
NAMES = ("complementarity", "stationarity", "balance")


def check(problem: Problem, point: Point) -> None:
    """Assert that no true violation exceeds what was reported, number by number."""
    exact, found = recompute(problem, point).violation, kkt(problem, point)
    for name in NAMES:
        value, rounding = getattr(found, name), getattr(found.rounding, name)
        assert rounding >= 0.0
        # Extended precision has its own rounding, and roots of fractions are cut off.
        assert value + rounding + 1e-18 >= getattr(exact, name)
        # Both ways: the number itself is within twice the bound of the true one.
        assert abs(value - float(getattr(exact, name))) <= 2.0 * rounding + 1e-18
    assert found.worst >= exact.worst
    certificate = gap(problem, point)
    assert certificate.kkt >= exact.worst
    assert 0.0 <= certificate.kkt_rounding <= certificate.kkt


@pytest.mark.parametrize("part", range(4))
def test_linear_machines_of_every_kind(part: int, seed: int) -> None:
    rng = np.random.default_rng(1000 * seed + part)
    for _ in range(25):
        problem = random_problem(rng)
        check(problem, random_point(problem, rng))


@EXTENDED
@pytest.mark.parametrize("part", range(2))
def test_kernel_machines_of_every_kind(part: int, seed: int) -> None:
    rng = np.random.default_rng(1000 * seed + part)
    for _ in range(25):
        problem = random_kernel_problem(rng)
        check(problem, random_kernel_point(problem, rng))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", ["free", "augmented", "none"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_margins_that_cancel(loss: str, intercept: str, is_sparse: bool, seed: int) -> None:
    # Scores are sums of terms of 1e9 that cancel: float64 leaves few digits of a margin.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 12)) * 10.0 ** rng.uniform(-3, 3, 12)
    X[:, 6:] = -X[:, :6] * (1.0 + 1e-9 * rng.normal(size=(30, 6)))
    problem = Problem(
        sp.csr_array(X) if is_sparse else X, np.arange(30) % 2, loss, C=1e3, intercept=intercept
    )
    alpha = rng.uniform(0.0, 1.0, 30) * problem.costs
    coef = np.tile(rng.normal(size=6), 2) * 1e6
    intercept_value = 0.0 if intercept == "none" else 1e9
    check(problem, Point(coef, intercept_value, alpha))
    check(problem, Point(weights_of(problem, alpha), 0.0, alpha))


@EXTENDED
@pytest.mark.parametrize("C", [1e-8, 1.0, 1e8, 1e12])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_coefficients_of_any_size(C: float, kernel: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = Problem(rng.normal(size=(40, 3)), np.arange(40) % 2, C=C, kernel=kernel)
    alpha = rng.uniform(0.0, C, 40)
    alpha[::3] = 0.0
    alpha[1::3] = C
    check(problem, Point(np.zeros(0), rng.normal() * C, alpha))


def test_several_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 100))
    problem = Problem(X, X[:, 0] > 0, intercept="free", C=10.0)
    assert problem.rows.n_blocks > 2
    alpha = rng.uniform(0.0, 10.0, 3000)
    check(problem, Point(rng.normal(size=100), 0.3, alpha))
    check(problem, Point(weights_of(problem, alpha), 0.3, alpha))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_the_bound_is_tight_on_ordinary_data(loss: str, seed: int) -> None:
    # The classical worst case of n roundings, which all go the same way: a hundred times what a
    # random sum loses at the most, and far below any tolerance.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 20))
    y = X[:, 0] + 0.5 * rng.normal(size=500) > 0
    for kernel in (None, "rbf"):
        problem = Problem(X, y, loss, C=1.0, kernel=kernel)
        certificate = hinge.solve(problem, stop=Stop(gap=None, kkt=1e-6)).certificate
        assert certificate.kkt <= 1e-6
        size = 500 * 2.0**-53 * problem.largest_norm * float(np.sum(problem.costs))
        assert certificate.kkt_rounding <= 4.0 * size * problem.largest_norm


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("size", [0.0, 1e-15, 1e-3, 1e6])
def test_the_largest_bound_is_found_among_many_rows(loss: str, size: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, costs = 5000, rng.choice([0.0, 1.0, 3.0], 5000)
    losses = Problem([[0.0], [1.0]], [0, 1], loss).loss
    alpha = rng.uniform(0.0, 1.0, n) * costs
    margins = losses.dual_linear - losses.dual_curvature * np.divide(
        alpha, costs, out=np.zeros(n), where=costs > 0
    )
    margins += size * rng.normal(size=n)
    error = 10.0 ** rng.uniform(-16, -8, n)
    violations, above = row_violations(losses, margins, error, alpha, costs)
    row, found = worst_row(losses, margins, error, alpha, costs)
    assert found == (violations.max(), above.max())
    assert row == int(np.argmax(violations))
    margins[7] = math.nan
    row, found = worst_row(losses, margins, error, alpha, np.ones(n))
    assert row == 7
    assert math.isnan(found.value)
    assert math.isnan(found.above)


def test_rows_that_a_bound_holds_add_no_rounding() -> None:
    # The far row has the largest error by far, and violates nothing however large that is.
    X = np.asarray([[1.0], [-1.0], [1e12]])
    problem = Problem(X, [1, 0, 1], C=10.0, intercept="none")
    point = Point(np.ones(1), 0.0, np.asarray([0.5, 0.5, 0.0]))
    violation = kkt(problem, point)
    assert violation.complementarity == 0.0
    assert violation.rounding.complementarity <= 1e-14


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_proves_nothing(kernel: str | None, bad: float) -> None:
    problem = Problem(np.eye(4), [0, 1, 0, 1], kernel=kernel)
    coef = np.zeros(0 if kernel else 4)
    alpha = np.full(4, 0.5)
    spoiled = alpha.copy()
    spoiled[2] = bad
    points = [Point(coef, 0.0, spoiled), Point(coef, bad, alpha)]
    if kernel is None:
        points.append(Point(np.full(4, bad), 0.0, alpha))
    for point in points:
        assert not kkt(problem, point).worst <= 1e300
        assert not gap(problem, point).kkt <= 1e300


def test_data_that_overflow_prove_nothing() -> None:
    problem = Problem(np.asarray([[1e150], [-1e150]]), [1, 0], C=1.0, intercept="none")
    point = Point(np.asarray([1e160]), 0.0, np.asarray([0.5, 0.5]))
    assert not kkt(problem, point).worst <= 1e300
    assert not gap(problem, point).kkt <= 1e300


@pytest.mark.parametrize("intercept", ["free", "augmented", "none"])
def test_outside_the_box_the_violation_is_still_a_number(intercept: str) -> None:
    known = known_optimum("hinge", intercept)
    assert known.point.dual_coef is not None
    alpha = known.point.dual_coef.copy()
    alpha[0] = -0.25
    point = replace(known.point, dual_coef=alpha)
    assert gap(known.problem, point).kkt >= 0.25
    assert kkt(known.problem, point).worst == pytest.approx(gap(known.problem, point).kkt)


@pytest.mark.parametrize("kernel", [None, "rbf", "linear"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14, 1e-16, 0.0])
def test_runs_end_at_every_tolerance(kernel: str | None, tolerance: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    problem = Problem(X, X[:, 0] + 0.5 * rng.normal(size=120) > 0, C=10.0, kernel=kernel)
    solution = hinge.solve(problem, stop=Stop(gap=None, kkt=tolerance, steps=10**6))
    certificate = solution.certificate
    assert solution.status in (hinge.Status.SOLVED, hinge.Status.STALLED)
    assert (solution.status is hinge.Status.SOLVED) == (certificate.kkt <= tolerance)
    # What rounding leaves room for is proven; below that the computed violation is all rounding.
    if tolerance >= 1e-8:
        assert solution.status is hinge.Status.SOLVED
    assert certificate.kkt <= max(tolerance, 2.0 * certificate.kkt_rounding)


def test_a_tolerance_below_rounding_ends_a_run_as_soon_as_it_is_met_but_for_rounding() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * 1e4
    problem = Problem(X, X[:, 0] > 0, C=1.0, kernel="linear", intercept="none")
    coarse = hinge.solve(problem, stop=Stop(gap=None, kkt=1e-3))
    rounding = coarse.certificate.kkt_rounding
    assert coarse.status is hinge.Status.SOLVED
    fine = hinge.solve(problem, stop=Stop(gap=None, kkt=rounding / 4.0))
    assert fine.status is hinge.Status.STALLED
    certificate = fine.certificate
    assert certificate.kkt > rounding / 4.0 >= certificate.kkt - certificate.kkt_rounding
