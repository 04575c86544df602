"""How long a fit will take: a gap that closes steadily is carried on."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from hinge.cli import _progress
from hinge.cli._forecast import Forecast
from hinge.cli._progress import FitDisplay, Size, Target, duration, in_words
from hinge.estimators._progress import Measure


def _steady(forecast: Forecast, number: int, until: float) -> None:
    """Let a gap lose a digit per second until some time."""
    for tenth in range(int(10 * until) + 1):
        forecast.step(number, tenth / 10, 10 ** -(tenth / 10))


def test_a_steady_gap_is_carried_on() -> None:
    forecast = Forecast(1, 1e-6)
    _steady(forecast, 0, 2.0)
    assert forecast.done == pytest.approx(2 / 6)
    assert forecast.seconds_left() == pytest.approx(4.0)


def test_nothing_is_said_too_early_or_of_a_gap_that_stands_still() -> None:
    forecast = Forecast(1, 1e-6)
    assert forecast.seconds_left() is None
    forecast.step(0, 0.1, 0.5)
    assert forecast.seconds_left() is None
    for k in range(10):
        forecast.step(0, 0.2 + k, 0.5 - 0.01 * k)  # it has hardly begun to close
    assert forecast.seconds_left() is None
    for k in range(80):
        forecast.step(0, 12.0 + k, 1e-3)
    assert forecast.seconds_left() is None


def test_classes_that_have_not_begun_are_like_those_that_are_done() -> None:
    forecast = Forecast(3, 1e-2)
    _steady(forecast, 0, 2.0)
    assert forecast.begun == 1
    assert forecast.done == pytest.approx(1 / 3)
    assert forecast.seconds_left() == pytest.approx(4.0)


def test_threads_share_what_is_left() -> None:
    forecast = Forecast(3, 1e-2, threads=2)
    _steady(forecast, 0, 2.0)
    assert forecast.seconds_left() == pytest.approx(2.0)


def test_a_class_that_gave_up_does_not_hold_up_the_others() -> None:
    forecast = Forecast(2, 1e-2)
    for k in range(5):
        forecast.step(0, float(k), 0.5)
    _steady(forecast, 1, 1.0)
    assert forecast.seconds_left() == pytest.approx(1.0)


@pytest.mark.parametrize("gap", [float("nan"), float("inf"), -1.0, 0.0, 2.0])
def test_odd_gaps_do_no_harm(gap: float) -> None:
    forecast = Forecast(1, 0.0)
    forecast.step(0, 0.0, gap)
    assert forecast.done in (0.0, 1.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0314, "31 ms"),
        (4.21, "4.2 s"),
        (42.1, "42 s"),
        (185.0, "3 min 05 s"),
        (2622.0, "43 min"),
        (7800.0, "2 h 10 min"),
    ],
)
def test_durations_as_they_are_said(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(12.0, "12"), (1234.0, "1.23k"), (1.5e6, "1.5M"), (2e9, "2G")]
)
def test_counts_as_they_are_said(count: float, text: str) -> None:
    assert in_words(count) == text


class _Lines:
    """Keeps the lines that a display is told to show."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def add_task(self, *_: Any, **__: Any) -> int:
        return 0

    def update(self, *_: Any, description: str, **__: Any) -> None:
        self.shown.append(description)

    def refresh(self) -> None:
        pass


def test_what_is_not_known_yet_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(_progress, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    lines = _Lines()
    measure = Measure("violation", lambda event: event.gap, lambda _: math.nan)
    target = Target(measure, 1e-3, None)
    display = FitDisplay(lines, Size(10, 100, 1), Forecast(1, 1e-3), target)  # type: ignore[arg-type]
    for work, gap in ((0, math.inf), (100, math.inf), (200, 0.5), (300, math.inf), (300, 0.25)):
        progress = SimpleNamespace(work=work)
        display(SimpleNamespace(number=0, seconds=0.0, progress=progress, gap=gap))
    assert [line.split(", ")[0].split(" rows")[0] for line in lines.shown] == [
        "", "5", "violation 5.0e-01 to 1e-03", "violation 5.0e-01 to 1e-03",
        "violation 2.5e-01 to 1e-03",
    ]  # fmt: skip
    assert not any("inf" in line or ", 0 rows/s" in line for line in lines.shown)
