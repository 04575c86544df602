"""The certificate of a hard margin: it proves what it says, and nothing false convinces it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp
from tests.solvers.separable import INTERCEPTS, XOR, apart, hard

from hinge import Point, Status, Stop, solve
from hinge.certificates import gap, margin_interval
from hinge.certificates.hard_margin import costs_of_losses, proves_not_separable


def test_a_point_that_misses_a_margin_has_an_infinite_objective() -> None:
    X, y = apart()
    problem = hard(X, y)
    solution = solve(problem, stop=Stop(gap=1e-8))
    for factor in (1.0 - 1e-9, 0.5, -1.0):
        coef, intercept = factor * solution.coef, factor * solution.intercept
        judged = gap(problem, Point(coef, intercept, solution.dual_coef))
        assert judged.primal == judged.gap == judged.relative_gap == math.inf
        assert judged.region is None
        assert "a margin is missed; no hyperplane has a geometric margin above" in judged.notes[0]
        lower, upper = margin_interval(problem, judged)
        assert lower == 0.0
        exact = margin_interval(problem, solution.certificate)
        assert exact[0] <= upper <= exact[1] * (1.0 + 1e-9)
        assert not proves_not_separable(problem, judged)


def test_the_margin_is_a_note() -> None:
    X, y = [[0.0], [2.0]], [0, 1]
    note = "margin 1, the distance of the nearest row from the hyperplane"
    solution = solve(hard(X, y))
    (found,) = solution.certificate.notes
    lower, upper = margin_interval(hard(X, y), solution.certificate)
    begin, limit = f"margin {lower:.10g}, ", f"; no hyperplane has more than {upper:.10g}"
    assert found == note.replace("margin 1, ", begin) + limit
    alone = gap(hard(X, y), Point(np.array([2.0]), -2.0))
    assert alone.notes[-1].startswith("margin ")
    assert alone.notes[-1].endswith("from the hyperplane")
    augmented = solve(hard(X, y, intercept="augmented")).certificate
    assert "hyperplane where the constant feature counts; no" in augmented.notes[-1]
    missed = gap(hard(X, y), Point(np.zeros(1), 0.0, solution.dual_coef))
    assert not any(text.startswith("margin ") for text in missed.notes)


def test_a_longer_point_is_feasible_and_worse() -> None:
    problem = hard(*apart())
    solution = solve(problem, stop=Stop(gap=1e-8))
    judged = gap(problem, Point(2 * solution.coef, 2 * solution.intercept, solution.dual_coef))
    assert judged.primal == pytest.approx(4.0 * solution.certificate.primal)
    assert judged.relative_gap == pytest.approx(0.75)
    lower, upper = margin_interval(problem, judged)
    exact = margin_interval(problem, solution.certificate)
    assert lower == pytest.approx(exact[0] / 2)
    assert upper == pytest.approx(exact[1])


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_no_coefficients_prove_more_than_is_true(intercept: str) -> None:
    X, y = apart(n=30)
    problem = hard(X, y, intercept=intercept)
    solution = solve(problem, stop=Stop(gap=1e-9))
    optimum = solution.certificate.primal * (1.0 + 1e-8)
    rng = np.random.default_rng(0)
    assert solution.dual_coef is not None
    for _ in range(200):
        alpha = solution.dual_coef * rng.uniform(0.5, 1.5, 30)
        alpha += rng.random(30) * (rng.random(30) < 0.2) * rng.choice([0.0, 0.1, 10.0])
        judged = gap(problem, Point(solution.coef, solution.intercept, alpha))
        assert judged.primal - judged.gap <= optimum
        missed = gap(problem, Point(np.zeros(5), 0.0, alpha))
        assert missed.dual <= optimum
        assert not proves_not_separable(problem, missed)


@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf])
def test_coefficients_outside_their_range_prove_nothing(bad: float) -> None:
    problem = hard(*XOR)
    alpha = np.full(4, 0.5)
    alpha[2] = bad
    judged = gap(problem, Point(np.zeros(2), 0.0, alpha))
    assert judged.dual == -math.inf
    assert "leaves its box" in judged.notes[0]
    assert not proves_not_separable(problem, judged)


def test_nothing_at_all_proves_nothing() -> None:
    problem = hard(*XOR)
    judged = gap(problem, Point(np.zeros(2), 0.0, np.zeros(4)))
    assert margin_interval(problem, judged) == (0.0, math.inf)
    assert "no dual coefficient is positive" in judged.notes[0]
    without = gap(problem, Point(np.zeros(2)))
    assert margin_interval(problem, without) == (0.0, math.inf)
    assert not proves_not_separable(problem, without)


def test_a_point_alone_has_its_own_margin() -> None:
    problem = hard([[0.0], [2.0]], [0, 1])
    lower, upper = margin_interval(problem, gap(problem, Point(np.full(1, 2.0), -2.0)))
    assert 0.5 * (1.0 - 1e-14) < lower <= 0.5
    assert upper == math.inf
    outside = Point(np.full(1, 2.0), -2.0, np.array([-1.0, 1.0]))
    assert margin_interval(problem, gap(problem, outside)) == (lower, math.inf)


@pytest.mark.parametrize("coef", [0.0, 2.0])
def test_coefficients_whose_sum_overflows_prove_nothing(coef: float) -> None:
    problem = hard([[0.0], [2.0]], [0, 1])
    judged = gap(problem, Point(np.full(1, coef), -coef, np.full(2, 1.7e308)))
    assert judged.dual == -math.inf
    assert judged.notes[0] == "the sum of the dual coefficients overflows"
    assert margin_interval(problem, judged)[1] == math.inf
    assert not proves_not_separable(problem, judged)


@pytest.mark.parametrize("size", [1e-160, 1e-200, 1e-290, 1e-308])
@pytest.mark.parametrize("coefficient", [1.0, 1e-120, 1e-300])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_margin_that_underflows_is_not_zero(
    size: float, coefficient: float, intercept: str
) -> None:
    # The smaller row is away from zero, so that there is a margin without an intercept too.
    problem = hard([[-size], [size]], [0, 1], intercept=intercept)
    judged = gap(problem, Point(np.zeros(1), 0.0, np.full(2, coefficient)))
    assert judged.dual < math.inf
    assert margin_interval(problem, judged)[1] >= size
    assert not proves_not_separable(problem, judged)


@pytest.mark.parametrize("size", [1e-200, 1.0])
@pytest.mark.parametrize("intercept", ["free", "augmented"])
def test_an_imbalance_that_underflows_is_not_zero(size: float, intercept: str) -> None:
    # Both sums are zero but for what the coefficients of the classes differ by.
    problem = hard([[size], [2 * size]], [0, 1], intercept=intercept, intercept_scale=1e-200)
    judged = gap(problem, Point(np.zeros(1), 0.0, np.array([2e-200, 1e-200])))
    assert judged.dual < math.inf
    assert margin_interval(problem, judged)[1] > 0.0
    assert not proves_not_separable(problem, judged)


def test_a_number_that_is_none_proves_nothing() -> None:
    problem = hard([[0.0], [2.0]], [0, 1])
    judged = gap(problem, Point(np.zeros(1), 0.0, np.ones(2)))
    unknown = dataclasses.replace(judged, dual=math.nan)
    assert margin_interval(problem, unknown) == (0.0, math.inf)
    assert not proves_not_separable(problem, dataclasses.replace(judged, notes=()))


def test_a_huge_margin_is_finite() -> None:
    problem = hard([[0.0], [1e154]], [0, 1])
    wide = Point(np.full(1, 2.1e-154), -1.05)
    lower, _ = margin_interval(problem, gap(problem, wide))
    assert 0.0 < lower <= 0.5e154


# Every set is separable, its rows being exact numbers, by the margin that comes with it.
FAR = [
    (1e15 + np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1], ("free",), 0.5),
    (np.array([[1e15, 0.0], [1e15, 2.0]]), [0, 1], ("free", "augmented", "none"), 1.0),
    (np.array([[1e15, 0.0], [-1e15, 0.0], [0.0, 1.0]]), [0, 0, 1], ("free",), 0.5),
    (np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1e-17]]), [0, 0, 1], ("free",), 0.5e-17),
]


@pytest.mark.parametrize("case", range(len(FAR)))
@pytest.mark.parametrize("sparse", [False, True])
def test_neither_an_offset_nor_a_large_column_hides_a_margin(case: int, sparse: bool) -> None:
    X, y, intercepts, margin = FAR[case]
    for intercept in intercepts:
        problem = hard(sp.csr_array(X) if sparse else X, y, intercept=intercept)
        solution = solve(problem)
        assert solution.status is not Status.NOT_SEPARABLE
        lower, upper = margin_interval(problem, solution.certificate)
        assert lower <= margin <= upper
        rng = np.random.default_rng(case)
        for _ in range(50):
            alpha = rng.choice([0.0, 1.0, 2.0, 1.0 / 3.0, 1.0 + 2.0**-52], len(y))
            judged = gap(problem, Point(np.zeros(X.shape[1]), 0.0, alpha))
            assert margin_interval(problem, judged)[1] >= margin
            assert not proves_not_separable(problem, judged)


def test_classes_that_meet_far_away_meet() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)) + 1e6, np.arange(300) % 2
    problem = hard(X, y)
    solution = solve(problem)
    assert solution.status is Status.NOT_SEPARABLE
    assert margin_interval(problem, solution.certificate)[1] < 1e-14


def test_a_witness_of_one_class_is_none() -> None:
    problem = hard([[0.0], [2.0]], [0, 1])
    judged = gap(problem, Point(np.zeros(1), 0.0, np.array([1.0, 0.0])))
    assert margin_interval(problem, judged)[1] >= 1.0
    assert not proves_not_separable(problem, judged)


def test_classes_of_unequal_weight_are_no_witness_of_a_free_intercept() -> None:
    # Both classes on one line through the origin: their sums can cancel, their hulls do not meet.
    problem = hard([[1.0], [2.0]], [0, 1])
    false = gap(problem, Point(np.zeros(1), 0.0, np.array([2.0, 1.0])))
    assert not proves_not_separable(problem, false)
    assert margin_interval(problem, false)[1] >= 0.5
    through_origin = hard([[1.0], [2.0]], [0, 1], intercept="none")
    true = gap(through_origin, Point(np.zeros(1), 0.0, np.array([2.0, 1.0])))
    assert proves_not_separable(through_origin, true)
    assert margin_interval(through_origin, true)[1] == 0.0


def test_a_witness_is_exact_or_says_how_near_it_is() -> None:
    third = 1.0 / 3.0
    X = np.array([[0.0], [3.0], [1.0]])
    problem = hard(X, [0, 0, 1])
    exact = gap(problem, Point(np.zeros(1), 0.0, np.array([2.0, 1.0, 3.0])))
    assert exact.notes == (
        "not separable: convex combinations of the two classes meet exactly, so no hyperplane "
        "separates the classes",
    )
    rounded = gap(problem, Point(np.zeros(1), 0.0, np.array([2 * third, third, 1.0])))
    upper = margin_interval(problem, rounded)[1]
    assert 0.0 < upper < 1e-16  # a third is no number of base two
    assert rounded.notes[0] == (
        "not separable beyond rounding: convex combinations of the two classes meet up to the last "
        f"digits of the data, and no hyperplane has a geometric margin above {upper:.3g}"
    )
    assert proves_not_separable(problem, rounded)
    near = gap(problem, Point(np.zeros(1), 0.0, np.array([2.0, 1.0, 3.0 * (1 + 1e-10)])))
    assert not proves_not_separable(problem, near)
    assert margin_interval(problem, near)[1] == pytest.approx(0.5e-10, rel=1e-5)
    assert near.notes[0].startswith(
        "a margin is missed; no hyperplane has a geometric margin above"
    )


def test_many_rows_of_support_are_judged_with_rounding() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(3000, 800))
    problem = hard(np.vstack([half, half]), np.repeat([0, 1], 3000))
    judged = gap(problem, Point(np.zeros(800), 0.0, np.full(6000, 0.1)))
    assert 0.0 < margin_interval(problem, judged)[1] < 1e-10


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e140])
def test_any_unit_of_length(scale: float) -> None:
    X, y = apart()
    problem = hard(X * scale, y)
    solution = solve(problem, stop=Stop(gap=1e-6))
    assert solution.status is Status.SOLVED
    plain = hard(X, y)
    expected = margin_interval(plain, solve(plain, stop=Stop(gap=1e-6)).certificate)
    found = margin_interval(problem, solution.certificate)
    np.testing.assert_allclose(found, np.multiply(expected, scale), rtol=1e-5)
    assert solve(hard(XOR[0] * scale, XOR[1])).status is Status.NOT_SEPARABLE


def test_infinite_costs_of_no_loss_are_nothing() -> None:
    costs = np.array([math.inf, 0.0, math.inf])
    nothing = costs_of_losses(costs, np.array([0.0, 5.0, 0.0]))
    np.testing.assert_array_equal(nothing, [0.0, 0.0, 0.0])
    something = costs_of_losses(costs, np.array([0.0, 5.0, 1e-300]))
    np.testing.assert_array_equal(something, [0.0, 0.0, math.inf])
    assert math.isnan(costs_of_losses(costs, np.array([math.nan, 0.0, 0.0]))[0])
    finite = costs_of_losses(np.array([2.0, 3.0]), np.array([1.0, 1.0]))
    np.testing.assert_array_equal(finite, [2.0, 3.0])
    one_for_all = costs_of_losses(np.array([math.inf]), np.array([0.0, 2.0]))
    np.testing.assert_array_equal(one_for_all, [0.0, math.inf])


def test_violations() -> None:
    problem = hard([[0.0], [2.0], [5.0]], [0, 1, 1])
    optimum = Point(np.ones(1), -1.0, np.array([0.5, 0.5, 0.0]))
    certificate = gap(problem, optimum)
    assert certificate.kkt == certificate.kkt_rounding <= 1e-14
    wrong = gap(problem, Point(np.ones(1), -1.0, np.array([0.5, 0.25, 0.25])))
    assert wrong.kkt >= 3.0  # the far row has a coefficient
    assert gap(problem, Point(np.full(1, 0.5), -0.5, optimum.dual_coef)).kkt >= 0.5
