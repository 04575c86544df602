"""Whatever happens, the user gets one sentence and the right exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Shell, classes_apart, write_rows

import hinge
import hinge.cli.train
from hinge.cli._errors import sentence
from hinge.errors import DataFileError, ModelFileError
from hinge.models import load, save


def _raising(error: BaseException) -> object:
    def function(*_: object, **__: object) -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataFileError("a bad\n  number.", "f", 3, 7), "f, line 3, column 7: a bad number."),
        (ModelFileError("m: not\x1b[2J a model."), r"m: not\x1b[2J a model."),
        (FileNotFoundError(errno.ENOENT, "x", "f"), "f: there is no such file; check the sp"),
        (PermissionError(errno.EACCES, "x", "f"), "f: permission denied; check who may read"),
        (IsADirectoryError(errno.EISDIR, "x", "f"), "f: this is a folder, and a file is needed."),
        (NotADirectoryError(errno.ENOTDIR, "x", "f"), "f: part of this path is a file, not a"),
        (OSError(errno.ENOSPC, "No space left on device", "f"), "f: No space left on device."),
        (OSError(errno.EIO, "Input/output error"), "Input/output error."),
        (OSError("odd"), "odd."),
        (MemoryError(), "there is not enough memory for this file; hinge convert turns it into"),
        (KeyboardInterrupt(), "stopped by Ctrl-C."),
        (ZeroDivisionError("x"), "something went wrong inside hinge that should not (ZeroDivision"),
    ],
)
def test_the_sentence_of_an_exception(error: BaseException, text: str) -> None:
    assert sentence(error).startswith(text)
    assert "\n" not in sentence(error)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ZeroDivisionError("x"), 1),
        (MemoryError(), 1),
        (KeyboardInterrupt(), 130),
        (RecursionError("x"), 1),
    ],
)
def test_the_exit_code_of_an_exception(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    path = classes_apart(Path("rows.svm"))
    monkeypatch.setattr(hinge.cli.train, "fit", _raising(error))
    run = shell("train", path)
    assert run.code == code
    assert "Traceback" not in run.err
    assert not Path("rows.svm.hinge").exists()


@pytest.mark.parametrize("function", ["fit", "save"])
def test_a_second_ctrl_c_stops_at_once(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    path = classes_apart(Path("rows.svm"))
    monkeypatch.setattr(hinge.cli.train, function, _raising(KeyboardInterrupt()))
    run = shell("train", path, "--quiet")
    assert run.code == 130
    assert run.err == "hinge: error: stopped by Ctrl-C; no model was written.\n"


@pytest.mark.parametrize("function", ["summary", "fit_data", "tell_interruption"])
def test_ctrl_c_after_the_model_was_saved(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    path = classes_apart(Path("rows.svm"))
    monkeypatch.setattr(hinge.cli.train, function, _raising(KeyboardInterrupt()))
    run = shell("train", path, "m", "--quiet")
    assert run.code == 130
    assert run.err == "hinge: error: stopped by Ctrl-C; the model was saved as m.\n"
    assert load(Path("m")).coef_.any()


def test_ctrl_c_right_after_the_model_has_taken_its_place(
    shell: Shell, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saved_and_stopped(*arguments: Any, **options: Any) -> None:
        save(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(hinge.cli.train, "save", saved_and_stopped)
    run = shell("train", "rows.svm", "--quiet")
    assert run.err == f"hinge: error: stopped by Ctrl-C; the model was saved as {trained}.\n"


def test_open_labels_are_computed_once(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    settled = hinge.LinearSVC.settled

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return settled(*arguments)

    monkeypatch.setattr(hinge.LinearSVC, "settled", counted)
    assert shell("train", classes_apart(Path("rows.svm"))).code == 0
    assert len(calls) == 1


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback(shell: Shell, place: str) -> None:
    words = ["train", "missing.svm"]
    run = shell("--debug", *words) if place == "before" else shell(*words, "--debug")
    assert run.code == 1
    assert run.err.startswith("Traceback (most recent call last):")
    assert run.err.splitlines()[-1].startswith("hinge: error: missing.svm: there is no such file")


def test_an_error_as_json(shell: Shell) -> None:
    write_rows(Path("bad.svm"), ["1 1:1", "2 2:x"])
    run = shell("train", "bad.svm", "--json")
    assert run.code == 1
    assert run.data["exit_code"] == 1
    error = run.data["error"]
    assert (error["kind"], error["path"], error["line"]) == ("DataFileError", "bad.svm", 2)
    assert run.err == f"hinge: error: {error['message']}\n"
    run = shell("train", "--json")
    assert run.code == 2
    assert run.data["exit_code"] == 2


def test_a_place_in_a_file(shell: Shell) -> None:
    write_rows(Path("bad.svm"), ["1 1:1", "2 2:x"])
    run = shell("train", "bad.svm")
    assert run.code == 1
    assert run.err.startswith("hinge: error: bad.svm, line 2, column 5: ")
    assert run.err.count("\n") == 1


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="needs a user whom permissions bind"
)
def test_a_file_that_may_not_be_read(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    path.chmod(0)
    run = shell("train", path)
    assert run.code == 1
    assert "rows.svm: " in run.err


def test_folders_and_empty_files(shell: Shell) -> None:
    Path("folder").mkdir()
    assert "folder: this is a folder" in shell("train", "folder", "m").err
    Path("empty.svm").touch()
    assert "empty.svm: the file is empty" in shell("train", "empty.svm", "m").err


def test_one_class_only(shell: Shell) -> None:
    write_rows(Path("one.svm"), ["1 1:1", "1 1:2"])
    run = shell("train", "one.svm")
    assert run.code == 1
    assert "class" in run.err.splitlines()[-1]


@pytest.mark.parametrize(
    "words", [("train",), ("train", "--kernel", "rbf"), ("path",), ("path", "--cv", "2")]
)
def test_labels_that_are_no_classes(shell: Shell, words: tuple[str, ...]) -> None:
    write_rows(Path("rows.svm"), ["1.5 1:1", "1.9 1:2", "1.5 1:3", "1.9 1:4"])
    run = shell(*words, "rows.svm", "--quiet")
    assert run.code == 1
    assert run.err.startswith("hinge: error: Unknown label type: continuous. y holds 1.5 in row 0")


def test_an_index_that_is_too_high(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hinge.solvers.DualCoordinate, "start", _raising(MemoryError()))
    write_rows(Path("rows.svm"), ["1 1:1 4294967297:2", "2 1:2 3:1"])
    run = shell("train", "rows.svm", "--quiet", "--solver", "dual-coordinate")
    assert run.code == 1
    assert run.err.startswith("hinge: error: There is not enough memory for the weights of 4294967")
    assert "is column 4294967296, counted from 0, in row 0" in run.err
    assert run.err.endswith("number the features that occur without gaps.\n")


def test_names_with_escapes_do_not_reach_the_terminal(shell: Shell) -> None:
    run = shell("train", "\x1b[31mred.svm")
    assert run.code == 1
    assert "\x1b" not in run.err
    assert r"\x1b[31mred.svm" in run.err


def test_names_with_brackets_are_no_markup(shell: Shell) -> None:
    path = classes_apart(Path("[bold]rows.svm"))
    run = shell("train", path)
    assert run.code == 0
    assert "[bold]rows.svm.hinge" in run.out


def test_standard_input_that_is_wrong(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"1 1:1\n2 2:x\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    run = shell("train", "-", "m")
    assert run.code == 1
    assert run.err.startswith("hinge: error: standard input, line 2, column 5: ")
    assert shell("train", "-").err == (
        "hinge: error: with data from standard input, name the model file: hinge train - MODEL.\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["training"], "no such command 'training'"),
        (["train", "a", "b", "c"], "got unexpected extra argument"),
        (["--nonsense"], "no such option: --nonsense"),
    ],
)
def test_wrong_words(shell: Shell, words: list[str], message: str) -> None:
    run = shell(*words)
    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith(f"hinge: error: {message}")
    assert "--help'." in run.err
    assert run.err.count("\n") == 1
