"""``hinge path``: a table of C, gap, seconds and error, as text, JSON and picture."""

from __future__ import annotations

import builtins
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart

from hinge import Interrupted, LinearSVCCV
from hinge.cli import path as command
from hinge.cli._errors import UsageError
from hinge.cli.path import read_values


@pytest.fixture(autouse=True)
def _rows(folder: Path) -> None:
    del folder
    classes_apart(Path("rows.svm"), n_rows=90, n_classes=3)


def test_the_table(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "0.01,0.1,1", "--cv", "3", "--quiet")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0].split() == ["C", "gap", "seconds", "error"]
    assert [line.split()[0] for line in lines[2:5]] == ["0.01", "0.1", "1"]
    assert lines[-1].startswith("Least error on 3 folds: 0.")


def test_json_agrees_with_the_estimator(shell: Shell) -> None:
    words = ("path", "rows.svm", "--Cs", "1e-2:1:3", "--cv", "3", "--tol", "1e-5", "--json")
    run = shell(*words)
    assert run.code == 0
    X = np.loadtxt("rows.svm", converters=lambda word: float(word.split(":")[-1]))
    model = LinearSVCCV([0.01, 0.1, 1.0], cv=3, tol=1e-5).fit(X[:, 1:], X[:, 0])
    assert run.data["best_C"] == pytest.approx(model.C_)
    assert (run.data["folds"], run.data["tolerance"], run.data["exit_code"]) == (3, 1e-5, 0)
    errors = [point["errors"] for point in run.data["points"]]
    np.testing.assert_allclose(errors, 1.0 - model.scores_.T)
    assert all(point["relative_gap"] <= 1e-5 for point in run.data["points"])


def test_without_folds_the_error_is_that_of_training(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "1", "--quiet")
    assert run.out.splitlines()[0].split() == ["C", "gap", "seconds", "training", "error"]
    assert "Least error on the training rows" in run.out


@pytest.mark.parametrize(
    ("suffix", "head", "folds"),
    [(".png", b"\x89PNG", 3), (".svg", b"<?xml", 0), (".PDF", b"%PDF", 0)],
)
def test_the_picture(shell: Shell, suffix: str, head: bytes, folds: int) -> None:
    name = f"curve{suffix}"
    run = shell("path", "rows.svm", "--Cs", "0.1,1", "--cv", folds, "--plot", name)
    assert run.code == 0
    assert f"drew the curve in {name}." in run.err
    assert Path(name).read_bytes().startswith(head)


def test_a_picture_replaces_nothing_without_force(shell: Shell) -> None:
    Path("curve.svg").write_text("mine")
    words = ("path", "rows.svm", "--Cs", "1", "--plot", "curve.svg")
    run = shell(*words)
    assert (run.code, Path("curve.svg").read_text()) == (1, "mine")
    assert "exists already; pass --force to replace it." in run.err
    assert shell(*words, "--force").code == 0
    assert Path("curve.svg").read_text().startswith("<?xml")


def test_a_picture_of_another_kind_is_refused_at_once(shell: Shell) -> None:
    run = shell("path", "missing.svm", "--plot", "curve.bmp")
    assert run.code == 2
    assert "--plot writes .png, .svg, .pdf; got 'curve.bmp'." in run.err


def test_without_matplotlib_the_extra_is_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    run = shell("path", "rows.svm", "--Cs", "1", "--plot", "curve.png")
    assert run.code == 1
    assert "--plot needs matplotlib; install it with pip install 'hinge[viz]'." in run.err
    assert not Path("curve.png").exists()


def test_what_is_not_certified_has_its_exit_code(shell: Shell) -> None:
    words = ("--Cs", "1,1000", "--tol", "1e-12", "--max-iter", "1", "--loss", "hinge")
    run = shell("path", "rows.svm", *words)
    assert run.code == 3
    assert "have not reached --tol=1e-12" in run.err
    assert shell("path", "rows.svm", *words, "--json").data["exit_code"] == 3


def test_ctrl_c(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> Any:
        raise Interrupted("fit interrupted")

    monkeypatch.setattr(command, "_fitted", stopped)
    run = shell("path", "rows.svm", "--plot", "curve.png")
    assert run.code == 128 + signal.SIGINT
    assert "stopped by Ctrl-C; nothing was written." in run.err
    assert not Path("curve.png").exists()


@pytest.mark.parametrize("cv", ["1", "-2"])
def test_a_number_of_folds_that_is_none(shell: Shell, cv: str) -> None:
    run = shell("path", "rows.svm", "--cv", cv)
    assert run.code == 2
    assert f"--cv must be 0 or at least 2; got {cv}." in run.err


def test_more_folds_than_rows_of_a_class(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--cv", "31")
    assert run.code == 2
    assert "--cv 31 is more than the 30 rows of the smallest class." in run.err


def test_values() -> None:
    assert read_values("3,0.5") == [3.0, 0.5]
    np.testing.assert_allclose(read_values("1e-3:1e1:5"), [1e-3, 1e-2, 1e-1, 1.0, 10.0])
    assert read_values("2:8:1") == [2.0]


@pytest.mark.parametrize(
    "text", ["", "a", "1,", "1:2", "1:2:0", "0:1:3", "1:inf:3", "1:2:x", "nan:1:2", "1:2:99999"]
)
def test_values_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"--Cs takes numbers such as 0\.01,0\.1,1 or FROM:TO"):
        read_values(text)


def test_a_value_that_is_no_C(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "1,-1")
    assert run.code == 2
    assert "must be greater than 0; got -1.0." in run.err
