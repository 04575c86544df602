"""``svm-train``, ``liblinear-train`` and ``svm-predict``: scripts go on working."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, hard_rows

import hinge
import hinge.cli.svm_train
from hinge.errors import Interrupted
from hinge.models import load


def test_train_and_predict_as_with_libsvm(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("svm-train", "-s", "0", "-t", "0", "-c", "10", "-w1", "2", path)
    assert run.code == 0
    X, y = hinge.data.read_libsvm(path)
    expected = hinge.LinearSVC(loss="hinge", intercept="free", C=10, class_weight={1.0: 2.0}).fit(
        X, y
    )
    np.testing.assert_array_equal(load(Path("rows.svm.model")).coef_, expected.coef_)
    run = shell("svm-predict", path, "rows.svm.model", "out")
    assert run.code == 0
    right = int((expected.predict(X) == y).sum())
    assert run.out == f"Accuracy = {100 * right / 60:g}% ({right}/60) (classification)\n"
    assert Path("out").read_text().split() == [f"{label:g}" for label in expected.predict(X)]


def test_train_as_with_liblinear(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    assert shell("liblinear-train", "-s", "3", "-B", "1", "-c", "4", "-q", path, "m").out == ""
    X, y = hinge.data.read_libsvm(path)
    expected = hinge.LinearSVC(loss="hinge", C=4).fit(X, y)
    np.testing.assert_array_equal(load(Path("m")).coef_, expected.coef_)


def test_quiet_means_silent(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("svm-train", "-t", "0", "-e", "0.001", "-q", path, "m")
    assert (run.code, run.out, run.err) == (0, "", "")
    run = shell("svm-predict", "-q", path, "m", "out")
    assert (run.code, run.out, run.err) == (0, "", "")


def test_cross_validation(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("svm-train", "-t", "0", "-v", "5", path)
    assert run.code == 0
    match = re.fullmatch(r"Cross Validation Accuracy = ([\d.]+)%\n", run.out)
    assert match is not None
    assert 90 < float(match.group(1)) <= 100
    assert not Path("rows.svm.model").exists()
    run = shell("svm-train", "-t", "0", "-v", "40", path)
    assert "-v 40 needs 40 rows of every class; the smallest has 30." in run.err


def test_a_cross_validation_that_did_not_converge(shell: Shell) -> None:
    hard_rows(Path("hard.npz"), 200, 40)
    assert shell("convert", "hard.npz", "hard.svm").code == 0
    run = shell("liblinear-train", "-c", "1e9", "-e", "1e-15", "-v", "2", "hard.svm")
    assert run.code == 3
    assert "hinge: warning: 2 of 2 fits did not reach their tolerance." in run.err


def test_ctrl_c_in_a_cross_validation(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        message = "fit interrupted after 1.0 s; the model found so far is kept"
        raise Interrupted(message)

    path = classes_apart(Path("rows.svm"))
    monkeypatch.setattr(hinge.cli.svm_train, "cross_val_predict", stopped)
    run = shell("liblinear-train", "-q", "-v", "5", path)
    assert (run.code, run.out) == (130, "")
    assert run.err == "hinge: error: stopped by Ctrl-C; no accuracy was computed.\n"


def test_pairs_of_classes_are_refused(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    run = shell("svm-train", "-t", "0", path)
    assert run.code == 1
    assert "rows.svm: LIBSVM trains 3 classes in pairs, which is not in this version" in run.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["svm-train", "rows.svm"], 1, "svm-train without -t asks for the RBF kernel"),
        (["svm-train", "-t", "0"], 2, "svm-train takes one data file and at most one model"),
        (["svm-train", "-x", "1", "rows.svm"], 2, "there is no option '-x'"),
        (["svm-train", "-t", "0", "-w9", "1", "rows.svm"], 2, "there is no class '9'"),
        (["svm-train", "-t", "0", "none.svm"], 1, "none.svm: there is no such file"),
        (["svm-train", "-t", "0", "rows.svm", "rows.svm"], 2, "is an input of this command"),
        (["svm-train", "-t", "0", "-"], 2, "with data from standard input, name the model"),
        (["liblinear-train", "-m", "0", "rows.svm"], 2, "-m takes a number of threads that is"),
        (["svm-predict", "rows.svm", "m"], 2, "svm-predict takes a data file, a model file and"),
        (["svm-predict", "-b", "1", "a", "b", "c"], 1, "-b 1 (probabilities) is not in this"),
        (["svm-predict", "rows.svm", "rows.svm", "o"], 1, "rows.svm: "),
    ],
)
def test_what_cannot_be_done(shell: Shell, words: list[str], code: int, message: str) -> None:
    classes_apart(Path("rows.svm"))
    run = shell(*words)
    assert run.code == code
    *_, last = run.err.splitlines()
    assert last.startswith("hinge: error: ")
    assert message in last


@pytest.mark.parametrize("name", ["svm-train", "liblinear-train", "svm-predict"])
def test_help_is_there_although_h_means_shrinking(shell: Shell, name: str) -> None:
    run = shell(name, "--help")
    assert run.code == 0
    assert "DATA" in run.out
