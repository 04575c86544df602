"""``svm-train``, ``liblinear-train`` and ``svm-predict``: scripts go on working."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, hard_rows, write_rows

import hinge
import hinge.cli.svm_train
from hinge.cli._matching import unnamed_rows
from hinge.errors import Interrupted
from hinge.estimators.svc import SVC
from hinge.kernels import RBF
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


def test_more_than_two_classes_are_trained_in_pairs(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    assert shell("svm-train", "-t", "0", path, "m").code == 0
    model = load("m")
    assert isinstance(model, SVC)
    assert len(model.solutions_) == 3
    run = shell("svm-predict", path, "m", "out")
    assert run.out.startswith("Accuracy = ")
    assert Path("out").read_text().split() == [str(label) for label in _predicted("m", path)]


def test_kernels(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    run = shell("svm-train", "-g", "0.5", "-c", "3", path, "m")
    assert run.code == 0
    assert "rows are support vectors" in run.out
    assert (load("m").kernel_, load("m").C) == (RBF(0.5), 3.0)
    assert shell("svm-train", path, "m").code == 0
    assert load("m").kernel_ == RBF(1 / 4)  # one over the number of features
    run = shell("svm-train", "-q", "-t", "1", "-d", "2", "-r", "1", "-v", "3", path)
    assert run.out.startswith("Cross Validation Accuracy = ")


def test_probabilities(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    assert shell("svm-train", "-q", "-b", "1", path, "m").code == 0
    assert shell("svm-predict", "-q", "-b", "1", path, "m", "out").code == 0
    head, *lines = Path("out").read_text().splitlines()
    assert head == "labels 1 2 3"
    found = [[float(word) for word in line.split()] for line in lines]
    with unnamed_rows():
        wanted = load("m").predict_proba(hinge.data.read_libsvm(path)[0])
    np.testing.assert_array_equal([row[1:] for row in found], wanted)
    assert [int(row[0]) for row in found] == _predicted("m", path)
    assert shell("svm-train", "-q", path, "m").code == 0
    run = shell("svm-predict", "-b", "1", path, "m", "out")
    assert run.code == 1
    assert "m has no probabilities; train a kernel machine with -b 1 to have them." in run.err


def test_a_kernel_matrix(shell: Shell) -> None:
    X = np.random.default_rng(1).normal(size=(30, 3))
    labels = (X[:, 0] > 0).astype(int)

    def write(name: str, matrix: Any, first: int) -> None:
        rows = [
            " ".join([str(y), f"0:{i}", *(f"{j}:{v!r}" for j, v in enumerate(row.tolist(), 1))])
            for i, (y, row) in enumerate(zip(labels, matrix, strict=False), first)
        ]
        write_rows(Path(name), rows)

    write("train.svm", X @ X.T, 1)
    write("test.svm", (X @ X.T)[:7], 0)
    assert shell("svm-train", "-q", "-t", "4", "train.svm", "m").code == 0
    assert shell("svm-predict", "-q", "test.svm", "m", "out").code == 0
    wanted = SVC(kernel="precomputed", tol=1e-3).fit(X @ X.T, labels).predict((X @ X.T)[:7])
    assert Path("out").read_text().split() == [str(label) for label in wanted]
    assert shell("train", "train.svm", "m2", "--kernel", "precomputed").code == 0
    assert shell("predict", "m2", "test.svm", "-o", "out2").code == 0
    assert Path("out2").read_text() == Path("out").read_text()
    assert shell("verify", "m2", "train.svm").code == 0
    write("wrong.svm", X @ X.T, 2)
    run = shell("svm-train", "-t", "4", "wrong.svm", "m")
    assert "feature 0 of a kernel matrix must be the number of the row, counted from 1" in run.err
    write("short.svm", (X @ X.T)[:, :20], 1)
    run = shell("svm-train", "-t", "4", "short.svm", "m")
    assert "this one has 30 rows and 20 columns." in run.err
    run = shell("predict", "m2", "short.svm")
    assert "the rows have 20 values, but the kernel matrix that the model was trained on" in run.err


def _predicted(model: str, path: Path) -> list[Any]:
    with unnamed_rows():
        return [int(label) for label in load(model).predict(hinge.data.read_libsvm(path)[0])]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["svm-train", "-g", "-1", "rows.svm"], 2, "gamma must not be negative; got -1.0."),
        (["svm-train", "-t", "4", "rows.svm"], 1, "this one has 60 rows and 3 columns."),
        (["svm-train", "-t", "0"], 2, "svm-train takes one data file and at most one model"),
        (["svm-train", "-x", "1", "rows.svm"], 2, "there is no option '-x'"),
        (["svm-train", "-t", "0", "-w9", "1", "rows.svm"], 2, "there is no class '9'"),
        (["svm-train", "-t", "0", "none.svm"], 1, "none.svm: there is no such file"),
        (["svm-train", "-t", "0", "rows.svm", "rows.svm"], 2, "is an input of this command"),
        (["svm-train", "-t", "0", "-"], 2, "with data from standard input, name the model"),
        (["liblinear-train", "-m", "0", "rows.svm"], 2, "-m takes a number of threads that is"),
        (["svm-predict", "rows.svm", "m"], 2, "svm-predict takes a data file, a model file and"),
        (["svm-predict", "-b", "2", "a", "b", "c"], 2, "-b takes 0 or 1; got 2."),
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
