"""The forecast of commands that train: asked for, or told before a long fit."""

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
    assert "beside the data, with primal-newton: a fit of all rows took " in run.out
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


def test_a_path_can_be_asked_for_and_nothing_is_trained(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _forecast(monkeypatch, 3.0)
    path = classes_apart(Path("rows.svm"), n_classes=3)
    words = ("path", path, "--Cs", "0.1,10,1", "--threads", "1", "--estimate")
    run = shell(*words, "--cv", "4", "--json")
    assert run.code == 0
    assert [problem.C for problem in asked] == [10.0]
    # Three classes in four folds of three quarters of the rows, and three values of C.
    assert run.data["seconds"] == pytest.approx(12 * 0.75 * 3 * 0.25 * 3.0)
    assert run.data["low"] == pytest.approx(12 * 0.75 * 0.25 * 1.5)
    assert run.data["high"] == pytest.approx(12 * 0.75 * 3 * 6.0)
    assert run.data["text"].endswith(
        ": a guess, for one of 3 classes, at the largest of 3 values of C, in 4 folds."
    )
    text = shell("path", classes_apart(Path("two.svm")), "--Cs", "1", "--estimate").out
    assert text == (
        "About 3.0 s (between 1.5 s and 6.0 s) and 1.0 MB beside the data, with newton: a guess.\n"
    )


def test_a_picture_beside_it_is_refused(shell: Shell) -> None:
    words = ("path", classes_apart(Path("rows.svm")), "--estimate", "--plot", "curve.png")
    run = shell(*words)
    assert run.code == 2
    assert "--estimate trains nothing; leave --plot out of it" in " ".join(run.err.split())
    assert not Path("curve.png").exists()


def test_threads_share_the_folds_of_a_path_out(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    _forecast(monkeypatch, 3.0)
    words = ("path", classes_apart(Path("rows.svm")), "--Cs", "1", "--cv", "4", "--estimate")
    run = shell(*words, "--threads", "2", "--json")
    assert run.data["seconds"] == pytest.approx(2 * 0.75 * 3.0)
    assert run.data["memory_bytes"] == 2 * 10**6


LONG_ONES = [
    ("path", "rows.svm", "--Cs", "0.1,1"),
    ("svm-train", "-t", "0", "rows.svm", "model"),
    ("svm-train", "-t", "0", "-v", "2", "rows.svm"),
    ("liblinear-train", "-c", "2", "rows.svm", "model"),
]


@pytest.mark.parametrize("words", LONG_ONES)
def test_every_long_training_is_announced(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    classes_apart(Path("rows.svm"))
    monkeypatch.setattr(_estimate, "_LARGE", 10)
    for seconds, is_told in ((1000.0, True), (1.0, False)):
        asked = _forecast(monkeypatch, seconds)
        run = shell(*words)
        assert run.code == 0
        assert len(asked) == 1
        assert ("hinge: note: About " in run.err) is is_told
        assert "About" not in run.out
    quiet = "--quiet" if words[0] == "path" else "-q"
    asked = _forecast(monkeypatch, 1000.0)
    assert "About" not in shell(words[0], quiet, *words[1:]).err
    assert asked == []


def test_kernel_machines_in_the_old_style_have_no_forecast(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_estimate, "_LARGE", 10)
    asked = _forecast(monkeypatch, 1000.0)
    classes_apart(Path("rows.svm"), n_classes=3)
    for kernel in ("0", "2"):  # linear machines of pairs of classes are kernel machines as well
        assert shell("svm-train", "-t", kernel, "rows.svm", "model").code == 0
    assert asked == []
