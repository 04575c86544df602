"""The independent verifier: silent about the truth, loud about anything else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hinge import Certificate, Point, Problem, Solution, Status, Stop
from hinge.certificates import gap
from hinge.result import Trace
from hinge.testing import (
    known_optimum,
    recompute,
    reference_solution,
    verify,
    verify_certificate,
)

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]
KNOWN = known_optimum("hinge", "augmented")


def _solution(certificate: Certificate, status: Status = Status.SOLVED) -> Solution:
    return Solution(
        point=KNOWN.point,
        certificate=certificate,
        trace=Trace(),
        status=status,
        state=None,
        solver="none",
        seed=0,
        steps=0,
        work=0,
        seconds=0.0,
        certificate_seconds=0.0,
    )


def test_the_truth_passes() -> None:
    recomputed = verify(KNOWN.problem, _solution(gap(KNOWN.problem, KNOWN.point)), Stop())
    assert recomputed.primal == recomputed.dual == KNOWN.value


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"primal": float(KNOWN.value) * (1 + 1e-8)}, "primal is reported"),
        ({"primal": float("nan")}, "primal is reported"),
        ({"dual": float(KNOWN.value) * (1 - 1e-8)}, "dual is reported"),
        ({"dual": float("-inf")}, "dual is reported"),
        ({"gap": -1e-15}, "more than the reported"),
        ({"gap": float("nan")}, "more than the reported"),
        ({"gap": 1e-5}, "gap is reported"),
        ({"relative_gap": 0.0}, "relative_gap is reported"),
    ],
)
def test_false_reports_are_caught(changes: dict[str, float], match: str) -> None:
    certificate = replace(gap(KNOWN.problem, KNOWN.point), **changes)
    with pytest.raises(AssertionError, match=match):
        verify_certificate(KNOWN.problem, KNOWN.point, certificate)


def test_a_false_status_is_caught() -> None:
    halved = replace(KNOWN.point, coef=KNOWN.point.coef / 2)
    certificate = gap(KNOWN.problem, halved)
    solution = replace(_solution(certificate), point=halved)
    with pytest.raises(AssertionError, match="status is solved, but the gap is"):
        verify(KNOWN.problem, solution, Stop(gap=1e-3))
    verify(KNOWN.problem, replace(solution, status=Status.STALLED), Stop(gap=1e-3))
    kkt_only = Stop(gap=None, kkt=1e-3)
    with pytest.raises(AssertionError, match="criteria do not hold"):
        verify(KNOWN.problem, solution, kkt_only)


def test_a_dual_point_outside_its_box_is_caught() -> None:
    assert KNOWN.point.dual_coef is not None
    point = replace(KNOWN.point, dual_coef=KNOWN.point.dual_coef + 1.0)
    with pytest.raises(AssertionError, match="outside its box"):
        verify_certificate(KNOWN.problem, point, gap(KNOWN.problem, KNOWN.point))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_exact_and_extended_arithmetic_agree(loss: str, intercept: str, seed: int) -> None:
    from hinge.testing import exact  # noqa: PLC0415

    known = known_optimum(loss, intercept, weighted=True, seed=seed)
    rng = np.random.default_rng(seed)
    assert known.point.dual_coef is not None
    point = replace(
        known.point,
        coef=known.point.coef + 0.1 * rng.normal(size=known.point.coef.shape),
        dual_coef=known.point.dual_coef * rng.random(known.problem.n_rows),
    )
    rational = recompute(known.problem, point)
    assert isinstance(rational.primal, Fraction)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "EXACT_UP_TO", 0)
        extended = recompute(known.problem, point)
    assert isinstance(extended.primal, np.longdouble)
    assert float(extended.primal) == pytest.approx(float(rational.primal), rel=1e-15)
    assert float(extended.dual) == pytest.approx(float(rational.dual), rel=1e-14)
    assert extended.in_the_box == rational.in_the_box is True


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_reference_finds_the_known_optimum(loss, intercept, weighted, seed: int) -> None:
    known = known_optimum(loss, intercept, weighted=weighted, seed=seed)
    point = reference_solution(known.problem)
    found = recompute(known.problem, point)
    assert found.in_the_box
    assert float(abs(found.primal - known.value)) <= 1e-7 * float(known.value)
    assert float(abs(found.dual - known.value)) <= 1e-7 * float(known.value)
    assert found.primal >= known.value
    np.testing.assert_allclose(point.coef, known.point.coef, rtol=0, atol=1e-3)


@pytest.mark.parametrize("n_pairs", [3, 12, 60])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_known_optima_of_other_sizes(n_pairs: int, dtype: type, seed: int) -> None:
    for loss in LOSSES:
        known = known_optimum(loss, "free", dtype=dtype, n_pairs=n_pairs, seed=seed)
        assert recompute(known.problem, known.point).gap == 0
        assert known.problem.rows.dtype == dtype
        kinds = np.unique(np.sign(known.point.dual_coef))
        assert kinds.tolist() == [0.0, 1.0]


def test_known_optima_differ_by_seed() -> None:
    values = [known_optimum(seed=seed).problem.fingerprint() for seed in range(5)]
    assert len(set(values)) == 5


def test_the_gap_of_zero_is_the_whole_loss() -> None:
    problem = Problem([[1.0], [2.0]], [0, 1], C=3.0)
    recomputed = recompute(problem, Point(np.zeros(1)))
    assert recomputed.primal == 6
    assert recomputed.dual == recomputed.balance == 0
