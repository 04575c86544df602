"""Contests: who was promised to be beaten, whether that is kept, and what is not run again."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from benchmarks.suite import contest, contests, sweep
from benchmarks.suite.contest import AUTO, Case, Contest, Promise
from benchmarks.suite.kept import Kept
from benchmarks.suite.record import Run
from benchmarks.suite.registry import find_method
from benchmarks.suite.report import new_report
from benchmarks.suite.sweep import Budget, climb
from benchmarks.suite.task import Task

CASE = Case(Task("usps", 1.0), (1e-2, 1e-3), (Promise("LIBLINEAR -s 3", 1e-3, 2.0),))
CONTEST = Contest("a contest", (CASE,), (AUTO,))
BUDGET = Budget(1.0, 1e-3, quick=False)


def _run(method: str, seconds: float | None, gap: float | None, outcome: str = "finished") -> Run:
    return Run(CASE.task.title, method, {}, outcome, "wall_seconds", seconds, 1.0, gap)


@pytest.mark.parametrize(
    ("theirs", "cells"),
    [
        ([(3.0, 1e-3)], ["1", "3", "3.00", "2", "yes"]),
        ([(1.5, 1e-4), (0.5, 1e-2)], ["1", "1.5", "1.50", "2", "NO"]),
        ([(1.9, 1e-2)], ["1", "not reached (longest fit 1.9 s, gap 1.0e-02)", "-", "2", "yes"]),
        ([], ["1", "-", "-", "2", "not run"]),
    ],
)
def test_verdicts(theirs: list[tuple[float, float]], cells: list[str]) -> None:
    report = new_report("a contest", [])
    report.runs = [_run(AUTO, 1.0, 1e-3), _run(AUTO, 0.1, 1e-2)]
    report.runs += [_run("LIBLINEAR -s 3", *pair) for pair in theirs]
    (line,) = contest.verdicts(CONTEST, report)
    assert line == ["usps, C = 1", "0.001", "LIBLINEAR -s 3", *cells]


def test_a_method_that_was_stopped_is_told() -> None:
    report = new_report("a contest", [])
    stopped = _run("LIBLINEAR -s 3", None, None, "time limit")
    report.runs = [_run(AUTO, 1.0, 1e-3), stopped]
    assert "not reached when stopped" in contest.verdicts(CONTEST, report)[0][4]


@pytest.mark.parametrize("others", [[], [(1.9, 1e-2, "finished")], [(None, None, "time limit")]])
def test_a_method_that_fails_is_not_beaten(others: list[Any]) -> None:
    report = new_report("a contest", [])
    report.runs = [_run(AUTO, 1.0, 1e-3), _run("LIBLINEAR -s 3", None, None, "failed")]
    report.runs += [_run("LIBLINEAR -s 3", *other) for other in others]
    assert contest.verdicts(CONTEST, report)[0][3:] == ["1", "failed", "-", "2", "not measured"]
    report.runs.append(_run("LIBLINEAR -s 3", 3.0, 1e-3))
    assert contest.verdicts(CONTEST, report)[0][-1] == "yes"


def test_hinge_that_does_not_get_there_breaks_the_promise() -> None:
    report = new_report("a contest", [])
    report.runs = [_run(AUTO, 1.0, 1e-2)]
    assert contest.verdicts(CONTEST, report)[0][-1] == "NO"


def test_what_the_record_holds_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stored:
        task = CASE.task

        def __init__(self, *_: Any) -> None:
            pass

        def store(self) -> None:
            pass

    asked = []

    def runs(_objective: Any, _case: Any, name: str, *_: Any) -> list[Run]:
        asked.append(name)
        return [_run(name, 5.0, 1e-3)]

    task = {"title": CASE.task.title, "description": "", "n_rows": 1, "n_features": 1}
    bounds = {"optimum_at_most": 1.0, "reference_gap": 0.0}
    monkeypatch.setattr(contest, "Objective", Stored)
    monkeypatch.setattr(contest, "_runs", runs)
    monkeypatch.setattr(contest, "measure_again", lambda *_: None)
    monkeypatch.setattr(contest, "describe", lambda _: task | bounds)
    report = new_report("a contest", [])
    report.runs = [_run(AUTO, 1.0, 1e-3)]
    for _ in contest.run(CONTEST, report, 1.0, BUDGET):
        contest.write(CONTEST, report, tmp_path, "contest")
    assert asked == ["LIBLINEAR -s 3"]
    page = (tmp_path / "contest.md").read_text()
    assert "| usps, C = 1 | 0.001 | LIBLINEAR -s 3 | 1 | 5 | 5.00 | 2 | yes |" in page
    assert not list(contest.run(CONTEST, report, 1.0, BUDGET))


@pytest.mark.parametrize(
    "plan", [contests.HARD, contests.HARD_QUICK, contests.OTHERS, contests.OTHERS_QUICK]
)
def test_every_name_is_one(plan: Contest) -> None:
    names = {promise.method for case in plan.cases for promise in case.promises}
    for name in names | set(plan.ours):
        find_method(name)
    titles = [case.task.title for case in plan.cases]
    assert len(set(titles)) == len(titles)


def test_kept_measurements(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kept.json"
    assert Kept(path, fresh=False).get("a", lambda: [1.5, "x"]) == [1.5, "x"]
    assert Kept(path, fresh=False).get("a", lambda: 2) == [1.5, "x"]
    assert Kept(path, fresh=True).get("a", lambda: 2) == 2


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="alarms are of Unix")
def test_a_fit_beyond_a_strict_limit_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nkill -ALRM $$\n")
    script.chmod(0o755)

    class Stored:
        task = CASE.task
        arrays = tmp_path

    budget = Budget(1.0, 1e-3, quick=True, is_strict=True)
    ladder = [{"e": 1.0}, {"e": 0.1}]
    (run,) = climb(Stored(), find_method("LIBLINEAR -s 3"), str(script), ladder, budget)  # type: ignore[arg-type]
    assert run.outcome == "time limit"
    assert run.measurements == {"error": "stopped after 1 s"}


@pytest.mark.parametrize(("is_strict", "expected"), [(True, 2), (False, 3)])
def test_the_same_objective_twice_ends_the_ladder_of_another_method(
    monkeypatch: pytest.MonkeyPatch, is_strict: bool, expected: int
) -> None:
    monkeypatch.setattr(sweep, "_run", lambda *_: _run("LIBLINEAR -s 3", 0.1, 0.5))
    monkeypatch.setattr(sweep, "_job", lambda *_: {})
    budget = Budget(1.0, 1e-3, quick=True, is_strict=is_strict)
    ladder = [{"e": 1.0}, {"e": 0.1}, {"e": 0.01}]
    method: Any = find_method("LIBLINEAR -s 3")
    objective: Any = None
    assert len(list(climb(objective, method, "python", ladder, budget))) == expected
