"""Runs with a limit on their time leave enough of it for the certificate of a kernel machine."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from tests.solvers.kernel_cases import rows_of_two_classes

from hinge import Problem, Status, Stop, solve
from hinge.kernels import RBF
from hinge.solvers import Decomposition, certificate_clock
from hinge.solvers.certificate_clock import CertificateClock

LIMIT = 1000.0  # seconds that no run here takes


def _problem(n: int = 300) -> Problem:
    X, y = rows_of_two_classes(n, seed=4)
    return Problem(X, y, kernel=RBF(0.3), C=10.0)


def test_a_forecast_grows_with_the_support_vectors() -> None:
    clock = CertificateClock(_problem())
    few, many = clock.forecast(10), clock.forecast(20)
    assert 0.0 < few < math.inf
    assert many == pytest.approx(2.0 * few)


def test_a_certificate_corrects_the_forecast() -> None:
    clock = CertificateClock(_problem())
    clock.learn(50, seconds=3.0)
    assert clock.forecast(100) == pytest.approx(6.0)


def test_a_moment_in_which_the_machine_was_elsewhere_is_no_dear_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forecasts = []
    for first in (0.0, 0.15):
        told = iter([0.0, first, 1.0, 1.0001, 2.0, 2.01, 3.0, 3.01])
        fake = SimpleNamespace(perf_counter=lambda told=told: next(told))
        monkeypatch.setattr(certificate_clock, "time", fake)
        forecasts.append(CertificateClock(_problem()).forecast(10))
    assert forecasts[1] == forecasts[0] > 0.0


def test_nothing_is_owed_for_linear_machines_and_without_support_vectors() -> None:
    X, y = rows_of_two_classes(100, seed=4)
    clock = CertificateClock(Problem(X, y))
    clock.learn(50, seconds=3.0)
    assert clock.forecast(50) == 0.0
    assert CertificateClock(_problem()).forecast(0) == 0.0


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_a_run_ends_when_no_more_time_is_left_than_its_certificate_takes(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    def all_of_it(_: CertificateClock, support: int) -> float:
        return share * LIMIT if support else 0.0

    monkeypatch.setattr(CertificateClock, "forecast", all_of_it)
    monkeypatch.setattr("hinge.solvers.driver._EARLY", 0.0)
    solver = Decomposition(working_set=2)  # many rounds
    solution = solve(_problem(), solver, Stop(gap=None, kkt=1e-6, seconds=LIMIT))
    is_late = share >= 1.0
    assert solution.status is (Status.TIME_LIMIT if is_late else Status.SOLVED)
    assert math.isfinite(solution.certificate.gap)
