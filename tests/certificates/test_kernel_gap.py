"""Certificates of kernel machines: what extended precision finds, and never less than the truth."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC
from tests.certificates.kernel_problems import (
    near_point,
    random_kernel_point,
    random_kernel_problem,
    solved,
)

import hinge
from hinge import Point, Problem
from hinge.certificates import gap, kkt
from hinge.kernels import RBF, CallableKernel, Laplacian, Polynomial, Precomputed, Sigmoid
from hinge.testing import known_optimum, recompute, reference_solution, verify_certificate

LOSSES = ["hinge", "squared_hinge", "huber"]
EXTENDED = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="needs a longdouble wider than float64"
)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_what_another_library_solves_is_certified(kernel: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120) > 0
    problem = Problem(X, y, C=2.0, kernel=kernel)
    matrix = problem.kernel.block(X, X)
    other = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(matrix, y)
    alpha = np.zeros(120)
    alpha[other.support_] = np.clip(np.abs(other.dual_coef_[0]), 0.0, 2.0)
    point = Point(np.zeros(0), other.intercept_[0], alpha)
    certificate = gap(problem, point)
    assert 0.0 <= certificate.relative_gap < 1e-6
    assert certificate.kkt < 1e-5
    assert kkt(problem, point).worst == pytest.approx(certificate.kkt, abs=1e-12)


@EXTENDED
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_known_optimum_is_recognised(loss, intercept, kernel, sparse, weighted, seed) -> None:
    known = known_optimum(
        loss, intercept, sparse=sparse, weighted=weighted, seed=seed, kernel=kernel
    )
    assert known.point.coef.shape == (0,)
    certificate = gap(known.problem, known.point)
    verify_certificate(known.problem, known.point, certificate)
    assert certificate.primal == pytest.approx(float(known.value), rel=1e-13)
    assert certificate.dual == pytest.approx(float(known.value), rel=1e-13)
    assert 0.0 <= certificate.gap <= 1e-9 * float(known.value)
    assert certificate.kkt - certificate.kkt_rounding <= 1e-13
    assert certificate.kkt <= 1e-8
    assert certificate.notes == ()
    violation = kkt(known.problem, known.point)
    assert violation.complementarity <= 1e-13
    assert violation.worst == pytest.approx(certificate.kkt, rel=1e-12)
    assert violation.stationarity == 0.0


def _check_random_problem(rng: np.random.Generator) -> float:
    """Check one problem at one point; return the true relative suboptimality."""
    problem = random_kernel_problem(rng)
    point = random_kernel_point(problem, rng)
    certificate = gap(problem, point)
    exact = verify_certificate(problem, point, certificate)
    # The best known feasible value is above the optimum: what is proven must lie below it.
    best = min(recompute(problem, solved(problem)).primal, exact.primal)
    assert certificate.gap >= exact.primal - best
    assert certificate.primal - certificate.gap <= best
    return float((exact.primal - best) / exact.primal)


@EXTENDED
def test_the_gap_is_an_upper_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = [_check_random_problem(rng) for _ in range(300)]
    # Not vacuous: points from nearly optimal to useless were among them.
    assert min(found) < 1e-8
    assert max(found) > 0.3
    assert sum(1e-7 < share < 0.5 for share in found) > 60


@EXTENDED
@pytest.mark.slow
def test_the_gap_is_an_upper_bound_on_many_problems(seed: int) -> None:
    rng = np.random.default_rng(seed + 10_000)
    for _ in range(4000):
        _check_random_problem(rng)


@EXTENDED
def test_the_violation_is_that_of_the_margins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        problem = random_kernel_problem(rng)
        point = random_kernel_point(problem, rng)
        exact = recompute(problem, point)
        costs = problem.costs
        worst = 0.0
        for m, a, c in zip(exact.margins, point.dual_coef, costs, strict=True):
            if c > 0:
                slope = a / c
                gradient = float(m) + problem.loss.dual_curvature * slope - problem.loss.dual_linear
                moved = min(max(slope - gradient, 0.0), problem.loss.dual_upper)
                worst = max(worst, abs(moved - slope))
        violation = kkt(problem, point)
        scale = 1.0 + max(abs(float(m)) for m in exact.margins)
        assert violation.complementarity == pytest.approx(worst, abs=1e-9 * scale)
        assert gap(problem, point).kkt == pytest.approx(violation.worst, abs=1e-9 * scale)


@EXTENDED
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(2, 1.0, 1.0), Laplacian(0.2)], ids=repr)
def test_planted_falsehoods_are_refused(loss: str, kernel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    problem = Problem(X, y, loss=loss, C=1.0, kernel=kernel)
    best = near_point(problem, reference_solution(problem), 0.0, rng)
    assert gap(problem, best).relative_gap < 1e-6
    top = np.where(np.isinf(problem.loss.upper_bound(problem.costs)), 10.0, 1.0)
    refused = 0
    for _ in range(100):
        size = float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-3, 1))
        point = replace(best, intercept=best.intercept + size)
        if rng.random() < 0.7:
            alpha, row = best.dual_coef.copy(), int(rng.integers(60))
            alpha[row] = np.clip(alpha[row] + size, 0.0, top[row])
            point = replace(best, dual_coef=alpha)
        exact = recompute(problem, point)
        certificate = gap(problem, point)
        assert certificate.gap >= exact.gap
        if exact.gap > 1e-5 * exact.primal or abs(exact.balance) > 1e-5:
            refused += 1
            assert certificate.relative_gap > 1e-6
    assert refused > 60


def test_a_dual_point_outside_its_box_proves_nothing() -> None:
    known = known_optimum("hinge", "none", weighted=True, kernel="linear")
    top = known.problem.loss.upper_bound(known.problem.costs)
    absent, present = int(np.flatnonzero(top == 0)[0]), int(np.flatnonzero(top > 0)[0])
    wrong = [(present, -1e-9), (present, np.nextafter(top[present], np.inf)), (absent, 1e-300)]
    for row, value in wrong:
        alpha = known.point.dual_coef.copy()
        alpha[row] = value
        certificate = gap(known.problem, replace(known.point, dual_coef=alpha))
        assert certificate.dual == -np.inf
        assert certificate.gap == certificate.relative_gap == np.inf
        assert any("box" in note for note in certificate.notes)
        assert np.isfinite(certificate.primal)
        assert not certificate.settled(np.eye(known.problem.n_features)).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["intercept", "dual_coef"])
def test_what_is_not_a_number_never_satisfies(bad: float, where: str) -> None:
    known = known_optimum(kernel="linear")
    values: dict[str, object] = {"intercept": bad}
    if where == "dual_coef":
        alpha = known.point.dual_coef.copy()
        alpha[0] = bad
        values = {"dual_coef": alpha}
    certificate = gap(known.problem, replace(known.point, **values))
    assert certificate.gap == certificate.relative_gap == certificate.kkt == np.inf
    assert certificate.notes
    for stop in (hinge.Stop(gap=1e300), hinge.Stop(gap=None, kkt=1e300)):
        assert not stop.satisfied_by(certificate)


def test_values_that_overflow_never_satisfy() -> None:
    X = np.asarray([[1e30], [-1e30], [2e30], [3e30]])
    problem = Problem(X, [1, 0, 1, 0], C=1.0, kernel=Polynomial(6, 1.0, 0.0))
    certificate = gap(problem, Point(np.zeros(0), 0.0, np.ones(4)))
    assert certificate.relative_gap == np.inf
    assert not hinge.Stop(gap=1e300).satisfied_by(certificate)
    assert not hinge.Stop(gap=None, kkt=1e300).satisfied_by(certificate)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"coef": np.zeros(7)}, "coef is empty"),
        ({"dual_coef": None}, "is its dual_coef; the point has none"),
        ({"dual_coef": np.zeros(3)}, "dual_coef has shape"),
    ],
)
def test_points_of_another_kind_are_refused(changes: dict[str, object], match: str) -> None:
    known = known_optimum(kernel="linear")
    for judge in (gap, kkt):
        with pytest.raises(hinge.InvalidParameterError, match=match):
            judge(known.problem, replace(known.point, **changes))


@pytest.mark.parametrize(
    "kernel",
    [
        Sigmoid(0.1, -0.5),
        Polynomial(3, 1.0, -1.0),
        Precomputed(),
        Precomputed(psd=False),
        CallableKernel(lambda A, B: A @ B.T),
    ],
    ids=repr,
)
def test_kernels_not_known_to_be_definite_get_no_gap(kernel) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    data = X @ X.T if kernel.name == "precomputed" else X
    problem = Problem(data, X[:, 0] > 0, kernel=kernel)
    other = SVC(kernel="precomputed", tol=1e-6)
    columns = problem.kernel.operand(problem.rows, np.arange(30))
    other.fit(problem.kernel.block(problem.rows.matrix, columns), problem.signs)
    alpha = np.zeros(30)
    alpha[other.support_] = np.clip(np.abs(other.dual_coef_[0]), 0.0, 1.0)
    certificate = gap(problem, Point(np.zeros(0), other.intercept_[0], alpha))
    assert certificate.dual == -np.inf
    assert certificate.gap == certificate.relative_gap == np.inf
    assert certificate.kkt < 1e-4
    assert [note for note in certificate.notes if note.startswith("no gap certificate")]
    assert certificate.region is None
    assert not hinge.Stop(gap=1e300).satisfied_by(certificate)
    assert hinge.Stop(gap=None, kkt=1e-3).satisfied_by(certificate)


@EXTENDED
def test_an_asymmetric_matrix_pays_for_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    K = X @ X.T
    K[3, 7] += 1e-3
    y = X[:, 0] > 0
    point = reference_solution(Problem(0.5 * (K + K.T), y, kernel=Precomputed(psd=True)))
    symmetric = gap(Problem(0.5 * (K + K.T), y, kernel=Precomputed(psd=True)), point)
    certificate = gap(Problem(K, y, kernel=Precomputed(psd=True)), point)
    assert certificate.rounding > 1e-4
    assert certificate.gap >= symmetric.primal - symmetric.dual
    assert certificate.primal + certificate.rounding >= symmetric.primal
    assert certificate.dual - certificate.rounding <= symmetric.dual


def test_both_values_pay_for_what_their_common_term_is_off_by() -> None:
    K = np.diag([1.0, 2.0, 3.0, 4.0])
    K[0, 1] = 1e-3
    problem = Problem(K, [1, 0, 1, 0], C=1e6, kernel=Precomputed(psd=True), intercept="none")
    alpha = np.full(4, 10.0)
    certificate = gap(problem, Point(np.zeros(0), 0.0, alpha))
    # Every margin is beyond the loss, so what is left is half of b'Kb, above and below.
    assert certificate.primal == pytest.approx(500.0, rel=1e-3)
    assert certificate.rounding == pytest.approx(1e-3 * np.sum(alpha) ** 2, rel=0.02)


def test_an_unbalanced_dual_point_pays_for_it() -> None:
    known = known_optimum("hinge", "free", kernel="linear")
    alpha = known.point.dual_coef.copy()
    row = int(np.flatnonzero((alpha > 0) & (alpha < known.problem.C))[0])
    for change in (1e-12, 1e-6, 1e-2):
        alpha[row] = known.point.dual_coef[row] - change
        point = replace(known.point, dual_coef=alpha)
        certificate = gap(known.problem, point)
        exact = recompute(known.problem, point)
        assert certificate.gap >= float(exact.gap) + abs(known.point.intercept) * change
    assert any("y'alpha" in note for note in certificate.notes)


def test_rows_without_weight_are_absent() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.tile([0, 1], 15)
    weights = np.ones(30)
    weights[20:] = 0.0
    X[25] *= 1e100
    for kernel in (RBF(0.4), Polynomial(2, 1.0, 1.0)):
        whole = Problem(X, y, sample_weight=weights, kernel=kernel)
        part = Problem(X[:20], y[:20], sample_weight=weights[:20], kernel=kernel)
        point = reference_solution(part)
        padded = replace(point, dual_coef=np.append(point.dual_coef, np.zeros(10)))
        one, two = gap(whole, padded), gap(part, point)
        for name in ("primal", "dual", "relative_gap", "kkt"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-6), name


def test_a_machine_without_support_vectors_is_judged() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    problem = Problem(X, X[:, 0] > 0, kernel="rbf", C=3.0)
    certificate = gap(problem, Point(np.zeros(0), 0.0, np.zeros(20)))
    assert certificate.primal == 60.0
    assert certificate.dual == 0.0
    assert certificate.gap == pytest.approx(60.0)
    assert not certificate.settled(X).any()


def test_a_certificate_survives_a_pickle_without_the_data() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    problem = Problem(X, X[:, 0] > 0, kernel=RBF(0.1), C=10.0)
    best = reference_solution(problem)
    alpha = np.where(best.dual_coef > 1e-6, best.dual_coef, 0.0)
    certificate = gap(problem, replace(best, dual_coef=alpha))
    stored = pickle.dumps(certificate)
    assert len(stored) < X.nbytes
    again = pickle.loads(stored)
    queries = rng.normal(size=(50, 3))
    for one, two in zip(
        certificate.decision_bounds(queries), again.decision_bounds(queries), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    with pytest.raises(hinge.InvalidDataError, match="2 features; the certificate is for 3"):
        again.settled(np.ones((2, 2)))
    assert again.settled(sp.csr_array(queries)).any()
