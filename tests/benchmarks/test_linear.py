"""What the record of a benchmark holds while runs in it are renewed."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.suite import linear
from benchmarks.suite.record import Run
from benchmarks.suite.report import Report, new_report
from benchmarks.suite.sweep import Budget

_BUDGET = Budget(seconds=1.0, tightest_gap=1e-3, quick=False)


class _Objective:
    """Stands for an objective whose data nobody reads."""

    def __init__(self, task: Any, seconds: float) -> None:  # noqa: ARG002
        self.task = task

    def store(self) -> None:
        """Keep nothing."""


class _Able:
    """Stands for a method that takes every task."""

    def __init__(self, name: str) -> None:
        self.name = name

    def refusal(self, task: Any) -> None:
        """Refuse nothing."""


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> Report:
    """A record with old runs of three methods, of which two can be renewed."""
    pairs = [(_Able(name), "python") for name in ("first", "second")]
    monkeypatch.setattr(linear, "Objective", _Objective)
    monkeypatch.setattr(linear, "_interpreters", lambda *_: pairs)
    monkeypatch.setattr(linear, "measure_again", lambda *_: None)
    monkeypatch.setattr(
        linear,
        "describe",
        lambda objective: {"title": objective.task.title, **objective.task.to_json()},
    )
    report = new_report("a record", [])
    for task in ("usps, C = 1", "a9a, C = 1"):
        for method in ("first", "second", "third"):
            report.runs.append(Run(task, method, {"age": "old"}, "finished", "wall_seconds"))
    return report


def _ages(report: Report, task: str) -> dict[str, str]:
    return {run.method: run.setting["age"] for run in report.runs if run.task == task}


def _selection() -> linear.Selection:
    return linear.Selection("hinge", "augmented", "float64", ("usps",), (), 1.0)


def _fresh(objective: Any, method: Any, *_: Any) -> list[Run]:
    return [Run(objective.task.title, method.name, {"age": "new"}, "finished", "wall_seconds")]


def test_a_finished_sweep_takes_the_place_of_the_old_one(
    stored: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "sweep", _fresh)
    list(linear.run(_selection(), _BUDGET, stored))
    assert _ages(stored, "usps, C = 1") == {"first": "new", "second": "new", "third": "old"}
    assert set(_ages(stored, "a9a, C = 1").values()) == {"old"}
    assert len(stored.runs) == 6


def test_a_sweep_that_is_cut_short_loses_no_run(
    stored: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(objective: Any, method: Any, *rest: Any) -> list[Run]:
        if method.name == "second":
            raise KeyboardInterrupt
        return _fresh(objective, method, *rest)

    monkeypatch.setattr(linear, "sweep", cut_short)
    before = list(stored.runs)
    with pytest.raises(KeyboardInterrupt):
        list(linear.run(_selection(), _BUDGET, stored))
    assert stored.runs == before
