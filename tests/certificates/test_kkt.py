"""Violations of the optimality conditions, whole and row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hinge
from hinge import Point, Problem, Stop
from hinge.certificates import gap, kkt
from hinge.testing import known_optimum, reference_solution

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_an_optimum_violates_nothing(loss: str, intercept: str, weighted: bool, seed) -> None:
    known = known_optimum(loss, intercept, weighted=weighted, seed=seed)
    violation = kkt(known.problem, known.point)
    assert violation.complementarity == 0.0
    assert violation.stationarity == 0.0
    assert violation.balance == 0.0
    certificate = gap(known.problem, known.point)
    assert certificate.kkt == certificate.kkt_rounding <= 1e-9
    assert violation.worst == pytest.approx(certificate.kkt, rel=0.5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_every_change_of_the_optimum_is_seen(loss: str, intercept: str, seed: int) -> None:
    known = known_optimum(loss, intercept, weighted=True, seed=seed)
    rng = np.random.default_rng(seed)
    assert known.point.dual_coef is not None
    present = np.flatnonzero(known.problem.costs > 0)
    for _ in range(50):
        coef, alpha = known.point.coef.copy(), known.point.dual_coef.copy()
        coef[rng.integers(len(coef))] += 0.01
        alpha[rng.choice(present)] += 0.01
        for point in (
            replace(known.point, coef=coef),
            replace(known.point, dual_coef=alpha),
        ):
            # Not "> 1e-4": outside the box the violation is not a number, which fails too.
            assert not gap(known.problem, point).kkt <= 1e-4
            assert kkt(known.problem, point).worst > 1e-4
    if intercept != "none":
        moved = replace(known.point, intercept=known.point.intercept + 0.01)
        assert gap(known.problem, moved).kkt > 1e-4


def test_the_worst_row_is_named() -> None:
    X = np.asarray([[2.0], [1.0], [-1.0], [-2.0], [0.5]])
    problem = Problem(X, [1, 1, 0, 0, 1], C=10.0, intercept="none")
    point = Point(np.asarray([1.0]), 0.0, np.asarray([0.0, 0.5, 0.5, 0.0, 0.0]))
    violation = kkt(problem, point)
    assert violation.worst_row == 4
    assert violation.complementarity == pytest.approx(0.5)
    assert violation.stationarity == 0.0


def test_the_optimum_without_intercept_is_none_with_a_free_one() -> None:
    X, y = np.asarray([[1.0], [2.0]]), [1, 0]
    best = reference_solution(Problem(X, y, intercept="none"))
    assert gap(Problem(X, y, intercept="none"), best).kkt < 1e-6
    certificate = gap(Problem(X, y, intercept="free"), best)
    assert certificate.relative_gap > 0.1
    assert certificate.kkt > 0.1
    assert not Stop(gap=None, kkt=1e-3).satisfied_by(certificate)


def test_an_augmented_intercept_must_be_that_of_the_dual_point() -> None:
    known = known_optimum("squared_hinge", "augmented")
    # Weights that do not matter to any margin cannot hide it: the constant feature is one.
    moved = replace(known.point, intercept=known.point.intercept + 1e-3)
    assert kkt(known.problem, moved).stationarity > 1e-4


def test_rows_without_cost_must_have_no_coefficient() -> None:
    problem = Problem(np.eye(3), [0, 1, 1], sample_weight=[1, 1, 0], intercept="none")
    point = Point(np.asarray([-1.0, 1.0, 1.0]), 0.0, np.ones(3))
    assert gap(problem, point).kkt >= 1.0
    fine = Point(np.asarray([-1.0, 1.0, 0.0]), 0.0, np.asarray([1.0, 1.0, 0.0]))
    assert gap(problem, fine).kkt <= 1e-14


def test_without_a_dual_point_every_condition_fails() -> None:
    violation = kkt(known_optimum().problem, Point(np.zeros(7)))
    assert violation.complementarity == violation.stationarity == violation.balance == np.inf


def test_what_is_not_a_number_is_the_worst() -> None:
    known = known_optimum(n_pairs=40)
    assert known.point.dual_coef is not None
    for row in (0, 41, known.problem.n_rows - 1):
        alpha = known.point.dual_coef.copy()
        alpha[row] = np.nan
        violation = kkt(known.problem, replace(known.point, dual_coef=alpha))
        assert np.isnan(violation.complementarity)
        assert violation.worst_row == row
        assert not Stop(gap=None, kkt=1e300).satisfied_by(
            gap(known.problem, replace(known.point, dual_coef=alpha))
        )


@pytest.mark.parametrize("criteria", [{"gap": 1e-3}, {"kkt": 1e-3, "gap": None}, {"kkt": 1e-3}])
def test_criteria_hold_only_together(criteria: dict[str, float | None]) -> None:
    stop = Stop(**criteria)  # type: ignore[arg-type]
    good = hinge.Certificate(1.0, 1.0, 0.0, 1e-4, 0.0, 1e-4)
    assert stop.satisfied_by(good)
    assert not stop.satisfied_by(
        replace(
            good,
            relative_gap=1.0 if stop.gap else good.relative_gap,
            kkt=1.0 if stop.kkt else good.kkt,
        )
    )
    nan = float("nan")
    assert not stop.satisfied_by(replace(good, relative_gap=nan, kkt=nan))


def test_no_criterion_is_never_met() -> None:
    good = hinge.Certificate(1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert not Stop(gap=None, kkt=None).satisfied_by(good)


@pytest.mark.parametrize("name", ["gap", "kkt", "seconds", "steps"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", True, [1]])
def test_criteria_outside_their_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=rf"Stop\({name}=\) must"):
        Stop(**{name: value})  # type: ignore[arg-type]


def test_steps_are_whole() -> None:
    with pytest.raises(hinge.InvalidParameterError, match="steps"):
        Stop(steps=1.5)  # type: ignore[arg-type]
