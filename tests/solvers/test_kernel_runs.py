"""Runs on kernel problems: who may solve them, and when they are certified."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from tests.solvers.fakes import Scripted

import hinge
from hinge import Point, Problem, Status, Stop, solve
from hinge.kernels import Sigmoid
from hinge.result import Progress
from hinge.solvers import judge, registry
from hinge.solvers.registry import get_solver, solver_names
from hinge.testing import known_optimum, verify

KNOWN = known_optimum("hinge", "free", kernel="linear")
PROBLEM, OPTIMUM = KNOWN.problem, KNOWN.point


@dataclass
class KernelScripted(Scripted):
    """A scripted solver for kernel problems that knows its violation."""

    violation: list[float] = field(default_factory=lambda: [math.nan])
    name = "kernel-scripted"
    takes_kernels = True

    def progress(self, state) -> Progress:
        return replace(super().progress(state), kkt=self.violation[0])


def _between(share: float) -> Point:
    return Point(np.zeros(0), OPTIMUM.intercept * share, OPTIMUM.dual_coef * share)


@pytest.fixture
def certificates(monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    """Return the list of points that were certified."""
    seen = []

    def watched(problem, point, **options):
        seen.append(point)
        return hinge.certificates.gap(problem, point, **options)

    monkeypatch.setattr(judge, "gap", watched)
    return seen


def test_an_optimum_is_solved_with_one_certificate(certificates) -> None:
    solver = KernelScripted(lambda _: OPTIMUM, lambda steps: (1.0, 1.0 if steps >= 30 else 0.5))
    solution = solve(PROBLEM, solver, Stop(gap=1e-6))
    assert solution.status is Status.SOLVED
    assert solution.steps == 30
    assert len(certificates) == 1
    assert solution.coef.shape == (0,)
    assert solution.certificate.region is not None
    verify(PROBLEM, solution, Stop(gap=1e-6))


def test_without_a_claim_only_the_end_is_certified(certificates) -> None:
    solver = KernelScripted(lambda _: OPTIMUM, work_per_step=10**12)
    solution = solve(PROBLEM, solver, Stop(gap=1e-6, steps=50))
    assert solution.status is Status.SOLVED
    assert solution.steps == 50
    assert len(certificates) == 1


def test_a_claim_may_be_the_violation(certificates) -> None:
    stop = Stop(gap=None, kkt=1e-3)
    solver = KernelScripted(lambda _: OPTIMUM, violation=[1e-3])
    solution = solve(PROBLEM, solver, stop)
    assert solution.status is Status.SOLVED
    assert solution.steps == 1
    assert len(certificates) == 1
    reluctant = KernelScripted(lambda _: OPTIMUM, violation=[2e-3])
    assert solve(PROBLEM, reluctant, replace(stop, steps=9)).steps == 9
    # Both criteria are to hold where both are known of.
    both = Stop(gap=1e-3, kkt=1e-3, steps=9)
    claims = KernelScripted(lambda _: OPTIMUM, lambda _: (1.0, 1.0), violation=[2e-3])
    assert solve(PROBLEM, claims, both).steps == 9
    claims = KernelScripted(lambda _: OPTIMUM, lambda _: (1.0, 1.0), violation=[1e-4])
    assert solve(PROBLEM, claims, both).steps == 1


def test_a_refused_claim_waits_for_the_work_of_a_certificate() -> None:
    support = np.count_nonzero(OPTIMUM.dual_coef)
    one = PROBLEM.rows.n_stored * support + 100_000
    solver = KernelScripted(
        lambda steps: _between(1.0 - 0.5**steps), lambda _: (1.0, 1.0), work_per_step=one // 4 + 1
    )
    solve(PROBLEM, solver, Stop(gap=1e-9, steps=9))
    assert solver.asked_for_points == [1, 5, 9]


def test_points_are_never_joined_to_pairs(certificates) -> None:
    """The best primal and the best dual point of a kernel machine are two machines."""
    points = [_between(0.9), replace(OPTIMUM, intercept=OPTIMUM.intercept + 0.4)]
    solver = KernelScripted(
        lambda steps: points[(steps - 1) % 2], lambda _: (1.0, 1.0), work_per_step=10**9
    )
    solution = solve(PROBLEM, solver, Stop(gap=1e-9, steps=2))
    assert len(certificates) == 2
    assert any(solution.point is point for point in points)
    verify(PROBLEM, solution)


def test_without_a_gap_the_violation_decides() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    problem = Problem(X, X[:, 0] > 0, kernel=Sigmoid(0.1, -0.5))
    zero = Point(np.zeros(0), 0.0, np.zeros(20))
    resting = KernelScripted(lambda _: zero, rests_after=3)
    solution = solve(problem, resting, Stop(gap=1e-3))
    assert solution.status is Status.STALLED
    assert solution.certificate.relative_gap == math.inf
    assert "no gap certificate" in str(solution.certificate)
    solution = solve(problem, resting, Stop(gap=None, kkt=1e3))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("name", solver_names())
def test_linear_solvers_refuse_kernels(name: str) -> None:
    if get_solver(name, PROBLEM).takes_kernels:
        pytest.skip("this name has a solver for kernels")
    with pytest.raises(hinge.UnsupportedError, match="linear machines, and the problem has a ker"):
        solve(PROBLEM, name)


def test_kernel_solvers_refuse_linear_problems() -> None:
    with pytest.raises(hinge.UnsupportedError, match="it is for kernel machines; give the problem"):
        solve(known_optimum().problem, KernelScripted(lambda _: OPTIMUM))


def test_what_is_for_linear_machines_says_so() -> None:
    with pytest.raises(hinge.UnsupportedError, match="forecasts linear machines"):
        hinge.estimate(PROBLEM)
    monitor = hinge.solvers.ValidationMonitor(np.eye(7), np.tile([1, -1], 4)[:7])
    with pytest.raises(hinge.UnsupportedError, match="watches linear machines"):
        solve(PROBLEM, KernelScripted(lambda _: OPTIMUM), observers=[monitor])


def test_kernel_problems_have_solvers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made = KernelScripted(lambda _: OPTIMUM)
    monkeypatch.setitem(registry._FOR_KERNELS, "decomposition", lambda _: made)
    monkeypatch.setitem(registry._FOR_KERNELS, "dual-coordinate", lambda _: made)
    for name in ("auto", "decomposition", "dual-coordinate"):
        assert get_solver(name, PROBLEM) is made
    assert get_solver("dual-coordinate", known_optimum().problem).name == "dual-coordinate"
    with pytest.raises(hinge.InvalidParameterError, match="Did you mean 'decomposition'"):
        get_solver("decompositoin", PROBLEM)
    assert made.name not in solver_names()
