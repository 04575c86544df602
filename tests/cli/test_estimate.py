"""The forecast of ``hinge train``: asked for, or told before a long fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Shell, classes_apart

from hinge.cli import _estimate
from hinge.solvers.estimate import Estimate


def _forecast(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[object]:
    """Let every pilot say the same, and return the problems that were asked about."""
    asked: list[object] = []

    def told(problem: object, **_: object) -> Estimate:
        asked.append(problem)
        return Estimate(seconds, seconds / 2, 2 * seconds, 10**6, "newton", "a guess")

    monkeypatch.setattr(_estimate, "estimate", told)
    return asked


def test_it_can_be_asked_for_and_nothing_is_written(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("train", path, "--estimate")
    assert run.code == 0
    assert run.out.startswith("About ")
    assert "beside the data, with dual-coordinate: a fit of all rows took " in run.out
    assert not Path("rows.svm.hinge").exists()


@pytest.mark.parametrize("solver", ["dual-coordinate", "newton", "interior-point"])
def test_it_is_of_the_solver_that_is_asked_for(shell: Shell, solver: str) -> None:
    run = shell("train", classes_apart(Path("rows.svm")), "--estimate", "--solver", solver)
    assert run.code == 0
    assert f"beside the data, with {solver}: a fit of all rows took " in run.out


def test_an_unknown_solver_is_refused_as_by_training(shell: Shell) -> None:
    words = ("train", classes_apart(Path("rows.svm")), "--solver", "newtn")
    run, trained = shell(*words, "--estimate"), shell(*words)
    assert run.code == trained.code == 2
    assert run.err == trained.err
    assert "Did you mean 'newton'?" in " ".join(run.err.split())


@pytest.mark.parametrize("options", [["--checkpoint", "part"], ["--resume"]])
def test_a_checkpoint_beside_it_is_refused(shell: Shell, options: list[str]) -> None:
    run = shell("train", classes_apart(Path("rows.svm")), "--estimate", *options)
    assert run.code == 2
    assert f"trains nothing; leave {options[0]} out of it" in " ".join(run.err.split())
    assert not Path("part").exists()


def test_what_json_says(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    _forecast(monkeypatch, 3.0)
    run = shell("train", classes_apart(Path("rows.svm")), "--estimate", "--json")
    assert run.data == {
        "seconds": 3.0,
        "low": 1.5,
        "high": 6.0,
        "memory_bytes": 10**6,
        "solver": "newton",
        "reason": "a guess",
        "problems": 1,
        "text": "About 3.0 s (between 1.5 s and 6.0 s) and 1.0 MB beside the data, with newton: "
        "a guess.",
    }


def test_classes_are_added_up(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _forecast(monkeypatch, 3.0)
    path = classes_apart(Path("rows.svm"), n_classes=3)
    options = ["--threads", "1", "--intercept", "none", "--class-weight", "balanced"]
    run = shell("train", path, "--estimate", *options)
    assert len(asked) == 1
    assert run.out == (
        "About 9.0 s (between 4.5 s and 18 s) and 1.0 MB beside the data, with newton: a guess, "
        "for one of 3 classes.\n"
    )


def test_a_long_fit_is_announced(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    path = classes_apart(Path("rows.svm"))
    monkeypatch.setattr(_estimate, "_LARGE", 10)
    for seconds, is_told in ((1000.0, True), (1.0, False)):
        _forecast(monkeypatch, seconds)
        run = shell("train", path, "--force")
        assert run.code == 0
        assert ("hinge: note: About 17 min (between 8.3 min and 33 min)" in run.err) is is_told
        assert "About" not in run.out
    _forecast(monkeypatch, 1000.0)
    assert shell("train", path, "--force", "--quiet").err == ""


def test_a_small_fit_is_not_piloted(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _forecast(monkeypatch, 1000.0)
    assert shell("train", classes_apart(Path("rows.svm"))).code == 0
    assert asked == []


def test_one_class_is_refused_as_ever(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_estimate, "_LARGE", 1)
    Path("one.svm").write_text("1 1:1\n1 1:2\n")
    for words in ([], ["--estimate"]):
        run = shell("train", "one.svm", *words)
        assert run.code == 1
        assert "class" in run.err
