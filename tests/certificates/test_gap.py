"""The gap: equal to what exact arithmetic finds, and never smaller than the truth."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.certificates.random_problems import random_point, random_problem

import hinge
from hinge import Point, Problem
from hinge.certificates import gap
from hinge.testing import known_optimum, recompute, reference_solution, verify_certificate

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_known_optimum_is_recognised(loss, intercept, sparse, dtype, weighted, seed) -> None:
    known = known_optimum(loss, intercept, sparse=sparse, dtype=dtype, weighted=weighted, seed=seed)
    exact = recompute(known.problem, known.point)
    assert exact.primal == exact.dual == known.value
    certificate = gap(known.problem, known.point)
    verify_certificate(known.problem, known.point, certificate)
    assert certificate.primal == pytest.approx(float(known.value), rel=1e-14)
    assert certificate.dual == pytest.approx(float(known.value), rel=1e-14)
    assert 0.0 <= certificate.gap <= 1e-10 * float(known.value)
    assert certificate.kkt - certificate.kkt_rounding <= 1e-13
    assert certificate.kkt <= 1e-9
    assert certificate.notes == ()


def _check_random_problem(rng: np.random.Generator) -> Fraction:
    """Check one problem at one point; return the true relative suboptimality."""
    problem = random_problem(rng)
    point = random_point(problem, rng)
    certificate = gap(problem, point)
    exact = verify_certificate(problem, point, certificate)
    # The best known feasible value is above the optimum: what is proven must lie below it.
    best = recompute(problem, reference_solution(problem)).primal
    assert Fraction(certificate.gap) >= exact.primal - best
    assert Fraction(certificate.primal) - Fraction(certificate.gap) <= best
    return (exact.primal - best) / exact.primal


def test_the_gap_is_an_upper_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = [float(_check_random_problem(rng)) for _ in range(1000)]
    # Not vacuous: points from nearly optimal to useless were among them.
    assert min(found) < 1e-8
    assert max(found) > 0.3
    assert 300 <= sum(1e-7 < share < 0.5 for share in found) <= 900


@pytest.mark.slow
def test_the_gap_is_an_upper_bound_on_many_problems(seed: int) -> None:
    rng = np.random.default_rng(seed + 10_000)
    for _ in range(9000):
        _check_random_problem(rng)


def test_the_gap_is_tight_enough_to_be_of_use(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        problem = random_problem(rng)
        certificate = gap(problem, reference_solution(problem))
        if problem.intercept.value != "free":  # there the reference misses y'alpha = 0 slightly
            assert certificate.relative_gap <= 1e-6
        assert certificate.rounding <= 1e-9 * max(certificate.primal, abs(certificate.dual))


@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_free_intercept_misses_is_little_beside_large_losses(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 6))
    y = X[:, 0] + rng.normal(size=len(X)) > 0.3  # classes that overlap: most of P is losses
    free, none = (
        hinge.solve(Problem(X, y, loss=loss, C=1e6, intercept=intercept), stop=hinge.Stop(gap=1e-7))
        for intercept in ("free", "none")
    )
    shares = [s.certificate.rounding / s.certificate.primal for s in (free, none)]
    # A bound on b* by the objective alone makes it some thousand times as much.
    assert shares[0] <= 30.0 * shares[1]
    assert free.status is hinge.Status.SOLVED


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_planted_falsehoods_are_refused(loss: str, intercept: str, seed: int) -> None:
    known = known_optimum(loss, intercept, weighted=True, seed=seed)
    rng = np.random.default_rng(seed)
    top = known.problem.loss.upper_bound(known.problem.costs)
    above_tolerance = 0
    for _ in range(300):
        point = _mutated(known.point, rng, top, intercept != "none")
        exact = recompute(known.problem, point)
        certificate = gap(known.problem, point)
        true_gap = exact.gap / max(abs(exact.primal), abs(exact.dual))
        assert certificate.gap >= exact.gap
        unbalanced = intercept == "free" and exact.balance != 0
        if true_gap > 1e-6 or unbalanced:
            above_tolerance += 1
            assert certificate.relative_gap > 1e-6
    assert above_tolerance > 200


def _mutated(point: Point, rng: np.random.Generator, top: np.ndarray, has_intercept: bool) -> Point:
    """Return the point with one number changed, by much or by little."""
    size = float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-3, 1))
    kind = int(rng.integers(3 if has_intercept else 2))
    if kind == 2:
        return replace(point, intercept=point.intercept + size)
    if kind == 1:
        coef = point.coef.copy()
        coef[rng.integers(len(coef))] += size
        return replace(point, coef=coef)
    assert point.dual_coef is not None
    alpha = point.dual_coef.copy()
    row = int(rng.choice(np.flatnonzero(top > 0)))
    alpha[row] = np.clip(alpha[row] + size, 0.0, top[row])
    return replace(point, dual_coef=alpha)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_dual_point_outside_its_box_proves_nothing(loss: str) -> None:
    known = known_optimum(loss, "none", weighted=True)
    top = known.problem.loss.upper_bound(known.problem.costs)
    assert known.point.dual_coef is not None
    absent = int(np.flatnonzero(top == 0)[0])
    present = int(np.flatnonzero(top > 0)[0])
    wrong = [(present, -5e-324), (present, np.nan), (present, np.inf), (absent, 5e-324)]
    if np.isfinite(top[present]):
        wrong.append((present, np.nextafter(top[present], np.inf)))
    for row, value in wrong:
        alpha = known.point.dual_coef.copy()
        alpha[row] = value
        certificate = gap(known.problem, replace(known.point, dual_coef=alpha))
        assert certificate.dual == -np.inf
        assert certificate.gap == certificate.relative_gap == np.inf
        assert not hinge.Stop(gap=1e300).satisfied_by(certificate)
        assert any("box" in note for note in certificate.notes)
        assert certificate.primal == pytest.approx(float(known.value))
        assert not certificate.settled(np.eye(known.problem.n_features)).any()


def test_without_a_dual_point_the_certificate_says_so() -> None:
    known = known_optimum()
    certificate = gap(known.problem, replace(known.point, dual_coef=None))
    assert certificate.primal == pytest.approx(float(known.value), rel=1e-14)
    assert certificate.dual == -np.inf
    assert certificate.gap == certificate.relative_gap == certificate.kkt == np.inf
    assert any("no dual point" in note for note in certificate.notes)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["coef", "intercept", "dual_coef", "all coef"])
def test_what_is_not_a_number_never_satisfies(bad: float, where: str) -> None:
    known = known_optimum()
    values: dict[str, object] = {"intercept": bad}
    if where != "intercept":
        array = np.array(getattr(known.point, where.removeprefix("all ")))
        array[slice(None) if where.startswith("all") else 0] = bad
        values = {where.removeprefix("all "): array}
    certificate = gap(known.problem, replace(known.point, **values))
    assert certificate.gap == certificate.relative_gap == np.inf
    for stop in (hinge.Stop(gap=1e300), hinge.Stop(gap=None, kkt=1e300), hinge.Stop(1e300, 1e300)):
        assert not stop.satisfied_by(certificate)
    assert not certificate.settled(np.eye(known.problem.n_features)).any()


def test_numbers_that_overflow_never_satisfy() -> None:
    known = known_optimum("squared_hinge", "none")
    certificate = gap(known.problem, replace(known.point, coef=known.point.coef * 1e200))
    assert certificate.gap == np.inf
    assert not hinge.Stop(gap=1e300).satisfied_by(certificate)


@pytest.mark.parametrize("kernel", [None, hinge.kernels.RBF(1.0)])
def test_where_the_objective_is_infinite_nothing_is_proven_of_the_optimum(kernel: object) -> None:
    problem = Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=1e307, kernel=kernel)
    coef = np.zeros(0) if kernel else np.ones(1)
    certificate = gap(problem, hinge.Point(coef, -1e307, np.array([0.0, 0.5, 0.5, 0.0])))
    assert certificate.dual == -np.inf
    assert certificate.gap == np.inf
    assert "proven at least  -inf" in str(certificate)


def test_a_problem_without_intercept_takes_no_point_with_one() -> None:
    # With it the "primal" value 0.6 would be below the optimum of the problem without.
    X = np.asarray([[1.0], [1.1], [3.0], [3.1]])
    problem = Problem(X, [0, 0, 1, 1], intercept="none")
    with pytest.raises(hinge.InvalidParameterError, match="no intercept"):
        gap(problem, Point(np.asarray([1.0]), -2.0, np.zeros(4)))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"coef": np.zeros(3)}, "coef has shape"),
        ({"coef": np.zeros((7, 1))}, "coef has shape"),
        ({"dual_coef": np.zeros(3)}, "dual_coef has shape"),
        ({"dual_coef": np.zeros(1000)}, "dual_coef has shape"),
    ],
)
def test_points_of_another_problem_are_refused(changes: dict[str, object], match: str) -> None:
    known = known_optimum()
    for judge in (gap, hinge.certificates.kkt):
        with pytest.raises(hinge.InvalidParameterError, match=match):
            judge(known.problem, replace(known.point, **changes))


def test_an_unbalanced_dual_point_pays_for_it() -> None:
    known = known_optimum("hinge", "free")
    assert known.point.dual_coef is not None
    alpha = known.point.dual_coef.copy()
    row = int(np.flatnonzero((alpha > 0) & (alpha < known.problem.C))[0])
    for change in (1e-12, 1e-6, 1e-2):
        alpha[row] = known.point.dual_coef[row] - change
        certificate = gap(known.problem, replace(known.point, dual_coef=alpha))
        exact = verify_certificate(
            known.problem, replace(known.point, dual_coef=alpha), certificate
        )
        # Any b* is a minimiser: the bound must hold for the one that is known.
        lost = abs(known.point.intercept) * change
        assert certificate.gap >= float(exact.gap) + lost
    assert any("y'alpha" in note for note in certificate.notes)


@pytest.mark.parametrize("C", [1e-160, 1e-200, 1e-300, 1e-308, 1e-315])
@pytest.mark.parametrize("intercept", ["augmented", "none"])
@pytest.mark.parametrize("loss", LOSSES)
def test_products_that_vanish_prove_nothing(loss: str, intercept: str, C: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.tile([0, 1], 15)
    problem = Problem(X, y, loss=loss, C=C, intercept=intercept)
    for share in (0.0, 0.5, 1.0):
        for coef in (np.zeros(3), C * rng.normal(size=3)):
            point = Point(coef, 0.0, share * C * np.ones(30))
            certificate = gap(problem, point)
            assert Fraction(certificate.gap) >= recompute(problem, point).gap >= 0


def test_rows_without_weight_are_absent() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.tile([0, 1], 15)
    weights = np.ones(30)
    weights[20:] = 0.0
    X[25] *= 1e100
    for intercept in INTERCEPTS:
        whole = Problem(X, y, sample_weight=weights, intercept=intercept)
        part = Problem(X[:20], y[:20], sample_weight=weights[:20], intercept=intercept)
        point = reference_solution(part)
        assert point.dual_coef is not None
        padded = replace(point, dual_coef=np.append(point.dual_coef, np.zeros(10)))
        one, two = gap(whole, padded), gap(part, point)
        for name in ("primal", "dual", "relative_gap", "kkt"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-6), name


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_certificates_have_the_same_bits_for_any_number_of_threads(sparse, intercept) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 60)).astype(np.float32)
    X[rng.random(X.shape) < 0.5] = 0.0
    y = (X[:, 0] + 0.1 * rng.normal(size=9000) > 0).astype(int)
    problem = Problem(sp.csr_array(X) if sparse else X, y, C=0.01, intercept=intercept)
    assert problem.rows.n_blocks > 2
    alpha = 0.01 * rng.random(9000)
    coef = rng.normal(size=60)
    certificates = [gap(problem, Point(coef, 0.0, alpha), threads=threads) for threads in (1, 2, 3)]
    bounds = [certificate.decision_bounds(X[:100]) for certificate in certificates]
    assert len({repr(certificate) for certificate in certificates}) == 1
    assert len({(low.tobytes(), high.tobytes()) for low, high in bounds}) == 1
    verify_certificate(problem, Point(coef, 0.0, alpha), certificates[0])


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("n_features", [300, 1000])
def test_rows_that_are_read_in_runs_are_certified_as_others(n_features: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1100, n_features))
    problem = Problem(X, (X[:, 0] > 0).astype(int), C=0.01, intercept="augmented")
    assert 1 < problem.rows.run_blocks < problem.rows.n_blocks
    point = Point(0.1 * rng.normal(size=n_features), 0.2, 0.01 * rng.random(1100))
    certificates = [gap(problem, point, threads=threads) for threads in (1, 2, 3)]
    assert len({repr(certificate) for certificate in certificates}) == 1
    assert len({certificate.region.coef.tobytes() for certificate in certificates}) == 1
    verify_certificate(problem, point, certificates[0])
    sparse = Problem(sp.csr_array(X), problem.signs, C=0.01, intercept="augmented")
    other = gap(sparse, point)
    assert certificates[0].gap == pytest.approx(other.gap, rel=1e-9)
    assert certificates[0].kkt == pytest.approx(other.kkt, rel=1e-9)


def test_a_check_that_raises_abandons_the_certificate() -> None:
    def check() -> None:
        raise InterruptedError

    known = known_optimum()
    with pytest.raises(InterruptedError):
        gap(known.problem, known.point, check=check)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_notes_say_that_there_is_no_objective(value: float, intercept: str) -> None:
    known = known_optimum("hinge", intercept, weighted=False, seed=0)
    point = replace(known.point, coef=np.full_like(known.point.coef, value))
    for dual in (None, known.point.dual_coef):
        certificate = gap(known.problem, replace(point, dual_coef=dual))
        assert not math.isfinite(certificate.primal)
        assert certificate.gap == math.inf
        assert certificate.notes[0].startswith("the objective is not finite: the weights")
        assert not any("confirmed" in note for note in certificate.notes)


def test_notes_name_an_intercept_that_is_not_finite() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    linear = Problem(X, y)
    certificate = gap(linear, Point(np.zeros(4), math.nan))
    assert certificate.notes[0].startswith("the objective is not finite: the weights, the intercep")
    machine = Problem(X, y, kernel="linear")
    certificate = gap(machine, Point(np.zeros(0), math.nan, np.zeros(4)))
    assert certificate.notes == (
        "the intercept is not finite, so that there is no objective and nothing is proven",
    )
    certificate = gap(machine, Point(np.zeros(0), 0.0, np.full(4, math.nan)))
    assert certificate.notes[0].startswith("the dual point leaves its box")
